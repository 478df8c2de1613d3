"""The order of accesses to global memory under a random schedule.

A group pauses before each such access. When no group can continue otherwise, the next accesses of all are known, and
the scheduler selects those to perform. Only the order of accesses to one place matters, of which one writes: each read
is performed before the next write or after it, and the writes one after another. These choices are stratified over
seeds. Among places, the groups have priorities, which change at random.

Places are compared by the address of the first thread.

Source: Burckhardt, Kothari, Musuvathi, Nagarakatte, "A Randomized Scheduler with Probabilistic Guarantees of Finding
Bugs" (priorities); Godefroid, "Partial-Order Methods for the Verification of Concurrent Systems" (sleep sets); Yuan,
Yang, Gu, "Partial Order Aware Concurrency Sampling".
"""

from __future__ import annotations

import random
from bisect import insort
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from ptxkit.emulator.engine.stratified_choices import StratifiedChoices, reverse_low_bits
from ptxkit.emulator.limits import MAX_ORDERED_GROUPS, MAX_WRITTEN_PLACES
from ptxkit.fast_dataclasses import dataclass

if TYPE_CHECKING:
    from ptxkit.emulator.engine.cta import Cta
    from ptxkit.emulator.threads.thread_groups import ThreadGroup

_NEW_PRIORITY_CHANCE = 0.125
"""The probability that a group has another priority at its next access."""

_Position = tuple[tuple[int, int, int], int]


@dataclass(slots=True, eq=False)
class PendingAccess:
    """An access before which a group has paused. `place` is that of the first thread, and `writes` states whether it
    may change memory.

    `priority` is that of the group, and negative if it is not known yet. `is_waiting` states that the access comes
    after others. `is_futile` states that the group repeats a loop whose last iteration changed nothing, and that no
    write to the place has been performed since. `is_asleep` states that another read was selected instead: the opposite
    order has the same effect until a write is performed.
    """

    group: ThreadGroup
    cta: Cta
    place: int
    writes: bool
    is_futile: bool
    priority: float = -1.0
    is_waiting: bool = False
    is_asleep: bool = False

    @property
    def position(self) -> _Position:
        """The CTA and the first thread."""
        return self.cta.ctaid, int(self.group.lanes.index[0])


class _Place:
    """The pending accesses to a place, and the groups that have read it since the last write."""

    __slots__ = ("pending", "readers")

    def __init__(self) -> None:
        self.pending: list[PendingAccess] = []
        self.readers: set[_Position] = set()

    def writes(self) -> list[PendingAccess]:
        return [each for each in self.pending if each.writes and not each.is_futile]

    def reads(self) -> list[PendingAccess]:
        return [each for each in self.pending if not each.is_futile and not each.is_asleep]


class AccessScheduler:
    """The pending accesses of a launch."""

    def __init__(self, seed: int) -> None:
        self._choices, self._orders = StratifiedChoices(seed), StratifiedChoices(reverse_low_bits(seed))
        self._random = random.Random(f"{seed}/accesses")
        self._places: dict[int, _Place] = {}
        self._written: set[int] = set()
        self._undecided: list[PendingAccess] = []
        self._waiting: list[tuple[float, int, PendingAccess]] = []
        """A heap, in which accesses may remain that do not wait anymore."""
        self._serial = 0
        self._futile: dict[PendingAccess, None] = {}
        self._repeated: set[ThreadGroup] = set()
        self._priorities: dict[_Position, float] = {}
        self._first_priorities: list[float] = []

    def begin_round(self) -> None:
        """Permits each group whose access is futile to repeat it once more."""
        self._repeated.clear()

    def add(self, access: PendingAccess) -> None:
        """Adds an access. If it is the first write to its place, the reads are decided on again."""
        place = self._places.setdefault(access.place, _Place())
        if access.writes and not any(each.writes for each in place.pending):
            self._reconsider([each for each in place.pending if not each.is_asleep])
        place.pending.append(access)
        self._undecided.append(access)

    def select(self, progress_count: int) -> list[PendingAccess]:
        """Removes the accesses to perform next, and returns them. The list is empty if no group has paused, or each
        repeats a loop without effect.
        """
        selected = self._select_early_reads()
        if not selected:
            following = self._select_waiting() or self._select_futile(progress_count)
            selected = [] if following is None else [following]
        for each in selected:
            self._remove(each)
        return selected

    def _remove(self, access: PendingAccess) -> None:
        place = self._places[access.place]
        place.pending.remove(access)
        access.is_waiting = False
        self._futile.pop(access, None)
        if access.writes and not access.is_futile:
            if len(self._written) < MAX_WRITTEN_PLACES:
                self._written.add(access.place)
            place.readers.clear()
            for each in place.pending:
                each.is_asleep = False
                if each.is_futile:
                    each.is_futile, each.is_waiting = False, True
                    del self._futile[each]
            self._reconsider(place.pending)
        elif not access.writes:
            place.readers.add(access.position)
        if not place.pending:
            del self._places[access.place]

    def _reconsider(self, accesses: list[PendingAccess]) -> None:
        for each in accesses:
            if each.is_waiting:
                each.is_waiting = False
                self._undecided.append(each)

    def _select_early_reads(self) -> list[PendingAccess]:
        """Decides on the new accesses. Returns the reads that are performed before the next write; the others wait."""
        undecided, self._undecided = sorted(self._undecided, key=lambda each: each.position), []
        early = []
        for access in undecided:
            if access.priority < 0:
                access.priority = self._priority(access.position)
            if access.is_futile:
                self._futile[access] = None
                continue
            place = self._places[access.place]
            writes = 0 if access.writes else len(place.writes())
            # The group may read once more, so that the first read is early in half of the schedules.
            weights = (1, writes if access.position in place.readers else 1)
            if writes and self._choices.choose(weights) == 0:
                early.append(access)
            else:
                access.is_waiting, self._serial = True, self._serial + 1
                heappush(self._waiting, (access.priority, self._serial, access))
        return early

    def _priority(self, position: _Position) -> float:
        """Returns a group's priority; the lowest goes first. The order of the first groups is stratified over seeds."""
        found = self._priorities.get(position)
        if found is None and len(self._first_priorities) < MAX_ORDERED_GROUPS:
            bounds = [0.0, *self._first_priorities, 1.0]
            at = self._orders.choose([1] * (len(bounds) - 1))
            found = (bounds[at] + bounds[at + 1]) / 2
            insort(self._first_priorities, found)
            self._priorities[position] = found
        elif found is None or self._random.random() < _NEW_PRIORITY_CHANCE:
            found = self._priorities[position] = self._random.random()
        return found

    def _select_waiting(self) -> PendingAccess | None:
        """Returns an access to the place for which the group with the highest priority waits: a write if one is
        pending.
        """
        while self._waiting and not self._waiting[0][-1].is_waiting:
            heappop(self._waiting)
        if not self._waiting:
            return None
        access = self._waiting[0][-1]
        place = self._places[access.place]
        found = place.writes()
        if not found and (len(place.pending) == 1 or access.place not in self._written):
            return access
        if not found:
            return self._select_read(place)
        found.sort(key=lambda each: each.position)
        return found[self._choices.choose([1] * len(found))]

    def _select_read(self, place: _Place) -> PendingAccess:
        """Returns one of the reads of a place without pending writes. Its group may write later; the reads before
        it in the list then come after that.
        """
        reads = place.reads()
        if not reads:
            for each in place.pending:
                each.is_asleep = False
            reads = place.reads()
        reads.sort(key=lambda each: each.position)
        at = self._choices.choose([1] * len(reads))
        for each in reads[:at]:
            each.is_asleep = True
        return reads[at]

    def _select_futile(self, progress_count: int) -> PendingAccess | None:
        """Returns an access of a group that has not repeated it in this round, or not since others made progress."""
        for access in self._futile:
            if access.group not in self._repeated or access.group.idle_since != progress_count:
                self._repeated.add(access.group)
                return access
        return None
