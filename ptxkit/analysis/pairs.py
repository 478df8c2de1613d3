"""Two CTAs of a cluster: their accesses to the same bytes, and the hand-overs from one to the other.

Source: PTX ISA, "Distributed Shared Memory", "mbarrier.arrive", "mbarrier.test_wait, mbarrier.try_wait",
"barrier.cluster".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from ptxkit.analysis.clusters import CLUSTER, arrivals, others_of
from ptxkit.analysis.kernel import Kernel, World
from ptxkit.analysis.order import NEVER
from ptxkit.analysis.places import Place, place_of
from ptxkit.analysis.ranges import RangeIndex
from ptxkit.analysis.space import CTA_BITS
from ptxkit.analysis.thread import Thread
from ptxkit.analysis.touches import extent
from ptxkit.analysis.trace import Event
from ptxkit.isa.effects import Access, MbarrierArrive, MbarrierWait
from ptxkit.records import dataclass

#: Arrivals of one thread at one object that are looked at.
_FIRST = 4


@dataclass(frozen=True, slots=True)
class Touch:
    """An access of a thread to shared memory of some CTA of the cluster."""

    thread: Thread
    position: int
    event: Event

    @property
    def is_sure(self) -> bool:
        """Whether an input surely leads there."""
        return self.thread.trace.is_sure(self.position)


@dataclass(frozen=True, slots=True)
class Handover:
    """An arrival at an mbarrier of another CTA, and the wait there for the phase that it counts in."""

    arrival: Touch
    wait: Touch


def pairs_of(kernel: Kernel, world: World) -> Iterator[Pair]:
    """A CTA with each other one of its cluster that was walked."""
    for other in others_of(kernel.worlds, world):
        if not (world.is_opaque or other.is_opaque):
            yield Pair(world, other)


class Pair:
    """A CTA, `giver`, whose accesses come first, and another one, `taker`."""

    def __init__(self, giver: World, taker: World) -> None:
        self.giver, self.taker = giver, taker

    def shared(self, is_wanted: Callable[[Event], bool] = lambda _: True) -> Iterator[tuple[Touch, Touch]]:
        """Accesses of the one CTA and of the other one to the same bytes, which are another CTA's to one of them; as
        many as are in the budget. is_wanted: which accesses of the other one are asked for."""
        budget = self.taker.budget
        home, abroad = _by_owner(self.giver)
        for place, after in _placed(self.taker):
            if not is_wanted(after.event):
                continue
            is_own = place[0] >> CTA_BITS == self.taker.scenario.rank + 1
            for uses in (abroad,) if is_own else (home, abroad):
                for before in uses.overlapping(*place) if uses else ():
                    budget.lookups -= 1
                    if budget.is_over:
                        return
                    yield before, after

    @cached_property
    def handovers(self) -> list[Handover]:
        """The arrivals of the one CTA at the other's objects, each with the waits for its phase."""
        return list(self._handovers())

    def _handovers(self) -> Iterator[Handover]:
        waits: dict[int, list[tuple[Touch, int]]] = defaultdict(list)
        for thread in self.taker.threads.values():
            numbers: dict[int, int] = defaultdict(int)
            for at, event in thread.positions(MbarrierWait):
                if isinstance(event.address, int):
                    waits[event.address].append((Touch(thread, at, event), numbers[event.address]))
                    numbers[event.address] += 1
        rank = self.taker.scenario.rank
        for thread in self.giver.threads.values():
            counts: dict[Place, int] = defaultdict(int)
            for at, event in thread.positions(MbarrierArrive):
                place = place_of(self.giver.scenario.rank, event)
                if place is None or place[0] != rank or _is_asynchronous(event):
                    continue
                counts[place] += 1
                if counts[place] <= _FIRST:
                    arrival = Touch(thread, at, event)
                    yield from self._waits_for(arrival, waits[place[1]], ("mbarrier", place[1]))

    def _waits_for(
        self, arrival: Touch, waits: Sequence[tuple[Touch, int]], key: tuple[str, int]
    ) -> Iterator[Handover]:
        """The first wait of each thread that tells of the phase of an arrival. waits: each with its thread's number."""
        marks = arrival.thread.marks
        own = ("mbarrier", arrival.event.address)
        at = [p for p, e in arrival.thread.positions(MbarrierArrive) if e.address == arrival.event.address]
        phase = marks.rounds[own][at.index(arrival.position)]
        seen: set[int] = set()
        for wait, number in waits:
            if wait.thread.tid not in seen and wait.thread.marks.phases[key][number] >= phase:
                seen.add(wait.thread.tid)
                yield Handover(arrival, wait)

    def joins(self, before: Touch, handover: Handover, after: Touch) -> bool:
        """Whether one access comes before the arrival, and the other behind the wait."""
        return _is_ordered(self.giver, before, handover.arrival) and _is_ordered(self.taker, handover.wait, after)

    def meets(self, before: Touch, after: Touch) -> bool:
        """Whether the barrier of the cluster orders one access before the other, or may."""
        return sum(at < after.position for at in arrivals(after.thread)) > _met(before)

    def has_met(self, before: Touch, after: Touch) -> bool:
        """Whether the barrier of the cluster surely orders one access before the other."""
        acquired = after.thread.marks.acquire_of(CLUSTER, _met(before) + 1)
        return acquired is not None and acquired < after.position

    def around(self, before: Touch) -> tuple[dict[Thread, int], dict[Thread, int]]:
        """By thread: where those of the one CTA come to the barrier of the cluster that follows an access, and where
        those of the other one are behind it."""
        number = _met(before)
        come = {t: (*arrivals(t), *[NEVER] * (number + 1))[number] for t in self.giver.threads.values()}
        acquired = {t: t.marks.acquire_of(CLUSTER, number + 1) for t in self.taker.threads.values()}
        return come, {t: NEVER if at is None else at for t, at in acquired.items()}


def _met(touch: Touch) -> int:
    """How often a thread has arrived at the barrier of the cluster before an access."""
    return sum(at < touch.position for at in arrivals(touch.thread))


def _is_ordered(world: World, first: Touch, second: Touch) -> bool:
    if first.thread is second.thread:
        return first.position < second.position
    return any(world.order(first.thread, first.position, second.thread, second.position))


def _by_owner(world: World) -> tuple[RangeIndex[Touch], RangeIndex[Touch]]:
    """The accesses of a CTA's threads to its own memory, and to that of others."""
    home: RangeIndex[Touch] = RangeIndex()
    abroad: RangeIndex[Touch] = RangeIndex()
    for place, touch in _placed(world):
        (home if place[0] >> CTA_BITS == world.scenario.rank + 1 else abroad).add(*place, touch)
    return home, abroad


def _placed(world: World) -> Iterator[tuple[tuple[int, int], Touch]]:
    """(bytes in the cluster, access) of all accesses by number."""
    for thread in world.threads.values():
        for position, event in thread.accesses:
            touched, effect = extent(event), event.effect
            if touched is None or not isinstance(effect, Access):
                continue
            named = place_of(world.scenario.rank, event)
            assert named is not None
            ranks = [named[0]]
            if effect.multicast is not None:
                mask = event.amount if isinstance(event.amount, int) else 0
                ranks = [rank for rank in range(mask.bit_length()) if mask >> rank & 1]
            for rank in ranks:
                low = named[1] | rank + 1 << CTA_BITS
                yield (low, low + touched[1] - touched[0]), Touch(thread, position, event)


def _is_asynchronous(event: Event) -> bool:
    return isinstance(event.effect, MbarrierArrive) and event.effect.asynchronous
