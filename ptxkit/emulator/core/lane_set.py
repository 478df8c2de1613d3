"""Sets of threads of one CTA, and accesses to their registers.

A register is an array over all threads of the CTA. The array is never changed: a write by some threads creates a new
one. A copy of a register is therefore the same array, and costs nothing.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy
from numpy.typing import NDArray

from ptxkit.emulator.core.semantics_registry import Bits
from ptxkit.semantics.thread_sets import thread_range

WARPGROUP_SIZE = 128

ThreadIndex: TypeAlias = NDArray[numpy.int64]
"""Threads of a CTA by number, ascending."""


class LaneSet:
    """Threads of a CTA. `selector` indexes the elements of these threads in a register; it is None for all threads."""

    __slots__ = ("count", "index", "selector")

    def __init__(self, index: ThreadIndex, threads: int) -> None:
        self.index = index
        self.count = len(index)
        self.selector: Any = index
        if self.count == threads:
            self.selector = None
        elif self.count and int(index[-1]) - int(index[0]) + 1 == self.count:
            self.selector = slice(int(index[0]), int(index[-1]) + 1)

    def thread_set(self) -> int:
        """Returns the threads as the bits of an integer, as in `semantics.thread_sets`."""
        if self.selector is None:
            return thread_range(0, self.count)
        if isinstance(self.selector, slice):
            return thread_range(self.selector.start, self.count)
        return thread_set_of(self.index)

    def difference(self, other: LaneSet, threads: int) -> LaneSet:
        """Returns these threads without others."""
        return LaneSet(numpy.setdiff1d(self.index, other.index, assume_unique=True), threads)

    def union(self, other: LaneSet, threads: int) -> LaneSet:
        """Returns the union of these threads and others, which are disjoint."""
        return LaneSet(numpy.sort(numpy.concatenate([self.index, other.index])), threads)


def thread_set_of(index: ThreadIndex) -> int:
    """Returns the threads of an index as the bits of an integer."""
    if not len(index):
        return 0
    flags = numpy.zeros(int(index[-1]) + 1, bool)
    flags[index] = True
    return int.from_bytes(numpy.packbits(flags, bitorder="little").tobytes(), "little")


def thread_index_of(threads: int) -> ThreadIndex:
    """Returns the threads in the bits of an integer, ascending."""
    octets = threads.to_bytes(-(-threads.bit_length() // 8), "little")
    return numpy.flatnonzero(numpy.unpackbits(numpy.frombuffer(octets, numpy.uint8), bitorder="little"))


def with_lanes_written(old: Bits, where: Any, new: Bits) -> Bits:
    """Returns a register's array after a write by some threads, which are given as `LaneSet.selector`."""
    if where is None:
        return new if new.shape == old.shape else numpy.broadcast_to(new, old.shape)
    made = old.copy()
    made[where] = new
    return made
