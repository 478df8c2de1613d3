"""What a walker does where threads meet: the lanes of a warp, or all threads of the CTA."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxkit.analysis.by_match import by_match
from ptxkit.analysis.event_actions import record_of
from ptxkit.analysis.notices import is_of_all
from ptxkit.analysis.operands import Operands
from ptxkit.isa import effects as fx
from ptxkit.isa.forms import Match

if TYPE_CHECKING:
    from ptxkit.analysis.walker import Action, Walker


def is_meeting(effect: fx.Effect) -> bool:
    """Whether lanes of a warp meet without ordering anything."""
    return isinstance(effect, fx.Barrier) and (effect.level, effect.order) == ("warp", "relaxed")


@by_match
def is_collective(match: Match) -> bool:
    """Whether all lanes of a warp execute the instruction together, as `.sync.aligned` says, and it is no barrier."""
    if any(isinstance(effect, fx.Barrier) for effect in match.effects):
        return False
    return {"sync", "aligned"}.issubset(match.canonical.split("."))


def meet_action(operands: Operands, effect: fx.Barrier) -> Action:
    """Lanes of a warp meet here. That matters only where the warp has parted."""
    record = record_of(operands, effect)

    def meet(walker: Walker) -> int | None:
        return record(walker) if walker.is_partial else None

    return meet


def met_action(operands: Operands, effect: fx.Barrier) -> Action:
    """The group has met the whole CTA, where all its threads come to the barrier."""
    number, threads = operands.evaluator(effect.number), operands.evaluator(effect.threads)

    def met(walker: Walker) -> None:
        if is_of_all(effect, threads(walker) if threads else None, walker.scenario.launch.threads):
            walker.meetings.append(number(walker) if number else 0)

    return met
