"""Compiles the operands and value expressions of one step to functions of a group's state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.ir.shared_window import FIRST_ADDRESS
from ptxkit.analysis.values.symbolic_values import GroupValue, LaneValues
from ptxkit.analysis.values.undefined_values import UNWRITTEN
from ptxkit.analysis.values.value_ops import SymbolicOps
from ptxkit.isa.expressions import CallExpr, ConstantExpr, Expression, OperandRole
from ptxkit.isa.functions import bits, is_declarable
from ptxkit.semantics.value_ops import bit_mask
from ptxkit.syntax.tree import (
    Address,
    Binary,
    Element,
    Integer,
    Name,
    Not,
    Operand,
    Unary,
)

if TYPE_CHECKING:
    from ptxkit.analysis.symexec.group_state import GroupState

ValueReader: TypeAlias = "Callable[[GroupState], GroupValue]"
ArgumentReader: TypeAlias = "Callable[[GroupState], GroupValue | str | bool | None]"

#: Special registers whose value may differ at each read.
_VOLATILE = ("%clock", "%clock64", "%clock_hi", "%globaltimer", "%globaltimer_lo", "%globaltimer_hi")


class OperandCompiler:
    """The operands of one step, by role, as readers.

    in_thread: the makers of readers for the value operations that need the thread (`ptxkit.analysis.symexec.lane_ops`).
    """

    def __init__(self, step: Step, in_thread: Mapping[str, Callable[[OperandCompiler, CallExpr], ValueReader]]) -> None:
        self.step = step
        self.scope = step.scope
        self._lane_ops = in_thread

    def is_variable_name(self, operand: Operand | None) -> bool:
        """Returns whether an operand is the name of a variable rather than of a register."""
        if not isinstance(operand, Name) or self.scope.register_name(operand.text) != operand.text:
            return False
        return self.scope.variable(operand.text) is not None

    def reader(self, operand: Operand | None) -> ValueReader:
        """Returns a function that computes the value of an operand; for an address operand, the address itself."""
        match operand:
            case Integer(value=value):
                return constant_reader(value & bit_mask(64))
            case Name(text=text):
                return self._name_reader(text)
            case Address(base=base, offset=offset):
                return self._offset_reader(base, offset)
            case Element(base=base, index=index):  # an index already counts bytes (`ptxkit.analysis.ir.program`)
                return self.reader(Binary("+", base, index))
            case Binary(operator="*", left=left, right=right):
                return _operation_reader("mul", 64, self.reader(left), self.reader(right))
            case Not(operand=inner):
                return _operation_reader("not", 1, self.reader(inner))
            case Binary(operator="+", left=left, right=right):
                return _operation_reader("add", 64, self.reader(left), self.reader(right))
            case Unary(operator="-", operand=inner):
                return _operation_reader("neg", 64, self.reader(inner))
        return lambda state: state.fresh_symbol("operand")

    def _offset_reader(self, base: Operand, offset: int) -> ValueReader:
        start = self.reader(base)
        if not offset:
            return start
        named = self.scope.find(base.text) if isinstance(base, Name) else None
        # A negative register plus an offset is an address, too: the sum is modulo 2^32.
        width = 32 if named is not None and is_declarable(named.kind) and bits(named.kind) == 32 else 64
        return _operation_reader("add", width, start, constant_reader(offset & bit_mask(width)))

    def _name_reader(self, text: str) -> ValueReader:
        register = self.scope.register_name(text)
        variable = self.scope.variable(text) if register == text else None
        if variable is not None:
            if variable.space in FIRST_ADDRESS:
                return constant_reader(variable.address)
            key, space = ("variable", variable.space, text), variable.space
            known_space = space if space in ("global", "const") else None
            return lambda state: state.symbolic_values.intern(key, pointer=True).with_space(known_space)

        is_own = self.scope.shadows_special_register(text)
        unknown = "register" if self.scope.find(text) is None else UNWRITTEN

        def read(state: GroupState) -> GroupValue:
            value = state.registers.get(register)
            if value is not None:
                return value
            known = None if is_own else state.special_registers.get(text)
            if known is not None:
                return known
            if text in _VOLATILE and not is_own:
                return state.fresh_symbol(text)
            return state.symbolic_values.intern((unknown, text, state.tids[0]))

        return read

    def evaluator(self, expression: Expression | None) -> ValueReader | None:
        """Returns a function that computes an expression of the table; None where it is absent or names no value."""
        if isinstance(expression, ConstantExpr):
            value = expression.value
            return constant_reader(int(value) & bit_mask(64)) if isinstance(value, bool | int) else None
        if isinstance(expression, OperandRole):
            operand = self.step.operand(expression.name)
            return None if operand is None else self.reader(operand)
        return None if expression is None else self.call_reader(expression)

    def call_reader(self, call: CallExpr) -> ValueReader:
        """Returns a reader for a value operation, which either depends on the thread or is arithmetic."""
        handler = self._lane_ops.get(call.function)
        if handler is not None:
            return handler(self, call)
        operation = SymbolicOps.find(call.function)
        fixed, *rest = _constants_first(call.arguments)
        readers = [self.argument_reader(argument) for argument in rest]
        if len(readers) == 1:
            (only,) = readers

            def of_one(state: GroupState) -> GroupValue:
                held = only(state)
                if isinstance(held, LaneValues):
                    return state.operations.apply(operation, *fixed, held)
                return operation(state.operations, *fixed, held)

            return of_one
        if len(readers) == 2:
            first, second = readers

            def of_two(state: GroupState) -> GroupValue:
                left, right = first(state), second(state)
                if isinstance(left, LaneValues) or isinstance(right, LaneValues):
                    return state.operations.apply(operation, *fixed, left, right)
                return operation(state.operations, *fixed, left, right)

            return of_two
        return lambda state: state.operations.apply(operation, *fixed, *[reader(state) for reader in readers])

    def argument_reader(self, expression: Expression) -> ArgumentReader:
        """Returns a reader like `evaluator`, but passes strings and truth values of the table through unchanged."""
        if isinstance(expression, ConstantExpr):
            value = expression.value
            return lambda state: state.fresh_symbol("number") if isinstance(value, float) else value
        return self.evaluator(expression) or (lambda state: state.fresh_symbol("absent operand"))

    def shared_offset_reader(self, role: str, space: str = "shared") -> ValueReader | None:
        """Returns a reader of an address operand as an offset in shared memory; other addresses give a term.

        A generic address may name an mbarrier in any of its forms, so a number in the shared window counts as shared
        for every form.
        """
        operand = self.step.operand(role)
        if operand is None:
            return None
        reader = self.reader(operand)
        return lambda state: state.operations.apply(SymbolicOps.op_in_shared, space, reader(state))


def _constants_first(
    arguments: tuple[Expression, ...],
) -> tuple[tuple[int | str | bool | None, ...], *tuple[Expression, ...]]:
    """Returns the arguments that the table fixes for a value operation (widths, types, modes), and the operands."""
    fixed: list[int | str | bool | None] = []
    for argument in arguments:
        if not isinstance(argument, ConstantExpr) or isinstance(argument.value, float):
            break
        fixed.append(argument.value)
    return tuple(fixed), *arguments[len(fixed) :]


def _operation_reader(name: str, width: int, *readers: ValueReader) -> ValueReader:
    """Returns a reader for an operation on values of a width."""
    operation = SymbolicOps.find(name)
    return lambda state: state.operations.apply(operation, width, *[reader(state) for reader in readers])


def constant_reader(number: int) -> ValueReader:
    """Returns a reader that always gives `number`."""
    return lambda _: number
