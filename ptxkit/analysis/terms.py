"""Values that an analysis does not know as numbers, kept so that equal ones are recognised as equal.

A value is a Python int (two's complement, already cut to its width) or a `Term`: an unknown identified by how it came
about, plus a constant. Terms are hash-consed in a `Terms` store: the same operation on the same operands is the same
term, so two branches on one condition take the same side.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeAlias

from ptxkit.records import dataclass, field


@dataclass(frozen=True, slots=True)
class Term:
    """An unknown plus `offset`. pointer: it is an address of a live object, so it is not null.

    space: the state space that it surely is an address in, `generic` for the generic address of something outside
    `global`, None where nobody knows; a view of the same unknown, so that it does not count in comparisons.
    """

    identity: int
    offset: int = 0
    pointer: bool = False
    space: str | None = field(default=None, compare=False)

    def plus(self, amount: int) -> Term:
        """This term, moved by a constant."""
        return Term(self.identity, self.offset + amount, self.pointer, self.space) if amount else self

    def within(self, space: str | None) -> Term:
        """This term as an address in a state space, or in none that is known."""
        return self if space == self.space else Term(self.identity, self.offset, self.pointer, space)


Value: TypeAlias = int | Term


class Terms:
    """The store of unknowns of one exploration."""

    def __init__(self) -> None:
        self._known: dict[Hashable, Term] = {}

    def of(self, key: Hashable, *, pointer: bool = False) -> Term:
        """The term of that key, made on first sight."""
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Term(len(self._known), 0, pointer)
        return found


def signed(value: int, width: int) -> int:
    """The two's complement reading of an unsigned `width`-bit number."""
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


def mask(width: int) -> int:
    """`width` ones."""
    return (1 << width) - 1
