"""The meaning of the names in a function: registers and their slots, variables and their addresses.

Source: PTX ISA, "Identifiers", "Parameterized Variable Names", "State Spaces".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from ptxkit.emulator.core.dtypes import constant_bits, width_of
from ptxkit.emulator.core.semantics_registry import Bits
from ptxkit.fast_dataclasses import dataclass, field, replace
from ptxkit.semantics.layout import DeclaredVariable, align_up
from ptxkit.syntax.tree import Declaration, Declarator, Function

COMPONENTS = {"x": 0, "y": 1, "z": 2, "w": 3, "r": 0, "g": 1, "b": 2, "a": 3}


@dataclass(frozen=True, slots=True)
class RegisterSlots:
    """A register, or the registers of a vector, with their slots in the frame. `type` is the type of one."""

    slots: tuple[int, ...]
    type: str

    @property
    def width(self) -> int:
        """Bits of a register."""
        return width_of(self.type)


SymbolMeaning: TypeAlias = "RegisterSlots | DeclaredVariable | Function"


@dataclass(frozen=True, slots=True)
class SlotInitializer:
    """The initial contents of a slot of `width` bits: a constant `value`, or the value of the special register `name`.

    `offset` is that of a variable in shared memory, whose address differs from CTA to CTA.
    """

    width: int
    value: Bits | None = None
    name: str = ""
    offset: int | None = None


@dataclass(slots=True)
class FrameLayout:
    """What each call of a function has of its own: slots for registers, and bytes of local memory."""

    slots: list[SlotInitializer] = field(default_factory=list)
    size: int = 0
    _slot_cache: dict[tuple[object, ...], int] = field(default_factory=dict)

    def new_slot(self, width: int) -> int:
        """Return a new register."""
        self.slots.append(SlotInitializer(width))
        return len(self.slots) - 1

    def constant_slot(self, value: int, width: int) -> int:
        """Return the slot of a constant."""
        value &= (1 << width) - 1
        return self._cached_slot((value, width), SlotInitializer(width, constant_bits(value, width)))

    def special_slot(self, name: str, width: int) -> int:
        """Return the slot of a special register that does not change, at the width at which it is read."""
        return self._cached_slot((name, width), SlotInitializer(width, name=name))

    def shared_address_slot(self, offset: int, width: int) -> int:
        """Return the slot of an address in the CTA's own shared memory."""
        return self._cached_slot(("shared", offset, width), SlotInitializer(width, offset=offset))

    def reserve_local(self, size: int, alignment: int) -> int:
        """Allocate bytes of local memory; return their offset from the frame's base."""
        start = align_up(self.size, alignment)
        self.size = start + size
        return start

    def place(self, variable: DeclaredVariable) -> DeclaredVariable:
        """Allocate local memory for a variable; return it with its offset from the frame's base."""
        return replace(variable, address=self.reserve_local(variable.size, variable.alignment), is_in_frame=True)

    def _cached_slot(self, key: tuple[object, ...], fill: SlotInitializer) -> int:
        found = self._slot_cache.get(key)
        if found is None:
            self.slots.append(fill)
            found = self._slot_cache[key] = len(self.slots) - 1
        return found


class BlockScope:
    """The names of a block, nested in those of the enclosing blocks."""

    def __init__(self, outer: BlockScope | None = None) -> None:
        self.outer = outer
        self.names: dict[str, SymbolMeaning] = {}
        self._registers: dict[str, tuple[Declaration, Declarator]] = {}
        self.frame: FrameLayout | None = outer.frame if outer is not None else None
        self.addresses: Mapping[str, int] = outer.addresses if outer is not None else {}

    def declare_registers(self, declaration: Declaration) -> None:
        """Record `.reg` declarations; a register has no slot before it is used."""
        for each in declaration.declarators:
            self._registers[each.name] = (declaration, each)

    def function_address(self, name: str) -> int:
        """Return the address of a function."""
        return self.addresses.get(name, 0)

    def lookup(self, name: str) -> SymbolMeaning | None:
        """Return the meaning of a name; None where it is not declared."""
        scope: BlockScope | None = self
        while scope is not None:
            found = scope.names.get(name) or scope._declare_used_register(name)
            if found is not None:
                return found
            scope = scope.outer
        return None

    def _declare_used_register(self, name: str) -> RegisterSlots | None:
        for base, number in _register_spellings(name):
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
            made = RegisterSlots(tuple(self.frame.new_slot(width) for _ in range(lanes)), declaration.type)
            self.names[name] = made
            return made
        return None


def _register_spellings(name: str) -> Iterator[tuple[str, int | None]]:
    """Yield a name as written, and as a number after a prefix: `%r12` as register 12 of `%r<...>`."""
    yield name, None
    prefix = name.rstrip("0123456789")
    digits = name[len(prefix) :]
    if digits:
        for cut in range(len(digits)):
            yield prefix + digits[:cut], int(digits[cut:])
