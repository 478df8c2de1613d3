"""Copies that one CTA of a cluster makes into the shared memory of another, and who reads there without knowing of it.

Only a CTA's own threads can wait on its mbarriers. So who reads before them is unordered with the copy, unless the
copying CTA has heard from the reading one first: by the barrier of the cluster, by a signal, or through memory.
Source: PTX ISA, "Distributed Shared Memory", "st.async", "Async Proxy", "Completion Mechanisms for Asynchronous Copy
Operations".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from ptxkit.analysis.clusters import CLUSTER, Reach, arrivals, is_told, others_of, reaches, told_at
from ptxkit.analysis.kernel import World
from ptxkit.analysis.order import NEVER
from ptxkit.analysis.places import place_at
from ptxkit.analysis.thread import Thread
from ptxkit.analysis.trace import Event, Opaque
from ptxkit.isa.effects import Access, MbarrierComplete, MbarrierWait
from ptxkit.records import dataclass

_WARP = 32


@dataclass(frozen=True, slots=True)
class Incoming:
    """A copy into another CTA: who issues it there (`source`), and when; which bytes `[low, high)` of the receiver it
    writes, and which of its mbarriers tells of it, in which phase."""

    source: World
    issuer: Thread
    position: int
    event: Event
    low: int
    high: int
    barrier: int
    phase: int


def incoming(worlds: Sequence[World], world: World) -> Iterator[Incoming]:
    """The copies of other walked CTAs into this one whose phases are known."""
    rank = world.scenario.rank
    for source in others_of(worlds, world):
        for issuer in source.threads.values():
            for position, event in issuer.positions(Access):
                effect = event.effect
                if isinstance(effect, Access) and effect.completion == "mbarrier" and effect.kind != "read":
                    to = place_at(source.scenario.rank, event.address)
                    at = place_at(source.scenario.rank, event.barrier)
                    phase = _phase(issuer, position)
                    if to is None or at is None or phase is None or not isinstance(event.size, int):
                        continue
                    if effect.multicast is None and to[0] == at[0] == rank:
                        yield Incoming(source, issuer, position, event, to[1], to[1] + event.size, at[1], phase)


def _phase(issuer: Thread, position: int) -> int | None:
    """In which phase a copy completes."""
    events = issuer.trace.events
    copy = events[position]
    for at in range(position + 1, len(events)):
        event = events[at]
        if isinstance(event, Opaque) or (event.step, event.visit) != (copy.step, copy.visit):
            return None
        if isinstance(event.effect, MbarrierComplete):
            return issuer.phases.get(at)
    return None


class Departures:
    """When other CTAs may hear of the threads of one."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._known: dict[tuple[Thread, int], bool] = {}

    @cached_property
    def _reaches(self) -> list[Reach]:
        return list(reaches(self._world))

    def may_follow(self, reader: Thread, position: int) -> bool:
        """Whether another CTA may hear that a thread is past a place: something reaches out of its CTA after that."""
        known = self._known.get((reader, position))
        if known is None:
            known = self._known[(reader, position)] = any(
                self._follows(reader, position, each) for each in self._reaches
            )
        return known

    def _follows(self, reader: Thread, position: int, reach: Reach) -> bool:
        """What its warp does further down may be after it, too: lanes meet in many ways that order nothing."""
        if reach.thread is reader:
            return reach.position > position
        if reach.thread.tid // _WARP == reader.tid // _WARP:
            read, event = reader.trace.events[position], reach.event
            if event.step.index >= read.step.index or event.visit > read.visit:
                return True
        return any(self._world.order(reader, position, reach.thread, reach.position))


def is_known(
    world: World, reader: Thread, position: int, copy: Incoming, signals: frozenset[int], departures: Departures
) -> bool | None:
    """Whether a thread of the receiving CTA knows at a position that a copy is complete; None where that cannot be
    told, or where the copy may come later. signals: the mbarriers that CTAs signal in one another. departures: of the
    receiving CTA."""
    key = ("mbarrier", copy.barrier)
    if reader.knows(copy.barrier, copy.phase, position):
        return True
    if reader.knows(copy.barrier, 1, position):
        return None
    if _is_awaited(world, copy) and is_told(reader, position, signals - {copy.barrier}):
        return None
    if _may_come_later(departures, reader, position, copy, signals):
        return None
    for thread in world.threads.values():
        waited = thread.marks.acquire_of(key, copy.phase)
        if thread is reader or waited is None or waited == NEVER:
            continue
        if thread.trace.leader is not None and thread.trace.leader == reader.trace.leader:
            continue  # threads that take the reader's path have not waited earlier than it did
        if thread.tid // 32 == reader.tid // 32 or any(world.order(thread, waited, reader, position)):
            return True
    return False if world.is_clear_about(MbarrierWait) else None


def _is_awaited(world: World, copy: Incoming) -> bool:
    """Whether any thread of the receiving CTA may wait for the phase of a copy: else nobody ever knows of its end."""
    for thread in world.threads.values():
        for key in thread.marks.acquires:
            match key:
                case ("mbarrier", address) if not isinstance(address, int):
                    return True
                case ("mbarrier", address) if address == copy.barrier:
                    if thread.marks.acquire_of(key, copy.phase) not in (None, NEVER):
                        return True
    return False


def _may_come_later(
    departures: Departures, reader: Thread, position: int, copy: Incoming, signals: frozenset[int]
) -> bool:
    """Whether the copying CTA may have learnt, before the copy, that a thread of the receiving one is past a place."""
    source, issuer = copy.source, copy.issuer
    goes_out = departures.may_follow(reader, position)
    if goes_out and is_told(issuer, copy.position, signals):
        return True
    for thread in source.threads.values() if goes_out else ():
        told = min(told_at(thread, signals), default=None) if thread is not issuer else None
        if told is not None and any(source.order(thread, told, issuer, copy.position)):
            return True
    rounds = sum(at < position for at in arrivals(reader))
    return _knows_round(source, rounds + 1, issuer, copy.position)


def _knows_round(world: World, ordinal: int, thread: Thread, position: int) -> bool:
    """Whether a round of the cluster's barrier may be over before a position of a thread."""
    for other in world.threads.values():
        acquires = other.marks.acquires.get(CLUSTER, [])
        if len(acquires) >= ordinal:
            at = acquires[ordinal - 1]
            if at < position if other is thread else any(world.order(other, at, thread, position)):
                return True
    return False


def reads(reader: Thread, copy: Incoming) -> list[tuple[int, Event]]:
    """The reads of bytes that a copy writes, with positions, in their order."""
    places = reader.reads_by_place.items()
    met = [found for (low, high), found in places if low < copy.high and copy.low < high]
    return met[0] if len(met) == 1 else sorted((each for found in met for each in found), key=lambda each: each[0])
