"""The reads of a unit between the first and the last one since it was written. Many threads may have read it, and each
read counts.

Source: PTX ISA, "Memory Consistency Model": "Conflict and Data-races".
"""

from __future__ import annotations

from typing import Any

import numpy

from ptxkit.emulator.limits import MAX_LOGGED_READS


class ReadLog:
    """The reads of the units of a shadow memory.

    An entry has the format of the shadow memory: thread and time in one number, with `agent_bits` bits for the thread,
    and the site.
    """

    def __init__(self, units: int, agent_bits: int) -> None:
        self._agent = (1 << agent_bits) - 1
        self._exceeds_limit = numpy.zeros(units, bool)
        self._clear_serials = numpy.zeros(units, numpy.int64)
        self._chunks: list[tuple[Any, Any, Any, Any]] = []
        self._count, self._limit, self._serial = 0, MAX_LOGGED_READS, 0

    def add(self, units: Any, entries: Any, sites: Any) -> None:
        """Records reads. `sites` is the site of each, or one for all."""
        self._serial += 1
        count = len(units)
        serials = numpy.full(count, self._serial)
        self._chunks.append((units, entries, numpy.broadcast_to(sites, (count,)), serials))
        self._exceeds_limit[units] = True
        self._count += count
        if self._count > self._limit:
            self._compact()

    def clear(self, units: Any) -> None:
        """Discards the reads of units that are written."""
        hit = self._exceeds_limit[units]
        if hit.any():
            self._exceeds_limit[units] = False
            self._clear_serials[units[hit]] = self._serial

    def reads_of(self, units: Any) -> tuple[Any, Any, Any] | None:
        """Returns the reads of some units, or None if none exist.

        They are the position of each read's unit among the units, the entries, and the sites.
        """
        crowded = numpy.flatnonzero(self._exceeds_limit[units])
        if not len(crowded):
            return None
        order = crowded[numpy.argsort(units[crowded], kind="stable")]
        wanted = units[order]
        known, entries, sites, serials = self._concatenate()
        at = numpy.minimum(numpy.searchsorted(wanted, known), len(wanted) - 1)
        found = numpy.flatnonzero((wanted[at] == known) & (serials > self._clear_serials[known]))
        return order[at[found]], entries[found], sites[found]

    def refine(self, parts: int) -> None:
        """Splits each unit into several."""
        self._exceeds_limit, self._clear_serials = (
            each.repeat(parts) for each in (self._exceeds_limit, self._clear_serials)
        )
        if self._chunks:
            units, *others = self._concatenate()
            spread = (units[:, None] * parts + numpy.arange(parts)).ravel()
            self._chunks = [(spread, *(each.repeat(parts) for each in others))]
            self._count *= parts

    def _concatenate(self) -> tuple[Any, Any, Any, Any]:
        if len(self._chunks) > 1:
            units, entries, sites, serials = (numpy.concatenate(each) for each in zip(*self._chunks, strict=True))
            self._chunks = [(units, entries, sites, serials)]
        return self._chunks[0]

    def _compact(self) -> None:
        """Discards reads before a write, and all but the first and the last of a thread's reads of a unit."""
        units, entries, sites, serials = self._concatenate()
        agents = entries & self._agent
        order = numpy.lexsort((serials, agents, units))
        order = order[serials[order] > self._clear_serials[units[order]]]
        same = (numpy.diff(units[order]) == 0) & (numpy.diff(agents[order]) == 0)
        inner = numpy.concatenate([[False], same]) & numpy.concatenate([same, [False]])
        kept = order[~inner]
        self._chunks = [(units[kept], entries[kept], sites[kept], serials[kept])]
        self._count = len(kept)
        self._limit = max(MAX_LOGGED_READS, 2 * self._count)
