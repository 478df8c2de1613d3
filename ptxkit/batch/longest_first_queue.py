"""Which of the texts that wait is checked next: the longest, so that no long one is begun when all others are done."""

from __future__ import annotations

from threading import Lock
from typing import Generic, TypeVar

from ptxkit.batch.limits import MAX_OVERTAKEN

Queued = TypeVar("Queued")


class LongestFirstQueue(Generic[Queued]):
    """What waits, with its length, and how many came before it that had come later; for several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._waiting: list[tuple[int, Queued]] = []
        self._overtaken: list[int] = []

    def put(self, length: int, one: Queued) -> None:
        """Another one waits."""
        with self._lock:
            self._waiting.append((length, one))
            self._overtaken.append(0)

    def take(self) -> Queued:
        """The longest; but the first, where too many came before it."""
        with self._lock:
            lengths = [length for length, _ in self._waiting]
            number = 0 if self._overtaken[0] >= MAX_OVERTAKEN else lengths.index(max(lengths))
            for earlier in range(number):
                self._overtaken[earlier] += 1
            del self._overtaken[number]
            return self._waiting.pop(number)[1]
