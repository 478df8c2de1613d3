"""Operands of one instruction: their reads, and the writes of its results.

Decisions that do not depend on values are made once for each statement. An operand that is a register of its type's
width, a constant or an unchanging special register is a slot of the frame; any other is read by a function of the
executing group.

Source: PTX ISA, "Instruction Operands", "Operand Size Exceeding Instruction-Type Size".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulator.core.dtypes import is_signed, resize, unsigned_dtype, width_of
from ptxkit.emulator.core.findings import UnsupportedError
from ptxkit.emulator.core.lane_set import with_lanes_written
from ptxkit.emulator.core.value_ops import pack_elements, unpack_elements
from ptxkit.emulator.state.memory_layout import encode_float
from ptxkit.emulator.state.symbols import COMPONENTS, BlockScope, FrameLayout, RegisterSlots
from ptxkit.emulator.threads.thread_groups import LOCAL_BASE_SLOT, ThreadGroup
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa import table
from ptxkit.isa.expressions import CallExpr, ConstantExpr, OperandRole
from ptxkit.isa.forms import Match, OperandForm
from ptxkit.isa.functions import kind
from ptxkit.semantics.layout import DeclaredVariable
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
    from ptxkit.emulator.threads.machine_state import ProgramCode

ReadFunction = Callable[[ThreadGroup], Any]
WriteFunction = Callable[[ThreadGroup, Any], None]

_OPAQUE_KINDS = frozenset({"texture", "surface", "sampler"})
"""Kinds of operands that are a handle, or a variable that holds one."""
_ADDRESS_WIDTH = 64


@dataclass(frozen=True, slots=True)
class OperandReader:
    """An operand that is read, of `width` bits (-1: a vector).

    `slot` is its slot in the frame if it is only that, and `constant` its value if that is known.
    """

    read: ReadFunction
    width: int
    slot: int | None = None
    constant: int | None = None


@dataclass(frozen=True, slots=True)
class ResultWriter:
    """An operand that is written. `slot` is its slot if the value is stored unchanged.

    `count` is the number of elements of a vector.
    """

    write: WriteFunction
    width: int
    slot: int | None = None
    count: int = 0


class OperandAccess:
    """The operands of an instruction, by role."""

    def __init__(self, instruction: Instruction, match: Match, scope: BlockScope, program: ProgramCode) -> None:
        self.instruction, self.match, self.scope, self.program = instruction, match, scope, program
        assert scope.frame is not None
        self.frame: FrameLayout = scope.frame

    # ------------------------------------------------------------------------------------------------ forms

    def operand_form(self, role: str) -> OperandForm:
        """Returns the table's description of the operand with a role."""
        found = self.match.operands[self.match.roles[role]]
        for step in self.match.paths.get(role, ()):
            found = found.elements[step]
        return found

    def node(self, role: str) -> Operand:
        """Returns the operand with a role."""
        found = self.match.operand(role, self.instruction)
        if found is None:
            raise UnsupportedError(f"the operand {role} is missing")
        return found

    def spelling_property(self, question: CallExpr) -> str | bool | None:
        """Returns a property of an operand's spelling: its `selector`, or whether it has a `minus`."""
        (role,) = question.arguments
        assert isinstance(role, OperandRole)
        node = self.node(role.name)
        minus, selector, _ = (False, None, node) if evaluate(node) is not None else _split_register_operand(node)
        return minus if question.function == "minus" else selector

    def _type(self, form: OperandForm) -> str:
        return str(form.type.value) if isinstance(form.type, ConstantExpr) else "b32"

    # ---------------------------------------------------------------------------------------------- reading

    def reader(self, role: str) -> OperandReader:
        """Returns the reader of the operand with a role; with a selector or a minus sign, it reads the entire
        register.
        """
        form, node = self.operand_form(role), self.node(role)
        if form.parts or form.minus:
            node = _split_register_operand(node)[2] if evaluate(node) is None else node
        if form.kind == "address":
            return self.address_reader(
                node, str(form.space.value) if isinstance(form.space, ConstantExpr) else "generic"
            )
        if form.kind == "vector":
            return self._vector_reader(node, form)
        if form.kind in _OPAQUE_KINDS:
            return self.address_reader(node, "generic")
        return self.value_reader(node, self._type(form))

    def value_reader(self, node: Operand, type_: str) -> OperandReader:
        """Returns the reader of an operand of a type."""
        width = width_of(type_)
        if isinstance(node, Not):
            inner = self.value_reader(node.operand, type_).read
            return OperandReader(lambda group: ~inner(group), width)
        if isinstance(node, Name) and node.text != "WARP_SZ":
            return self._named_reader(node.text, type_)
        if isinstance(node, Float):
            code = encode_float(node, width) if kind(type_) == "f" or node.width > width else node.bits
            return self._constant_reader(code, width)
        number = evaluate(node)
        if number is not None:
            return self._constant_reader(self._encode_constant(number, type_), width)
        if isinstance(node, Unary) and node.operator in "+-":
            return self._negated_reader(node, type_)
        if isinstance(node, Binary) and node.operator in "+-":
            base, offset = self.value_reader(node.left, type_), evaluate(node.right)
            if offset is not None:
                moved = unsigned_dtype(width)(offset % (1 << width) if node.operator == "+" else -offset % (1 << width))
                return OperandReader(lambda group: base.read(group) + moved, width)
        if isinstance(node, Apply) and node.function == "generic":
            return self._generic_symbol_reader(node.argument, width)
        if isinstance(node, Vector) and len(node.elements) == 1:
            return self.value_reader(node.elements[0], type_)
        raise UnsupportedError(f"the machine cannot read the operand {node}")

    def _encode_constant(self, number: int, type_: str) -> int:
        """Encodes an integer constant as bits of a type; for a floating-point type, its value is converted."""
        if kind(type_) != "f" or type_ not in ("f32", "f64"):
            return number
        double = numpy.float64(number)
        return int(double.view(numpy.uint64)) if type_ == "f64" else int(numpy.float32(double).view(numpy.uint32))

    def _negated_reader(self, node: Unary, type_: str) -> OperandReader:
        width = width_of(type_)
        if isinstance(node.operand, Float):
            sign = 1 << (width - 1) if node.operator == "-" else 0
            return self._constant_reader(encode_float(node.operand, width) ^ sign, width)
        inner = self.value_reader(node.operand, type_).read
        if node.operator == "+":
            return OperandReader(inner, width)
        if kind(type_) == "f":
            raise UnsupportedError("the machine has no minus before a floating-point register")
        return OperandReader(lambda group: numpy.negative(inner(group)), width)

    def _constant_reader(self, value: int, width: int) -> OperandReader:
        value &= (1 << width) - 1
        return self._slot_reader(self.frame.constant_slot(value, width), width, constant=value)

    def _slot_reader(self, place: int, width: int, *, constant: int | None = None) -> OperandReader:
        def read(group: ThreadGroup) -> Any:
            where = group.lanes.selector
            return group.registers[place] if where is None else group.registers[place][where]

        return OperandReader(read, width, place, constant)

    def _named_reader(self, text: str, type_: str) -> OperandReader:
        width = width_of(type_)
        found = self.scope.lookup(text)
        base, _, component = text.partition(".")
        if found is None and component in COMPONENTS:
            vector = self.scope.lookup(base)
            if self.scope.find(base) is not None:  # a label, too, hides a special register of the same name
                if not isinstance(vector, RegisterSlots) or not COMPONENTS[component] < len(vector.slots) > 1:
                    raise UnsupportedError(f"{base} is declared, and has no element {component}")
                found = RegisterSlots((vector.slots[COMPONENTS[component]],), vector.type)
        match found:
            case RegisterSlots(slots=(place,)):
                return self._register_reader(place, found, type_)
            case RegisterSlots(slots=slots):  # a vector register is the concatenation of its elements
                reads = [self._slot_reader(slot, found.width).read for slot in slots]
                return OperandReader(
                    lambda group: pack_elements([read(group) for read in reads]), found.width * len(slots)
                )
            case DeclaredVariable():
                return self._symbol_reader(found, 0, found.space, width)
            case Function():
                return self._constant_reader(self.program.function_address(found.name), width)
        return self._special_reader(text, width)

    def _register_reader(self, place: int, register: RegisterSlots, type_: str) -> OperandReader:
        width, here = width_of(type_), register.width
        plain = self._slot_reader(place, here)
        if width == here:
            return plain
        signed = is_signed(type_) and is_signed(register.type)
        return OperandReader(lambda group: resize(plain.read(group), width, signed=signed), width)

    def _special_reader(self, text: str, width: int) -> OperandReader:
        known = table().special(text)
        if known is None:
            raise UnsupportedError(f"nothing declares {text}")
        if self.program.is_changing_special(known.name):
            name = known.name
            return OperandReader(lambda group: resize(group.cta.changing_special(name, group), width), width)
        return self._slot_reader(self.frame.special_slot(text, width), width)

    def _symbol_reader(self, symbol: DeclaredVariable, offset: int, space: str, width: int) -> OperandReader:
        """Returns the reader of a variable's address, in its own space or as a generic address."""
        if symbol.space == "shared":
            start = self.program.windows.shared.start if space == "generic" else 0
            return self._slot_reader(self.frame.shared_address_slot(start + symbol.address + offset, width), width)
        if not symbol.is_in_frame:
            return self._constant_reader(symbol.address + offset, width)
        start = self.program.windows.local.start if space in ("generic", "param") else 0
        moved = numpy.uint64(start + symbol.address + offset)
        base = self._slot_reader(LOCAL_BASE_SLOT, _ADDRESS_WIDTH).read
        if width == _ADDRESS_WIDTH:
            return OperandReader(lambda group: base(group) + moved, width)
        return OperandReader(lambda group: resize(base(group) + moved, width), width)

    def _generic_symbol_reader(self, node: Operand, width: int) -> OperandReader:
        found = self.scope.lookup(node.text) if isinstance(node, Name) else None
        if not isinstance(found, DeclaredVariable):
            raise UnsupportedError(f"the machine cannot read generic({node})")
        return self._symbol_reader(found, 0, "generic", width)

    # -------------------------------------------------------------------------------------------- addresses

    def address_reader(self, node: Operand, space: str) -> OperandReader:
        """Returns the reader of the address in brackets: 64 bits, in the space."""
        offset = 0
        if isinstance(node, Address):
            base, offset = node.base, node.offset
        else:
            base = node
        if isinstance(base, Element):
            found = self.scope.lookup(base.base.text)
            number = evaluate(base.index)
            if not isinstance(found, DeclaredVariable):
                raise UnsupportedError(f"the machine cannot read the address {node}")
            if number is None:
                return self._element_reader(found, base.index, offset, space)
            return self._symbol_reader(found, offset + number * found.element_size, space, _ADDRESS_WIDTH)
        while isinstance(base, Binary) and base.operator in "+-" and evaluate(base) is None:
            step = evaluate(base.right)
            if step is None:
                raise UnsupportedError(f"the machine cannot read the address {node}")
            offset += step if base.operator == "+" else -step
            base = base.left
        if isinstance(base, Name):
            found = self.scope.lookup(base.text)
            if isinstance(found, DeclaredVariable):
                return self._symbol_reader(found, offset, space, _ADDRESS_WIDTH)
            return self._offset_reader(self.value_reader(base, self._address_type(found)), offset)
        number = evaluate(base)
        if number is None:
            raise UnsupportedError(f"the machine cannot read the address {node}")
        return self._constant_reader(number + offset, _ADDRESS_WIDTH)

    def _element_reader(self, symbol: DeclaredVariable, index: Operand, offset: int, space: str) -> OperandReader:
        """Returns the reader of the address of an array element; its index is a register, plus an optional constant."""
        start, size = self._symbol_reader(symbol, offset, space, _ADDRESS_WIDTH).read, numpy.uint64(symbol.element_size)
        found = self.scope.lookup(index.text) if isinstance(index, Name) else None
        number = self.value_reader(index, self._address_type(found)).read
        return OperandReader(lambda group: start(group) + number(group).astype(numpy.uint64) * size, _ADDRESS_WIDTH)

    def _address_type(self, found: object) -> str:
        return "b32" if isinstance(found, RegisterSlots) and found.width == 32 else "b64"

    def _offset_reader(self, base: OperandReader, offset: int) -> OperandReader:
        read = base.read
        if base.width == _ADDRESS_WIDTH:
            if not offset:
                return base
            moved = numpy.uint64(offset % (1 << 64))
            return OperandReader(lambda group: read(group) + moved, _ADDRESS_WIDTH)
        short = numpy.uint32(offset % (1 << 32))
        return OperandReader(lambda group: (read(group) + short).astype(numpy.uint64), _ADDRESS_WIDTH)

    # ---------------------------------------------------------------------------------------------- vectors

    def elements(self, node: Operand, form: OperandForm) -> list[tuple[Operand, str]]:
        """Returns the elements of a vector operand with their types."""
        if isinstance(node, Vector):
            types = [self._type(each) for each in form.elements] or [self._type(form)] * len(node.elements)
            return list(zip(node.elements, types, strict=False))
        if isinstance(node, Name):
            found = self.scope.lookup(node.text)
            special = table().special(node.text) if found is None else None
            count = len(found.slots) if isinstance(found, RegisterSlots) else 4 if special is not None else 1
            if count == 1:
                return [(node, self._type(form))]
            return [(Name(f"{node.text}.{letter}"), self._type(form)) for letter in "xyzw"[:count]]
        return [(node, self._type(form))]

    def _vector_reader(self, node: Operand, form: OperandForm) -> OperandReader:
        reads = [
            None if isinstance(each, Name) and each.is_sink else self.value_reader(each, type_).read
            for each, type_ in self.elements(node, form)
        ]
        return OperandReader(lambda group: tuple(None if read is None else read(group) for read in reads), -1)

    # ---------------------------------------------------------------------------------------------- writing

    def writer(self, role: str) -> ResultWriter | None:
        """Returns the writer of the result with a role, or None for the sink."""
        form, node = self.operand_form(role), self.node(role)
        if form.parts:
            node = _split_register_operand(node)[2]
        if form.kind == "vector":
            targets = [self._value_writer(each, type_) for each, type_ in self.elements(node, form)]
            return self._vector_writer(targets, width_of(self._type(form)))
        return self._value_writer(node, self._type(form))

    def _vector_writer(self, targets: Sequence[ResultWriter | None], width: int) -> ResultWriter:
        def write(group: ThreadGroup, values: Any) -> None:
            parts = values if isinstance(values, tuple) else unpack_elements(values, len(targets))
            for each, value in zip(targets, parts, strict=True):
                if each is not None:
                    each.write(group, value)

        return ResultWriter(write, width, count=len(targets))

    def _value_writer(self, node: Operand, type_: str) -> ResultWriter | None:
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
            if isinstance(vector, RegisterSlots) and component in COMPONENTS:
                found = RegisterSlots((vector.slots[COMPONENTS[component]],), vector.type)
        if not isinstance(found, RegisterSlots):
            raise UnsupportedError(f"{node.text} is not a register that could be written")
        if len(found.slots) > 1:  # a vector register is the concatenation of its elements
            return self._vector_writer(
                [register_writer(slot, found.width, found.type) for slot in found.slots], width_of(type_)
            )
        return register_writer(found.slots[0], found.width, type_)


def _split_register_operand(node: Operand) -> tuple[bool, str | None, Operand]:
    """Splits an operand such as `-%r1.h0` into whether it has a minus sign, its selector, and the register."""
    if isinstance(node, Unary) and node.operator == "-":
        _, selector, inner = _split_register_operand(node.operand)
        return True, selector, inner
    if isinstance(node, Name) and "." in node.text:
        base, _, selector = node.text.partition(".")
        return False, selector, replace(node, text=base)
    return False, None, node


def register_writer(place: int, here: int, type_: str) -> ResultWriter:
    """Returns the writer of a value of a type to a register of a width."""
    width, signed = width_of(type_), is_signed(type_)

    def write(group: ThreadGroup, value: Any) -> None:
        registers = group.registers
        registers[place] = with_lanes_written(registers[place], group.lanes.selector, value)

    if width == here:
        return ResultWriter(write, width, place)
    return ResultWriter(lambda group, value: write(group, resize(value, here, signed=signed)), width)
