"""Sets of threads of one CTA, and reading and writing of registers for them.

A register is an array over all threads of the CTA. Arrays are never changed once they stand in a register: a write for
some threads makes a new one. So a copy of a register is the same array, and costs nothing.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy
from numpy.typing import NDArray

from ptxkit.emulator.core.semantics_registry import Bits

ThreadIndex: TypeAlias = NDArray[numpy.int64]
"""Threads of a CTA by number, ascending."""


class LaneSet:
    """Threads of a CTA. where: None for all of them, else what picks them from a register."""

    __slots__ = ("count", "index", "selector")

    def __init__(self, index: ThreadIndex, threads: int) -> None:
        self.index = index
        self.count = len(index)
        self.selector: Any = index
        if self.count == threads:
            self.selector = None
        elif self.count and int(index[-1]) - int(index[0]) + 1 == self.count:
            self.selector = slice(int(index[0]), int(index[-1]) + 1)

    def difference(self, other: LaneSet, threads: int) -> LaneSet:
        """These threads but for others."""
        return LaneSet(numpy.setdiff1d(self.index, other.index, assume_unique=True), threads)

    def union(self, other: LaneSet, threads: int) -> LaneSet:
        """These threads and others, which are none of these."""
        return LaneSet(numpy.sort(numpy.concatenate([self.index, other.index])), threads)


def with_lanes_written(old: Bits, where: Any, new: Bits) -> Bits:
    """A register's array after a write of some threads. where: of `Lanes`."""
    if where is None:
        return new if new.shape == old.shape else numpy.broadcast_to(new, old.shape)
    made = old.copy()
    made[where] = new
    return made
