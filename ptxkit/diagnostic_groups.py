"""Groups findings of one fault: about one variable at one line of the program, which unrolling, inlining or templates
have copied; one missing order that several rules detect; or one misspelling that occurs in several places.

Two findings with different codes have one cause if the same order is missing: nothing orders one operation before the
other, or nothing waits for the same asynchronous operation.

Reports for people show the first finding of a group with the number of its locations; documents contain all, with the
group's name.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence

from ptxkit.diagnostics import Diagnostic, Place, Severity
from ptxkit.fast_dataclasses import replace
from ptxkit.limits import MAX_GROUP_LINES
from ptxkit.user_code import user_frames

#: Codes about the spelling of a statement, wherever it is: the same message about the same opcode is the same fault.
_SYNTAX_CODES = ("PTX1", "PTX8")
_RANK = {severity: number for number, severity in enumerate(Severity)}


def group_by_fault(diagnostics: Iterable[Diagnostic]) -> list[list[Diagnostic]]:
    """Returns the diagnostics grouped by fault, in the order of their first ones."""
    groups: list[list[Diagnostic]] = []
    group_of: dict[Hashable, int] = {}
    for item in diagnostics:
        keys = [*_fault_keys(item)]
        joined = sorted({group_of[key] for key in keys if key in group_of})
        own = joined[0] if joined else len(groups)
        if not joined:
            groups.append([])
        for other in joined[1:]:  # the finding connects these faults
            groups[own] += groups[other]
            groups[other] = []
            group_of.update((key, own) for key, number in group_of.items() if number == other)
        groups[own].append(item)
        group_of.update(dict.fromkeys(keys, own))
    return [group for group in groups if group]


def group_names(diagnostics: Sequence[Diagnostic]) -> list[str | None]:
    """For each diagnostic the name of its group, such as `PTX103-1`, which is the same in each run; None for one that
    has one location and no other finding with it."""
    names: dict[int, str] = {}
    counts: dict[str, int] = {}
    for group in group_by_fault(diagnostics):
        if len(group) > 1 or group[0].copies:
            code = group[0].code
            counts[code] = counts.get(code, 0) + 1
            names.update((id(item), f"{code}-{counts[code]}") for item in group)
    return [names.get(id(item)) for item in diagnostics]


def split_places(item: Diagnostic) -> Iterator[Diagnostic]:
    """Yields a finding that one rule reports for several locations at each of them; the first one has its fix."""
    yield replace(item, copies=())
    for each in item.copies:
        yield replace(item, span=each.span, origin=each.origin, copies=(), fix=None, proposals=())


def fold_groups(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Returns the first diagnostic of each fault, an error before others and one with help before others, with those of
    other locations among its copies, and those of other codes or lines among those related to it.
    """
    return tuple(map(_fold, group_by_fault(diagnostics)))


def _fault_keys(item: Diagnostic) -> Iterator[Hashable]:
    """Yields what is the same for all findings of one fault, or nothing if nothing indicates that another one is of the
    same.
    """
    own = _place_key(item)
    if own is not None:
        yield own
    for order in item.lacks:
        yield item.source.path, tuple(user_frames(each.origin) or each.span for each in order)


def _place_key(item: Diagnostic) -> Hashable:
    """Returns the key that all locations of one finding share, or None if no other location belongs to it."""
    if item.origin:
        about = item.subject or item.wording or item.message
        return item.code, item.severity, about, item.source.path, user_frames(item.origin)[0]
    if item.wording and item.code.startswith(_SYNTAX_CODES):
        return item.code, item.severity, item.wording, item.source.path
    return None


def _fold(group: Sequence[Diagnostic]) -> Diagnostic:
    by_place: dict[Hashable, list[Diagnostic]] = {}
    for number, item in enumerate(sorted(group, key=lambda each: (_RANK[each.severity], each.help is None))):
        place = (item.code, user_frames(item.origin)[0]) if item.origin else _place_key(item)
        by_place.setdefault(place or number, []).append(item)
    first, *others = (_merge_places(*same) for same in by_place.values())
    return replace(first, related=tuple(others)) if others else first


def _merge_places(first: Diagnostic, *others: Diagnostic) -> Diagnostic:
    if not others:
        return first
    more = (place for other in others for place in (Place(other.span, other.origin), *other.copies))
    return replace(first, copies=tuple(dict.fromkeys((*first.copies, *more))))


def fault_notes(item: Diagnostic) -> tuple[str, ...]:
    """Returns notes about the rest of the fault: other locations in the PTX, and other findings with the same cause."""
    places = [item.source.position(each.span.start)[0] for each in item.copies]
    related = [related_text(each, each.source.position(each.span.start)[0]) for each in item.related]
    return (*((other_lines_text(places),) if places else ()), *shorten_related(related))


def related_text(item: Diagnostic, line: object, message: str | None = None) -> str:
    """Describes a finding with the same cause. message: in terms of the program, if it is at such a line."""
    return f"{item.code} at line {line} has the same cause: {item.message if message is None else message}"


def shorten_related(texts: Sequence[str]) -> Iterator[str]:
    """The first texts about findings with the same cause, and how many more there are."""
    yield from texts[:MAX_GROUP_LINES]
    if len(texts) > MAX_GROUP_LINES:
        yield f"{len(texts) - MAX_GROUP_LINES} more with the same cause (--all lists them)"


def other_lines_text(lines: Sequence[object]) -> str:
    """Describes the other locations; each line occurs once."""
    each = [str(line) for line in dict.fromkeys(lines)]
    more = f" and {len(each) - MAX_GROUP_LINES} more" if len(each) > MAX_GROUP_LINES else ""
    return f"the same holds at line{'s' if len(each) > 1 else ''} {', '.join(each[:MAX_GROUP_LINES])}{more}"
