"""The rules, one file each, and `analyse`, which holds a module against them.

A rule reads facts of `ptxkit.analysis` and words findings; it computes no facts and formats no text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ptxkit.analysis.budget import Budget
from ptxkit.analysis.explore import Explorer, asynchronous_steps
from ptxkit.analysis.kernel import Kernel
from ptxkit.analysis.program import Outside, Step, flatten
from ptxkit.diagnostics import Undecided, Verdict
from ptxkit.rules import (
    ptx201_generic_in_space,
    ptx202_offset_as_generic,
    ptx205_misaligned,
    ptx206_number_out_of_range,
    ptx207_out_of_bounds,
    ptx208_other_space,
    ptx209_outside_the_window,
    ptx210_other_home,
    ptx301_group_never_committed,
    ptx302_read_before_wait,
    ptx303_reused_in_flight,
    ptx304_overlapping_copies,
    ptx311_registers_in_flight,
    ptx312_register_fence,
    ptx314_operands_reused,
    ptx315_part_of_a_warpgroup,
    ptx401_proxy_fence,
    ptx402_refill_without_fence,
    ptx403_tensor_map,
    ptx404_fence_in_the_other_cta,
    ptx405_operand_stored_again,
    ptx406_polled_copy,
    ptx407_mixed_reductions,
    ptx501_use_before_init,
    ptx502_double_init,
    ptx503_expected_bytes,
    ptx504_missing_arrivals,
    ptx505_excess_arrivals,
    ptx506_narrow_scope,
    ptx507_ended_in_use,
    ptx601_barrier_never_opens,
    ptx602_uneven_counts,
    ptx603_part_of_a_warp,
    ptx604_before_grid_wait,
    ptx605_register_counts,
    ptx607_lane_not_in_its_mask,
    ptx611_remote_too_early,
    ptx612_exit_too_early,
    ptx613_cluster_barrier_halves,
    ptx614_cancellation,
    ptx621_shared_race,
    ptx622_narrow_update,
    ptx701_tensor_allocation,
    ptx702_mixed_cta_groups,
    ptx704_tensor_completion,
    ptx705_tensor_fence,
    ptx706_tensor_wait,
    ptx707_tensor_lanes,
    ptx708_tensor_given_back,
    ptx901_needless_fence,
    ptx902_wait_for_nothing,
    ptx903_twice_in_a_row,
    ptx904_empty_group,
    ptx905_wide_fence,
    ptx906_slow_multicast,
)
from ptxkit.rules.finding import Rule
from ptxkit.rules.judge import Judge
from ptxkit.source import SourceFile
from ptxkit.syntax.tree import Module

#: All rules, by code.
RULES: tuple[Rule, ...] = (
    ptx201_generic_in_space.RULE,
    ptx202_offset_as_generic.RULE,
    ptx205_misaligned.RULE,
    ptx206_number_out_of_range.RULE,
    ptx207_out_of_bounds.RULE,
    ptx208_other_space.RULE,
    ptx209_outside_the_window.RULE,
    ptx210_other_home.RULE,
    ptx301_group_never_committed.RULE,
    ptx302_read_before_wait.RULE,
    ptx303_reused_in_flight.RULE,
    ptx304_overlapping_copies.RULE,
    ptx311_registers_in_flight.RULE,
    ptx312_register_fence.RULE,
    ptx314_operands_reused.RULE,
    ptx315_part_of_a_warpgroup.RULE,
    ptx401_proxy_fence.RULE,
    ptx402_refill_without_fence.RULE,
    ptx403_tensor_map.RULE,
    ptx404_fence_in_the_other_cta.RULE,
    ptx405_operand_stored_again.RULE,
    ptx406_polled_copy.RULE,
    ptx407_mixed_reductions.RULE,
    ptx501_use_before_init.RULE,
    ptx502_double_init.RULE,
    ptx503_expected_bytes.RULE,
    ptx504_missing_arrivals.RULE,
    ptx505_excess_arrivals.RULE,
    ptx506_narrow_scope.RULE,
    ptx507_ended_in_use.RULE,
    ptx601_barrier_never_opens.RULE,
    ptx602_uneven_counts.RULE,
    ptx603_part_of_a_warp.RULE,
    ptx604_before_grid_wait.RULE,
    ptx605_register_counts.RULE,
    ptx607_lane_not_in_its_mask.RULE,
    ptx611_remote_too_early.RULE,
    ptx612_exit_too_early.RULE,
    ptx613_cluster_barrier_halves.RULE,
    ptx614_cancellation.RULE,
    ptx621_shared_race.RULE,
    ptx622_narrow_update.RULE,
    ptx701_tensor_allocation.RULE,
    ptx702_mixed_cta_groups.RULE,
    ptx704_tensor_completion.RULE,
    ptx705_tensor_fence.RULE,
    ptx706_tensor_wait.RULE,
    ptx707_tensor_lanes.RULE,
    ptx708_tensor_given_back.RULE,
    ptx901_needless_fence.RULE,
    ptx902_wait_for_nothing.RULE,
    ptx903_twice_in_a_row.RULE,
    ptx904_empty_group.RULE,
    ptx905_wide_fence.RULE,
    ptx906_slow_multicast.RULE,
)

#: The pseudo-rule under which code that no walk reached is counted as undecided.
UNREACHED = "PTX300"


def analyse(
    module: Module,
    policy: str = "isa",
    *,
    notes: bool = False,
    shows: Callable[[str], bool] | None = None,
    explored: dict[str, Kernel] | None = None,
) -> Verdict:
    """Holds every kernel of a module against the rules.

    policy: `isa` reports what the manual's text forbids; `strict` adds warnings where the text is silent. notes: says,
    too, what is there in vain. shows: of which codes to hold, whatever `notes` says; None: of all others. explored: the
    kernels that were looked at are put there by their names, for whoever wants to know more of them.
    """
    rules = [rule for rule in RULES if (notes or not rule.on_request if shows is None else shows(rule.code))]
    if not rules and shows is not None and not shows(UNREACHED):
        return Verdict(())
    source = module.source
    if source is None:
        from ptxkit.syntax import parse

        module = parse(str(module))
        source = module.source
    assert source is not None
    judge = Judge(source)
    walked: set[tuple[str, int]] = set()
    budget = Budget()
    outside = Outside(module)
    for function in module.functions():
        if function.body is not None and function.kind == "entry" and function.body.statements:
            given, left = budget.for_kernel(), budget.for_kernel()
            explorer = Explorer(flatten(module, function, outside, calls=True), left)
            kernel = _kernel(judge, explorer, policy, rules)
            walked |= _called(kernel) if kernel is not None else set()
            budget.use(given, left)
            if explored is not None and kernel is not None:
                explored[function.name] = kernel
    for function in module.functions():
        if function.body is not None and function.kind == "func":
            steps = asynchronous_steps(flatten(module, function, outside))
            _unreached(judge, source, [step for step in steps if (function.name, step.index) not in walked])
    return Verdict(tuple(judge.diagnostics), tuple(judge.undecided))


def _kernel(judge: Judge, explorer: Explorer, policy: str, rules: Sequence[Rule]) -> Kernel | None:
    """Holds one kernel against some rules; None where it has nothing to walk, or too much."""
    source = explorer.program.module.source
    assert source is not None
    if not explorer.program.steps:
        return None
    if explorer.program.is_crowded:
        reason = "the kernel mentions more shared memory than a CTA can have"
        steps = asynchronous_steps(explorer.program)
        judge.undecided.extend(Undecided(UNREACHED, reason, source, judge.span(step)) for step in steps)
        return None
    explorer.run()
    kernel = Kernel(explorer, policy)
    for rule in rules:
        judge.hear(rule, rule.check(kernel), kernel.worlds)
    _unreached(judge, source, explorer.missed)
    if explorer.budget.is_over:
        reason = "the kernel is too large to look at all of it"
        steps = asynchronous_steps(explorer.program)
        judge.undecided.extend(Undecided(UNREACHED, reason, source, judge.span(step)) for step in steps)
    return kernel


def _called(kernel: Kernel) -> set[tuple[str, int]]:
    """Which steps of functions that a kernel calls its walks executed: the function's name, and the place in it."""
    covered = kernel.explorer.covered()
    called = kernel.program.called
    return {(name, step.index) for name, each in called.items() for step in each.steps if step in covered}


def _unreached(judge: Judge, source: SourceFile, steps: list[Step]) -> None:
    reason = "no walk reaches this instruction"
    judge.undecided.extend(Undecided(UNREACHED, reason, source, judge.span(step)) for step in steps)


__all__ = ["RULES", "UNREACHED", "Rule", "analyse"]
