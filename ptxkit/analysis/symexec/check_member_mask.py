"""Finds lanes that execute a warp-level instruction whose mask does not include them.

Source: PTX ISA, "bar.warp.sync", "shfl.sync", "vote.sync", "match.sync", "redux.sync", "elect.sync" (the behavior is
undefined if the executing thread is not in the mask).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ptxkit.analysis.ir.match_cache import cached_by_match
from ptxkit.analysis.limits import MAX_CHECKED_MASKS
from ptxkit.analysis.symexec.operand_compiler import OperandCompiler
from ptxkit.analysis.symexec.trace import OperandViolation
from ptxkit.analysis.values.symbolic_values import value_of_lane
from ptxkit.isa.effects import Barrier
from ptxkit.isa.expressions import OperandRole
from ptxkit.isa.forms import Match
from ptxkit.syntax.constants import WARP_SIZE

if TYPE_CHECKING:
    from ptxkit.analysis.symexec.group_state import GroupState

_ALL = 0xFFFF_FFFF


def member_mask_checks(operands: OperandCompiler) -> list[Callable[[GroupState], None]]:
    """Returns a check for the member mask of a step."""
    match = operands.step.match
    return [_check(operands, role) for role in (_masks_of(match) if match is not None else ())]


@cached_by_match
def _masks_of(match: Match) -> tuple[str, ...]:
    meetings = [effect for effect in match.effects if isinstance(effect, Barrier) and effect.level == "warp"]
    return tuple(sorted({each.number.name for each in meetings if isinstance(each.number, OperandRole)}))


def _check(operands: OperandCompiler, role: str) -> Callable[[GroupState], None]:
    step, reader = operands.step, operands.reader(operands.step.operand(role))

    def check(state: GroupState) -> None:
        held = reader(state)
        if held == _ALL or state.visit >= MAX_CHECKED_MASKS:
            return
        known = state.trace.operand_violations.get((step, role))
        if known is not None and known.is_in_every_launch:
            return
        guaranteed = state.guaranteed_threads
        for index in guaranteed if known is not None else dict.fromkeys((*guaranteed, *state.active_threads)):
            mask, lane = value_of_lane(held, index), state.tids[index] % WARP_SIZE
            if not isinstance(mask, int):
                return
            if not mask >> lane & 1:
                state.trace.depends_on_block |= not state.scenario.launch.is_exact
                state.trace.operand_violations[(step, role)] = OperandViolation(
                    step, role, lane, "member", mask & _ALL, is_in_every_launch=index in guaranteed
                )
                return

    return check
