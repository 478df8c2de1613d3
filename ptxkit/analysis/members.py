"""Notices lanes that execute an instruction of several lanes whose mask does not name them.

Source: PTX ISA, "bar.warp.sync", "shfl.sync", "vote.sync", "match.sync", "redux.sync", "elect.sync" (the behaviour is
undefined if the executing thread is not in the mask).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ptxkit.analysis.by_match import by_match
from ptxkit.analysis.operands import Operands
from ptxkit.analysis.terms import of_lane
from ptxkit.analysis.trace import Misfit
from ptxkit.isa.effects import Barrier
from ptxkit.isa.expressions import Role
from ptxkit.isa.forms import Match

if TYPE_CHECKING:
    from ptxkit.analysis.walker import Walker

_WARP, _ALL = 32, 0xFFFF_FFFF
#: Executions of an instruction that are looked at.
_MAX_VISITS = 4


def member_checks(operands: Operands) -> list[Callable[[Walker], None]]:
    """A check for the mask of a step's lanes."""
    match = operands.step.match
    return [_check(operands, role) for role in (_masks_of(match) if match is not None else ())]


@by_match
def _masks_of(match: Match) -> tuple[str, ...]:
    meetings = [effect for effect in match.effects if isinstance(effect, Barrier) and effect.level == "warp"]
    return tuple(sorted({each.number.name for each in meetings if isinstance(each.number, Role)}))


def _check(operands: Operands, role: str) -> Callable[[Walker], None]:
    step, reader = operands.step, operands.reader(operands.role(role))

    def check(walker: Walker) -> None:
        held = reader(walker)
        if held == _ALL or walker.visit >= _MAX_VISITS or (step, role) in walker.trace.misfits:
            return
        for index in walker.present:
            mask, lane = of_lane(held, index), walker.tids[index] % _WARP
            if not isinstance(mask, int):
                return
            if not mask >> lane & 1:
                walker.trace.misfits[(step, role)] = Misfit(step, role, lane, "member", mask & _ALL)
                return

    return check
