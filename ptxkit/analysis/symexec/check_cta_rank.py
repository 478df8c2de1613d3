"""Finds addresses in the shared memory of a CTA that their instruction does not accept.

Source: PTX ISA, "cp.async.bulk" (a copy from the own CTA's shared memory goes to another CTA's), "st.async",
"red.async" and "cp.async.bulk.tensor" (the mbarrier lies in the same CTA as the data).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ptxkit.analysis.symexec.operand_compiler import OperandCompiler
from ptxkit.analysis.symexec.trace import OperandViolation
from ptxkit.analysis.values.symbolic_values import value_of_lane
from ptxkit.isa.effects import Home

if TYPE_CHECKING:
    from ptxkit.analysis.symexec.executor import LockstepExecutor

#: The number of executions of an instruction that are checked.
_MAX_VISITS = 8


def cta_rank_checks(operands: OperandCompiler) -> list[Callable[[LockstepExecutor], None]]:
    """A check for each address that must lie in another CTA, or in the same CTA as another address."""
    effects = operands.step.effects
    return [_check(operands, effect) for effect in effects if isinstance(effect, Home)]


def _check(operands: OperandCompiler, effect: Home) -> Callable[[LockstepExecutor], None]:
    step, place = operands.step, f"home of {effect.address}"
    own = operands.shared_offset_reader(effect.address)
    beside = operands.shared_offset_reader(effect.beside) if effect.beside is not None else None

    def check(executor: LockstepExecutor) -> None:
        if executor.visit >= _MAX_VISITS:
            return
        address = value_of_lane(own(executor), executor.first_active) if own is not None else None
        other = value_of_lane(beside(executor), executor.first_active) if beside is not None else None
        if not isinstance(address, int):
            return
        rank, here = executor.window.rank_of(address), executor.window.rank
        if effect.where == "other":
            if rank == here:
                misfit = OperandViolation(step, effect.address, 0, "home", 0, rule="other")
                executor.trace.operand_violations.setdefault((step, place), misfit)
        elif isinstance(other, int) and executor.window.rank_of(other) != rank:
            misfit = OperandViolation(step, effect.address, 0, "home", 0, rule=str(effect.beside))
            executor.trace.operand_violations.setdefault((step, place), misfit)

    return check
