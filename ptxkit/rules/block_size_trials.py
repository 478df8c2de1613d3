"""Analyzes kernels without a declared block size at each usual size if the size decides a question.

A violation at all sizes is a warning: a launch of another size may be correct, so it is not proven. A question that is
decided as correct at one size remains undecided.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ptxkit.analysis.context.execution_coverage import ExecutionCoverage
from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.ir.thread_axes import count_thread_axes
from ptxkit.analysis.sync.block_sizes import alternative_launches
from ptxkit.analysis.values.scenario import LaunchConfig
from ptxkit.diagnostics import Diagnostic, Severity
from ptxkit.diagnostics.catalogue import notes
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.rules.launch_trials import LaunchTrials
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

        No size is tried for a question that a scenario of the first analysis decides as correct: at that size it
        remains undecided.
        """
        known = {*judge.diagnostic_by_span, *judge.satisfied_in_some_scenario}
        asked = [
            item for item in judge.undecided if item.missing.startswith("block") and (item.code, item.span) not in known
        ]
        if not asked or kernel.explorer.launch.is_exact:
            return
        codes = {item.code for item in asked}
        chosen = [rule for rule in rules if rule.code in codes]
        failing, open_, sizes = self._try_sizes(kernel, chosen, {(item.code, item.span) for item in asked})
        warned = {id(item): _as_warning(item, sizes) for item in failing.values()}
        judge.diagnostics.extend(warned.values())
        judge.undecided = [
            replace(item, missing="") if (item.code, item.span) in open_ else item
            for item in judge.undecided
            if (item.code, item.span) not in failing
        ]

    def _try_sizes(
        self, kernel: KernelFacts, rules: Sequence[Rule], asked: Collection[CodeSpan]
    ) -> tuple[dict[CodeSpan, Diagnostic], set[CodeSpan], list[int]]:
        """Returns the questions that are violations at every size, those undecided at a known size, and the sizes.

        The result is empty if not all sizes could be analyzed.
        """
        sizes, open_ = list[int](), set[CodeSpan]()
        failing: dict[CodeSpan, Diagnostic] | None = None
        for size, trial in self.trials(kernel, rules):
            if trial is None:
                return {}, set(), []
            if trial.is_launchable:
                sizes.append(size)
                open_ |= {(item.code, item.span) for item in trial.builder.undecided}
                seen = {place: item for place, item in trial.builder.diagnostic_by_span.items() if place in asked}
                failing = {place: item for place, item in (failing or seen).items() if place in seen}
                if not failing:
                    break
        return failing or {}, open_, sorted(sizes)

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


def _as_warning(item: Diagnostic, sizes: Sequence[int]) -> Diagnostic:
    listed = ", ".join(map(str, sizes))
    return replace(item, severity=Severity.WARNING, notes=(*item.notes, notes.BLOCK_SIZE_UNKNOWN(sizes=listed)))
