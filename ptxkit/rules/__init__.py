"""The rules, one file each, and `analyse`, which holds a module against them.

A rule reads facts of `ptxkit.analysis` and words findings; it computes no facts and formats no text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ptxkit.analysis.budget import AnalysisBudget
from ptxkit.analysis.kernel import KernelFacts
from ptxkit.diagnostics import Verdict
from ptxkit.rules import (
    ptx201_generic_in_space,
    ptx202_offset_as_generic,
    ptx205_misaligned,
    ptx206_number_out_of_range,
    ptx207_out_of_bounds,
    ptx208_other_space,
    ptx209_outside_the_window,
    ptx210_other_home,
    ptx211_multimem_address,
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
    ptx408_written_while_read_only,
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
    ptx623_last_comer,
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
from ptxkit.rules.holding import UNREACHED, RuleRun
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
    ptx211_multimem_address.RULE,
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
    ptx408_written_while_read_only.RULE,
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
    ptx623_last_comer.RULE,
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


def analyse(
    module: Module,
    policy: str = "isa",
    *,
    notes: bool = False,
    shows: Callable[[str], bool] | None = None,
    explored: dict[str, KernelFacts] | None = None,
) -> Verdict:
    """Holds every kernel of a module against the rules.

    policy: `isa` reports what the manual's text forbids; `strict` adds warnings where the text is silent. notes: says,
    too, what is there in vain. shows: of which codes to hold, whatever `notes` says; None: of all others. explored: the
    kernels that were looked at are put there by their names, for whoever wants to know more of them.
    """
    *_, verdict = analyse_incrementally(module, policy, notes=notes, shows=shows, explored=explored)
    return verdict


def analyse_incrementally(
    module: Module,
    policy: str = "isa",
    *,
    notes: bool = False,
    shows: Callable[[str], bool] | None = None,
    explored: dict[str, KernelFacts] | None = None,
    first: tuple[str, str] | None = None,
    budget: AnalysisBudget | None = None,
) -> Iterator[Verdict]:
    """The same, while it is found: the verdict so far whenever a rule has added to it; the last one is the whole.

    first: a function and a code: that kernel is held first, and against that rule. budget: for the module; it says
    what is left of it.
    """
    rules = [rule for rule in RULES if (notes or not rule.on_request if shows is None else shows(rule.code))]
    if not rules and shows is not None and not shows(UNREACHED):
        yield Verdict(())
        return
    if module.source is None:
        from ptxkit.syntax import parse

        module = parse(str(module))
    found = RuleRun(module, policy, rules, budget or AnalysisBudget(), explored)
    yield from found.verdicts(first)
    if first is not None and found.is_budget_exceeded:  # what was left for want of budget hangs on what came first
        yield from RuleRun(module, policy, rules, AnalysisBudget(), explored).verdicts()


__all__ = ["RULES", "UNREACHED", "Rule", "analyse", "analyse_incrementally"]
