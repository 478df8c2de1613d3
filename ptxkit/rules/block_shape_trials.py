"""Analyzes kernels that read positions along several axes, but do not declare the shape of their blocks.

`.maxntid 256` limits the number of threads only: the kernel may be launched with blocks of 16 by 16 threads, whose
addresses and roles differ from those of the block of one row that is analyzed. What is wrong there is proven only if it
is wrong in blocks of the usual shapes as well.

Source: PTX ISA, "Performance-Tuning Directives: .maxntid".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.dataflow.thread_numbering import only_numbers_threads
from ptxkit.analysis.ir.thread_axes import ONE_WARP_BLOCKS, ROW_LENGTHS, USUAL_BLOCKS, count_thread_axes
from ptxkit.analysis.values.scenario import declared_extents
from ptxkit.diagnostics import Severity
from ptxkit.rules.launch_trials import LaunchTrials
from ptxkit.rules.model import Rule
from ptxkit.rules.verdict_builder import VerdictBuilder

THREAD_COUNTS = (256, 128, 64, 1024)
"""The numbers of threads that are tried where the kernel declares no limit, the most frequent first."""


class BlockShapeTrials:
    """Tries blocks with several rows of threads for a kernel in which errors were found."""

    def __init__(self, trials: LaunchTrials) -> None:
        self._trials = trials

    def resolve(self, judge: VerdictBuilder, kernel: KernelFacts, rules: Sequence[Rule]) -> None:
        """Turns the errors that a block of some shape does not have, or that cannot be tried, into questions."""
        launch = kernel.explorer.launch
        row = [(launch.threads, 1, 1)] if launch.block != declared_extents(kernel.program) else []
        shapes = [*row, *blocks_with_rows(kernel)]
        errors = {id(item): item for item in judge.diagnostics if item.severity is Severity.ERROR}
        codes = {item.code for item in errors.values()}
        chosen = [rule for rule in rules if rule.code in codes]
        proven = dict(errors)
        for block in shapes:
            if not proven:
                break
            facts = self._trials.explore(kernel, "reqntid", block)
            found = self._trials.check(facts, chosen, with_questions=False).diagnostic_by_span
            if self._trials.budget.is_used_up:
                proven = {}
            elif facts is not None:
                proven = {number: item for number, item in proven.items() if (item.code, item.span) in found}
        judge.retract([item for number, item in errors.items() if number not in proven], kernel.scenarios)
        self._ask_about_third_axis(judge, kernel, rules)

    def _ask_about_third_axis(self, judge: VerdictBuilder, kernel: KernelFacts, rules: Sequence[Rule]) -> None:
        """Adds questions about blocks with three axes, if the kernel reads positions along all of them.

        Many kernels only number their threads so, and are launched with one row, which is the block that is analyzed.
        """
        launch = kernel.explorer.launch
        if launch.is_exact or launch.block[1:] != (1, 1) or count_thread_axes(kernel.program) < len(launch.block):
            return
        block = next(
            (
                each
                for each in (*USUAL_BLOCKS[3], ONE_WARP_BLOCKS[3])
                if not launch.is_limit or prod(each) <= launch.threads
            ),
            None,
        )
        if block is None or (prod(block) == launch.threads and kernel.program.analysis(only_numbers_threads)):
            return  # such a block does what the analyzed row does
        facts = self._trials.explore(kernel, "reqntid", block)
        chosen = [rule for rule in rules if not rule.on_request]
        judge.ask_about_shape(self._trials.check(facts, chosen, with_questions=False).diagnostic_by_span)


def blocks_with_rows(kernel: KernelFacts) -> Iterator[tuple[int, int, int]]:
    """Yields blocks with several rows; none if the kernel declares a shape or reads positions along x only."""
    launch = kernel.explorer.launch
    if launch.is_exact or declared_extents(kernel.program)[1:] != (1, 1) or count_thread_axes(kernel.program) == 1:
        return
    for threads in (launch.threads,) if launch.is_limit else THREAD_COUNTS:
        for x in ROW_LENGTHS:
            if not threads % x:
                yield x, threads // x, 1
