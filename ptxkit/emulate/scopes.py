"""What the names in a function stand for: registers by their places, variables by their addresses, labels.

Source: PTX ISA, "Identifiers", "Parameterized Variable Names", "State Spaces".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from ptxkit.emulate.registry import Bits
from ptxkit.emulate.widths import constant, width_of
from ptxkit.isa.functions import bits
from ptxkit.records import dataclass, field
from ptxkit.syntax.tree import Declaration, Declarator, Directive, Function, Prototype

COMPONENTS = {"x": 0, "y": 1, "z": 2, "w": 3, "r": 0, "g": 1, "b": 2, "a": 3}
_OPAQUE = frozenset({"texref", "samplerref", "surfref", "tensormap"})
_OPAQUE_BYTES = {"tensormap": 128}


@dataclass(frozen=True, slots=True)
class Register:
    """A register, or the registers of a vector. slots: their places. type: the type word of one."""

    slots: tuple[int, ...]
    type: str

    @property
    def width(self) -> int:
        """Bits of a register."""
        return width_of(self.type)


@dataclass(frozen=True, slots=True)
class Symbol:
    """A variable. space: as declared. address: in the space; in a frame, from its base. size: bytes.

    framed: it is in each call's own memory.
    """

    name: str
    space: str
    address: int
    size: int
    alignment: int
    type: str
    element: int
    framed: bool = False


@dataclass(frozen=True, slots=True)
class Label:
    """A place in the code. place: the number of the step behind it."""

    name: str
    place: int


Meant: TypeAlias = "Register | Symbol | Label | Function | Directive | Prototype"


@dataclass(frozen=True, slots=True)
class Fill:
    """What a place holds from the start. width: bits. value: a constant, or None. name: of a special register, or of
    a variable in shared memory (`space` shared), whose address differs from CTA to CTA."""

    width: int
    value: Bits | None = None
    name: str = ""
    offset: int | None = None


@dataclass(slots=True)
class Frame:
    """What a call of a function has of its own: registers (places in a list) and bytes of local memory."""

    fills: list[Fill] = field(default_factory=list)
    size: int = 0
    _known: dict[tuple[object, ...], int] = field(default_factory=dict)

    def place(self, width: int) -> int:
        """A new register."""
        self.fills.append(Fill(width))
        return len(self.fills) - 1

    def constant(self, value: int, width: int) -> int:
        """The place of a constant."""
        value &= (1 << width) - 1
        return self._filled((value, width), Fill(width, constant(value, width)))

    def special(self, name: str, width: int) -> int:
        """The place of a special register that does not change, at the width at which it is read."""
        return self._filled((name, width), Fill(width, name=name))

    def shared(self, offset: int, width: int) -> int:
        """The place of an address in the CTA's own shared memory."""
        return self._filled(("shared", offset, width), Fill(width, offset=offset))

    def room(self, size: int, alignment: int) -> int:
        """Take bytes of local memory; where they begin, from the frame's base."""
        start = -(-self.size // alignment) * alignment
        self.size = start + size
        return start

    def _filled(self, key: tuple[object, ...], fill: Fill) -> int:
        found = self._known.get(key)
        if found is None:
            self.fills.append(fill)
            found = self._known[key] = len(self.fills) - 1
        return found


class Scope:
    """The names of a block, inside those around it."""

    def __init__(self, outer: Scope | None = None) -> None:
        self.outer = outer
        self.names: dict[str, Meant] = {}
        self._registers: dict[str, tuple[Declaration, Declarator]] = {}
        self.frame: Frame | None = outer.frame if outer is not None else None
        self.addresses: Mapping[str, int] = outer.addresses if outer is not None else {}

    def declare_registers(self, declaration: Declaration) -> None:
        """Enter `.reg` declarations; a register has no place before it is used."""
        for each in declaration.declarators:
            self._registers[each.name] = (declaration, each)

    def code_address(self, name: str) -> int:
        """The address of a function."""
        return self.addresses.get(name, 0)

    def lookup(self, name: str) -> Meant | None:
        """What a name stands for; None where nothing declares it."""
        scope: Scope | None = self
        while scope is not None:
            found = scope.names.get(name) or scope._register(name)
            if found is not None:
                return found
            scope = scope.outer
        return None

    def _register(self, name: str) -> Register | None:
        for base, number in _readings(name):
            declared = self._registers.get(base)
            if declared is None:
                continue
            declaration, declarator = declared
            if (number is None) != (declarator.count is None):
                continue
            if number is not None and declarator.count is not None and number >= declarator.count:
                continue
            assert self.frame is not None
            lanes = int(declaration.vector[1:]) if declaration.vector else 1
            width = width_of(declaration.type)
            made = Register(tuple(self.frame.place(width) for _ in range(lanes)), declaration.type)
            self.names[name] = made
            return made
        return None


def _readings(name: str) -> Iterator[tuple[str, int | None]]:
    """A name as it stands, and as a number behind a prefix: `%r12` as register 12 of `%r<...>`."""
    yield name, None
    prefix = name.rstrip("0123456789")
    digits = name[len(prefix) :]
    if digits:
        for cut in range(len(digits)):
            yield prefix + digits[:cut], int(digits[cut:])


def bytes_of(declaration: Declaration, declarator: Declarator) -> int:
    """The size of a variable; 0 where its length is left open."""
    size = element_bytes(declaration)
    initial = getattr(declarator.initialiser, "elements", ())
    for at, length in enumerate(declarator.dimensions):
        size *= len(initial) if length is None and at == 0 else length or 0
    return size


def element_bytes(declaration: Declaration) -> int:
    """The size of one element of a variable."""
    if declaration.type in _OPAQUE:
        return _OPAQUE_BYTES.get(declaration.type, 8)
    lanes = int(declaration.vector[1:]) if declaration.vector else 1
    return max(bits(declaration.type), 8) // 8 * lanes


def alignment_of(declaration: Declaration) -> int:
    """The alignment of a variable: as declared, else its element's size."""
    return declaration.alignment or min(element_bytes(declaration), 128)
