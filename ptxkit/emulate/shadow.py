"""Who used each unit of memory last: the last write, and since then the first read and the last one.

A unit has four bytes until an access is smaller or lies across units, and one byte from then on. An entry holds the
number of a thread among all of the launch (0: nobody) and its time, and beside it the place of the instruction.
"""

from __future__ import annotations

from typing import Any

import numpy

from ptxkit.emulate.memory import Pool

_AGENT_BITS = 24
_AGENT = (1 << _AGENT_BITS) - 1
_COARSE, _FINE = 4, 1

WRITE, FIRST_READ, LAST_READ = range(3)


class Shadow:
    """The entries for the bytes of a pool. unit: how many bytes one is about."""

    def __init__(self, pool: Pool) -> None:
        self.unit = _COARSE
        self._size = len(pool.data)
        self.entries = [numpy.zeros(self._size // _COARSE, numpy.int64) for _ in range(3)]
        self.sites = [numpy.zeros(self._size // _COARSE, numpy.int32) for _ in range(3)]

    def units(self, places: Any, size: int) -> tuple[Any, Any]:
        """The units of `size` bytes at each place, and which of the accesses each belongs to."""
        if self.unit == _COARSE and size < _COARSE:
            self.refine()
        count = size // self.unit
        first = places if self.unit == _FINE else places >> 2
        rows = numpy.arange(len(places))
        if count == 1:
            return first, rows
        return (first[:, None] + numpy.arange(count)).ravel(), numpy.repeat(rows, count)

    def refine(self) -> None:
        """Have an entry for each byte from here on."""
        self.unit = _FINE
        self.entries = [_spread(each, self._size) for each in self.entries]
        self.sites = [_spread(each, self._size) for each in self.sites]

    def last(self, kind: int, units: Any) -> tuple[Any, Any]:
        """Threads (0: nobody) and times of the last accesses of a kind."""
        found = self.entries[kind][units]
        return found & _AGENT, found >> _AGENT_BITS

    def note_write(self, units: Any, agents: Any, times: Any, site: int) -> Any:
        """Enter writes; where two are about one unit the last one stays. What now stands there."""
        packed = agents | times << _AGENT_BITS
        self.entries[WRITE][units] = packed
        self.sites[WRITE][units] = site
        self.entries[FIRST_READ][units] = 0
        self.entries[LAST_READ][units] = 0
        return self.entries[WRITE][units] != packed

    def note_read(self, units: Any, agents: Any, times: Any, site: int) -> None:
        """Enter reads."""
        packed = agents | times << _AGENT_BITS
        fresh = self.entries[FIRST_READ][units] == 0
        if fresh.any():
            self.entries[FIRST_READ][units[fresh]] = packed[fresh]
            self.sites[FIRST_READ][units[fresh]] = site
        self.entries[LAST_READ][units] = packed
        self.sites[LAST_READ][units] = site


def _spread(values: Any, size: int) -> Any:
    """The entries of units of four bytes for each byte; pages that were never used stay unused."""
    made = numpy.zeros(size, values.dtype)
    used = numpy.flatnonzero(values)
    for at in range(_COARSE):
        made[used * _COARSE + at] = values[used]
    return made
