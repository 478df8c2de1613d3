"""Reads the operands and the value expressions of a step as abstract values.

Source: PTX ISA, "Operands", "Arrays, Vectors, Labels, and Function Names as Operands", "Operand Size Exceeding
Instruction-Type Size", "Kernel Function Parameters".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ptxkit.analysis.abstract_interpretation import value_transfer
from ptxkit.analysis.abstract_interpretation.abstract_values import (
    NO_VALUE,
    AbstractValue,
    Alternative,
    Base,
    address_of,
    integers,
    join_values,
    unknown,
)
from ptxkit.analysis.abstract_interpretation.special_ranges import SpecialRanges
from ptxkit.analysis.abstract_interpretation.strided_ranges import full_range, make_range, single
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.sign_extension import sign_extension
from ptxkit.isa import table
from ptxkit.isa.effects import Access, Value
from ptxkit.isa.expressions import CallExpr, ConstantExpr, Expression, OperandRole
from ptxkit.isa.functions import bits, is_declarable
from ptxkit.semantics.value_ops import INTEGER_OPERATIONS
from ptxkit.syntax.tree import Address, Binary, Element, Integer, Name, Not, Operand, Unary, Vector, operand_names

RegisterReader: TypeAlias = Callable[[Step, str, int], AbstractValue]
"""Returns the value of a register before a step, given its name and width."""

#: The operations whose results are integers of one bit, or of 32 bits, and no addresses.
_FLAGS = ("elected", "vote", "is_space", "is_canceled")
_NUMBERS = ("ballot",)
#: The largest rank of a CTA in its cluster.
_MOST_RANK = 15
_LONG, _NARROW = 64, 16


class AbstractOperands:
    """The operands of the steps of one function."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._specials = SpecialRanges(program.function if program.is_kernel else None)

    def width_of(self, step: Step, text: str) -> int:
        """Returns the width of a register in bits; that of the widest register where it is unknown."""
        named = step.scope.find(text)
        if named is None or not is_declarable(named.kind):
            return 1 if named is not None and named.kind == "pred" else _LONG
        return bits(named.kind)

    def operand(self, step: Step, operand: Operand | None, read: RegisterReader) -> AbstractValue:
        """Returns the value of an operand; for an address operand, the address."""
        match operand:
            case Integer(value=number):
                return integers(single(_LONG, number))
            case Name(text=text):
                return self._name(step, text, read)
            case Address(base=base, offset=offset):
                return self._sum(self.operand(step, base, read), integers(single(_LONG, offset)))
            case Element(base=base, index=index):
                return self._sum(self.operand(step, base, read), self.operand(step, index, read))
            case Binary(operator="+", left=left, right=right):
                return self._sum(self.operand(step, left, read), self.operand(step, right, read))
            case Binary(operator="*", left=left, right=right):
                factors = [self.operand(step, left, read), self.operand(step, right, read)]
                return _apply("mul", _LONG, *factors)
            case Unary(operator="-", operand=inner):
                return _apply("neg", _LONG, self.operand(step, inner, read))
            case Not(operand=inner):
                return _apply("not", 1, self.operand(step, inner, read))
        return unknown(_LONG)

    def _sum(self, first: AbstractValue, second: AbstractValue) -> AbstractValue:
        return _apply("add", _LONG, first, second)

    def is_source(self, step: Step) -> bool:
        """Returns whether a step names a variable, loads from a parameter, or converts an address."""
        names = [name for operand in step.instruction.operands for name in operand_names(operand)]
        if any(step.scope.register_name(name) == name and step.scope.variable(name) is not None for name in names):
            return True
        return any(
            isinstance(effect, Value)
            and isinstance(effect.value, CallExpr)
            and effect.value.function in ("to_generic", "from_generic", "map_rank")
            for effect in step.effects
        )

    def _name(self, step: Step, text: str, read: RegisterReader) -> AbstractValue:
        scope = step.scope
        register = scope.register_name(text)
        variable = scope.variable(text) if register == text else None
        if variable is not None:
            return address_of(variable, _LONG)
        if table().special(text) is not None and not scope.shadows_special_register(text):
            found = self._specials.find(text)
            return unknown(_LONG) if found is None else integers(found)
        named = scope.find(text)
        if named is None or not named.is_register or not (is_declarable(named.kind) or named.kind == "pred"):
            return unknown(_LONG)
        return read(step, text, self.width_of(step, text))

    def assignment_value(self, step: Step, register: str, read: RegisterReader) -> AbstractValue:
        """Returns the value that a step gives to a register if it is executed."""
        found = NO_VALUE
        is_found = False
        for effect in step.effects:
            if not isinstance(effect, Value):
                continue
            target = step.operand(effect.result)
            elements = target.elements if isinstance(target, Vector) else (target,)
            for place, element in enumerate(elements):
                if isinstance(element, Name) and step.scope.register_name(element.text) == register:
                    is_found = True
                    width = self.width_of(step, element.text)
                    value = self._result(step, effect, place, isinstance(target, Vector), read)
                    found = join_values(found, self._store_in_register(step, effect.result, register, width, value))
        return found if is_found else unknown(self._width_of_register(step, register))

    def _width_of_register(self, step: Step, register: str) -> int:
        for operand in step.instruction.operands:
            for name in operand_names(operand):
                if step.scope.register_name(name) == register:
                    return self.width_of(step, name)
        return _LONG

    def _store_in_register(
        self, step: Step, role: str, register: str, width: int, value: AbstractValue
    ) -> AbstractValue:
        """Returns a result as a register holds it, which may be wider."""
        types = sign_extension(step, role, register)
        if types is not None:
            return value_transfer.resize(value_transfer.resize(value, bits(types[0])), width, is_signed=True)
        return value_transfer.resize(value, width)

    def _result(self, step: Step, effect: Value, place: int, is_vector: bool, read: RegisterReader) -> AbstractValue:
        expression = effect.value
        if not is_vector:
            return self.expression(step, expression, read)
        if isinstance(expression, CallExpr) and expression.function == "unpack":
            size, source = expression.arguments
            width = size.value if isinstance(size, ConstantExpr) and isinstance(size.value, int) else 0
            if width:
                whole = self.expression(step, source, read)
                moved = _apply("shr", _LONG, whole, integers(single(32, place * width)), is_signed=False)
                return value_transfer.resize(moved if place else whole, width)
        if isinstance(expression, CallExpr) and expression.function == "load":
            return self._load(step, expression, place)
        return unknown(_LONG)

    def expression(self, step: Step, expression: Expression, read: RegisterReader) -> AbstractValue:
        """Returns the value of an expression of the table."""
        match expression:
            case ConstantExpr(value=bool() | int() as number):
                return integers(single(_LONG, int(number)))
            case OperandRole(name=role):
                return self.operand(step, step.operand(role), read)
            case CallExpr():
                return self._call(step, expression, read)
        return unknown(_LONG)

    def _call(self, step: Step, call: CallExpr, read: RegisterReader) -> AbstractValue:
        name, given = call.function, call.arguments
        if name in _FLAGS:
            return integers(full_range(1))
        if name in _NUMBERS:
            return integers(full_range(32))
        if name == "rank_of":
            return integers(make_range(32, 0, _MOST_RANK, 1))
        if name == "load":
            return self._load(step, call, 0)
        if name in ("to_generic", "from_generic", "map_rank") and isinstance(given[0], ConstantExpr):
            source = self.expression(step, given[1], read)
            if name == "map_rank":
                return value_transfer.map_rank(source)
            function = value_transfer.to_generic if name == "to_generic" else value_transfer.from_generic
            return function(str(given[0].value), source, step.index)
        if name == "pack":
            return self._pack(step, call, read)
        arguments: list[value_transfer.Argument] = []
        for at, each in enumerate(given):
            if isinstance(each, ConstantExpr) and not (isinstance(each.value, int) and _is_operand(name, at)):
                arguments.append(each.value)
            elif isinstance(each, OperandRole) and not _is_operand(name, at):  # such as the table of `lop3`
                operand = step.operand(each.name)
                if not isinstance(operand, Integer):
                    return unknown(_LONG)
                arguments.append(operand.value)
            else:
                arguments.append(self.expression(step, each, read))
        found = value_transfer.apply(name, arguments)
        return unknown(_LONG) if found is None else found

    def _load(self, step: Step, call: CallExpr, place: int) -> AbstractValue:
        width = call.arguments[2].value if isinstance(call.arguments[2], ConstantExpr) else None
        if not isinstance(width, int):
            return unknown(_LONG)
        return self._argument(step, width, place) or unknown(width, is_opaque=width > _NARROW)

    def _argument(self, step: Step, width: int, place: int) -> AbstractValue | None:
        """Returns the bytes of an argument of the kernel that a step loads; None for any other bytes."""
        accesses = [effect for effect in step.effects if isinstance(effect, Access)]
        if not self._program.is_kernel or len(accesses) != 1 or accesses[0].space.partition("::")[0] != "param":
            return None
        operand = step.operand(accesses[0].address)
        if not isinstance(operand, Address) or not isinstance(operand.base, Name) or operand.index:
            return None
        declared = step.scope.parameter(operand.base.text)
        if declared is None:
            return None
        if width != _LONG:
            return unknown(width, is_opaque=width > _LONG)
        position = operand.offset + place * width // 8
        alignment = declared.pointer_alignment or 1
        is_whole = position == 0 and declared.pointer is not None
        space = declared.pointer[0] if is_whole and declared.pointer else ""
        base = Base("argument", operand.base.text, space, position)
        alignment = alignment & -alignment if is_whole else 1
        return (Alternative(base, single(width, 0), alignment=alignment),)

    def _pack(self, step: Step, call: CallExpr, read: RegisterReader) -> AbstractValue:
        """Returns the number that elements form, beginning with the lowest bits."""
        size, source = call.arguments
        operand = step.operand(source.name) if isinstance(source, OperandRole) else None
        width = size.value if isinstance(size, ConstantExpr) and isinstance(size.value, int) else 0
        if not isinstance(operand, Vector) or not width:
            return unknown(_LONG)
        total = width * len(operand.elements)
        found = integers(single(total, 0))
        for place, element in enumerate(operand.elements):
            own = value_transfer.resize(value_transfer.resize(self.operand(step, element, read), width), total)
            if place:
                own = _apply("shl", total, own, integers(single(32, place * width)))
            found = _apply("or", total, found, own)
        return found


def _is_operand(name: str, place: int) -> bool:
    """Returns whether an argument of an operation is an operand, and not a width that the table fixes."""
    operation = INTEGER_OPERATIONS.get(name)
    return operation is not None and place not in operation.static


def _apply(name: str, width: int, *operands: AbstractValue, is_signed: bool | None = None) -> AbstractValue:
    fixed = (width,) if is_signed is None else (width, is_signed)
    found = value_transfer.apply(name, (*fixed, *operands))
    assert found is not None
    return found
