"""Checks the fixes that are offered for the findings of mutants.

A fix may be offered only if it settles its finding. That is checked here independently of `ptxkit.fixes`: the fixed
text is parsed, checked and assembled again, and findings and undecided questions are counted by their codes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from time import time

from ptxkit.baseline import baseline_entries
from ptxkit.diagnostics import Diagnostic, Severity
from ptxkit.diagnostics.order_codes import ORDER_CODES
from ptxkit.fast_dataclasses import dataclass
from ptxkit.fixes import apply_edits, with_verified_fixes
from ptxkit.gc_control import pause_collection
from ptxkit.linter import lint_source
from ptxkit.results import FileResult, Status
from ptxkit.source import SourceFile
from ptxkit.syntax import PTXSyntaxError, parse
from ptxkit.testing.mutation.campaign import CorpusKernel
from ptxkit.testing.mutation.mutant import Mutant
from ptxkit.testing.oracles.ptxas import installed_ptxas

CACHE_SIZE = 64
"""Texts whose results a process caches."""


@dataclass(frozen=True, slots=True)
class FixCheck:
    """The checks of the text after one fix. gone: its finding is fixed; quiet: no other finding or question is new."""

    parses: bool
    assembles: bool
    gone: bool
    quiet: bool

    @property
    def is_valid(self) -> bool:
        return self.parses and self.assembles and self.gone and self.quiet


@dataclass(frozen=True, slots=True)
class FixTrial:
    """A finding of a mutant that its kernel does not have. fix: the description of the offered fix; None if none
    exists."""

    mutant: Mutant
    code: str
    fix: str | None = None
    check: FixCheck | None = None


@dataclass(frozen=True, slots=True)
class FixTrialBatch:
    """The results of some mutants. mutant_count: the number of examined ones, which is less than all after a
    timeout."""

    mutant_count: int
    trials: tuple[FixTrial, ...]


def run_fix_trials(kernel: CorpusKernel, candidates: Sequence[Mutant], until: float | None = None) -> FixTrialBatch:
    """Yields each new error and warning of each mutant, with the offered fix applied separately.

    until: the time (`time.time()`) after which no further mutant is examined.
    """
    known = Counter(baseline_entries(_lint_cached(kernel.name, _strip_blank_lines(kernel.text)).diagnostics))
    found: list[FixTrial] = []
    for number, mutant in enumerate(candidates):
        if until is not None and time() >= until:
            return FixTrialBatch(number, tuple(found))
        found += _trials_of_mutant(kernel, mutant, known)
    return FixTrialBatch(len(candidates), tuple(found))


def _trials_of_mutant(kernel: CorpusKernel, mutant: Mutant, known: Counter[tuple[str, str, str]]) -> Iterator[FixTrial]:
    source = SourceFile(kernel.name, mutant.apply(kernel.text))
    with pause_collection():
        result = lint_source(source)
    left, new = Counter(known), []
    for item, entry in zip(result.diagnostics, baseline_entries(result.diagnostics), strict=True):
        left[entry] -= 1
        if left[entry] < 0 and item.severity is not Severity.NOTE:
            new.append(item)
    places = [number for number, item in enumerate(result.diagnostics) if any(item is each for each in new)]
    shown = with_verified_fixes(source, result, asked=lambda asked: any(asked is each for each in new))
    for item in (shown.diagnostics[place] for place in places):
        if item.fix is None:
            yield FixTrial(mutant, item.code)
        else:
            yield FixTrial(mutant, item.code, item.fix.message, _check_fix(source, result, item))


def _check_fix(source: SourceFile, before: FileResult, item: Diagnostic) -> FixCheck:
    text = apply_edits(source.text, item.fix.edits) if item.fix else None
    target = _target(source.path, text) if text is not None else None
    if text is None or target is None:
        return FixCheck(parses=False, assembles=False, gone=False, quiet=False)
    text = _strip_blank_lines(text)
    after = _lint_cached(source.path, text)
    old, new = _count_codes(before), _count_codes(after)
    checked = after.status is not Status.FAILED
    return FixCheck(
        parses=True,
        assembles=_assembles(text, target),
        gone=checked and new[item.code] < old[item.code],
        quiet=checked and not new - old,
    )


def _target(path: str, text: str) -> str | None:
    """Returns the target of a text, or None if it cannot be parsed."""
    try:
        return parse(text, path).targets[0]
    except PTXSyntaxError:
        return None


def _strip_blank_lines(text: str) -> str:
    """Removes blank lines and indentation, so that texts that only differ in them, as after a fix that restores a
    kernel, are equal.
    """
    return "".join(f"{line}\n" for line in map(str.strip, text.splitlines()) if line)


@lru_cache(CACHE_SIZE)
def _lint_cached(path: str, text: str) -> FileResult:
    with pause_collection():
        return lint_source(SourceFile(path, text))


@lru_cache(CACHE_SIZE)
def _assembles(text: str, target: str) -> bool:
    return installed_ptxas()[0].refusal(text, target) is None


def _count_codes(result: FileResult) -> Counter[str]:
    """Returns the number of findings, and of undecided questions, for each code.

    Questions about unproven orders, which are open only where nothing is reported, are left out there.
    """
    hidden = frozenset[str]() if result.diagnostics else ORDER_CODES
    asked = Counter(f"{each.code}?" for each in result.undecided if each.code not in hidden)
    return Counter(each.code for each in result.diagnostics) + asked


def report_trials(found: Sequence[FixTrial], *, listed: bool) -> tuple[list[str], bool]:
    """Returns tables by family and by code, each fix that fails a check, and whether none exists. listed: also
    findings without a fix.
    """
    lines = [*_table_lines(found, "family", lambda each: each.mutant.family), ""]
    lines += [*_table_lines(found, "code", lambda each: each.code), ""]
    broken = [each for each in found if _is_invalid_fix(each)]
    if listed:
        lines += [f"no fix: {each.code}: {each.mutant.family}: {each.mutant}" for each in found if each.fix is None]
    lines += [f"broken fix: {each.code}: {each.mutant.family}: {each.mutant}: {each.fix}" for each in broken]
    return [*lines, summary(found)], not broken


def summary(found: Sequence[FixTrial]) -> str:
    """Returns how many findings have a fix, and how many of the fixes pass all checks."""
    offers, broken = sum(each.fix is not None for each in found), sum(map(_is_invalid_fix, found))
    return (
        f"{offers} of {len(found)} findings have a fix: {offers / max(len(found), 1):.1%}; "
        f"{offers - broken} of {offers} fixes pass all checks"
    )


def _is_invalid_fix(trial: FixTrial) -> bool:
    return trial.check is not None and not trial.check.is_valid


def as_json(trial: FixTrial) -> dict[str, object]:
    """Returns a trial as a JSON object."""
    mutant, kept = trial.mutant, trial.check
    names = ("kernel", "function", "line", "family", "change", "ordinal")
    promises = (
        None if kept is None else {name: getattr(kept, name) for name in ("parses", "assembles", "gone", "quiet")}
    )
    return {
        **{name: getattr(mutant, name) for name in names},
        "code": trial.code,
        "fix": trial.fix,
        "kept": promises,
    }


def _table_lines(found: Iterable[FixTrial], heading: str, name: Callable[[FixTrial], str]) -> Iterator[str]:
    """Yields a table: findings, fixes, and how many of these pass each check; `open` counts findings without a fix."""
    groups: dict[str, list[FixTrial]] = {}
    for each in found:
        groups.setdefault(name(each), []).append(each)
    width = max([len(each) for each in groups] + [len(heading)])
    yield f"{heading:<{width}}  findings  fixes  parse  assemble  gone  nothing new  open"
    for row, group in sorted(groups.items()):
        kept = [each.check for each in group if each.check is not None]
        without = Counter(each.code for each in group if each.check is None)
        yield (
            f"{row:<{width}}  {len(group):8}  {len(kept):5}  {sum(k.parses for k in kept):5}  "
            f"{sum(k.assembles for k in kept):8}  {sum(k.gone for k in kept):4}  {sum(k.quiet for k in kept):11}  "
            + " ".join(f"{code}:{count}" for code, count in sorted(without.items()))
        ).rstrip()
