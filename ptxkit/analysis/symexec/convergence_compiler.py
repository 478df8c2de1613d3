"""Compiles points where threads converge: the lanes of a warp, or all threads of the CTA."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxkit.analysis.ir.match_cache import cached_by_match
from ptxkit.analysis.symexec.event_compiler import compile_record
from ptxkit.analysis.symexec.operand_compiler import OperandCompiler
from ptxkit.analysis.symexec.shared_broadcast import is_full_cta_barrier
from ptxkit.isa import effects as fx
from ptxkit.isa.forms import Match

if TYPE_CHECKING:
    from ptxkit.analysis.symexec.compiled_code import StepAction
    from ptxkit.analysis.symexec.group_state import GroupState


@cached_by_match
def is_collective_instruction(match: Match) -> bool:
    """Returns whether an instruction is collective for a warp (`.sync.aligned`) and not a barrier."""
    return match.is_aligned and not any(isinstance(effect, fx.Barrier) for effect in match.effects)


def compile_convergence(operands: OperandCompiler, effect: fx.Barrier) -> StepAction:
    """Returns the action of a convergence point of a warp.

    It matters where the warp has diverged, where a guard divides it and at the next one after that, and after a wait
    for an mbarrier, since lanes that diverge later have all waited before any of them continued.
    """
    record = compile_record(operands, effect)

    def meet(state: GroupState) -> None:
        if state.is_partial or state.may_be_apart or state.active is not None:
            state.may_be_apart = state.active is not None
            record(state)

    return meet


def compile_cta_barrier(operands: OperandCompiler, effect: fx.Barrier) -> StepAction:
    """Returns the action of a CTA barrier, which records the barrier if all threads of the CTA arrive at it."""
    number, threads = operands.evaluator(effect.number), operands.evaluator(effect.threads)

    def join(state: GroupState) -> None:
        if is_full_cta_barrier(effect, threads(state) if threads else None, state.scenario.launch.threads):
            state.cta_barriers.append(number(state) if number else 0)

    return join
