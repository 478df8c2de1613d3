"""An index of ranges of shared memory, which is queried by overlap."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")

#: The number of bytes of one bucket; most accesses are in one or two.
_BUCKET = 256
#: An item over more buckets than this is stored outside the buckets: a constant size may be any number below 2**64.
_WIDE = 4096


class IntervalIndex(Generic[T]):
    """Items by the interval `[low, high)` that they cover, in the order of insertion."""

    def __init__(self) -> None:
        self._buckets: dict[int, list[tuple[int, int, T]]] = defaultdict(list)
        self._wide: list[tuple[int, int, T]] = []
        self._query_cache: dict[tuple[int, int], tuple[T, ...]] = {}

    def add(self, low: int, high: int, item: T) -> None:
        """Adds an item; an empty range covers nothing."""
        if low >= high:
            return
        self._query_cache.clear()
        entry = (low, high, item)
        buckets = range(low // _BUCKET, (high - 1) // _BUCKET + 1)
        if len(buckets) > _WIDE:
            self._wide.append(entry)
            return
        for bucket in buckets:
            self._buckets[bucket].append(entry)

    def __bool__(self) -> bool:
        return bool(self._buckets or self._wide)

    def overlapping(self, low: int, high: int) -> tuple[T, ...]:
        """Returns the items whose interval overlaps `[low, high)`.

        Results are cached, since loops repeat the same queries.
        """
        known = self._query_cache.get((low, high))
        if known is None:
            first, last = low // _BUCKET, (high - 1) // _BUCKET
            if first == last and not self._wide:
                entries = self._buckets.get(first, ())
                known = tuple([item for start, end, item in entries if start < high and low < end])
            else:
                known = tuple(self._find(low, high, first, last))
            self._query_cache[(low, high)] = known
        return known

    def _find(self, low: int, high: int, first: int, last: int) -> Iterator[T]:
        seen: set[int] = set()
        filled = self._buckets
        some: Iterable[int] = range(first, last + 1)
        if last - first > len(filled):
            some = sorted(each for each in filled if first <= each <= last)
        for entries in (self._wide, *(filled.get(bucket, ()) for bucket in some)):
            for entry in entries:
                start, end, item = entry
                if start < high and low < end and id(entry) not in seen:
                    seen.add(id(entry))  # an item that spans several buckets is found in each
                    yield item
