"""Hand-overs between two CTAs of a cluster by an mbarrier, where one side orders no more than its own CTA.

An arrival counts whatever its scope; but it orders what was before it only for a wait where each names a scope that
includes the other's thread. All else that may order the two CTAs counts as order: the barrier of the cluster, another
mbarrier with wider scopes, fences of such scopes, flags in memory.

Source: PTX ISA, "Morally strong operations", "Causality Order", "mbarrier.arrive", "mbarrier.test_wait,
mbarrier.try_wait".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from ptxkit.analysis.clusters import arrivals, polls, world_at
from ptxkit.analysis.kernel import Kernel, World
from ptxkit.analysis.places import Place, place_of
from ptxkit.analysis.program import Step
from ptxkit.analysis.ranges import RangeIndex
from ptxkit.analysis.space import CTA_BITS
from ptxkit.analysis.thread import Thread
from ptxkit.analysis.touches import extent
from ptxkit.analysis.trace import Event
from ptxkit.isa.effects import Access, MbarrierArrive, MbarrierWait, MemoryFence
from ptxkit.records import dataclass

#: Arrivals of one thread at one object that are looked at.
_FIRST = 4
#: Hand-overs that are tried for accesses of two CTAs, at most.
MAX_TRIED = 20_000


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

    @property
    def is_narrow(self) -> bool:
        """Whether one of the two orders its own CTA only."""
        return "cta" in (scope_of(self.arrival.event), scope_of(self.wait.event))


@dataclass(frozen=True, slots=True)
class Crossing:
    """Accesses of two CTAs to the same bytes, of which only a narrow hand-over tells that one is behind the other.

    is_data: the first is a store, the other a load or a store: contents cross. Else the memory is only handed back.
    """

    before: Touch
    handover: Handover
    after: Touch
    is_data: bool

    @property
    def is_sure(self) -> bool:
        """Whether an input surely leads there."""
        return all(touch.is_sure for touch in (self.before, self.handover.arrival, self.handover.wait, self.after))


def crossings_of(kernel: Kernel, world: World) -> Iterator[Crossing]:
    """The crossings from a CTA into the others of its cluster."""
    if world.scenario.launch.cluster_size == 1 or not _may_be_narrow(kernel) or polls(kernel.program):
        return
    for rank in range(world.scenario.launch.cluster_size):
        other = world_at(kernel.worlds, world, rank)
        if other is not None and other is not world and not (world.is_opaque or other.is_opaque):
            yield from _Pair(kernel, world, other).crossings(reused=kernel.policy == "strict")


def _may_be_narrow(kernel: Kernel) -> bool:
    effects = [effect for step in kernel.program.steps if step.match is not None for effect in step.match.effects]
    given = [e.scope for e in effects if isinstance(e, MbarrierArrive) and not e.asynchronous]
    waits = [e.scope for e in effects if isinstance(e, MbarrierWait)]
    if any(isinstance(e, MemoryFence) and e.scope != "cta" and e.only is None for e in effects):
        return False
    return bool(given) and bool(waits) and "cta" in (*given, *waits)


class _Pair:
    """A CTA that arrives at mbarriers of another one."""

    def __init__(self, kernel: Kernel, giver: World, taker: World) -> None:
        self._giver, self._taker = giver, taker
        self._handovers = list(self._all_handovers())
        self._wide = [handover for handover in self._handovers if not handover.is_narrow]
        self._is_open = giver.scenario.launch.cluster_size > 2 and _has_wide(kernel)

    def crossings(self, *, reused: bool) -> Iterator[Crossing]:
        """What crosses by narrow hand-overs, once for two instructions. reused: memory that is handed back, too."""
        narrow = [handover for handover in self._handovers if handover.is_narrow]
        if not narrow or self._is_open:
            return
        found: set[tuple[Step, Step]] = set()
        left = MAX_TRIED
        for before, after, kind in self._conflicts():
            steps = (before.event.step, after.event.step)
            if steps in found or (kind != "data" and not reused):
                continue
            for handover in narrow:
                left -= 1
                if self._joins(before, handover, after) and not self._otherwise(before, after):
                    found.add(steps)
                    yield Crossing(before, handover, after, kind == "data")
                    break
            if left < 0:
                return

    def _conflicts(self) -> Iterator[tuple[Touch, Touch, str]]:
        """Accesses of the one CTA and of the other one to the same bytes, and what the first is to the second."""
        uses = _touches(self._giver)
        for place, after in _placed(self._taker):
            for before in uses.overlapping(*place):
                kind = _conflict(before.event, after.event)
                if kind is not None:
                    yield before, after, kind

    def _all_handovers(self) -> Iterator[Handover]:
        """Each arrival of the one CTA at the other's objects with the waits for its phase."""
        waits: dict[int, list[tuple[Thread, int, Event]]] = defaultdict(list)
        for thread in self._taker.threads.values():
            for at, event in thread.positions(MbarrierWait):
                if isinstance(event.address, int):
                    waits[event.address].append((thread, at, event))
        rank = self._taker.scenario.rank
        for thread in self._giver.threads.values():
            counts: dict[Place, int] = defaultdict(int)
            for at, event in thread.positions(MbarrierArrive):
                place = place_of(self._giver.scenario.rank, event)
                if place is None or place[0] != rank or _is_asynchronous(event):
                    continue
                counts[place] += 1
                if counts[place] <= _FIRST:
                    arrival = Touch(thread, at, event)
                    yield from self._waits_for(arrival, waits[place[1]], ("mbarrier", place[1]))

    def _waits_for(
        self, arrival: Touch, waits: Sequence[tuple[Thread, int, Event]], key: tuple[str, int]
    ) -> Iterator[Handover]:
        """The first wait of each thread that tells of the phase of an arrival."""
        marks = arrival.thread.marks
        own = ("mbarrier", arrival.event.address)
        at = [p for p, e in arrival.thread.positions(MbarrierArrive) if e.address == arrival.event.address]
        phase = marks.rounds[own][at.index(arrival.position)]
        seen: set[int] = set()
        for thread, position, event in waits:
            phases = thread.marks.phases[key]
            number = sum(p < position for p, e in thread.positions(MbarrierWait) if e.address == event.address)
            if thread.tid not in seen and phases[number] >= phase:
                seen.add(thread.tid)
                yield Handover(arrival, Touch(thread, position, event))

    def _joins(self, before: Touch, handover: Handover, after: Touch) -> bool:
        """Whether one access comes before the arrival, and the other behind the wait."""
        return _is_ordered(self._giver, before, handover.arrival) and _is_ordered(self._taker, handover.wait, after)

    def _otherwise(self, before: Touch, after: Touch) -> bool:
        """Whether anything else may order the two accesses."""
        met = sum(at < before.position for at in arrivals(before.thread))
        if sum(at < after.position for at in arrivals(after.thread)) > met:
            return True
        for wide in self._wide:
            gives = wide.arrival.thread is not before.thread or wide.arrival.position > before.position
            takes = wide.wait.thread is not after.thread or wide.wait.position < after.position
            if gives and takes:
                return True
        return False


def _has_wide(kernel: Kernel) -> bool:
    """Whether other CTAs may pass on what one of them was told."""
    effects = [effect for step in kernel.program.steps if step.match is not None for effect in step.match.effects]
    return any(isinstance(e, MbarrierArrive) and e.scope != "cta" and not e.asynchronous for e in effects)


def _is_ordered(world: World, first: Touch, second: Touch) -> bool:
    if first.thread is second.thread:
        return first.position < second.position
    return any(world.order(first.thread, first.position, second.thread, second.position))


def _conflict(before: Event, after: Event) -> str | None:
    """`data` where contents written by a store are used, `reuse` where memory that was read is written again."""
    first, second = before.effect, after.effect
    assert isinstance(first, Access)
    assert isinstance(second, Access)
    if first.kind == "read":
        return "reuse" if second.kind != "read" else None
    is_plain = all((each.proxy, each.completion) == ("generic", None) for each in (first, second))
    return "data" if is_plain and "weak" in (first.order, second.order) else None


def _touches(world: World) -> RangeIndex[Touch]:
    """What the threads of a CTA do to shared memory, by the bytes in the cluster."""
    found: RangeIndex[Touch] = RangeIndex()
    for place, touch in _placed(world):
        found.add(*place, touch)
    return found


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


def scope_of(event: Event) -> str:
    """The scope of an arrival, or of a wait."""
    effect = event.effect
    assert isinstance(effect, MbarrierArrive | MbarrierWait)
    return effect.scope


def _is_asynchronous(event: Event) -> bool:
    return isinstance(event.effect, MbarrierArrive) and event.effect.asynchronous
