"""Accesses to shared memory of which a schedule always knows the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptxkit.analysis.intervals.interval_accesses import StateAccess
from ptxkit.fast_dataclasses import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class AccessBatch:
    """The accesses of a kind that the same threads execute between two ordering steps.

    threads: as a bit mask. group: the mechanism that completes them; None if they are synchronous. writes: whether they
    write. needs_fence: whether a proxy fence must follow before the async proxy reads.
    """

    accesses: tuple[StateAccess, ...]
    threads: int
    group: str | None
    writes: bool
    needs_fence: bool


class AccessBatches:
    """The batches of one kernel: there is one object for equal ones."""

    def __init__(self) -> None:
        self._known: dict[tuple[tuple[StateAccess, ...], int], AccessBatch] = {}

    def of(self, accesses: Iterable[tuple[StateAccess, int]]) -> Iterator[AccessBatch]:
        """Yields the batches of some accesses, each of which has its threads."""
        parts: dict[tuple[int, str | None, bool, bool, int | None], list[StateAccess]] = {}
        for access, threads in accesses:
            needs_fence = access.writes and access.effect.proxy == "generic"
            kind = threads, access.group, access.writes, needs_fence, access.target
            parts.setdefault(kind, []).append(access)
        for (threads, group, writes, needs_fence, _), own in parts.items():
            key = tuple(own), threads
            if key not in self._known:
                self._known[key] = AccessBatch(tuple(own), threads, group, writes, needs_fence)
            yield self._known[key]
