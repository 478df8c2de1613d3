"""Bytes that an asynchronous operation transfers, in rows that take effect independently.

A row is read, and written, at one time: a piece of 16 bytes, or the copy of one thread. The policy determines that
time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ptxkit.emulator.state.memory import ByteBuffer

Combine = Callable[[Any, Any], Any]
"""Combines the units in memory with incoming ones."""

PIECE_BYTES = 16
NO_OFFSET = -1
_WORD = 4


class ByteTransfer:
    """A copy of bytes from one buffer to another, in rows.

    `unit` is the number of bytes of an element. `sources` and `targets` have the indices of units in the buffers, of
    the shape (rows, units); they are NO_OFFSET for units that are not read, which are replaced by `fill`, or not
    written. `combine` combines units with the contents of memory, or is None if they replace these.
    """

    __slots__ = ("_rows_read", "_rows_written", "combine", "data", "source", "sources", "target", "targets", "unit")

    def __init__(
        self,
        unit: int,
        source: ByteBuffer | None,
        sources: Any,
        target: ByteBuffer,
        targets: Any,
        fill: Any = 0,
        combine: Combine | None = None,
    ) -> None:
        self.unit, self.source, self.sources, self.target, self.targets = unit, source, sources, target, targets
        self.combine = combine
        self.data = numpy.empty(targets.shape, f"u{unit}")
        self.data[:] = fill
        self._rows_read = numpy.zeros(len(targets), bool)
        self._rows_written = numpy.zeros(len(targets), bool)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.targets)

    def read(self, rows: Any) -> None:
        """Reads the sources of rows (truth values), unless this was done before."""
        wanted = numpy.flatnonzero(rows & ~self._rows_read)
        if not len(wanted):
            return
        self._rows_read[wanted] = True
        if self.source is None:
            return
        places = self.sources[wanted]
        there = places != NO_OFFSET
        found = self.source.view(self.unit)[numpy.where(there, places, 0)]
        self.data[wanted] = numpy.where(there, found, self.data[wanted])

    def write(self, rows: Any) -> None:
        """Writes rows, reading them first, unless this was done before."""
        self.read(rows)
        wanted = numpy.flatnonzero(rows & ~self._rows_written)
        if not len(wanted):
            return
        self._rows_written[wanted] = True
        view = self.target.view(self.unit)
        places = self.targets[wanted]
        there = places != NO_OFFSET
        flat, coming = places[there], self.data[wanted][there]
        if self.combine is None:
            view[flat] = coming
            return
        if len(numpy.unique(flat)) == len(flat):
            view[flat] = self.combine(view[flat], coming)
            return
        for row in wanted:  # several rows may combine with one location, one after the other
            places = self.targets[row]
            there = places != NO_OFFSET
            view[places[there]] = self.combine(view[places[there]], self.data[row][there])

    def buffer(self, side: str) -> ByteBuffer | None:
        """Returns the buffer of the sources (`source`) or targets (`target`)."""
        return self.source if side == "source" else self.target

    def byte_offsets(self, side: str, rows: Any) -> Any:
        """Returns the offsets in the buffer of the bytes that rows read or write."""
        places = self._offsets(side, rows)
        return places if self.unit == 1 else (places[:, None] + numpy.arange(self.unit)).ravel()

    def word_offsets(self, side: str, rows: Any) -> Any:
        """Returns the words of four bytes of the buffer that rows read or write, once for each row."""
        if self.buffer(side) is None:
            return numpy.zeros(0, numpy.int64)
        if self.unit >= _WORD:
            places = self._offsets(side, rows) >> 2
            return places if self.unit == _WORD else (places[:, None] + numpy.arange(self.unit // _WORD)).ravel()
        numbers = (self.sources if side == "source" else self.targets)[rows]
        words = numpy.sort(numpy.where(numbers != NO_OFFSET, numbers * self.unit >> 2, NO_OFFSET), axis=1)
        first = numpy.ones(words.shape, bool)
        first[:, 1:] = words[:, 1:] != words[:, :-1]
        return words[first & (words != NO_OFFSET)]

    def _offsets(self, side: str, rows: Any) -> Any:
        if self.buffer(side) is None:
            return numpy.zeros(0, numpy.int64)
        places = (self.sources if side == "source" else self.targets)[rows].ravel()
        return places[places != NO_OFFSET] * self.unit


def contiguous_transfer(
    source: ByteBuffer, start: int, target: ByteBuffer, to: int, size: int, mask: Any = None
) -> ByteTransfer:
    """Returns the copy of a range of bytes, in pieces; size and both offsets are multiples of PIECE_BYTES.

    `mask` selects the bytes of each 16 that are written.
    """
    unit = 8 if mask is None else 1
    offsets = numpy.arange(size // unit).reshape(-1, PIECE_BYTES // unit)
    targets = to // unit + offsets
    if mask is not None:
        targets = numpy.where(mask, targets, NO_OFFSET)
    return ByteTransfer(unit, source, start // unit + offsets, target, targets)


def elementwise_transfer(
    source: ByteBuffer, start: int, target: ByteBuffer, to: int, size: int, element: int, combine: Combine
) -> ByteTransfer:
    """Returns a transfer of a range of bytes whose elements are combined with the contents of memory."""
    offsets = numpy.arange(size // element).reshape(-1, PIECE_BYTES // element)
    return ByteTransfer(element, source, start // element + offsets, target, to // element + offsets, combine=combine)
