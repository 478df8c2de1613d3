"""A worklist for searches that visit each item, such as a register or a block, once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)


class Worklist(Generic[T]):
    """Yields each item once, the last added item first; items may be added during the iteration.

    seen: the items that were yielded, and those passed initially, which are not yielded.
    """

    def __init__(self, items: Iterable[T], seen: set[T] | None = None) -> None:
        self._waiting = list(items)
        self.seen: set[T] = set() if seen is None else seen

    def add(self, items: Iterable[T]) -> None:
        """Adds items, some of which may have been yielded before."""
        self._waiting.extend(items)

    def __iter__(self) -> Iterator[T]:
        while self._waiting:
            item = self._waiting.pop()
            if item not in self.seen:
                self.seen.add(item)
                yield item
