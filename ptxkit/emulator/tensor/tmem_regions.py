"""Parts of Tensor Memory that instructions use: lanes, and columns that are neighbours.

Manual: Tensor Memory Addressing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulator.tensor.tensor_memory import LANES
from ptxkit.fast_dataclasses import dataclass

if TYPE_CHECKING:
    from ptxkit.emulator.engine.cta import Cta


@dataclass(frozen=True, slots=True)
class TmemRegion:
    """lanes: a bit for each; start, end: the first column, and the one behind the last. cta: whose memory it is."""

    cta: Cta
    lanes: int
    start: int
    end: int
    writes: bool

    @property
    def key(self) -> tuple[int, int, int, bool]:
        """What tells regions of one memory apart."""
        return self.lanes, self.start, self.end, self.writes

    @property
    def address(self) -> int:
        """The address of its first lane and column."""
        return ((self.lanes & -self.lanes).bit_length() - 1) << 16 | self.start

    def overlaps(self, other: TmemRegion) -> bool:
        """Whether the two share anything."""
        return bool(self.lanes & other.lanes) and self.start < other.end and other.start < self.end

    def contains(self, other: TmemRegion) -> bool:
        """Whether all of another is in it."""
        return not other.lanes & ~self.lanes and self.start <= other.start and other.end <= self.end


def split_regions(cta: Cta, lanes: Any, columns: Any, *, writes: bool) -> Iterator[TmemRegion]:
    """What lies at lanes and columns, of which each stretch has the same lanes."""
    there = numpy.zeros(LANES, bool)
    there[numpy.ravel(lanes)] = True
    mask = int.from_bytes(numpy.packbits(there, bitorder="little").tobytes(), "little")
    found = numpy.unique(columns)
    for part in numpy.split(found, numpy.flatnonzero(numpy.diff(found) != 1) + 1):
        if len(part):
            yield TmemRegion(cta, mask, int(part[0]), int(part[-1]) + 1, writes)
