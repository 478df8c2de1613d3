"""Compiles assignments to registers: the table's value expressions, and vectors element by element."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ptxkit.analysis.symexec.lane_ops import load_parts, load_value, reads_signed
from ptxkit.analysis.symexec.operand_compiler import OperandCompiler, ValueReader
from ptxkit.analysis.values.symbolic_values import SymbolicValueTable, Value, lift
from ptxkit.isa import effects as fx
from ptxkit.isa.expressions import CallExpr, Expression
from ptxkit.semantics.value_ops import bit_mask
from ptxkit.syntax.tree import Arguments, Name, Vector

if TYPE_CHECKING:
    from ptxkit.analysis.symexec.group_state import GroupState, StepAction


def compile_assignment(operands: OperandCompiler, effect: fx.Value) -> StepAction | None:
    """Sets the register, or the vector of registers, to which an effect assigns a value."""
    target = operands.step.operand(effect.result)
    if isinstance(target, Vector):
        return _compile_vector_assignment(operands, target, effect.value)
    if not isinstance(target, Name) or target.is_sink:
        return None
    register = operands.scope.register_name(target.text)
    source = operands.evaluator(effect.value) or (lambda state: state.fresh_symbol("value"))

    def assign(state: GroupState) -> None:
        state.write_register(register, source(state))

    return assign


def compile_unknown_instruction(operands: OperandCompiler) -> StepAction:
    """An instruction without a form: any register that it names may have changed, and it may have had any effect."""
    names: list[str] = []
    for operand in operands.step.instruction.operands:
        elements = operand.elements if isinstance(operand, Vector | Arguments) else (operand,)
        names.extend(operands.scope.register_name(e.text) for e in elements if isinstance(e, Name))

    def forget(state: GroupState) -> None:
        state.record_unknown_call()
        for name in names:
            state.write_register(name, state.fresh_symbol(name))

    return forget


def _compile_vector_assignment(operands: OperandCompiler, target: Vector, value: Expression) -> StepAction:
    names = [operands.scope.register_name(e.text) if isinstance(e, Name) else "_" for e in target.elements]
    function = value.function if isinstance(value, CallExpr) else ""
    if isinstance(value, CallExpr) and function == "load":
        return _compile_vector_load(operands, names, value)
    if isinstance(value, CallExpr) and function == "unpack":
        source = operands.evaluator(value.arguments[-1]) or (lambda state: state.fresh_symbol("value"))
        return _compile_unpack(names, source)

    def forget(state: GroupState) -> None:
        for position, name in enumerate(names):
            state.write_register(name, state.fresh_symbol(f"element {position}"))

    return forget


def _compile_vector_load(operands: OperandCompiler, names: list[str], call: CallExpr) -> StepAction:
    space, address, width = load_parts(operands, call)
    is_signed = reads_signed(operands)

    def load_all(state: GroupState) -> None:
        base = address(state)
        for position, name in enumerate(names):
            place = state.operations.add_offset(base, position * (width // 8))
            state.write_register(name, load_value(state, space, place, width, position, is_signed=is_signed))

    return load_all


def _compile_unpack(names: list[str], source: ValueReader) -> StepAction:
    count = len(names)

    def unpack(state: GroupState) -> None:
        whole = source(state)
        for position, name in enumerate(names):
            state.write_register(name, lift(partial(_vector_element, state.symbolic_values, position, count), whole))

    return unpack


def _vector_element(terms: SymbolicValueTable, position: int, count: int, whole: Value) -> Value:
    width = 64 // count
    if isinstance(whole, int):
        return whole >> position * width & bit_mask(width)
    return terms.intern(("unpack", whole, position, count))
