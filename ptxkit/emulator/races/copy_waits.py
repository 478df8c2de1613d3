"""Copies by threads whose completion an mbarrier signals, and the waits of these threads for them.

A thread may both let an mbarrier track its copies and wait for them itself: `cp.async.mbarrier.arrive`, and later
`cp.async.wait_all`. The accesses of the copies are then known to threads that have observed the phase of the mbarrier,
and to threads that follow the wait; either suffices. Such copies are recorded as accesses of an engine, which this
module maps to the wait.

Source: PTX ISA, "cp.async.mbarrier.arrive", "cp.async.wait_group / cp.async.wait_all".
"""

from __future__ import annotations

from typing import Any


class CopyWaits:
    """The copies and waits of one CTA. Records are only processed on a query, which is rare."""

    def __init__(self) -> None:
        self._copies: dict[tuple[int, int], tuple[int, int]] = {}
        self._waits: dict[int, list[tuple[int, int]]] = {}
        self._new_copies: list[tuple[int, Any, Any, Any]] = []
        self._new_waits: list[tuple[Any, Any, Any]] = []

    def record_completion(self, engine: int, times: Any, threads: Any, groups: Any) -> None:
        """Records the completion of copies at some times of an engine.

        `threads` has the issuer of each copy, and `groups` the number of its group in that thread.
        """
        self._new_copies.append((engine, times, threads, groups))

    def record_wait(self, index: Any, limits: Any, times: Any) -> None:
        """Records that threads have waited, each at its own time, for all of their groups below a limit."""
        if self._copies or self._new_copies:
            self._new_waits.append((index, limits, times))

    def issuer_and_wait(self, engine: int, time: int) -> tuple[int, int] | None:
        """Returns the issuer of an operation that an engine completed at a time, and the time of the issuer's wait for
        it, or None.
        """
        self._look()
        thread, group = self._copies.get((engine, time), (-1, 0))
        waited = next((at for limit, at in self._waits.get(thread, ()) if limit > group), None)
        return None if waited is None else (thread, waited)

    def _look(self) -> None:
        """Indexes new records by the engine's time and by the thread that waited."""
        for engine, *copies in self._new_copies:
            for time, thread, group in zip(*(each.tolist() for each in copies), strict=True):
                self._copies[engine, time] = thread, group
        for new in self._new_waits:
            for thread, limit, time in zip(*(each.tolist() for each in new), strict=True):
                waits = self._waits.setdefault(thread, [])
                if not waits or waits[-1][0] < limit:
                    waits.append((limit, time))
        self._new_copies, self._new_waits = [], []
