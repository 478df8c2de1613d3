"""Regions of Tensor Memory that instructions use: lanes, and adjacent columns.

Manual: Tensor Memory Addressing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy

from ptxkit.emulator.state.memory import CtaMemory
from ptxkit.emulator.tensor.tensor_memory import LANES
from ptxkit.fast_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TmemRegion:
    """Columns from `start` to before `end` of the Tensor Memory of a CTA, in the lanes whose bits are set in
    `lanes`.
    """

    cta: CtaMemory
    lanes: int
    start: int
    end: int
    writes: bool

    @property
    def key(self) -> tuple[int, int, int, bool]:
        """The properties that distinguish regions of one memory."""
        return self.lanes, self.start, self.end, self.writes

    @property
    def address(self) -> int:
        """The address of its first lane and column."""
        return ((self.lanes & -self.lanes).bit_length() - 1) << 16 | self.start

    def overlaps(self, other: TmemRegion) -> bool:
        """Returns whether the two regions share lanes and columns."""
        return bool(self.lanes & other.lanes) and self.start < other.end and other.start < self.end

    def contains(self, other: TmemRegion) -> bool:
        """Returns whether all of another region is in this one."""
        return not other.lanes & ~self.lanes and self.start <= other.start and other.end <= self.end


def split_regions(cta: CtaMemory, lanes: Any, columns: Any, *, writes: bool) -> Iterator[TmemRegion]:
    """Yields the regions at lanes and columns, one for each range of columns; all have the same lanes."""
    there = numpy.zeros(LANES, bool)
    there[numpy.ravel(lanes)] = True
    mask = int.from_bytes(numpy.packbits(there, bitorder="little").tobytes(), "little")
    found = numpy.unique(columns)
    for part in numpy.split(found, numpy.flatnonzero(numpy.diff(found) != 1) + 1):
        if len(part):
            yield TmemRegion(cta, mask, int(part[0]), int(part[-1]) + 1, writes)
