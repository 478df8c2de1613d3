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

    def add(self, low: int, high: int, item: T) -> None:
        """Adds an item; an empty range covers nothing."""
        if low >= high:
            return
        for bucket in range(low // _BUCKET, (high - 1) // _BUCKET + 1):
            self._buckets[bucket].append((low, high, item))

    def __bool__(self) -> bool:
        return bool(self._buckets)

    def overlapping(self, low: int, high: int) -> Iterator[T]:
        """The items whose range meets `[low, high)`; one that spans buckets may come more than once."""
        for bucket in range(low // _BUCKET, (high - 1) // _BUCKET + 1):
            for start, end, item in self._buckets.get(bucket, ()):
                if start < high and low < end:
                    yield item
