"""Which waits tell that what an mbarrier tracks is done: in the issuing thread, and in those that consume it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from ptxkit.analysis.announcements import Due, announced_by
from ptxkit.analysis.inflight import Copy
from ptxkit.analysis.kernel import World
from ptxkit.analysis.program import Step
from ptxkit.analysis.space import CTA_BITS
from ptxkit.analysis.terms import Value
from ptxkit.analysis.thread import Thread
from ptxkit.analysis.trace import Event
from ptxkit.isa.effects import MbarrierArrive, MbarrierExpect, MbarrierTrack

_RANK = 0xFF << CTA_BITS


def local(address: Value | None) -> int | None:
    """A shared-memory address as an offset in whichever CTA it lies; None where it is not known as a number."""
    return address & ~_RANK if isinstance(address, int) else None


def waits_on(world: World, thread: Thread, position: int, barrier: Value | None) -> Iterator[Step]:
    """The waits that see the phase end which the operation at a position of a thread belongs to.

    All CTAs of a cluster run the same kernel, so an object in another CTA is waited for where the same one here is.
    The issuing thread's own wait tells the phase; where it waits for none, its announcements and arrivals do.
    """
    place = local(barrier)
    if place is None:
        return
    key = ("mbarrier", place)
    acquires = thread.marks.acquires.get(key, [])
    own = bisect_right(acquires, position)
    if own < len(acquires):
        yield thread.trace.events[acquires[own]].step
        phase: int | None = thread.marks.phases[key][own]
    else:
        phase = _phase(thread, position, place)
    for other in world.threads.values():
        if other is not thread and phase is not None:
            acquired = other.marks.acquire_of(key, phase)
            if acquired is not None:
                yield other.trace.events[acquired].step
        elif other is not thread:
            yield from dict.fromkeys(other.trace.events[at].step for at in other.marks.acquires.get(key, ()))


def _phase(thread: Thread, position: int, place: int) -> int | None:
    """Which phase, from 1, of the object; None where the thread never arrives there itself.

    A phase begins with the announcement of its bytes, or with its copies: the first of both tells which. Behind an
    arrival, an announcement begins the next phase unless that one goes on for announced bytes that were not started; a
    copy does so only where copies come first.
    """
    entries = sorted(
        [
            *((at, True, event) for at, event in _told(thread, place)),
            *((copy.position, False, copy.event) for copy in thread.copies if local(copy.event.barrier) == place),
        ],
        key=lambda entry: entry[0],
    )
    if not any(_arrives(event) for _, _, event in entries):
        return None
    copies_follow = entries[0][1]
    phase, arrived, due = 1, False, Due()
    for at, announces, event in entries:
        is_next = _arrives(event) or not due.keeps_open if announces else not copies_follow
        if arrived and is_next:
            phase, arrived, due = phase + 1, False, Due()
        if at >= position:
            return phase
        arrived = arrived or _arrives(event)
        if announces:
            due.announce(announced_by(event))
        else:
            due.start(event.size)
    return phase + 1 if arrived and not copies_follow else phase


def _arrives(event: Event) -> bool:
    return isinstance(event.effect, MbarrierArrive | MbarrierTrack)


def _told(thread: Thread, place: int) -> Iterator[tuple[int, Event]]:
    """What the thread announces to an object, and its arrivals there."""
    for at, event in thread.positions(MbarrierExpect, MbarrierArrive, MbarrierTrack):
        if local(event.address) == place:
            yield at, event


def committed_by(thread: Thread, copy: Copy) -> tuple[int, Event] | None:
    """The asynchronous arrival that a copy of the tensor core is made known by: the thread's next one."""
    return next(
        (
            (at, event)
            for at, event in thread.positions(MbarrierArrive)
            if at > copy.position and isinstance(event.effect, MbarrierArrive) and event.effect.asynchronous
        ),
        None,
    )
