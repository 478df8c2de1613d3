"""Trying mends, and applying those that hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from itertools import islice

from ptxkit.analysis.budget import MAX_MODULE_STEPS, Budget
from ptxkit.baseline import Entry, entries
from ptxkit.diagnostics import Diagnostic, Fix
from ptxkit.garbage import no_collections
from ptxkit.limits import LEAST_TRIED, MAX_MENDING, MAX_MENDS, MAX_MENDS_TRIED
from ptxkit.linter import growing, lint_source
from ptxkit.mending.proposals import proposals
from ptxkit.mending.text import edited
from ptxkit.records import dataclass, replace
from ptxkit.results import FileResult, Status
from ptxkit.settings.model import DEFAULT, Settings
from ptxkit.source import SourceFile

SYNTAX = "PTX101"
_MASKED, _MASKING = {"PTX503", "PTX504", "PTX505"}, "PTX505"
"""Faults of phases that are not asked about while an arrival is too many: a mend may only hide them."""


@dataclass(frozen=True, slots=True)
class Applied:
    """A finding that was settled, and how."""

    finding: Diagnostic
    fix: Fix


@dataclass(frozen=True, slots=True)
class Mended:
    """A text after all mends that hold, what is still found in it, and what was settled, in that order."""

    source: SourceFile
    result: FileResult
    applied: tuple[Applied, ...]


class _Checks:
    """The checks of changed texts: of each as much as decides, and of costly ones some alone."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._left, self._least = MAX_MENDING, LEAST_TRIED
        self._known: dict[str, FileResult] = {}
        self._whole: set[str] = set()

    def settled(self, source: SourceFile, before: FileResult, item: Diagnostic) -> FileResult | None:
        """What is found in a changed text, if that settles the finding; None, too, where it may not be asked any more.

        What speaks against it is looked for first, and the check ends there: a finding that is there still, or that
        came, is in the whole result, too. A text that is said to settle it was checked to the end.
        """
        text, known = source.text, self._known.get(source.text)
        if known is not None and (text in self._whole or not _settles(before, known, item)):
            return known if _settles(before, known, item) else None
        if self._left <= 0 and not self._least:
            return None
        [(code, function, _)] = entries((item,))
        budget = Budget()
        with no_collections(), closing(growing(source, self._settings, (function, code), budget)) as results:
            for known in results:
                self._known[text] = known
                if not _settles(before, known, item):
                    break
            else:
                self._whole.add(text)
        self._least = max(self._least - 1, 0)
        self._left -= len(text) + MAX_MODULE_STEPS - budget.steps
        return known if text in self._whole else None


def mend(source: SourceFile, settings: Settings = DEFAULT, *, unsafe: bool = False) -> Mended:
    """Settle what can be settled, one finding after the other.

    unsafe: apply, too, what may change the meaning of a correct program. At most MAX_MENDS are applied to one text.
    """
    applied: list[Applied] = []
    checks = _Checks(settings)
    result = lint_source(source, settings)
    while len(applied) < MAX_MENDS:
        step = next(_steps(source, result, checks, lambda fix: fix.safe or unsafe), None)
        if step is None:
            break
        item, fix, source, result = step
        applied.append(Applied(item, fix))
    return Mended(source, result, tuple(applied))


def offered(
    source: SourceFile,
    result: FileResult,
    settings: Settings = DEFAULT,
    asked: Callable[[Diagnostic], bool] = lambda _: True,
) -> FileResult:
    """The result in which each finding has the first mend that holds, or none. asked: of which to find out.

    Findings that have one cause have one mend: one that holds for a finding is offered for others that it settles, too,
    but an unsafe one for none that may have a safe one.
    """
    fixes: dict[int, Fix] = {}
    checks = _Checks(settings)
    held: list[tuple[Fix, FileResult]] = []
    wanted = [(number, item) for number, item in enumerate(result.diagnostics) if asked(item)]
    for number, item in wanted:
        shared = _shared(result, held, item)
        if shared is not None and (shared.safe or not any(fix.safe for fix in _tried(item))):
            fixes[number] = shared
            continue
        step = next(_steps(source, result, checks, lambda _: True, only=item), None)
        if step is not None:
            fixes[number] = step[1]
            held.append((step[1], step[3]))
    for number, item in wanted:
        shared = _shared(result, held, item) if number not in fixes else None
        fixes.update({} if shared is None else {number: shared})
    found = (replace(item, fix=fixes.get(number)) for number, item in enumerate(result.diagnostics))
    return replace(result, diagnostics=tuple(found))


def _shared(result: FileResult, held: Iterable[tuple[Fix, FileResult]], item: Diagnostic) -> Fix | None:
    """The first mend of other findings that settles this one, too."""
    return next((fix for fix, after in held if _settles(result, after, item)), None)


def _tried(item: Diagnostic) -> Iterator[Fix]:
    return islice(proposals(item), MAX_MENDS_TRIED)


def _steps(
    source: SourceFile,
    result: FileResult,
    checks: _Checks,
    wanted: Callable[[Fix], bool],
    only: Diagnostic | None = None,
) -> Iterator[tuple[Diagnostic, Fix, SourceFile, FileResult]]:
    """Each mend that holds, with the text and its result after it."""
    if result.status is Status.FAILED:
        return
    for item in result.diagnostics:
        if only is not None and item is not only:
            continue
        for fix in _tried(item):
            text = edited(source.text, fix.edits) if wanted(fix) else None
            if text is None or text == source.text:
                continue
            changed = replace(source, text=text)
            after = checks.settled(changed, result, item)
            if after is not None:
                yield item, fix, changed, after


def _settles(before: FileResult, after: FileResult, item: Diagnostic) -> bool:
    """Whether the finding is gone, and nothing else came in its place: once not, not when more is found either."""
    if after.status is Status.FAILED:
        return False
    old, new = _counted(before), _counted(after)
    if item.code == SYNTAX:  # nothing else was looked at before
        return new[SYNTAX] < old[SYNTAX]
    [entry] = entries((item,))
    is_masked = item.code in _MASKED and any(each[:2] == (_MASKING, entry[1]) for each in entries(after.diagnostics))
    return new[entry] < old[entry] and not new - old and not is_masked


def _counted(result: FileResult) -> Counter[Entry | str]:
    """Findings and open questions by what they are known by, syntax errors by their code."""
    counts: Counter[Entry | str] = Counter(entries(result.diagnostics))
    counts.update(("?", *entry[:2]) for entry in entries(result.undecided))
    counts[SYNTAX] = sum(item.code == SYNTAX for item in result.diagnostics)
    return counts
