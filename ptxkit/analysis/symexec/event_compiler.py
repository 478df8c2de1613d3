"""Compiles an effect into a recorded event: its address, size, amount and destination CTAs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxkit.analysis.symexec.operand_compiler import OperandCompiler, ValueReader, constant_reader
from ptxkit.analysis.values.symbolic_values import GroupValue, lift
from ptxkit.isa import effects as fx
from ptxkit.isa.expressions import Expression, OperandRole
from ptxkit.semantics.value_ops import bit_mask
from ptxkit.syntax.tree import Name

if TYPE_CHECKING:
    from ptxkit.analysis.symexec.compiled_code import StepAction
    from ptxkit.analysis.symexec.group_state import GroupState


def compile_record(operands: OperandCompiler, effect: fx.Effect) -> StepAction:
    """Records an effect with its operands' values."""
    barrier = effect.address if isinstance(effect, fx.ProxyFence) else getattr(effect, "barrier", None)
    address = operands.shared_offset_reader(barrier, _space(effect)) if isinstance(barrier, str) else None
    size = _copy_size_reader(operands) if isinstance(effect, fx.MbarrierComplete) else None
    if isinstance(effect, fx.MbarrierArrive) and effect.state is not None:
        size = _token
    size = size or operands.evaluator(getattr(effect, "threads" if isinstance(effect, fx.Barrier) else "size", None))
    amount = operands.evaluator(_amount(effect))
    expect = operands.evaluator(getattr(effect, "expect", None))
    ctas = cta_mask_reader(operands, getattr(effect, "multicast", None))

    def record(state: GroupState) -> None:
        state.record(
            effect,
            address(state) if address else None,
            size(state) if size else None,
            amount(state) if amount else None,
            None,
            expect(state) if expect else None,
            ctas(state) if ctas else None,
        )

    return record


def _token(state: GroupState) -> GroupValue:
    """Returns the state token of the arrival at the current step."""
    return state.fresh_symbol("token")


def compile_arrival_token(operands: OperandCompiler, effect: fx.MbarrierArrive) -> StepAction | None:
    """Returns the action that sets the register of an arrival's token; None where it has none."""
    target = operands.step.operand(effect.state) if effect.state is not None else None
    if not isinstance(target, Name) or target.is_sink:
        return None
    register = operands.scope.register_name(target.text)
    return lambda state: state.write_register(register, _token(state))


def cta_mask_reader(operands: OperandCompiler, multicast: str | None) -> ValueReader | None:
    """Returns a reader of the mask of the destination CTAs of a multicast."""
    if multicast == fx.ALL:
        return lambda state: bit_mask(state.scenario.launch.cluster_size)
    return operands.evaluator(OperandRole(multicast)) if multicast else None


def _space(effect: fx.Effect) -> str:
    """Returns the space of the address that an effect names; for a tensor map it is `global` or `generic`."""
    return "generic" if isinstance(effect, fx.ProxyFence) else "shared"


def _copy_size_reader(operands: OperandCompiler) -> ValueReader | None:
    """Returns a reader of the number of bytes of a tensor copy.

    The number is unknown unless the creator of the module knows the tensor map, but it is the same for all copies of
    one kind with the same tensor map.
    """
    if operands.step.box_bytes is not None:
        return constant_reader(operands.step.box_bytes)
    match = operands.step.match
    maps = [e.address for e in match.effects if isinstance(e, fx.Access) and e.via == "tensormap"] if match else []
    operand = operands.step.operand(maps[0]) if maps else None
    if match is None or operand is None:
        return None
    reader, kind = operands.reader(operand), match.canonical
    return lambda state: lift(lambda address: state.symbolic_values.intern(("box", kind, address)), reader(state))


def compile_wait(operands: OperandCompiler, effect: fx.MbarrierWait) -> StepAction:
    """Returns the action of a wait that may return false: it returns false at first, and true when it is repeated.

    Code that does not poll again has not waited.
    """
    target = operands.step.operand(effect.result)
    register = operands.scope.register_name(target.text) if isinstance(target, Name) else "_"
    record, step = compile_record(operands, effect), operands.step
    barrier, phase = operands.shared_offset_reader(effect.barrier), operands.evaluator(OperandRole(effect.phase))

    def wait(state: GroupState) -> None:
        polled = (barrier(state), phase(state)) if barrier is not None and phase is not None else None
        is_complete = state.is_second_poll(step, polled)
        state.write_register(register, int(is_complete))
        if is_complete:
            record(state)
            state.may_be_apart = True

    return wait


def _amount(effect: fx.Effect) -> Expression | None:
    match effect:
        case fx.MbarrierInit(count=amount) | fx.MbarrierArrive(count=amount) | fx.RegisterCount(count=amount):
            return amount
        case fx.WaitGroup(pending=amount) | fx.Cancellation(granted=amount):
            return amount
        case fx.Barrier(number=number):
            return number
        case fx.MbarrierWait(phase=phase):
            return OperandRole(phase)
    return None
