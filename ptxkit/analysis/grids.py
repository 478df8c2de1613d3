"""Reads of global memory before a grid has waited for the grids that it depends on, and those after.

A place is known by the term of its address: what comes from one unknown, at one offset, is one place.
Source: PTX ISA, "griddepcontrol".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.kernel import World
from ptxkit.analysis.terms import Term
from ptxkit.analysis.thread import Thread
from ptxkit.analysis.trace import Event
from ptxkit.isa.effects import Access, Grid
from ptxkit.records import dataclass


@dataclass(frozen=True, slots=True)
class Early:
    """A read that comes before the wait of its thread. again: a read of the same place behind a wait; wait: its own."""

    thread: Thread
    position: int
    read: Event
    wait: Event
    again: Event | None


def early_reads(world: World) -> Iterator[Early]:
    """The reads before a wait, those of the same place behind one after them."""
    found = ((thread.tid, _wait_of(thread)) for thread in world.threads.values())
    waits = {tid: waited for tid, waited in found if waited is not None}
    late: dict[tuple[int, int], Event] = {}
    for tid, (at, _) in waits.items():
        for position, event, place in _reads(world.threads[tid]):
            if position > at:
                late.setdefault(place, event)
    for tid, (at, wait) in waits.items():
        thread = world.threads[tid]
        for position, event, place in _reads(thread):
            if position < at and not _hears_of_a_wait(world, thread, position, waits):
                yield Early(thread, position, event, wait, late.get(place))


def _wait_of(thread: Thread) -> tuple[int, Event] | None:
    found = ((at, e) for at, e in thread.positions(Grid) if isinstance(e.effect, Grid) and e.effect.action == "wait")
    return next(found, None)


def _reads(thread: Thread) -> Iterator[tuple[int, Event, tuple[int, int]]]:
    """A thread's weak reads of places that it was given: a strong one may well be meant to see what others do."""
    for position, event in thread.positions(Access):
        effect, place = event.effect, event.address
        if not isinstance(effect, Access) or not isinstance(place, Term) or effect.proxy == "tensormap":
            continue
        if (effect.kind, effect.order) == ("read", "weak"):
            yield position, event, (place.identity, place.offset)


def _hears_of_a_wait(world: World, thread: Thread, until: int, waits: dict[int, tuple[int, Event]]) -> bool:
    """Whether another thread has waited before, as far as a barrier tells."""
    others = ((world.threads[tid], at) for tid, (at, _) in waits.items() if tid != thread.tid)
    return any(any(world.order(other, at, thread, until)) for other, at in others)
