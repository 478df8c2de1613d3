"""Compiles the effects of a step to actions of the state: set registers, record events, change control."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ptxkit.analysis.dataflow.slicing import ProgramSlice
from ptxkit.analysis.ir.match_cache import cached_by_match
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.access_compiler import compile_access
from ptxkit.analysis.symexec.check_address_space import address_space_checks
from ptxkit.analysis.symexec.check_bounds import bound_checks
from ptxkit.analysis.symexec.check_cta_rank import cta_rank_checks
from ptxkit.analysis.symexec.check_generic_window import generic_window_checks
from ptxkit.analysis.symexec.check_member_mask import member_mask_checks
from ptxkit.analysis.symexec.check_operands import operand_checks
from ptxkit.analysis.symexec.control_compiler import compile_control
from ptxkit.analysis.symexec.convergence_compiler import (
    compile_convergence,
    compile_cta_barrier,
    is_collective_instruction,
)
from ptxkit.analysis.symexec.event_compiler import compile_arrival_token, compile_record, compile_wait
from ptxkit.analysis.symexec.lane_ops import LANE_OPS
from ptxkit.analysis.symexec.operand_compiler import OperandCompiler
from ptxkit.analysis.symexec.store_compiler import compile_broadcast_store
from ptxkit.analysis.symexec.tensor_compiler import compile_tensor_access, compile_tensor_allocation
from ptxkit.analysis.symexec.value_compiler import compile_assignment, compile_unknown_instruction
from ptxkit.isa import effects as fx
from ptxkit.isa.expressions import CallExpr
from ptxkit.isa.forms import Match

if TYPE_CHECKING:
    from ptxkit.analysis.symexec.compiled_code import StepAction


def compile_step(step: Step, wanted: ProgramSlice | None, bounded: frozenset[str] | None) -> list[StepAction]:
    """Returns the actions of a step, without those that only compute values that are not in `wanted`.

    wanted: the values that are needed; None for all. bounded: the state spaces whose accesses must be in bounds; None
    if no operand is checked.
    """
    if step.match is None:
        return [compile_unknown_instruction(OperandCompiler(step, LANE_OPS))]
    operands = OperandCompiler(step, LANE_OPS)
    events: list[StepAction | None] = []
    values: list[StepAction | None] = [
        compile_assignment(operands, result)
        for result in _unassigned_results(step.match)
        if wanted is None or wanted.is_needed(step, result)
    ]
    control: list[StepAction | None] = []
    for effect in step.match.effects:
        match effect:
            case fx.Value():
                if wanted is None or wanted.is_needed(step, effect):
                    copied = wanted.forwarded_loads.get(step) if wanted is not None else None
                    values.append(compile_assignment(operands, effect, copied))
            case fx.Control():
                control.append(compile_control(operands, effect))
            case fx.MbarrierWait():
                values.append(compile_wait(operands, effect))
            case fx.MbarrierArrive(state=str()):
                events.append(compile_record(operands, effect))
                values.append(compile_arrival_token(operands, effect))
            case _:
                keeps, outside = (
                    (True, frozenset[str]())
                    if wanted is None
                    else (wanted.includes_private_stores, wanted.global_access_kinds)
                )
                events.extend(_compile_effect(operands, effect, keeps=keeps, outside=outside))
                if isinstance(effect, fx.Access) and (wanted is None or wanted.includes_shared_stores):
                    events.append(compile_broadcast_store(operands, effect, wanted))
    if is_collective_instruction(step.match):
        events.append(compile_convergence(operands, fx.Barrier("warp", "sync", order="relaxed", aligned=True)))
    # Effects read the registers as they were before the instruction, so control is transferred last.
    checks = _checks(operands, bounded) if bounded is not None else ()
    return [action for action in (*checks, *events, *values, *control) if action is not None]


def _checks(operands: OperandCompiler, bounded: frozenset[str]) -> Iterator[StepAction]:
    """Yields the checks of the operands of a step."""
    yield from address_space_checks(operands)
    yield from generic_window_checks(operands)
    yield from operand_checks(operands)
    yield from bound_checks(operands, bounded)
    yield from member_mask_checks(operands)
    yield from cta_rank_checks(operands)


def compile_value_step(step: Step, wanted: ProgramSlice | None) -> list[StepAction]:
    """Returns the actions of a step that only computes values."""
    effects = step.effects
    chosen = [e for e in effects if isinstance(e, fx.Value) and (wanted is None or wanted.is_needed(step, e))]
    operands = OperandCompiler(step, LANE_OPS)
    return [action for effect in chosen if (action := compile_assignment(operands, effect)) is not None]


@cached_by_match
def _unassigned_results(match: Match) -> tuple[fx.Value, ...]:
    """Returns assignments of unknown values to the results that no effect assigns."""
    assigned = {effect.result for effect in match.effects if isinstance(effect, fx.Value | fx.MbarrierWait)}
    assigned.update(effect.state for effect in match.effects if isinstance(effect, fx.MbarrierArrive) and effect.state)
    return tuple(fx.Value(role, CallExpr("unknown", ())) for role in match.results if role not in assigned)


def _compile_effect(
    operands: OperandCompiler, effect: fx.Effect, *, keeps: bool, outside: frozenset[str]
) -> list[StepAction | None]:
    """Returns the actions that record an effect."""
    match effect:
        case fx.Barrier(level="warp", order="relaxed"):
            return [compile_convergence(operands, effect)]
        case fx.Access(space="tensor"):
            return [compile_tensor_access(operands, effect)]
        case fx.Access():
            return compile_access(operands, effect, keeps=keeps, outside=outside)
        case fx.TensorMemory():
            return [compile_tensor_allocation(operands, effect)]
        case fx.CtaGroup() | fx.Home():
            return []
        case fx.Barrier(level="cta", action="sync"):
            return [compile_record(operands, effect), compile_cta_barrier(operands, effect)]
    return [compile_record(operands, effect)]
