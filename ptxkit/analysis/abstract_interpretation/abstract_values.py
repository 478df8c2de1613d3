"""What a register may hold on any path: integers, and addresses with a base and an offset.

An address is a base plus an offset in bytes. The base is a variable, an argument of the kernel, or the result of a
conversion between a state space and generic addressing. The values of different bases are alternatives.

Source: PTX ISA, "State Spaces", "Generic Addressing", "Addresses as Operands"; Balakrishnan and Reps, "Analyzing Memory
Accesses in x86 Executables" (value sets).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from ptxkit.analysis.abstract_interpretation.strided_ranges import (
    StridedRange,
    full_range,
    join_ranges,
    widen_range,
)
from ptxkit.analysis.limits import MAX_ALTERNATIVES
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.semantics.layout import DeclaredVariable

#: The window of a generic address; any other window is a state space.
GENERIC = "generic"


@dataclass(frozen=True, slots=True)
class Base:
    """What an address was derived from.

    kind: `variable`, `argument` (64 bits of a kernel parameter), or `converted` (an address of unknown origin, which a
    conversion states to be in `space`). name: of the variable or the parameter. space: in which its bytes are; empty
    for an argument. position: the offset in the parameter, or the index of the conversion. variable: the declaration.
    """

    kind: str
    name: str
    space: str = ""
    position: int = 0
    variable: DeclaredVariable | None = None


@dataclass(frozen=True, slots=True)
class Alternative:
    """An integer, or a base plus an offset.

    base: None for an integer. offset: in bytes from the base, or the integer. window: how the address is to be read: as
    one of a state space, or `generic`; empty for an argument that no instruction has converted, and for an integer.
    is_remote: whether it may be in the shared memory of another CTA. alignment, remainder: a power of two, and the
    remainder of the address modulo it. is_opaque: whether a value that may be any address contributes to it.
    """

    base: Base | None
    offset: StridedRange
    window: str = ""
    is_remote: bool = False
    alignment: int = 1
    remainder: int = 0
    is_opaque: bool = False

    @property
    def width(self) -> int:
        return self.offset.width

    @property
    def congruence(self) -> tuple[int, int]:
        """A power of two, and the remainder of the value modulo it."""
        if self.base is None:
            return self.offset.power, self.offset.remainder
        return self.alignment, self.remainder

    @property
    def known_offsets(self) -> tuple[int, int]:
        """The least and the largest offset in bytes."""
        return self.offset.signed[:2] if self.base is not None else self.offset.unsigned[:2]

    @property
    def place(self) -> tuple[Base | None, str, bool]:
        return self.base, self.window, self.is_remote


AbstractValue: TypeAlias = tuple[Alternative, ...]
"""The alternatives, at most one for each place. Without any, no execution has a value."""

NO_VALUE: AbstractValue = ()


def unknown(width: int, *, is_opaque: bool = True) -> AbstractValue:
    """Returns every value of a width. is_opaque: whether they may be addresses."""
    return (Alternative(None, full_range(width), is_opaque=is_opaque),)


def integers(held: StridedRange, *, is_opaque: bool = False) -> AbstractValue:
    return (Alternative(None, held, is_opaque=is_opaque),)


def address_of(variable: DeclaredVariable, width: int) -> AbstractValue:
    """Returns the address of a variable in its state space."""
    base = Base("variable", variable.name, variable.space, variable.address, variable)
    alignment = variable.alignment & -variable.alignment
    return (Alternative(base, full_range(width, 1 << width), variable.space, alignment=alignment),)


def integers_in(value: AbstractValue) -> StridedRange | None:
    """Returns the numbers of a value without addresses; None if it may be an address with a base, or does not exist."""
    return value[0].offset if len(value) == 1 and value[0].base is None else None


def is_opaque(value: AbstractValue) -> bool:
    """Returns whether a value may be an address."""
    return any(each.is_opaque or each.base is not None for each in value)


def join_values(first: AbstractValue, second: AbstractValue) -> AbstractValue:
    """Returns the value that describes what either one describes."""
    return first if first == second else _merge(first, second, None)


def widen_values(old: AbstractValue, new: AbstractValue, thresholds: Sequence[int]) -> AbstractValue:
    """Returns a value that describes both, and that changes a limited number of times."""
    return old if old == new else _merge(old, new, thresholds)


def _merge(first: AbstractValue, second: AbstractValue, thresholds: Sequence[int] | None) -> AbstractValue:
    found = {each.place: each for each in first}
    for each in second:
        known = found.get(each.place)
        found[each.place] = each if known is None else _merge_alternatives(known, each, thresholds)
    if len(found) > MAX_ALTERNATIVES:
        return unknown(next(iter(found.values())).width)
    return tuple(sorted(found.values(), key=_order))


def _merge_alternatives(first: Alternative, second: Alternative, thresholds: Sequence[int] | None) -> Alternative:
    if first.width != second.width:
        return replace(unknown(max(first.width, second.width))[0])
    offset = (
        join_ranges(first.offset, second.offset)
        if thresholds is None
        else widen_range(first.offset, second.offset, thresholds)
    )
    alignment = min(first.alignment, second.alignment)
    while (first.remainder - second.remainder) % alignment:
        alignment //= 2
    return replace(
        first,
        offset=offset,
        alignment=alignment,
        remainder=first.remainder % alignment,
        is_opaque=first.is_opaque or second.is_opaque,
    )


def _order(each: Alternative) -> tuple[str, str, int, str, bool]:
    base = each.base
    return ("", "", 0, each.window, each.is_remote) if base is None else (
        base.kind, base.name, base.position, each.window, each.is_remote
    )  # fmt: skip
