"""Operands of one instruction: how they are read, and how its results are written.

What can be decided is decided here, once a statement. An operand that is a register of its type's width, a constant or
an unchanging special register is a place in the frame; any other is read by a function of the executing group.

Source: PTX ISA, "Instruction Operands", "Operand Size Exceeding Instruction-Type Size".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulate.faults import UnsupportedError
from ptxkit.emulate.groups import LOCAL_BASE, Group
from ptxkit.emulate.lanes import written
from ptxkit.emulate.layout import float_code
from ptxkit.emulate.scopes import COMPONENTS, Frame, Label, Register, Scope, Symbol
from ptxkit.emulate.values import packed, unpacked
from ptxkit.emulate.widths import is_signed, resized, unsigned, width_of
from ptxkit.isa import table
from ptxkit.isa.expressions import Call, Const, Role
from ptxkit.isa.forms import Match, OperandForm
from ptxkit.isa.functions import kind
from ptxkit.records import dataclass
from ptxkit.syntax.constants import evaluate
from ptxkit.syntax.tree import (
    Address,
    Apply,
    Binary,
    Element,
    Float,
    Function,
    Instruction,
    Name,
    Not,
    Operand,
    Unary,
    Vector,
)

if TYPE_CHECKING:
    from ptxkit.emulate.program import Program

Read = Callable[[Group], Any]
Write = Callable[[Group, Any], None]

_OPAQUE = frozenset({"texture", "surface", "sampler"})
"""Kinds of operands that are a handle, or a variable that holds one."""
_ADDRESS_WIDTH = 64


@dataclass(frozen=True, slots=True)
class Source:
    """An operand that is read. place: in the frame, where it is no more than that. width: bits, -1 of a vector.

    constant: its value where that is known.
    """

    read: Read
    width: int
    place: int | None = None
    constant: int | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """An operand that is written. place: in the frame, where the value goes there as it is. count: of a vector."""

    write: Write
    width: int
    place: int | None = None
    count: int = 0


class Operands:
    """The operands of an instruction, by role."""

    def __init__(self, instruction: Instruction, match: Match, scope: Scope, program: Program) -> None:
        self.instruction, self.match, self.scope, self.program = instruction, match, scope, program
        assert scope.frame is not None
        self.frame: Frame = scope.frame

    # ------------------------------------------------------------------------------------------------ forms

    def form(self, role: str) -> OperandForm:
        """What the table says of the operand that plays a role."""
        found = self.match.operands[self.match.roles[role]]
        for step in self.match.paths.get(role, ()):
            found = found.elements[step]
        return found

    def node(self, role: str) -> Operand:
        """The operand that plays a role."""
        found = self.match.operand(role, self.instruction)
        if found is None:
            raise UnsupportedError(f"the operand {role} is missing")
        return found

    def written_as(self, question: Call) -> str | bool | None:
        """How an operand is written: its `selector`, or whether there is a `minus`."""
        (role,) = question.arguments
        assert isinstance(role, Role)
        node = self.node(role.name)
        minus, selector, _ = (False, None, node) if evaluate(node) is not None else _taken_apart(node)
        return minus if question.function == "minus" else selector

    def _type(self, form: OperandForm) -> str:
        return str(form.type.value) if isinstance(form.type, Const) else "b32"

    # ---------------------------------------------------------------------------------------------- reading

    def source(self, role: str) -> Source:
        """How the operand of a role is read; with its selector, or a minus before it, it is all of the register."""
        form, node = self.form(role), self.node(role)
        if form.parts or form.minus:
            node = _taken_apart(node)[2] if evaluate(node) is None else node
        if form.kind == "address":
            return self.address(node, str(form.space.value) if isinstance(form.space, Const) else "generic")
        if form.kind == "vector":
            return self._vector(node, form)
        if form.kind in _OPAQUE:
            return self.address(node, "generic")
        return self.value(node, self._type(form))

    def value(self, node: Operand, type_: str) -> Source:
        """How an operand of a type is read."""
        width = width_of(type_)
        if isinstance(node, Not):
            inner = self.value(node.operand, type_).read
            return Source(lambda group: ~inner(group), width)
        if isinstance(node, Name) and node.text != "WARP_SZ":
            return self._named(node.text, type_)
        if isinstance(node, Float):
            code = float_code(node, width) if kind(type_) == "f" or node.width > width else node.bits
            return self._constant(code, width)
        number = evaluate(node)
        if number is not None:
            return self._constant(self._coded(number, type_), width)
        if isinstance(node, Unary) and node.operator in "+-":
            return self._signed(node, type_)
        if isinstance(node, Binary) and node.operator in "+-":
            base, offset = self.value(node.left, type_), evaluate(node.right)
            if offset is not None:
                moved = unsigned(width)(offset % (1 << width) if node.operator == "+" else -offset % (1 << width))
                return Source(lambda group: base.read(group) + moved, width)
        if isinstance(node, Apply) and node.function == "generic":
            return self._generic_symbol(node.argument, width)
        if isinstance(node, Vector) and len(node.elements) == 1:
            return self.value(node.elements[0], type_)
        raise UnsupportedError(f"the machine cannot read the operand {node}")

    def _coded(self, number: int, type_: str) -> int:
        """An integer constant as bits of a type: of a floating-point type, that number."""
        if kind(type_) != "f" or type_ not in ("f32", "f64"):
            return number
        double = numpy.float64(number)
        return int(double.view(numpy.uint64)) if type_ == "f64" else int(numpy.float32(double).view(numpy.uint32))

    def _signed(self, node: Unary, type_: str) -> Source:
        width = width_of(type_)
        if isinstance(node.operand, Float):
            sign = 1 << (width - 1) if node.operator == "-" else 0
            return self._constant(float_code(node.operand, width) ^ sign, width)
        inner = self.value(node.operand, type_).read
        if node.operator == "+":
            return Source(inner, width)
        if kind(type_) == "f":
            raise UnsupportedError("the machine has no minus in front of a floating-point register")
        return Source(lambda group: numpy.negative(inner(group)), width)

    def _constant(self, value: int, width: int) -> Source:
        value &= (1 << width) - 1
        return self._place(self.frame.constant(value, width), width, constant=value)

    def _place(self, place: int, width: int, *, constant: int | None = None) -> Source:
        def read(group: Group) -> Any:
            where = group.lanes.where
            return group.registers[place] if where is None else group.registers[place][where]

        return Source(read, width, place, constant)

    def _named(self, text: str, type_: str) -> Source:
        width = width_of(type_)
        found = self.scope.lookup(text)
        base, _, component = text.partition(".")
        if found is None and component in COMPONENTS:
            vector = self.scope.lookup(base)
            if vector is not None:
                if not isinstance(vector, Register) or not COMPONENTS[component] < len(vector.slots) > 1:
                    raise UnsupportedError(f"{base} is declared, and has no element {component}")
                found = Register((vector.slots[COMPONENTS[component]],), vector.type)
        match found:
            case Register(slots=(place,)):
                return self._register(place, found, type_)
            case Register(slots=slots):  # a vector register as what its elements are together
                reads = [self._place(slot, found.width).read for slot in slots]
                return Source(lambda group: packed([read(group) for read in reads]), found.width * len(slots))
            case Symbol():
                return self._symbol(found, 0, found.space, width)
            case Function():
                return self._constant(self.program.code_address(found.name), width)
            case Label() | None:
                pass
        return self._special(text, width)

    def _register(self, place: int, register: Register, type_: str) -> Source:
        width, here = width_of(type_), register.width
        plain = self._place(place, here)
        if width == here:
            return plain
        signed = is_signed(type_) and is_signed(register.type)
        return Source(lambda group: resized(plain.read(group), width, signed=signed), width)

    def _special(self, text: str, width: int) -> Source:
        known = table().special(text)
        if known is None:
            raise UnsupportedError(f"nothing declares {text}")
        if self.program.changes(known.name):
            name = known.name
            return Source(lambda group: resized(group.cta.current(name, group), width), width)
        return self._place(self.frame.special(text, width), width)

    def _symbol(self, symbol: Symbol, offset: int, space: str, width: int) -> Source:
        """The address of a variable, in its own space or a generic one."""
        if symbol.space == "shared":
            start = self.program.windows.shared.start if space == "generic" else 0
            return self._place(self.frame.shared(start + symbol.address + offset, width), width)
        if not symbol.framed:
            return self._constant(symbol.address + offset, width)
        start = self.program.windows.local.start if space in ("generic", "param") else 0
        moved = numpy.uint64(start + symbol.address + offset)
        base = self._place(LOCAL_BASE, _ADDRESS_WIDTH).read
        if width == _ADDRESS_WIDTH:
            return Source(lambda group: base(group) + moved, width)
        return Source(lambda group: resized(base(group) + moved, width), width)

    def _generic_symbol(self, node: Operand, width: int) -> Source:
        found = self.scope.lookup(node.text) if isinstance(node, Name) else None
        if not isinstance(found, Symbol):
            raise UnsupportedError(f"the machine cannot read generic({node})")
        return self._symbol(found, 0, "generic", width)

    # -------------------------------------------------------------------------------------------- addresses

    def address(self, node: Operand, space: str) -> Source:
        """How the address in brackets is read: 64 bits, in the space."""
        offset = 0
        if isinstance(node, Address):
            base, offset = node.base, node.offset
        else:
            base = node
        if isinstance(base, Element):
            found = self.scope.lookup(base.base.text)
            number = evaluate(base.index)
            if not isinstance(found, Symbol):
                raise UnsupportedError(f"the machine cannot read the address {node}")
            if number is None:
                return self._element(found, base.index, offset, space)
            return self._symbol(found, offset + number * found.element, space, _ADDRESS_WIDTH)
        while isinstance(base, Binary) and base.operator in "+-" and evaluate(base) is None:
            step = evaluate(base.right)
            if step is None:
                raise UnsupportedError(f"the machine cannot read the address {node}")
            offset += step if base.operator == "+" else -step
            base = base.left
        if isinstance(base, Name):
            found = self.scope.lookup(base.text)
            if isinstance(found, Symbol):
                return self._symbol(found, offset, space, _ADDRESS_WIDTH)
            return self._moved(self.value(base, self._address_type(found)), offset)
        number = evaluate(base)
        if number is None:
            raise UnsupportedError(f"the machine cannot read the address {node}")
        return self._constant(number + offset, _ADDRESS_WIDTH)

    def _element(self, symbol: Symbol, index: Operand, offset: int, space: str) -> Source:
        """The address of an element of an array whose number a register says, perhaps with a constant added."""
        start, size = self._symbol(symbol, offset, space, _ADDRESS_WIDTH).read, numpy.uint64(symbol.element)
        found = self.scope.lookup(index.text) if isinstance(index, Name) else None
        number = self.value(index, self._address_type(found)).read
        return Source(lambda group: start(group) + number(group).astype(numpy.uint64) * size, _ADDRESS_WIDTH)

    def _address_type(self, found: object) -> str:
        return "b32" if isinstance(found, Register) and found.width == 32 else "b64"

    def _moved(self, base: Source, offset: int) -> Source:
        read = base.read
        if base.width == _ADDRESS_WIDTH:
            if not offset:
                return base
            moved = numpy.uint64(offset % (1 << 64))
            return Source(lambda group: read(group) + moved, _ADDRESS_WIDTH)
        short = numpy.uint32(offset % (1 << 32))
        return Source(lambda group: (read(group) + short).astype(numpy.uint64), _ADDRESS_WIDTH)

    # ---------------------------------------------------------------------------------------------- vectors

    def elements(self, node: Operand, form: OperandForm) -> list[tuple[Operand, str]]:
        """The elements of a vector operand with their types."""
        if isinstance(node, Vector):
            types = [self._type(each) for each in form.elements] or [self._type(form)] * len(node.elements)
            return list(zip(node.elements, types, strict=False))
        if isinstance(node, Name):
            found = self.scope.lookup(node.text)
            special = table().special(node.text) if found is None else None
            count = len(found.slots) if isinstance(found, Register) else 4 if special is not None else 1
            if count == 1:
                return [(node, self._type(form))]
            return [(Name(f"{node.text}.{letter}"), self._type(form)) for letter in "xyzw"[:count]]
        return [(node, self._type(form))]

    def _vector(self, node: Operand, form: OperandForm) -> Source:
        reads = [
            None if isinstance(each, Name) and each.is_sink else self.value(each, type_).read
            for each, type_ in self.elements(node, form)
        ]
        return Source(lambda group: tuple(None if read is None else read(group) for read in reads), -1)

    # ---------------------------------------------------------------------------------------------- writing

    def target(self, role: str) -> Target | None:
        """How the result of a role is written; None for the sink."""
        form, node = self.form(role), self.node(role)
        if form.parts:
            node = _taken_apart(node)[2]
        if form.kind == "vector":
            targets = [self._written(each, type_) for each, type_ in self.elements(node, form)]
            return self._together(targets, width_of(self._type(form)))
        return self._written(node, self._type(form))

    def _together(self, targets: Sequence[Target | None], width: int) -> Target:
        def write(group: Group, values: Any) -> None:
            parts = values if isinstance(values, tuple) else unpacked(values, len(targets))
            for each, value in zip(targets, parts, strict=True):
                if each is not None:
                    each.write(group, value)

        return Target(write, width, count=len(targets))

    def _written(self, node: Operand, type_: str) -> Target | None:
        if isinstance(node, Vector) and len(node.elements) == 1:
            node = node.elements[0]
        if not isinstance(node, Name):
            raise UnsupportedError(f"the machine cannot write to {node}")
        if node.is_sink:
            return None
        found = self.scope.lookup(node.text)
        if found is None:
            base, _, component = node.text.partition(".")
            vector = self.scope.lookup(base)
            if isinstance(vector, Register) and component in COMPONENTS:
                found = Register((vector.slots[COMPONENTS[component]],), vector.type)
        if not isinstance(found, Register):
            raise UnsupportedError(f"{node.text} is no register that could be written")
        if len(found.slots) > 1:  # a vector register as what its elements are together
            return self._together(
                [register_target(slot, found.width, found.type) for slot in found.slots], width_of(type_)
            )
        return register_target(found.slots[0], found.width, type_)


def _taken_apart(node: Operand) -> tuple[bool, str | None, Operand]:
    """Whether a register has a minus before it, its selector, and the register: of `-%r1.h0`."""
    if isinstance(node, Unary) and node.operator == "-":
        _, selector, inner = _taken_apart(node.operand)
        return True, selector, inner
    if isinstance(node, Name) and "." in node.text:
        base, _, selector = node.text.partition(".")
        return False, selector, replace(node, text=base)
    return False, None, node


def register_target(place: int, here: int, type_: str) -> Target:
    """How a register of a width is written with a value of a type."""
    width, signed = width_of(type_), is_signed(type_)

    def write(group: Group, value: Any) -> None:
        registers = group.registers
        registers[place] = written(registers[place], group.lanes.where, value)

    if width == here:
        return Target(write, width, place)
    return Target(lambda group, value: write(group, resized(value, here, signed=signed)), width)
