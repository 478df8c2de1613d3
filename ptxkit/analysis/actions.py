"""Compiles the effects of a step to what a walker does there: set registers, record events, change control."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxkit.analysis.access_actions import access_actions
from ptxkit.analysis.bounds import bound_checks
from ptxkit.analysis.control_actions import control_action
from ptxkit.analysis.event_actions import record_of, wait_action
from ptxkit.analysis.fits import fit_checks
from ptxkit.analysis.homes import home_checks
from ptxkit.analysis.lanes import IN_THREAD
from ptxkit.analysis.meeting_actions import is_collective, meet_action, met_action
from ptxkit.analysis.members import member_checks
from ptxkit.analysis.operands import Operands
from ptxkit.analysis.origins import space_checks
from ptxkit.analysis.program import Step
from ptxkit.analysis.slicing import Interests
from ptxkit.analysis.store_actions import tell_action
from ptxkit.analysis.tensor_actions import tensor_access, tensor_memory
from ptxkit.analysis.value_actions import assignment, forget_names
from ptxkit.analysis.windows import window_checks
from ptxkit.isa import effects as fx

if TYPE_CHECKING:
    from ptxkit.analysis.walker import Action


def actions_of(step: Step, wanted: Interests | None, bounded: frozenset[str]) -> list[Action]:
    """What a walker does at a step; without what only makes values that are not `wanted` (None: all are)."""
    if step.match is None:
        return [forget_names(Operands(step, IN_THREAD))]
    operands = Operands(step, IN_THREAD)
    events: list[Action | None] = []
    values: list[Action | None] = []
    control: list[Action | None] = []
    for effect in step.match.effects:
        match effect:
            case fx.Value():
                if wanted is None or wanted.wants(step, effect):
                    values.append(assignment(operands, effect))
            case fx.Control():
                control.append(control_action(operands, effect))
            case fx.MbarrierWait():
                values.append(wait_action(operands, effect))
            case _:
                keeps, outside = (True, frozenset[str]()) if wanted is None else (wanted.memory, wanted.outside)
                events.extend(_events(operands, effect, keeps=keeps, outside=outside))
                if isinstance(effect, fx.Access) and (wanted is None or wanted.told):
                    events.append(tell_action(operands, effect, wanted))
    if is_collective(step.match):
        events.append(meet_action(operands, fx.Barrier("warp", "sync", order="relaxed", aligned=True)))
    # Effects read the registers as they were before the instruction; control leaves last.
    checks = (
        *space_checks(operands),
        *window_checks(operands),
        *fit_checks(operands),
        *bound_checks(operands, bounded),
        *member_checks(operands),
        *home_checks(operands),
    )
    return [action for action in (*checks, *events, *values, *control) if action is not None]


def value_changes(step: Step, wanted: Interests | None) -> list[Action]:
    """What a walker does at a step that only computes values."""
    effects = step.effects
    chosen = [e for e in effects if isinstance(e, fx.Value) and (wanted is None or wanted.wants(step, e))]
    operands = Operands(step, IN_THREAD)
    return [action for effect in chosen if (action := assignment(operands, effect)) is not None]


def _events(operands: Operands, effect: fx.Effect, *, keeps: bool, outside: frozenset[str]) -> list[Action | None]:
    """What is recorded of an effect."""
    match effect:
        case fx.Barrier(level="warp", order="relaxed"):
            return [meet_action(operands, effect)]
        case fx.Access(space="tensor"):
            return [tensor_access(operands, effect)]
        case fx.Access():
            return access_actions(operands, effect, keeps=keeps, outside=outside)
        case fx.TensorMemory():
            return [tensor_memory(operands, effect)]
        case fx.CtaGroup() | fx.Home():
            return []
        case fx.Barrier(level="cta", action="sync"):
            return [record_of(operands, effect), met_action(operands, effect)]
    return [record_of(operands, effect)]
