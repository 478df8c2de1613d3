"""Which waits tell that what an mbarrier tracks is done: in the issuing thread, and in those that consume it."""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.inflight import Copy
from ptxkit.analysis.kernel import Thread, World
from ptxkit.analysis.program import Step
from ptxkit.analysis.space import CTA_BITS
from ptxkit.analysis.terms import Value
from ptxkit.analysis.trace import Event
from ptxkit.isa.effects import MbarrierArrive, MbarrierTrack, MbarrierWait

_RANK = 0xFF << CTA_BITS


def local(address: Value | None) -> int | None:
    """A shared-memory address as an offset in whichever CTA it lies; None where it is not known as a number."""
    return address & ~_RANK if isinstance(address, int) else None


def waits_on(world: World, thread: Thread, position: int, barrier: Value | None) -> Iterator[Step]:
    """The waits that see the phase end which the operation at a position of a thread belongs to.

    All CTAs of a cluster run the same kernel, so an object in another CTA is waited for where the same one here is.
    Threads that wait without arriving know phases by their parity alone: their first wait that tells of this phase or
    of a later one counts.
    """
    place = local(barrier)
    if place is None:
        return
    own = next((event.step for at, event in _waits(thread, place) if at > position), None)
    if own is not None:
        yield own
    phase = _phase(thread, position, place)
    for other in world.threads.values():
        if other is thread:
            continue
        steps = [event.step for _, event in _waits(other, place)]
        acquired = other.marks.acquire_of(("mbarrier", place), phase) if phase is not None else None
        if acquired is not None:
            yield other.trace.events[acquired].step
        elif phase is None:
            yield from dict.fromkeys(steps)


def _waits(thread: Thread, place: int) -> list[tuple[int, Event]]:
    return [(at, event) for at, event in thread.positions(MbarrierWait) if local(event.address) == place]


def _phase(thread: Thread, position: int, place: int) -> int | None:
    """Which phase, from 1, of the object; None where the thread never arrives there itself.

    A thread announces bytes before it starts its copies, or after them: its first copy tells which.
    """
    arrivals = sorted(
        at for at, event in thread.positions(MbarrierArrive, MbarrierTrack) if local(event.address) == place
    )
    if not arrivals:
        return None
    copies = [copy.position for copy in thread.copies if local(copy.event.barrier) == place]
    follows = arrivals[0] < min([*copies, position])
    before = sum(at < position for at in arrivals)
    return before if follows else before + 1


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
