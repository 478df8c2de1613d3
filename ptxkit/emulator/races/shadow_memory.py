"""The last accesses of each unit of memory: the last write, and the reads since then.

A unit has four bytes until an access is smaller or not aligned to units, and one byte from then on. An entry holds the
number of a thread among all of the launch (0: none) and its time, and the site of the instruction is stored with it.
"""

from __future__ import annotations

from typing import Any

import numpy

from ptxkit.emulator.races.read_log import ReadLog
from ptxkit.emulator.state.memory import ByteBuffer

_AGENT_BITS = 24
_AGENT = (1 << _AGENT_BITS) - 1
_COARSE_UNIT, _FINE_UNIT = 4, 1

WRITE, FIRST_READ, LAST_READ = range(3)


class ShadowMemory:
    """The entries for the bytes of a buffer. `unit` is the number of bytes of a unit."""

    def __init__(self, pool: ByteBuffer) -> None:
        self.unit = _COARSE_UNIT
        self._size = len(pool.data)
        self.entries = [numpy.zeros(self._size // _COARSE_UNIT, numpy.int64) for _ in range(3)]
        self.sites = [numpy.zeros(self._size // _COARSE_UNIT, numpy.int32) for _ in range(3)]
        self._read_log: ReadLog | None = None

    def units_of(self, places: Any, size: int) -> tuple[Any, Any]:
        """Returns the units of `size` bytes at each offset, and the access that each belongs to."""
        if self.unit == _COARSE_UNIT and size < _COARSE_UNIT:
            self.refine()
        count = size // self.unit
        first = places if self.unit == _FINE_UNIT else places >> 2
        rows = numpy.arange(len(places))
        if count == 1:
            return first, rows
        return (first[:, None] + numpy.arange(count)).ravel(), numpy.repeat(rows, count)

    def refine(self) -> None:
        """Switches to an entry for each byte."""
        self.unit = _FINE_UNIT
        self.entries = [_refine_entries(each, self._size) for each in self.entries]
        self.sites = [_refine_entries(each, self._size) for each in self.sites]
        if self._read_log is not None:
            self._read_log.refine(_COARSE_UNIT)

    def last_accesses(self, kind: int, units: Any) -> tuple[Any, Any]:
        """Returns the threads (0: none) and times of the last accesses of a kind."""
        found = self.entries[kind][units]
        return found & _AGENT, found >> _AGENT_BITS

    def record_write(self, units: Any, agents: Any, times: Any, site: int) -> Any:
        """Records writes; the last of several writes to one unit remains. Returns which writes were replaced by
        another.
        """
        packed = agents | times << _AGENT_BITS
        self.entries[WRITE][units] = packed
        self.sites[WRITE][units] = site
        self.entries[FIRST_READ][units] = 0
        self.entries[LAST_READ][units] = 0
        if self._read_log is not None:
            self._read_log.clear(units)
        return self.entries[WRITE][units] != packed

    def record_read(self, units: Any, agents: Any, times: Any, site: int, *, strong: bool = False) -> None:
        """Records reads. For strong reads, earlier ones of a thread are also kept, because they may observe the
        write.
        """
        packed = agents | times << _AGENT_BITS
        first, last = self.entries[FIRST_READ], self.entries[LAST_READ]
        old, begun = last[units], first[units]
        fresh = begun == 0
        if fresh.any():
            first[units[fresh]] = packed[fresh]
            self.sites[FIRST_READ][units[fresh]] = site
        # A replaced entry is kept in the log, except the first one and an earlier one of the same thread.
        gone = (old != begun) & ((old != packed) if strong else ((old ^ packed) & _AGENT != 0))
        if gone.any():
            self._log_reads(units[gone], old[gone], self.sites[LAST_READ][units[gone]])
        last[units] = packed
        self.sites[LAST_READ][units] = site
        lost = last[units] != packed
        if lost.any():
            lost &= first[units] != packed
            self._log_reads(units[lost], packed[lost], site)

    def _log_reads(self, units: Any, entries: Any, sites: Any) -> None:
        if self._read_log is None:
            self._read_log = ReadLog(len(self.entries[WRITE]), _AGENT_BITS)
        self._read_log.add(units, entries, sites)

    def reads_between(self, units: Any) -> tuple[Any, Any, Any, Any] | None:
        """Returns the reads between the first and the last, or None if none exist.

        They are the positions of their units, their threads, times and sites.
        """
        found = None if self._read_log is None else self._read_log.reads_of(units)
        if found is None:
            return None
        at, entries, sites = found
        return at, entries & _AGENT, entries >> _AGENT_BITS, sites


def _refine_entries(values: Any, size: int) -> Any:
    """Expands the entries of four-byte units to bytes; pages that were never used stay unused."""
    made = numpy.zeros(size, values.dtype)
    used = numpy.flatnonzero(values)
    for at in range(_COARSE_UNIT):
        made[used * _COARSE_UNIT + at] = values[used]
    return made
