"""Symbols of a function: registers and their slots, variables and their addresses.

Source: PTX ISA, "Identifiers", "Parameterized Variable Names", "State Spaces".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self, TypeAlias

from ptxkit.emulator.core.dtypes import constant_bits, width_of
from ptxkit.emulator.core.semantics_registry import Bits
from ptxkit.fast_dataclasses import dataclass, field, replace
from ptxkit.semantics.layout import DeclaredVariable, align_up, lanes_of
from ptxkit.semantics.symbols import NameScope
from ptxkit.syntax.tree import Declaration, Function

COMPONENTS = {"x": 0, "y": 1, "z": 2, "w": 3, "r": 0, "g": 1, "b": 2, "a": 3}


@dataclass(frozen=True, slots=True)
class RegisterSlots:
    """A register, or the registers of a vector, with their slots in the frame. `type` is the type of one."""

    slots: tuple[int, ...]
    type: str

    @property
    def width(self) -> int:
        """The number of bits of a register."""
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
    """The frame of each call of a function: slots for registers, and bytes of local memory."""

    slots: list[SlotInitializer] = field(default_factory=list)
    size: int = 0
    _slot_cache: dict[tuple[object, ...], int] = field(default_factory=dict)

    def new_slot(self, width: int) -> int:
        """Returns a new register."""
        self.slots.append(SlotInitializer(width))
        return len(self.slots) - 1

    def constant_slot(self, value: int, width: int) -> int:
        """Returns the slot of a constant."""
        value &= (1 << width) - 1
        return self._cached_slot((value, width), SlotInitializer(width, constant_bits(value, width)))

    def special_slot(self, name: str, width: int) -> int:
        """Returns the slot of a special register that does not change, with the width at which it is read."""
        return self._cached_slot((name, width), SlotInitializer(width, name=name))

    def shared_address_slot(self, offset: int, width: int) -> int:
        """Returns the slot of an address in the CTA's own shared memory."""
        return self._cached_slot(("shared", offset, width), SlotInitializer(width, offset=offset))

    def reserve_local(self, size: int, alignment: int) -> int:
        """Allocates bytes of local memory, and returns their offset from the frame's base."""
        start = align_up(self.size, alignment)
        self.size = start + size
        return start

    def place(self, variable: DeclaredVariable) -> DeclaredVariable:
        """Allocates local memory for a variable, and returns it with its offset from the frame's base."""
        return replace(variable, address=self.reserve_local(variable.size, variable.alignment), is_in_frame=True)

    def _cached_slot(self, key: tuple[object, ...], fill: SlotInitializer) -> int:
        found = self._slot_cache.get(key)
        if found is None:
            self.slots.append(fill)
            found = self._slot_cache[key] = len(self.slots) - 1
        return found


class BlockScope(NameScope):
    """The names of a block, with the objects of the machine that they denote."""

    def __init__(self, outer: Self | None = None) -> None:
        super().__init__(outer)
        self.meanings: dict[str, RegisterSlots | DeclaredVariable] = {}
        self.frame: FrameLayout | None = outer.frame if outer is not None else None
        self.addresses: Mapping[str, int] = outer.addresses if outer is not None else {}

    def function_address(self, name: str) -> int:
        """Returns the address of a function."""
        return self.addresses.get(name, 0)

    def lookup(self, name: str) -> SymbolMeaning | None:
        """Returns the object that a name denotes, or None if it is not declared, or is only a label or list.

        A register has no slot before it is used.
        """
        located = self.locate(name)
        if located is None:
            return None
        scope, named = located
        if isinstance(named.node, Function):
            return named.node
        declared = scope.declared_name(name)
        found = scope.meanings.get(declared)
        if found is None and named.is_register and scope.frame is not None:
            assert isinstance(named.node, Declaration)
            width = width_of(named.node.type)
            slots = tuple(scope.frame.new_slot(width) for _ in range(lanes_of(named.node)))
            found = scope.meanings[declared] = RegisterSlots(slots, named.node.type)
        return found
