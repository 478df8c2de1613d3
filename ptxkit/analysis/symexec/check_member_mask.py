"""Finds lanes that execute a warp-level instruction whose mask does not include them.

Source: PTX ISA, "bar.warp.sync", "shfl.sync", "vote.sync", "match.sync", "redux.sync", "elect.sync" (the behaviour is
undefined if the executing thread is not in the mask).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ptxkit.analysis.ir.match_cache import cached_by_match
from ptxkit.analysis.symexec.operand_compiler import OperandCompiler
from ptxkit.analysis.symexec.trace import OperandViolation
from ptxkit.analysis.values.symbolic_values import value_of_lane
from ptxkit.isa.effects import Barrier
from ptxkit.isa.expressions import OperandRole
from ptxkit.isa.forms import Match

if TYPE_CHECKING:
    from ptxkit.analysis.symexec.executor import LockstepExecutor

_WARP, _ALL = 32, 0xFFFF_FFFF
#: The number of executions of an instruction that are checked.
_MAX_VISITS = 4


def member_mask_checks(operands: OperandCompiler) -> list[Callable[[LockstepExecutor], None]]:
    """A check for the member mask of a step."""
    match = operands.step.match
    return [_check(operands, role) for role in (_masks_of(match) if match is not None else ())]


@cached_by_match
def _masks_of(match: Match) -> tuple[str, ...]:
    meetings = [effect for effect in match.effects if isinstance(effect, Barrier) and effect.level == "warp"]
    return tuple(sorted({each.number.name for each in meetings if isinstance(each.number, OperandRole)}))


def _check(operands: OperandCompiler, role: str) -> Callable[[LockstepExecutor], None]:
    step, reader = operands.step, operands.reader(operands.operand_of_role(role))

    def check(executor: LockstepExecutor) -> None:
        held = reader(executor)
        if held == _ALL or executor.visit >= _MAX_VISITS or (step, role) in executor.trace.operand_violations:
            return
        for index in executor.guaranteed_threads:
            mask, lane = value_of_lane(held, index), executor.tids[index] % _WARP
            if not isinstance(mask, int):
                return
            if not mask >> lane & 1:
                executor.trace.operand_violations[(step, role)] = OperandViolation(
                    step, role, lane, "member", mask & _ALL
                )
                return

    return check
