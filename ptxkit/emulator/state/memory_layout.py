"""The addresses of the variables of a module, and the initial contents of those in global and constant memory.

Source: PTX ISA, "State Spaces", "Variables", "Initializers", "Dynamic Memory Allocation" (`.extern .shared`).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping

from ptxkit.emulator.core.address_windows import RESERVED_SHARED
from ptxkit.emulator.core.findings import InvalidLaunchError
from ptxkit.emulator.state.memory import LaunchMemory
from ptxkit.emulator.state.symbols import BlockScope
from ptxkit.fast_dataclasses import dataclass, field, replace
from ptxkit.isa.functions import bits, kind
from ptxkit.mangled_names import short_name
from ptxkit.semantics.layout import DeclaredVariable, align_up, alignment_of, lanes_of, scalar_bytes, variable_of
from ptxkit.syntax.constants import evaluate, parse_integer
from ptxkit.syntax.tree import (
    Apply,
    Arguments,
    Binary,
    Body,
    Declaration,
    Declarator,
    Float,
    Function,
    Instruction,
    Name,
    Operand,
    Vector,
    operand_names,
)


@dataclass(slots=True)
class SharedLayout:
    """The shared memory of a kernel's CTA: static variables, then the dynamic part.

    `module` has the offsets of the module's variables by name, and `local` those of each function's, in the order of
    its text; `placed` has them at their offsets, those of the dynamic part with its size. `end` is the number of
    bytes, including those that the system reserves, and `dynamic` the start of the dynamic part.
    """

    module: dict[str, int] = field(default_factory=dict)
    local: dict[str, list[int]] = field(default_factory=dict)
    placed: list[DeclaredVariable] = field(default_factory=list)
    dynamic: int = RESERVED_SHARED
    end: int = RESERVED_SHARED

    def variable_at(self, offset: int) -> DeclaredVariable | None:
        """Returns the variable at an offset; None where none exists."""
        return next((each for each in self.placed if each.address <= offset < each.address + each.size), None)

    def element_at(self, offset: int, unit: int | None) -> str:
        """Returns the variable at an offset, as `element_text`; nothing where none exists. unit: None for no index."""
        held = self.variable_at(offset)
        return "" if held is None else element_text(held.name, offset - held.address, held.size, unit or held.size)


def element_text(name: str, offset: int, size: int, unit: int) -> str:
    """Returns a place in a variable of some bytes: `full`, `tile[32]`, `tile + 6 bytes`. unit: the bytes of an
    element.
    """
    name = short_name(name)
    index, rest = divmod(offset, unit)
    if rest:
        return f"{name} + {offset} bytes"
    return name if size <= unit else f"{name}[{index}]"


def lay_out_shared(
    scope: BlockScope,
    functions: Mapping[str, Function],
    entry: Function,
    dynamic_bytes: int,
    least_alignment: int | None = None,
) -> SharedLayout:
    """Lays out the shared memory of an entry and of all functions that it can call. `functions` are those with a
    body. least_alignment: the alignment in bytes of variables that declare a smaller one; None where each variable is
    aligned exactly as declared.
    """
    layout = SharedLayout()
    variables = list(_shared_variables(scope, functions, entry))
    starts: list[int | None] = []
    alignment = max(16, least_alignment or 0)
    for _, declaration, declarator in variables:
        variable = variable_of(declaration, declarator)
        size = variable.size
        if "extern" in declaration.linkage and size == 0:
            starts.append(None)
            alignment = max(alignment, alignment_of(declaration))
            continue
        declared = alignment_of(declaration)
        start = (
            _align_minimally(layout.end, declared)
            if least_alignment is None
            else align_up(layout.end, max(declared, least_alignment))
        )
        starts.append(start)
        layout.placed.append(replace(variable, address=start))
        layout.end = start + size
    layout.dynamic = align_up(layout.end, alignment)
    for (owner, _, declarator), known in zip(variables, starts, strict=True):
        start = layout.dynamic if known is None else known
        if owner:
            layout.local.setdefault(owner, []).append(start)
        else:
            layout.module[declarator.name] = start
    if None in starts or dynamic_bytes:
        layout.end = max(layout.end, layout.dynamic + dynamic_bytes)
    for (_, declaration, declarator), known in zip(variables, starts, strict=True):
        if known is None:
            variable = variable_of(declaration, declarator)
            layout.placed.append(replace(variable, address=layout.dynamic, size=layout.end - layout.dynamic))
    return layout


def _shared_variables(
    scope: BlockScope, functions: Mapping[str, Function], entry: Function
) -> Iterator[tuple[str, Declaration, Declarator]]:
    """Yields the variables of the module that the code names, and those of the functions that it can call, each with
    the function's name.
    """
    waiting, seen, named = [entry], {entry.name}, set[str]()
    inside: list[tuple[str, Declaration, Declarator]] = []
    while waiting:
        function = waiting.pop()
        assert function.body is not None
        for found in _declarations_and_names(function.body):
            if isinstance(found, Declaration):
                if found.space == "shared":
                    inside += [(function.name, found, each) for each in found.declarators]
            elif found not in named:
                named.add(found)
                if found in functions and found not in seen:
                    seen.add(found)
                    waiting.append(functions[found])
    for declaration, declarator in scope.declared_variables():
        if declaration.space == "shared" and declarator.name in named:
            yield "", declaration, declarator
    yield from inside


def _declarations_and_names(body: Body) -> Iterator[Declaration | str]:
    """Yields the declarations of a body, and the names in its instructions."""
    for statement, _ in body.flatten_blocks():
        if isinstance(statement, Declaration):
            yield statement
        elif isinstance(statement, Instruction):
            for operand in statement.operands:
                yield from operand_names(operand)


def _align_minimally(value: int, alignment: int) -> int:
    """Aligns an offset exactly as declared, and not better, to reveal code that relies on a larger alignment."""
    start = align_up(value, alignment)
    return start if start & alignment else start + alignment


def place_variables(scope: BlockScope, memory: LaunchMemory, shared: SharedLayout) -> None:
    """Assigns addresses to the module's variables, then stores their initial values."""
    placed = [
        (declaration, declarator)
        for declaration, declarator in scope.declared_variables()
        if _place_variable(declaration, declarator, scope, memory, shared.module.get(declarator.name))
    ]
    for declaration, declarator in placed:
        _store_initializer(declaration, declarator, scope, memory)


def place_function_variables(
    declaration: Declaration, scope: BlockScope, memory: LaunchMemory, shared_offsets: Iterator[int]
) -> None:
    """Assigns addresses to the variables that a function declares, in its frame or with those of the module.

    `shared_offsets` are those of the function's variables in shared memory, from this declaration on.
    """
    for declarator in declaration.declarators:
        if declaration.space in ("local", "param"):
            assert scope.frame is not None
            scope.meanings[declarator.name] = scope.frame.place(variable_of(declaration, declarator))
        else:
            offset = next(shared_offsets, None) if declaration.space == "shared" else None
            if _place_variable(declaration, declarator, scope, memory, offset):
                _store_initializer(declaration, declarator, scope, memory)


def _place_variable(
    declaration: Declaration, declarator: Declarator, scope: BlockScope, memory: LaunchMemory, offset: int | None
) -> bool:
    """Assigns an address to a variable of global, constant or shared memory, and returns whether it has one.

    `offset` is that in shared memory.
    """
    variable = variable_of(declaration, declarator)
    if variable.space in ("global", "const"):
        offset = memory.allocate(variable.space, variable.size, variable.alignment, variable.name)
    if offset is not None:
        scope.meanings[variable.name] = replace(variable, address=offset)
    return offset is not None


def _store_initializer(
    declaration: Declaration, declarator: Declarator, scope: BlockScope, memory: LaunchMemory
) -> None:
    if declarator.initialiser is not None and declaration.space in ("global", "const"):
        variable = scope.meanings[declarator.name]
        assert isinstance(variable, DeclaredVariable)
        memory.set_initial(variable.address, encode_initializer(declaration, declarator, scope))


def encode_initializer(declaration: Declaration, declarator: Declarator, scope: BlockScope) -> bytes:
    """Returns the bytes of an initializer."""
    made = bytearray(variable_of(declaration, declarator).size)
    lengths = [length or 0 for length in declarator.dimensions]
    if declaration.vector:
        lengths.append(lanes_of(declaration))
    width = scalar_bytes(declaration.type)

    def put(value: Operand, at: int, dimensions: list[int]) -> None:
        if isinstance(value, Vector) and dimensions:
            stride = width
            for length in dimensions[1:]:
                stride *= length
            for number, each in enumerate(value.elements):
                put(each, at + number * stride, dimensions[1:])
        else:
            code = _encode_value(value, declaration.type, scope)
            made[at : at + width] = (code & ((1 << 8 * width) - 1)).to_bytes(width, "little")

    assert declarator.initialiser is not None
    put(declarator.initialiser, 0, lengths)
    return bytes(made)


def _encode_value(value: Operand, type_: str, scope: BlockScope) -> int:
    """Returns the bits of one initial value."""
    match value:
        case Float():
            return encode_float(value, bits(type_)) if kind(type_) == "f" else value.bits
        case Arguments((only,)):
            return _encode_value(only, type_, scope)
        case Apply("generic", argument):
            return _encode_value(argument, type_, scope)
        case Apply(mask, argument):
            chosen = evaluate(parse_integer(mask)) or 0
            return (_encode_value(argument, type_, scope) & chosen) >> ((chosen & -chosen).bit_length() - 1)
    number = evaluate(value)
    if number is not None:
        if kind(type_) == "f":
            return encode_float(Float(*_f64_bits(float(number)), str(number)), bits(type_))
        return number
    match value:
        case Binary("=", _, right):
            return _encode_value(right, type_, scope)
        case Binary("+", left, right):
            return _encode_value(left, type_, scope) + _encode_value(right, type_, scope)
        case Name(text):
            found = scope.lookup(text)
            if isinstance(found, DeclaredVariable):
                return found.address
            if found is not None:
                return scope.function_address(text)
    raise InvalidLaunchError(f"the machine does not know the initial value {value}")


def _f64_bits(value: float) -> tuple[int, int]:
    return int.from_bytes(struct.pack(">d", value), "big"), 64


def encode_float(value: Float, width: int) -> int:
    """Returns the bits of a floating-point constant in a type of a width; constants of another width are converted."""
    if value.width == width:
        return value.bits
    number = struct.unpack(">f" if value.width == 32 else ">d", value.bits.to_bytes(value.width // 8, "big"))[0]
    if width == 64:
        return _f64_bits(number)[0]
    if width == 32:
        try:
            return int.from_bytes(struct.pack(">f", number), "big")
        except OverflowError:
            return 0x7F80_0000 if number > 0 else 0xFF80_0000
    if width == 16:
        return int.from_bytes(struct.pack(">e", number), "big")
    return value.bits
