"""Tries fixes, and applies the valid ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from itertools import islice

from ptxkit.analysis.ir.budget import AnalysisBudget
from ptxkit.baseline import BaselineEntry, baseline_entries
from ptxkit.diagnostics import Diagnostic, Fix, Severity
from ptxkit.diagnostics.catalogue import ptx1xx, ptx5xx, ptx6xx
from ptxkit.diagnostics.order_codes import ORDER_CODES
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.fixes.apply_edits import apply_edits
from ptxkit.fixes.candidates import propose_fixes
from ptxkit.fixes.limits import MAX_FIX_ATTEMPTS, MAX_FIX_WORK, MAX_FIXES, MIN_FIX_ATTEMPTS
from ptxkit.gc_control import pause_collection
from ptxkit.linter import lint_incremental, lint_source
from ptxkit.results import FileResult, Status
from ptxkit.settings.model import DEFAULT, Settings
from ptxkit.source import SourceFile

_QUESTION = "?"
"""Begins the entries of open questions."""
_MASKED, _MASKING = (
    {ptx5xx.MBARRIER_TX_COUNT_MISMATCH, ptx5xx.MBARRIER_MISSING_ARRIVALS, ptx5xx.MBARRIER_EXCESS_ARRIVALS},
    ptx5xx.MBARRIER_EXCESS_ARRIVALS,
)
"""The codes of phase faults that are not reported while there is an excess arrival: a fix may only hide them."""


@dataclass(frozen=True, slots=True)
class AppliedFix:
    """A finding that was settled, and its fix."""

    finding: Diagnostic
    fix: Fix


@dataclass(frozen=True, slots=True)
class FixedSource:
    """A text after all valid fixes, its remaining findings, and the applied fixes in order."""

    source: SourceFile
    result: FileResult
    applied: tuple[AppliedFix, ...]


class _FixValidator:
    """Checks changed texts within a budget, and caches the results."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._remaining_work, self._guaranteed_attempts = MAX_FIX_WORK, MIN_FIX_ATTEMPTS
        self._results: dict[str, FileResult] = {}
        self._complete: set[str] = set()

    def check(self, source: SourceFile, before: FileResult, item: Diagnostic) -> FileResult | None:
        """Returns the result of a changed text; None if the finding is not settled, or the budget is used up.

        A check ends as soon as its result refutes the fix, because findings of a partial result are also in the
        complete one. A text whose result is returned was checked completely.
        """
        text, known = source.text, self._results.get(source.text)
        if known is not None and (text in self._complete or not _is_resolved(before, known, item)):
            return known if _is_resolved(before, known, item) else None
        if self._remaining_work <= 0 and not self._guaranteed_attempts:
            return None
        [(code, function, _)] = baseline_entries((item,))
        budget = AnalysisBudget.of_module(self._settings.effort)
        steps = budget.steps
        with pause_collection(), closing(lint_incremental(source, self._settings, (function, code), budget)) as results:
            for known in results:
                self._results[text] = known
                if not _is_resolved(before, known, item):
                    break
            else:
                self._complete.add(text)
        self._guaranteed_attempts = max(self._guaranteed_attempts - 1, 0)
        self._remaining_work -= len(text) + steps - budget.steps
        return known if text in self._complete else None


def fix_source(source: SourceFile, settings: Settings = DEFAULT, *, unsafe: bool = False) -> FixedSource:
    """Settles the findings that can be settled, one after the other.

    unsafe: whether to apply fixes that may change the meaning of a correct program. At most MAX_FIXES are applied to
    one text.
    """
    applied: list[AppliedFix] = []
    checks = _FixValidator(settings)
    result = lint_source(source, settings)
    while len(applied) < MAX_FIXES:
        step = next(_valid_fixes(source, result, checks, lambda fix: fix.safe or unsafe), None)
        if step is None:
            break
        item, fix, source, result = step
        applied.append(AppliedFix(item, fix))
    return FixedSource(source, result, tuple(applied))


def with_verified_fixes(
    source: SourceFile,
    result: FileResult,
    settings: Settings = DEFAULT,
    asked: Callable[[Diagnostic], bool] = lambda _: True,
) -> FileResult:
    """Returns the result in which each finding has its first valid fix, if there is one.

    asked: selects the findings for which fixes are tried. Findings with one cause share one fix: a valid fix of one
    finding is offered for all others that it settles, except that an unsafe one is not offered for a finding that may
    have a safe one.
    """
    fixes: dict[int, Fix] = {}
    checks = _FixValidator(settings)
    held: list[tuple[Fix, FileResult]] = []
    wanted = [(number, item) for number, item in enumerate(result.diagnostics) if asked(item)]
    for number, item in wanted:
        shared = _fix_for_same_cause(result, held, item)
        if shared is not None and (shared.safe or not any(fix.safe for fix in _candidates(item))):
            fixes[number] = shared
            continue
        step = next(_valid_fixes(source, result, checks, lambda _: True, only=item), None)
        if step is not None:
            fixes[number] = step[1]
            held.append((step[1], step[3]))
    for number, item in wanted:
        shared = _fix_for_same_cause(result, held, item) if number not in fixes else None
        fixes.update({} if shared is None else {number: shared})
    found = (replace(item, fix=fixes.get(number)) for number, item in enumerate(result.diagnostics))
    return replace(result, diagnostics=tuple(found))


def _fix_for_same_cause(result: FileResult, held: Iterable[tuple[Fix, FileResult]], item: Diagnostic) -> Fix | None:
    """Returns the first fix of other findings that also settles this one."""
    return next((fix for fix, after in held if _is_resolved(result, after, item)), None)


def _candidates(item: Diagnostic) -> Iterator[Fix]:
    return islice(propose_fixes(item), MAX_FIX_ATTEMPTS)


def _valid_fixes(
    source: SourceFile,
    result: FileResult,
    checks: _FixValidator,
    wanted: Callable[[Fix], bool],
    only: Diagnostic | None = None,
) -> Iterator[tuple[Diagnostic, Fix, SourceFile, FileResult]]:
    """Yields each valid fix, with the changed text and its result."""
    if result.status is Status.FAILED:
        return
    for item in result.diagnostics:
        if only is not None and item is not only:
            continue
        for fix in _candidates(item):
            text = apply_edits(source.text, fix.edits) if wanted(fix) else None
            if text is None or text == source.text:
                continue
            changed = replace(source, text=text)
            after = checks.check(changed, result, item)
            if after is not None:
                yield item, fix, changed, after


def _is_resolved(before: FileResult, after: FileResult, item: Diagnostic) -> bool:
    """Returns whether there are fewer findings of this kind, no new ones, and none that masks the finding."""
    if after.status is Status.FAILED:
        return False
    old, new = _count_findings(before), _count_findings(after)
    if item.code == ptx1xx.SYNTAX_ERROR:  # other findings are unknown before it
        return new[ptx1xx.SYNTAX_ERROR] < old[ptx1xx.SYNTAX_ERROR]
    [entry] = baseline_entries((item,))
    is_masked = item.code in _MASKED and any(
        each[:2] == (_MASKING, entry[1]) for each in baseline_entries(after.diagnostics)
    )
    added = new - old
    if item.severity is not Severity.NOTE:  # where an order is added, another synchronization may become redundant
        added -= Counter(baseline_entries([each for each in after.diagnostics if each.severity is Severity.NOTE]))
    return new[entry] < old[entry] and not is_masked and all(_is_hidden(each, item, after) for each in added)


def _is_hidden(added: BaselineEntry | str, fixed: Diagnostic, after: FileResult) -> bool:
    """Returns whether something new is a question about unproven orders, in a text without findings.

    Such questions are open only where no violation is reported. A finding must not become one of its code at the same
    statement, nor a finding of PTX621 one elsewhere, unless conditions decide it.
    """
    if added[0] != _QUESTION or added[1] not in ORDER_CODES or after.diagnostics:
        return False
    [own] = baseline_entries((fixed,))
    open_ = baseline_entries([item for item in after.undecided if item.code == own[0] and not item.conditions])
    return added[1] != own[0] or not any(own[0] == ptx6xx.SHARED_MEMORY_RACE or each[2] == own[2] for each in open_)


def _count_findings(result: FileResult) -> Counter[BaselineEntry | str]:
    """Counts findings and open questions by their baseline entries, and syntax errors by their code."""
    counts: Counter[BaselineEntry | str] = Counter(baseline_entries(result.diagnostics))
    counts.update((_QUESTION, *entry[:2]) for entry in baseline_entries(result.undecided))
    counts[ptx1xx.SYNTAX_ERROR] = sum(item.code == ptx1xx.SYNTAX_ERROR for item in result.diagnostics)
    return counts
