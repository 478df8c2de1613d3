"""Finds addresses in the shared memory of a CTA that their instruction does not accept.

Source: PTX ISA, "cp.async.bulk" (a copy from shared memory of the executing CTA is to another CTA), "st.async",
"red.async" and "cp.async.bulk.tensor" (the mbarrier is in the same CTA as the data).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ptxkit.analysis.limits import MAX_CHECKED_EXECUTIONS
from ptxkit.analysis.symexec.operand_compiler import OperandCompiler
from ptxkit.analysis.symexec.trace import OperandViolation
from ptxkit.analysis.values.symbolic_values import value_of_lane
from ptxkit.isa.effects import Home

if TYPE_CHECKING:
    from ptxkit.analysis.symexec.group_state import GroupState


def cta_rank_checks(operands: OperandCompiler) -> list[Callable[[GroupState], None]]:
    """Returns a check for each address that must be in another CTA, or in the same CTA as another address."""
    effects = operands.step.effects
    return [_check(operands, effect) for effect in effects if isinstance(effect, Home)]


def _check(operands: OperandCompiler, effect: Home) -> Callable[[GroupState], None]:
    step, place = operands.step, f"home of {effect.address}"
    own = operands.shared_offset_reader(effect.address)
    companion = operands.shared_offset_reader(effect.companion) if effect.companion is not None else None

    def check(state: GroupState) -> None:
        if state.visit >= MAX_CHECKED_EXECUTIONS:
            return
        address = value_of_lane(own(state), state.first_active) if own is not None else None
        other = value_of_lane(companion(state), state.first_active) if companion is not None else None
        if not isinstance(address, int):
            return
        rank, here = state.window.rank_of(address), state.window.rank
        if effect.where == "other":
            if rank == here:
                misfit = OperandViolation(step, effect.address, 0, "home", 0, rule="other")
                state.trace.operand_violations.setdefault((step, place), misfit)
        elif isinstance(other, int) and state.window.rank_of(other) != rank:
            misfit = OperandViolation(step, effect.address, 0, "home", 0, rule=str(effect.companion))
            state.trace.operand_violations.setdefault((step, place), misfit)

    return check
