"""The rules, one per file, and `analyze`, which checks a module with them.

A rule reads facts of `ptxkit.analysis` and reports findings; it computes no facts and formats no text.

Input: the facts of a module. Output: findings and open questions. It imports `syntax`, `isa`,
`semantics` and `analysis`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.ir.budget import AnalysisBudget
from ptxkit.diagnostics import Verdict
from ptxkit.diagnostics.catalogue import ptx3xx
from ptxkit.rules import (
    ptx201_generic_in_space,
    ptx202_offset_as_generic,
    ptx205_misaligned,
    ptx206_number_out_of_range,
    ptx207_out_of_bounds,
    ptx208_other_space,
    ptx209_generic_window_mismatch,
    ptx210_wrong_cta_address,
    ptx211_multimem_address,
    ptx301_group_never_committed,
    ptx302_read_before_wait,
    ptx303_reused_in_flight,
    ptx304_overlapping_copies,
    ptx311_registers_in_flight,
    ptx312_register_fence,
    ptx314_operands_reused,
    ptx315_partial_warpgroup,
    ptx316_loaded_register_in_flight,
    ptx401_proxy_fence,
    ptx402_refill_without_fence,
    ptx403_tensor_map,
    ptx404_missing_remote_proxy_fence,
    ptx405_operand_overwrite_without_fence,
    ptx406_polled_copy_without_fence,
    ptx407_mixed_reductions,
    ptx408_write_to_read_only_data,
    ptx501_use_before_init,
    ptx502_double_init,
    ptx503_tx_count_mismatch,
    ptx504_missing_arrivals,
    ptx505_excess_arrivals,
    ptx506_narrow_scope,
    ptx507_inval_in_use,
    ptx601_barrier_deadlock,
    ptx602_barrier_count_mismatch,
    ptx603_partial_warp_barrier,
    ptx604_read_before_griddep_wait,
    ptx605_register_counts,
    ptx607_lane_not_in_membermask,
    ptx611_remote_access_before_start,
    ptx612_exit_before_remote_access,
    ptx613_unpaired_cluster_barrier,
    ptx614_cancel_after_refusal,
    ptx621_shared_race,
    ptx622_atomic_scope_too_narrow,
    ptx623_last_block_unordered,
    ptx624_flag_unordered,
    ptx701_tensor_allocation,
    ptx702_mixed_cta_group,
    ptx704_tensor_completion,
    ptx705_tensor_fence,
    ptx706_tensor_wait,
    ptx707_tmem_lane_ownership,
    ptx708_tmem_dealloc_in_use,
    ptx804_unsatisfiable_launch,
    ptx901_redundant_proxy_fence,
    ptx902_empty_wait,
    ptx903_duplicate_sync,
    ptx904_empty_commit_group,
    ptx905_overbroad_fence,
    ptx906_slow_multicast,
    ptx907_ineffective_sync,
    ptx908_unused_mbarrier,
)
from ptxkit.rules.model import Rule
from ptxkit.rules.runner import RuleRun
from ptxkit.syntax.tree import Module

if TYPE_CHECKING:
    from ptxkit.diagnostics.obligation import JudgedObligation

#: All rules, by code.
RULES: tuple[Rule, ...] = (
    ptx201_generic_in_space.RULE,
    ptx202_offset_as_generic.RULE,
    ptx205_misaligned.RULE,
    ptx206_number_out_of_range.RULE,
    ptx207_out_of_bounds.RULE,
    ptx208_other_space.RULE,
    ptx209_generic_window_mismatch.RULE,
    ptx210_wrong_cta_address.RULE,
    ptx211_multimem_address.RULE,
    ptx301_group_never_committed.RULE,
    ptx302_read_before_wait.RULE,
    ptx303_reused_in_flight.RULE,
    ptx304_overlapping_copies.RULE,
    ptx311_registers_in_flight.RULE,
    ptx312_register_fence.RULE,
    ptx314_operands_reused.RULE,
    ptx315_partial_warpgroup.RULE,
    ptx316_loaded_register_in_flight.RULE,
    ptx401_proxy_fence.RULE,
    ptx402_refill_without_fence.RULE,
    ptx403_tensor_map.RULE,
    ptx404_missing_remote_proxy_fence.RULE,
    ptx405_operand_overwrite_without_fence.RULE,
    ptx406_polled_copy_without_fence.RULE,
    ptx407_mixed_reductions.RULE,
    ptx408_write_to_read_only_data.RULE,
    ptx501_use_before_init.RULE,
    ptx502_double_init.RULE,
    ptx503_tx_count_mismatch.RULE,
    ptx504_missing_arrivals.RULE,
    ptx505_excess_arrivals.RULE,
    ptx506_narrow_scope.RULE,
    ptx507_inval_in_use.RULE,
    ptx601_barrier_deadlock.RULE,
    ptx602_barrier_count_mismatch.RULE,
    ptx603_partial_warp_barrier.RULE,
    ptx604_read_before_griddep_wait.RULE,
    ptx605_register_counts.RULE,
    ptx607_lane_not_in_membermask.RULE,
    ptx611_remote_access_before_start.RULE,
    ptx612_exit_before_remote_access.RULE,
    ptx613_unpaired_cluster_barrier.RULE,
    ptx614_cancel_after_refusal.RULE,
    ptx621_shared_race.RULE,
    ptx622_atomic_scope_too_narrow.RULE,
    ptx623_last_block_unordered.RULE,
    ptx624_flag_unordered.RULE,
    ptx701_tensor_allocation.RULE,
    ptx702_mixed_cta_group.RULE,
    ptx704_tensor_completion.RULE,
    ptx705_tensor_fence.RULE,
    ptx706_tensor_wait.RULE,
    ptx707_tmem_lane_ownership.RULE,
    ptx708_tmem_dealloc_in_use.RULE,
    ptx804_unsatisfiable_launch.RULE,
    ptx901_redundant_proxy_fence.RULE,
    ptx902_empty_wait.RULE,
    ptx903_duplicate_sync.RULE,
    ptx904_empty_commit_group.RULE,
    ptx905_overbroad_fence.RULE,
    ptx906_slow_multicast.RULE,
    ptx907_ineffective_sync.RULE,
    ptx908_unused_mbarrier.RULE,
)


def analyze(
    module: Module,
    policy: str = "isa",
    *,
    notes: bool = False,
    shows: Callable[[str], bool] | None = None,
    explored: dict[str, KernelFacts] | None = None,
    judged: list[JudgedObligation] | None = None,
) -> Verdict:
    """Checks every kernel of a module with the rules.

    policy: `isa` reports what the manual forbids; `strict` adds warnings where the manual does not specify the
    behavior. notes: whether redundant synchronization is reported. shows: selects the codes to check, whatever `notes`
    is; None for the default ones. explored: receives the facts of the analyzed kernels by name, for callers that need
    more than the findings. judged: receives the obligations of all kernels with their verdicts.
    """
    *_, verdict = analyze_incrementally(module, policy, notes=notes, shows=shows, explored=explored, judged=judged)
    return verdict


def analyze_incrementally(  # noqa: PLR0913 (what callers collect, each on its own)
    module: Module,
    policy: str = "isa",
    *,
    notes: bool = False,
    shows: Callable[[str], bool] | None = None,
    explored: dict[str, KernelFacts] | None = None,
    first: tuple[str, str] | None = None,
    budget: AnalysisBudget | None = None,
    judged: list[JudgedObligation] | None = None,
) -> Iterator[Verdict]:
    """Yields the verdict so far whenever a rule has added to it; the last one is complete.

    first: a function and a code: that kernel and that rule are checked first. budget: the budget of the module, which
    is reduced by what is used. explored, judged: as for `analyze`.
    """
    rules = [rule for rule in RULES if (notes or not rule.on_request if shows is None else shows(rule.code))]
    if not rules and shows is not None and not shows(ptx3xx.NOT_REACHED):
        yield Verdict(())
        return
    if module.source is None:
        from ptxkit.syntax import parse

        module = parse(str(module))
    found = RuleRun(module, policy, rules, budget or AnalysisBudget(), explored, judged)
    yield from found.verdicts(first)
    if first is not None and found.is_budget_exceeded:  # what the budget excludes depends on the order
        yield from RuleRun(module, policy, rules, AnalysisBudget(), explored).verdicts()


__all__ = ["RULES", "Rule", "analyze", "analyze_incrementally"]
