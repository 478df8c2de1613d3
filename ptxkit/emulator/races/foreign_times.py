"""What single threads of a CTA know of other CTAs' accesses, beyond what all threads of the CTA know.

Threads that know the same share one array of times, so that a question about many threads is one comparison for each
array and not one for each thread. Arrays are never changed in place, because clocks of other threads may share them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    from ptxkit.emulator.races.vector_clocks import ClockVector, CtaClocks


class _Table:
    """Times of one other CTA. `slots` has for each thread the index of its array, or 0 where it knows nothing."""

    __slots__ = ("_arrays", "_last", "slots")

    def __init__(self, threads: int) -> None:
        self.slots = numpy.zeros(threads, numpy.int64)
        self._arrays: list[Any] = [None]
        self._last: tuple[int, Any, int] = (-1, None, 0)

    def parts(self, index: Any) -> list[tuple[Any, Any]]:
        """Return the arrays of some threads (None: no times), each with the positions in `index` of those that have
        it.
        """
        own = self.slots[index]
        numbers = numpy.unique(own).tolist()
        return [(self._arrays[each], numpy.flatnonzero(own == each)) for each in numbers]

    def learn(self, index: Any, times: Any) -> None:
        """Merge times into what some threads know."""
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
        """Set what some threads know, regardless of what they knew before."""
        self._arrays.append(times)
        self.slots[index] = len(self._arrays) - 1
        self._drop()

    def _drop(self) -> None:
        """Discard unused arrays when there are many of them."""
        if len(self._arrays) <= 2 * len(self.slots):
            return
        kept, slots = numpy.unique(numpy.concatenate([[0], self.slots]), return_inverse=True)
        self.slots, self._last = slots[1:], (-1, None, 0)
        self._arrays = [self._arrays[each] for each in kept.tolist()]


class ForeignTimes:
    """Times of other CTAs' threads, for each of the threads that know of them."""

    __slots__ = ("_tables", "_threads")

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._tables: dict[CtaClocks, _Table] = {}

    def __bool__(self) -> bool:
        return bool(self._tables)

    def clear(self) -> None:
        """Discard the knowledge of single threads."""
        self._tables.clear()

    def has(self, index: Any, other: CtaClocks) -> bool:
        """Return whether each of some threads knows of any access of another CTA."""
        return other in self._tables and bool((self._tables[other].slots[index] != 0).all())

    def learn(self, index: Any, other: CtaClocks, times: Any) -> None:
        """Record that some threads know what another CTA did up to these times."""
        self._table(other).learn(index, times)

    def of(self, index: Any) -> Iterator[ClockVector]:
        """Yield what some threads know, in parts."""
        for other, table in self._tables.items():
            yield from ({other: times} for times, _ in table.parts(index) if times is not None)

    def change(self, index: Any, common: ClockVector, function: Callable[[Any], Any]) -> None:
        """Apply a function to all that some threads know. `common` is what all threads of their CTA know."""
        for other in dict.fromkeys((*common, *self._tables)):
            table, shared = self._table(other), common.get(other)
            for own, at in table.parts(index):
                known = shared if own is None else own if shared is None else numpy.maximum(shared, own)
                if known is not None:
                    table.put(index[at], function(known))

    def knows(self, index: Any, other: CtaClocks, threads: Any, times: Any, aspect: int) -> Any:
        """Return whether each thread of `index` knows, in an aspect, what a thread of another CTA did at a time."""
        found = numpy.zeros(len(index), bool)
        for own, at in self._tables[other].parts(index) if other in self._tables else ():
            if own is not None:
                found[at] = own[aspect, threads[at]] >= times[at]
        return found

    def _table(self, other: CtaClocks) -> _Table:
        if other not in self._tables:
            self._tables[other] = _Table(self._threads)
        return self._tables[other]
