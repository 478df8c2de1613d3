"""Proves by the schedules of the threads that accesses to Tensor Memory are ordered, complete and fenced.

All that can order them is examined where the schedules are known, so that what they leave open is a question there.

Source: PTX ISA, "Memory Consistency Model for 5th generation of TensorCore operations", "tcgen05.commit",
"tcgen05.wait", "tcgen05.fence", "tcgen05.alloc, tcgen05.dealloc, tcgen05.relinquish_alloc_permit".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ptxkit.analysis.abstract_interpretation.abstract_values import integers_in
from ptxkit.analysis.abstract_interpretation.tensor_allocations import has_balanced_allocations, management_steps
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.phase_order.access_comparison import AccessComparison
from ptxkit.diagnostics.catalogue import obligation_words
from ptxkit.diagnostics.message import TextTemplate
from ptxkit.isa.effects import Access, CtaGroup, Effect, TensorFence, TensorMemory
from ptxkit.isa.expressions import OperandRole
from ptxkit.rules.execution_proofs import prove_whole_warp
from ptxkit.rules.function_proofs import FunctionProofs
from ptxkit.rules.model import STEP_LINES, Evidence, ProofResult, Unproven
from ptxkit.rules.obligation_sites import Site, is_tensor_access
from ptxkit.rules.phase_proofs import by_schedules


def prove_operations_complete(proofs: FunctionProofs, site: Site) -> ProofResult:
    """Proves for PTX704 that no multiplication, copy or shift may write what a load or store accesses."""
    return _prove(proofs, _partners(site, is_pipelined), obligation_words.NO_COMMIT_PROVEN)


def prove_moves_complete(proofs: FunctionProofs, site: Site) -> ProofResult:
    """Proves for PTX706 that no load or store of an earlier access may be in progress."""
    return _prove(proofs, _partners(site, _is_move), obligation_words.NO_WAIT_PROVEN)


def prove_unused(proofs: FunctionProofs, site: Site) -> ProofResult:
    """Proves for PTX708 that no access of Tensor Memory may come after its deallocation, or during it."""
    found = _prove(proofs, _partners(site, is_tensor_access), obligation_words.NO_ORDER_BEFORE_DEALLOCATION_PROVEN)
    is_paired = any(isinstance(effect, CtaGroup) and effect.ctas > 1 for effect in site.step.effects)
    # Both CTAs of a pair must deallocate, which the order does not show.
    return None if is_paired and not isinstance(found, Unproven) else found


def prove_allocation(proofs: FunctionProofs, site: Site) -> ProofResult:
    """Proves for PTX701 that whole warps allocate and deallocate the same number of columns, in turn.

    It proves nothing of accesses, whose columns must be allocated.
    """
    steps = management_steps(proofs.program)
    if site.step not in steps or not has_balanced_allocations(proofs.program):
        return None
    counts = {proofs.once(_columns_of).get(step) for step in steps if step in proofs.once(_columns_of)}
    if len(counts) != 1 or None in counts:
        return None
    whole = [prove_whole_warp(proofs, Site(step)) for step in steps]
    if None in whole:
        return None
    needs = dict.fromkeys(need for each in whole if isinstance(each, tuple) for need in each)
    return tuple(needs) or Evidence("balanced", obligation_words.ALLOCATIONS_BALANCED(lines=STEP_LINES), steps)


def _columns_of(proofs: FunctionProofs) -> dict[Step, int | None]:
    """Returns the number of columns of each allocation and deallocation; None where it is unknown."""
    found: dict[Step, int | None] = {}
    for step in management_steps(proofs.program):
        for effect in step.effects:
            if isinstance(effect, TensorMemory) and effect.columns is not None:
                found[step] = step.constant_of(effect.columns)
                operand = step.operand(effect.columns.name) if isinstance(effect.columns, OperandRole) else None
                held = integers_in(proofs.values.value_at(step, operand)) if operand is not None else None
                if held is not None and held.unsigned[0] == held.unsigned[1]:
                    found[step] = held.unsigned[0]
    return found


def prove_fenced_after(proofs: FunctionProofs, site: Site) -> ProofResult:
    """Proves for PTX705 that a fence follows each synchronization by which a thread observes a tcgen05 operation.

    Where a kernel has no fences for Tensor Memory, nothing is proven, and nothing is demanded under the policy `isa`.
    """
    if not proofs.once(_has_fences):
        return None
    return _prove(
        proofs, lambda order: order.tensor_unfenced.get(site.step, ()), obligation_words.NO_TENSOR_FENCE_PROVEN
    )


def _prove(
    proofs: FunctionProofs, left: Callable[[AccessComparison], Iterable[Step]], reason: TextTemplate
) -> ProofResult:
    """Returns the evidence if the schedules leave no other instruction, and these instructions otherwise.

    left: returns the instructions with which the schedules do not prove what is demanded.
    """
    order = proofs.intervals.tensor_order
    if order is None:
        return None
    steps = sorted(set(left(order)), key=lambda step: step.index)
    return Unproven(reason(lines=STEP_LINES), tuple(steps)) if steps else by_schedules(proofs)


def _partners(site: Site, wanted: Callable[[Effect], bool]) -> Callable[[AccessComparison], Iterable[Step]]:
    """Returns what finds the instructions with a wanted effect that are not ordered with a site's instruction."""
    return lambda order: (
        other.step for _, other in order.tensor_pairs.get(site.step, ()) if any(map(wanted, other.step.effects))
    )


def is_pipelined(effect: Effect) -> bool:
    """Returns whether an effect is an access of a multiplication, copy or shift, which a commit completes."""
    return is_tensor_access(effect) and isinstance(effect, Access) and effect.completion == "tcgen05"


def _is_move(effect: Effect) -> bool:
    return is_tensor_access(effect) and not is_pipelined(effect)


def _has_fences(proofs: FunctionProofs) -> bool:
    return any(isinstance(effect, TensorFence) for step in proofs.program.effectful_steps for effect in step.effects)
