"""Compiles assignments to registers: the table's value expressions, and vectors element by element."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ptxkit.analysis.ir.sign_extension import sign_extension
from ptxkit.analysis.symexec.lane_ops import load_parts, load_value
from ptxkit.analysis.symexec.operand_compiler import OperandCompiler
from ptxkit.analysis.values.symbolic_values import SymbolicValueTable, Value, lift
from ptxkit.analysis.values.undone_operations import key_with_spaces, undo_pack
from ptxkit.isa import effects as fx
from ptxkit.isa.expressions import CallExpr, ConstantExpr
from ptxkit.semantics.value_ops import bit_mask
from ptxkit.syntax.tree import Arguments, Name, Vector

if TYPE_CHECKING:
    from ptxkit.analysis.symexec.compiled_code import StepAction
    from ptxkit.analysis.symexec.group_state import GroupState


def compile_assignment(operands: OperandCompiler, effect: fx.Value, copied: Name | None = None) -> StepAction | None:
    """Returns the action that sets the register, or the vector of registers, to which an effect assigns a value.

    copied: a register of the same width whose value that is, if it is known.
    """
    target = operands.step.operand(effect.result)
    if isinstance(target, Vector):
        return _compile_vector_assignment(operands, target, effect)
    if not isinstance(target, Name) or target.is_sink:
        return None
    register = operands.scope.register_name(target.text)
    value = operands.evaluator(effect.value) if copied is None else operands.reader(copied)
    source = value or (lambda state: state.fresh_symbol("value"))
    extension = sign_extension(operands.step, effect.result, target.text)

    def assign(state: GroupState) -> None:
        state.write_register(register, source(state))

    def assign_extended(state: GroupState) -> None:
        state.write_register(register, state.operations.convert(source(state), extension))

    return assign if extension is None else assign_extended


def compile_unknown_instruction(operands: OperandCompiler) -> StepAction:
    """Returns the action of an instruction without a form.

    Any register that it names may have changed, and it may have had any effect.
    """
    names: list[str] = []
    for operand in operands.step.instruction.operands:
        elements = operand.elements if isinstance(operand, Vector | Arguments) else (operand,)
        names.extend(operands.scope.register_name(e.text) for e in elements if isinstance(e, Name))

    def forget(state: GroupState) -> None:
        state.record_unknown_call()
        for name in names:
            state.write_register(name, state.fresh_symbol(name))

    return forget


def _compile_vector_assignment(operands: OperandCompiler, target: Vector, effect: fx.Value) -> StepAction:
    names = [operands.scope.register_name(e.text) if isinstance(e, Name) else "_" for e in target.elements]
    match effect.value:
        case CallExpr(function="load") as call:
            written = [e.text if isinstance(e, Name) else "_" for e in target.elements]
            extensions = [sign_extension(operands.step, effect.result, name) for name in written]
            return _compile_vector_load(operands, names, extensions, call)
        case CallExpr(function="unpack") as call:
            return _compile_unpack(operands, names, call)

    def forget(state: GroupState) -> None:
        for position, name in enumerate(names):
            state.write_register(name, state.fresh_symbol(f"element {position}"))

    return forget


def _compile_vector_load(
    operands: OperandCompiler, names: list[str], extensions: list[tuple[str, str] | None], call: CallExpr
) -> StepAction:
    space, address, width = load_parts(operands, call)

    def load_all(state: GroupState) -> None:
        base = address(state)
        for position, (name, extension) in enumerate(zip(names, extensions, strict=True)):
            place = state.operations.add_offset(base, position * (width // 8))
            value = load_value(state, space, place, width, position)
            state.write_register(name, state.operations.convert(value, extension))

    return load_all


def _compile_unpack(operands: OperandCompiler, names: list[str], call: CallExpr) -> StepAction:
    width, last = call.arguments
    source = operands.evaluator(last) or (lambda state: state.fresh_symbol("value"))
    assert isinstance(width, ConstantExpr)
    assert isinstance(width.value, int)
    each = width.value

    def unpack(state: GroupState) -> None:
        whole = source(state)
        for position, name in enumerate(names):
            element = partial(_vector_element, state.symbolic_values, position, each, len(names))
            state.write_register(name, lift(element, whole))

    return unpack


def _vector_element(terms: SymbolicValueTable, position: int, width: int, count: int, whole: Value) -> Value:
    if isinstance(whole, int):
        return whole >> position * width & bit_mask(width)
    part = undo_pack(terms, position, width, whole)
    return terms.intern(key_with_spaces("unpack", whole, position, width, count)) if part is None else part
