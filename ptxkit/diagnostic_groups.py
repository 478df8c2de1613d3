"""Findings that are one fault: about one variable at one line of the program, which unrolling, inlining or templates
copied, or one wrong spelling that occurs in several places.

Reports for people show the first of a group with the number of its places; documents keep all, with the group's name.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from ptxkit.diagnostics import Diagnostic, Place
from ptxkit.fast_dataclasses import replace
from ptxkit.limits import MAX_GROUP_LINES
from ptxkit.user_code import user_frames

#: Codes that are about the spelling of a statement alone, wherever it is: the same message about the same opcode
#: is the same fault.
_SYNTAX_CODES = ("PTX1", "PTX8")


def group_by_fault(diagnostics: Iterable[Diagnostic]) -> list[list[Diagnostic]]:
    """The diagnostics by fault, in the order of their first ones."""
    found: dict[Hashable, list[Diagnostic]] = {}
    for number, item in enumerate(diagnostics):
        found.setdefault(_fault_key(item) or number, []).append(item)
    return list(found.values())


def group_names(diagnostics: Sequence[Diagnostic]) -> list[str | None]:
    """For each diagnostic the name of its group, such as `PTX103-1`, which is the same in each run; None for one that
    is alone."""
    names: dict[int, str] = {}
    counts: dict[str, int] = {}
    for group in group_by_fault(diagnostics):
        if len(group) > 1:
            code = group[0].code
            counts[code] = counts.get(code, 0) + 1
            names.update((id(item), f"{code}-{counts[code]}") for item in group)
    return [names.get(id(item)) for item in diagnostics]


def fold_groups(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The first diagnostic of each fault, with the places of the others among its copies."""
    return tuple(_merge_places(*group) for group in group_by_fault(diagnostics))


def _fault_key(item: Diagnostic) -> Hashable:
    """What is the same for all places of one fault; None where nothing says that another place is one of them."""
    if item.origin:
        about = item.subject or item.wording or item.message
        return item.code, item.severity, about, item.source.path, user_frames(item.origin)[0]
    if item.wording and item.code.startswith(_SYNTAX_CODES):
        return item.code, item.severity, item.wording, item.source.path
    return None


def _merge_places(first: Diagnostic, *others: Diagnostic) -> Diagnostic:
    if not others:
        return first
    more = (place for other in others for place in (Place(other.span, other.origin), *other.copies))
    return replace(first, copies=tuple(dict.fromkeys((*first.copies, *more))))


def copies_note(item: Diagnostic) -> tuple[str, ...]:
    """Where else in the PTX the same holds: one note, or none."""
    if not item.copies:
        return ()
    return (other_lines_text([item.source.position(each.span.start)[0] for each in item.copies]),)


def other_lines_text(lines: Sequence[object]) -> str:
    """Where else the same holds, in words; each line once."""
    each = [str(line) for line in dict.fromkeys(lines)]
    more = f" and {len(each) - MAX_GROUP_LINES} more" if len(each) > MAX_GROUP_LINES else ""
    return f"the same holds at line{'s' if len(each) > 1 else ''} {', '.join(each[:MAX_GROUP_LINES])}{more}"
