"""Copies into another CTA that complete on an mbarrier of the one that copies: the receiver hears of it from there.

A thread waits on mbarriers of its own CTA, so the receiving one learns of the end of such a copy by the barrier of the
cluster, or by a signal of another CTA at one of its own mbarriers, behind the copy. What else it waits for tells
nothing.
Source: PTX ISA, "cp.async.bulk", "Completion Mechanisms for Asynchronous Copy Operations".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptxkit.analysis.clusters import SIGNALS, arrivals
from ptxkit.analysis.incoming import Departures, Incoming, knows_round, may_come_later
from ptxkit.analysis.kernel import World
from ptxkit.analysis.places import places_of
from ptxkit.analysis.thread import Thread
from ptxkit.isa.effects import MbarrierWait


def first_tidings(worlds: Sequence[World], rank: int) -> Mapping[int, int] | None:
    """By mbarrier of a CTA, as it sees them: the first phase in which another CTA signals there, 1 where that is not
    known; None where it is not known which mbarriers are signalled."""
    found: dict[int, int] = {}
    for world in worlds:
        for thread in world.threads.values():
            for position, event in thread.positions(*SIGNALS):
                places = places_of(world.scenario.rank, event)
                if places is None:
                    return None
                for home, mbarrier in places:
                    if home == rank != world.scenario.rank:
                        phase = thread.phases.get(position) or 1
                        found[mbarrier] = min(phase, found.get(mbarrier, phase))
    return found


def may_have_heard(
    world: World,
    reader: Thread,
    position: int,
    copy: Incoming,
    tidings: Mapping[int, int] | None,
    departures: Departures,
) -> bool:
    """Whether a thread of the receiving CTA may know at a position that a copy is complete, or be there before it.

    Only what is known of all waits counts: one that nobody knows may tell. departures: of the receiving CTA.
    """
    if tidings is None or may_come_later(departures, reader, position, copy, frozenset(tidings)):
        return True
    rounds = sum(at < copy.position for at in arrivals(copy.issuer))
    if knows_round(world, rounds + 1, reader, position) or not world.is_clear_about(MbarrierWait):
        return True
    for thread in world.threads.values():
        for at in _heard_at(thread, tidings):
            if at < position if thread is reader else any(world.order(thread, at, reader, position)):
                return True
    return False


def _heard_at(thread: Thread, tidings: Mapping[int, int]) -> Iterator[int]:
    """From where on a thread knows of a phase in which another CTA signalled, or one that comes later."""
    for key, positions in thread.marks.acquires.items():
        match key:
            case ("mbarrier", address):
                first = tidings.get(address) if isinstance(address, int) else 1
                phases = thread.marks.phases[key]
                if first is not None:
                    yield from (at for at, phase in zip(positions, phases, strict=True) if phase >= first)
