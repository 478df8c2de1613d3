"""A queue that returns the longest text first, so that no long check starts when all others are complete."""

from __future__ import annotations

from threading import Lock
from typing import Generic, TypeVar

from ptxkit.batch.limits import MAX_OVERTAKEN

Queued = TypeVar("Queued")


class LongestFirstQueue(Generic[Queued]):
    """A thread-safe queue of items with lengths, and with the number of later items that have overtaken each."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._waiting: list[tuple[int, Queued]] = []
        self._overtaken: list[int] = []

    def put(self, length: int, one: Queued) -> None:
        """Adds an item."""
        with self._lock:
            self._waiting.append((length, one))
            self._overtaken.append(0)

    def take(self) -> Queued:
        """Removes the longest item, or the first one if too many later items have overtaken it."""
        with self._lock:
            lengths = [length for length, _ in self._waiting]
            number = 0 if self._overtaken[0] >= MAX_OVERTAKEN else lengths.index(max(lengths))
            for earlier in range(number):
                self._overtaken[earlier] += 1
            del self._overtaken[number]
            return self._waiting.pop(number)[1]
