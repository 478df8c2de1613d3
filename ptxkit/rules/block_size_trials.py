"""Analyzes kernels without a declared block size at each usual size if the size decides a question.

A violation at all sizes is a warning: a launch of another size may be correct, so it is not proven. A question that is
decided as correct at one size, at which no rule finds a violation, holds on the condition that the block has that size.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ptxkit.analysis.context.execution_coverage import ExecutionCoverage
from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.ir.thread_axes import count_thread_axes
from ptxkit.analysis.sync.block_sizes import alternative_launches
from ptxkit.analysis.values.scenario import LaunchConfig
from ptxkit.diagnostics import Diagnostic, Severity, Undecided
from ptxkit.diagnostics.catalogue import notes
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.model.launch_contract import BlockLimits
from ptxkit.rules.launch_trials import LaunchTrials, join_open, sizes_with_violation
from ptxkit.rules.model import Rule
from ptxkit.rules.verdict_builder import CodeSpan, VerdictBuilder
from ptxkit.syntax.tree import Function

COMMON_BLOCK_SIZES = (256, 128, 512, 1024, 64, 32)
"""The numbers of threads of a block, the most frequent first; no further size is tried after a correct one."""


class BlockSizeTrials:
    """Tries other block sizes of a kernel than the analyzed one."""

    def __init__(self, trials: LaunchTrials) -> None:
        self._trials = trials

    def resolve(self, judge: VerdictBuilder, kernel: KernelFacts, rules: Sequence[Rule]) -> None:
        """Turns undecided questions that depend on the block size into warnings if every size has the same result.

        The others have the condition that the block has a size at which no rule finds a violation, if one was tried. No
        size is tried for a question that a scenario of the first analysis decides as correct: at that size it remains
        undecided.
        """
        known = {*judge.diagnostic_by_span, *judge.satisfied_in_some_scenario}
        asked = [
            item for item in judge.undecided if item.missing.startswith("block") and (item.code, item.span) not in known
        ]
        if not asked or kernel.explorer.launch.is_exact:
            return
        codes, places = {item.code for item in asked}, {(item.code, item.span) for item in asked}
        chosen = [rule for rule in rules if rule.code in codes]
        tried = self._try_sizes(kernel, chosen, places)
        if not tried:
            return
        failing = {
            place: item
            for place, item in tried[-1][1].diagnostic_by_span.items()
            if place in places and all(place in builder.diagnostic_by_span for _, builder in tried)
        }
        sizes = sorted(launch.threads for launch, _ in tried)
        warned = {id(item): _as_warning(item, sizes) for item in failing.values()}
        judge.diagnostics.extend(warned.values())
        open_ = {(item.code, item.span) for _, builder in tried for item in builder.undecided}
        judge.undecided = [
            replace(item, missing="") if (item.code, item.span) in open_ else item
            for item in judge.undecided
            if (item.code, item.span) not in failing
        ]
        correct = next((launch for launch, builder in tried if _finds_nothing_new(builder, judge)), None)
        if correct is not None:
            found = judge.diagnostic_by_span.keys() | failing.keys()
            wrong = {launch.threads: builder.diagnostic_by_span.keys() - found for launch, builder in tried}
            sizes_and_code = sizes_with_violation(wrong)
            self._add_conditions(judge, kernel.program.function, correct, rules, sizes_and_code)

    def _try_sizes(
        self, kernel: KernelFacts, rules: Sequence[Rule], asked: Collection[CodeSpan]
    ) -> list[tuple[LaunchConfig, VerdictBuilder]]:
        """Returns the results up to the first size at which no question is a violation that is one at all sizes before.

        The result is empty if not all sizes could be analyzed.
        """
        found: list[tuple[LaunchConfig, VerdictBuilder]] = []
        failing = set(asked)
        for launch in _candidate_launches(kernel, ()):
            trial = self._check_at_size(kernel.program.function, launch, rules)
            if trial is None:
                return []
            if trial.is_launchable:
                found.append((launch, trial.builder))
                failing &= set(trial.builder.diagnostic_by_span)
                if not failing:
                    break
        return found

    def _add_conditions(
        self,
        judge: VerdictBuilder,
        function: Function,
        launch: LaunchConfig,
        rules: Sequence[Rule],
        violation: tuple[tuple[int, ...], str],
    ) -> None:
        """Adds the condition of a size to the questions that it decides, if no rule finds anything else there.

        violation: other sizes and the violation that was found with them.
        """
        trial = self._check_at_size(function, launch, [rule for rule in rules if not rule.on_request])
        if trial is None or not _finds_nothing_new(trial.builder, judge):
            return
        failing, code = violation
        holds = (BlockLimits(possible=(launch.threads,), failing=failing, code=code),)
        open_ = {(item.code, item.span): item for item in trial.builder.undecided}
        decided: list[Undecided] = []
        for item in judge.undecided:
            left = open_.pop((item.code, item.span), None)
            if item.conditions or not item.missing.startswith("block"):
                decided.append(item)
            else:
                decided.append(replace(item, conditions=holds) if left is None else join_open([item, left], holds))
        judge.undecided = [*decided, *(join_open([item], holds) for item in open_.values())]

    def trials(
        self, kernel: KernelFacts, rules: Sequence[Rule], preferred: Sequence[int] = ()
    ) -> Iterator[tuple[int, SizeTrial | None]]:
        """Yields each number of threads to try, with the result; None where the analysis was incomplete.

        preferred: the numbers of threads that come first.
        """
        rank = {size: number for number, size in enumerate(preferred)}
        launches = _candidate_launches(kernel, preferred)
        for launch in sorted(launches, key=lambda each: rank.get(each.threads, len(rank))):
            yield launch.threads, self._check_at_size(kernel.program.function, launch, rules)

    def _check_at_size(self, function: Function, launch: LaunchConfig, rules: Sequence[Rule]) -> SizeTrial | None:
        """Returns the verdict on the kernel with a block size; None if the analysis was incomplete."""
        kernel = self._trials.explore(function, "reqntid", launch.block)
        judge = self._trials.check(kernel, rules)
        if self._trials.budget.is_used_up:
            return None
        is_covered = (
            kernel is not None and bool(judge.diagnostics) and ExecutionCoverage(kernel).is_same_in_all_launches
        )
        return SizeTrial(judge, kernel is not None, is_covered)


@dataclass(frozen=True, slots=True)
class SizeTrial:
    """The result with one number of threads.

    is_launchable: whether the shared memory of a CTA of that size is within the limit. covers_launches: whether all
    launches with that number of threads have the diagnostics.
    """

    builder: VerdictBuilder
    is_launchable: bool
    covers_launches: bool


def _candidate_launches(kernel: KernelFacts, further: Sequence[int]) -> Iterator[LaunchConfig]:
    """Yields the launches of usual and further sizes that the kernel allows, and of sizes that barrier counts suggest.

    The result is empty if the kernel uses several thread axes without declaring their lengths.
    """
    given = kernel.explorer.launch
    if not given.is_limit and count_thread_axes(kernel.program) > 1:
        return
    _, y, z = given.block
    most = given.threads if given.is_limit else max(COMMON_BLOCK_SIZES)
    first = (*((most,) if given.is_limit else ()), *COMMON_BLOCK_SIZES, *further)
    for size in dict.fromkeys(first):
        if size <= most and not size % (y * z):
            yield LaunchConfig((size // (y * z), y, z), given.cluster, is_exact=True)
    yield from alternative_launches(given, kernel.scenarios[0].thread_classes, first)


def _finds_nothing_new(builder: VerdictBuilder, judge: VerdictBuilder) -> bool:
    return not builder.diagnostic_by_span.keys() - judge.diagnostic_by_span.keys()


def _as_warning(item: Diagnostic, sizes: Sequence[int]) -> Diagnostic:
    listed = ", ".join(map(str, sizes))
    return replace(item, severity=Severity.WARNING, notes=(*item.notes, notes.BLOCK_SIZE_UNKNOWN(sizes=listed)))
