"""Ranges of shared memory, looked up by overlap."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Generic, TypeVar

T = TypeVar("T")

#: Bytes of one bucket; most accesses touch one or two.
_BUCKET = 256


class RangeIndex(Generic[T]):
    """Items by the `[low, high)` they cover, kept in the order they were added."""

    def __init__(self) -> None:
        self._buckets: dict[int, list[tuple[int, int, T]]] = defaultdict(list)
        self._asked: dict[tuple[int, int], tuple[T, ...]] = {}

    def add(self, low: int, high: int, item: T) -> None:
        """Adds an item; an empty range covers nothing."""
        if low >= high:
            return
        self._asked.clear()
        entry = (low, high, item)
        for bucket in range(low // _BUCKET, (high - 1) // _BUCKET + 1):
            self._buckets[bucket].append(entry)

    def __bool__(self) -> bool:
        return bool(self._buckets)

    def overlapping(self, low: int, high: int) -> tuple[T, ...]:
        """The items whose range meets `[low, high)`. Loops ask for the same places again: answers are kept."""
        known = self._asked.get((low, high))
        if known is None:
            first, last = low // _BUCKET, (high - 1) // _BUCKET
            if first == last:
                entries = self._buckets.get(first, ())
                known = tuple([item for start, end, item in entries if start < high and low < end])
            else:
                known = tuple(self._find(low, high, first, last))
            self._asked[(low, high)] = known
        return known

    def _find(self, low: int, high: int, first: int, last: int) -> Iterator[T]:
        seen: set[int] = set()
        for bucket in range(first, last + 1):
            for entry in self._buckets.get(bucket, ()):
                start, end, item = entry
                if start < high and low < end and id(entry) not in seen:
                    seen.add(id(entry))  # one that spans buckets is met in each
                    yield item
