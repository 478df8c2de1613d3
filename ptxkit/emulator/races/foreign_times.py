"""The knowledge of single threads of a CTA about other CTAs' accesses, beyond the knowledge of all threads of the CTA.

Threads with the same knowledge share one array of times, so that a query about many threads is one comparison for each
array and not one for each thread. Arrays are never changed in place, because clocks of other threads may share them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    from ptxkit.emulator.races.vector_clocks import ClockVector, CtaClocks


class _Table:
    """The times of one other CTA. `slots` has the index of its array for each thread, or 0 for no knowledge."""

    __slots__ = ("_arrays", "_last", "slots")

    def __init__(self, threads: int) -> None:
        self.slots = numpy.zeros(threads, numpy.int64)
        self._arrays: list[Any] = [None]
        self._last: tuple[int, Any, int] = (-1, None, 0)

    def parts(self, index: Any) -> list[tuple[Any, Any]]:
        """Returns the arrays of some threads (None: no times), each with the positions in `index` of those that have
        it.
        """
        own = self.slots[index]
        numbers = numpy.unique(own).tolist()
        return [(self._arrays[each], numpy.flatnonzero(own == each)) for each in numbers]

    def learn(self, index: Any, times: Any) -> None:
        """Merges times into the knowledge of some threads."""
        own = self.slots[index]
        for slot in numpy.unique(own).tolist():
            before, released, after = self._last
            if before != slot or released is not times:  # otherwise the warps of a CTA merge the same times in turn
                held = self._arrays[slot]
                self._arrays.append(times if held is None else numpy.maximum(held, times))
                after = len(self._arrays) - 1
                self._last = (slot, times, after)
            self.slots[index[own == slot]] = after
        self._drop()

    def put(self, index: Any, times: Any) -> None:
        """Replaces the knowledge of some threads."""
        self._arrays.append(times)
        self.slots[index] = len(self._arrays) - 1
        self._drop()

    def _drop(self) -> None:
        """Discards unused arrays when there are many of them."""
        if len(self._arrays) <= 2 * len(self.slots):
            return
        kept, slots = numpy.unique(numpy.concatenate([[0], self.slots]), return_inverse=True)
        self.slots, self._last = slots[1:], (-1, None, 0)
        self._arrays = [self._arrays[each] for each in kept.tolist()]


class ForeignTimes:
    """Times of other CTAs' threads, for each of the threads that are ordered after them."""

    __slots__ = ("_tables", "_threads")

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._tables: dict[CtaClocks, _Table] = {}

    def __bool__(self) -> bool:
        return bool(self._tables)

    def clear(self) -> None:
        """Discards the knowledge of single threads."""
        self._tables.clear()

    def has(self, index: Any, other: CtaClocks) -> bool:
        """Returns whether each of some threads is ordered after any access of another CTA."""
        return other in self._tables and bool((self._tables[other].slots[index] != 0).all())

    def learn(self, index: Any, other: CtaClocks, times: Any) -> None:
        """Records that some threads know the accesses of another CTA up to these times."""
        self._table(other).learn(index, times)

    def of(self, index: Any) -> Iterator[ClockVector]:
        """Yields the knowledge of some threads, in parts."""
        for other, table in self._tables.items():
            yield from ({other: times} for times, _ in table.parts(index) if times is not None)

    def change(self, index: Any, common: ClockVector, function: Callable[[Any], Any]) -> None:
        """Applies a function to the knowledge of some threads. `common` is that of all threads of their CTA."""
        for other in dict.fromkeys((*common, *self._tables)):
            table, shared = self._table(other), common.get(other)
            for own, at in table.parts(index):
                known = shared if own is None else own if shared is None else numpy.maximum(shared, own)
                if known is not None:
                    table.put(index[at], function(known))

    def knows(self, index: Any, other: CtaClocks, threads: Any, times: Any, clock_kind: int) -> Any:
        """Returns whether each thread of `index` knows, in an aspect, the access of a thread of another CTA at a
        time.
        """
        found = numpy.zeros(len(index), bool)
        for own, at in self._tables[other].parts(index) if other in self._tables else ():
            if own is not None:
                found[at] = own[clock_kind, threads[at]] >= times[at]
        return found

    def _table(self, other: CtaClocks) -> _Table:
        if other not in self._tables:
            self._tables[other] = _Table(self._threads)
        return self._tables[other]
