"""Evaluates the operands and the value expressions of steps, in any domain of values.

Source: PTX ISA, "Operands", "Arrays, Vectors, Labels, and Function Names as Operands", "Operand Size Exceeding
Instruction-Type Size".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Generic, TypeAlias, TypeVar

from ptxkit.analysis.ir.layout import NameKind
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.ir.sign_extension import sign_extension
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Value
from ptxkit.isa.expressions import CallExpr, ConstantExpr, Expression, OperandRole
from ptxkit.isa.functions import bits, is_declarable
from ptxkit.semantics.layout import DeclaredVariable
from ptxkit.semantics.value_ops import INTEGER_OPERATIONS, bit_mask
from ptxkit.syntax.tree import Address, Binary, Element, Integer, Name, Not, Operand, Unary, Vector, operand_names

V = TypeVar("V")
Reader: TypeAlias = Callable[[Step, str], V]
"""Returns the value of a register before a step, given its name in the text."""

_WIDEST = 64


@dataclass(frozen=True, slots=True)
class _StepResult:
    """How a step computes a register.

    value: the expression; None if it is not known. width: that of the register in bits. place: the place of the
    register in a vector; None for a register on its own. types: those of the result and the register, where it is
    extended.
    """

    value: Expression | None
    width: int
    place: int | None = None
    types: tuple[str, str] | None = None


class ValueReader(ABC, Generic[V]):
    """The operands and results of steps in one domain, whose operations a subclass defines."""

    @abstractmethod
    def constant(self, number: int) -> V:
        """Returns the value of a number, of which the low 64 bits count."""

    @abstractmethod
    def unknown(self) -> V:
        """Returns the value of 64 bits of which nothing is known."""

    @abstractmethod
    def apply(self, name: str, arguments: Sequence[object]) -> V:
        """Returns the result of an operation of the instruction table.

        arguments: words and widths where the table fixes them, values elsewhere.
        """

    def special(self, _name: str) -> V:
        """Returns the value of a special register."""
        return self.unknown()

    def variable(self, _variable: DeclaredVariable) -> V:
        """Returns the address of a variable in its state space."""
        return self.unknown()

    def load(self, _step: Step, _call: CallExpr, _place: int, _read: Reader[V]) -> V:
        """Returns one element of what a step loads."""
        return self.unknown()

    def truncate(self, value: V, width: int) -> V:
        """Returns the lowest bits of a value."""
        return self.apply("and", (_WIDEST, value, self.constant(bit_mask(width))))

    def fit(self, value: V, _width: int) -> V:
        """Returns the result of a step as a register of `width` bits holds it."""
        return value

    def width_of(self, step: Step, text: str) -> int:
        """Returns the width of a register in bits; that of the widest register where it is unknown."""
        named = step.scope.find(text)
        if named is None or not is_declarable(named.kind):
            return 1 if named is not None and named.kind == "pred" else _WIDEST
        return bits(named.kind)

    def operand(self, step: Step, operand: Operand | None, read: Reader[V]) -> V:
        """Returns the value of an operand; for an address operand, the address."""
        match operand:
            case Integer(value=number):
                return self.constant(number)
            case Name(text=text):
                return self._name(step, text, read)
            case Address(base=base, offset=offset):
                return self.displace(step, base, offset, read)
            case Element(base=first, index=second) | Binary(operator="+", left=first, right=second):
                return self.apply("add", (_WIDEST, self.operand(step, first, read), self.operand(step, second, read)))
            case Binary(operator="*", left=first, right=second):
                return self.apply("mul", (_WIDEST, self.operand(step, first, read), self.operand(step, second, read)))
            case Unary(operator="-", operand=inner):
                return self.apply("neg", (_WIDEST, self.operand(step, inner, read)))
            case Not(operand=inner):
                return self.apply("not", (1, self.operand(step, inner, read)))
        return self.unknown()

    def displace(self, step: Step, base: Operand, offset: int, read: Reader[V]) -> V:
        """Returns the address at an offset in bytes from an operand."""
        return self.apply("add", (_WIDEST, self.operand(step, base, read), self.constant(offset)))

    def _name(self, step: Step, text: str, read: Reader[V]) -> V:
        meaning = step.scope.meaning_of(text)
        if meaning is NameKind.REGISTER:
            return read(step, text)
        if meaning is NameKind.SPECIAL:
            return self.special(text)
        return self.variable(meaning) if isinstance(meaning, DeclaredVariable) else self.unknown()

    def expression(self, step: Step, expression: Expression, read: Reader[V]) -> V:
        """Returns the value of an expression of the table."""
        match expression:
            case ConstantExpr(value=bool() | int() as number):
                return self.constant(int(number))
            case OperandRole(name=role):
                return self.operand(step, step.operand(role), read)
            case CallExpr():
                return self.call(step, expression, read)
        return self.unknown()

    def call(self, step: Step, call: CallExpr, read: Reader[V]) -> V:
        """Returns the result of an operation that the table names."""
        if call.function == "load":
            return self.load(step, call, 0, read)
        if call.function == "pack":
            return self._pack(step, call, read)
        operation = INTEGER_OPERATIONS.get(call.function)
        arguments: list[object] = []
        for at, each in enumerate(call.arguments):
            if not (isinstance(each, ConstantExpr) if operation is None else at in operation.static):
                arguments.append(self.expression(step, each, read))
                continue
            fixed = step.operand(each.name) if isinstance(each, OperandRole) else each  # such as the table of `lop3`
            if not isinstance(fixed, Integer | ConstantExpr):
                return self.unknown()
            arguments.append(fixed.value)
        return self.apply(call.function, arguments)

    def _pack(self, step: Step, call: CallExpr, read: Reader[V]) -> V:
        """Returns the number that elements form, beginning with the lowest bits."""
        size, source = call.arguments
        operand = step.operand(source.name) if isinstance(source, OperandRole) else None
        width = size.value if isinstance(size, ConstantExpr) and isinstance(size.value, int) else 0
        if not isinstance(operand, Vector) or not width:
            return self.unknown()
        total = width * len(operand.elements)
        found = self.constant(0)
        for place, element in enumerate(operand.elements):
            own = self.truncate(self.operand(step, element, read), width)
            if place:
                own = self.apply("shl", (total, own, self.constant(place * width)))
            found = self.apply("or", (total, found, own))
        return found

    def assigned_value(self, step: Step, register: str, read: Reader[V]) -> V:
        """Returns the value that a step gives to a register if it is executed."""
        key = step, register
        found = self._results.get(key)
        if found is None:
            found = self._results[key] = self._find_result(step, register)
        if found.value is None:
            return self.fit(self.unknown(), found.width)
        if found.place is None:
            value = self.expression(step, found.value, read)
        else:
            value = self._element(step, found.value, found.place, read)
        return self.fit(value, found.width) if found.types is None else self.apply("convert", (*found.types, value))

    @cached_property
    def _results(self) -> dict[tuple[Step, str], _StepResult]:
        return {}

    def _find_result(self, step: Step, register: str) -> _StepResult:
        found = [(effect, *each) for effect in _values(step) for each in _places(step, effect, register)]
        if len(found) != 1:
            operands = step.instruction.operands
            names = [name for operand in operands for name in operand_names(operand)]
            widths = [self.width_of(step, name) for name in names if step.scope.register_name(name) == register]
            return _StepResult(None, widths[0] if widths else _WIDEST)
        [(effect, name, place)] = found
        types = sign_extension(step, effect.result, register)
        return _StepResult(effect.value, self.width_of(step, name), place, types)

    def _element(self, step: Step, expression: Expression, place: int, read: Reader[V]) -> V:
        match expression:
            case CallExpr(function="unpack", arguments=(ConstantExpr(value=int() as width), source)):
                whole = self.expression(step, source, read)
                shift = self.constant(place * width)
                return self.truncate(self.apply("shr", (_WIDEST, False, whole, shift)) if place else whole, width)
            case CallExpr(function="load"):
                return self.load(step, expression, place, read)
        return self.unknown()


def _values(step: Step) -> Iterator[Value]:
    return (effect for effect in step.effects if isinstance(effect, Value))


def _places(step: Step, effect: Value, register: str) -> Iterator[tuple[str, int | None]]:
    """Yields where the result of an effect names a register: the name, and its place in a vector."""
    target = step.operand(effect.result)
    elements = enumerate(target.elements) if isinstance(target, Vector) else ((None, target),)
    for place, each in elements:
        if isinstance(each, Name) and step.scope.register_name(each.text) == register:
            yield each.text, place


def loaded_argument(step: Step, call: CallExpr, place: int) -> tuple[str, int, int] | None:
    """Returns the argument of the function that a step loads: its name, the first byte, and the width in bits.

    The result is None for any other load.
    """
    space, address, width = call.arguments
    operand = step.operand(address.name) if isinstance(address, OperandRole) else None
    is_param = isinstance(space, ConstantExpr) and str(space.value).startswith("param")
    if not is_param or not isinstance(operand, Address) or not isinstance(operand.base, Name) or operand.index:
        return None
    if step.scope.parameter(operand.base.text) is None or not isinstance(width, ConstantExpr):
        return None
    if not isinstance(width.value, int):
        return None
    return operand.base.text, operand.offset + place * width.value // 8, width.value
