"""Reads of global memory before a grid has waited for the grids that it depends on, and those after.

A place is known by the term of its address: what comes from one unknown, at one offset, is one place.
Source: PTX ISA, "griddepcontrol".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.values.symbolic_values import SymbolicValue
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Access, Grid


@dataclass(frozen=True, slots=True)
class EarlyRead:
    """A read before the `wait` of its thread. repeated_read: a read of the same location after a wait."""

    thread: ThreadView
    position: int
    read: TraceEvent
    wait: TraceEvent
    repeated_read: TraceEvent | None


def find_early_reads(facts: ScenarioFacts) -> Iterator[EarlyRead]:
    """The reads before a wait, those of the same place after one follow them."""
    found = ((thread.tid, _wait_of(thread)) for thread in facts.threads.values())
    waits = {tid: waited for tid, waited in found if waited is not None}
    late: dict[tuple[int, int], TraceEvent] = {}
    for tid, (at, _) in waits.items():
        for position, event, place in _weak_reads(facts.threads[tid]):
            if position > at:
                late.setdefault(place, event)
    for tid, (at, wait) in waits.items():
        thread = facts.threads[tid]
        for position, event, place in _weak_reads(thread):
            if position < at and not _is_ordered_after_wait(facts, thread, position, waits):
                yield EarlyRead(thread, position, event, wait, late.get(place))


def _wait_of(thread: ThreadView) -> tuple[int, TraceEvent] | None:
    found = ((at, e) for at, e in thread.positions(Grid) if isinstance(e.effect, Grid) and e.effect.action == "wait")
    return next(found, None)


def _weak_reads(thread: ThreadView) -> Iterator[tuple[int, TraceEvent, tuple[int, int]]]:
    """A thread's weak reads of places that it was given: a strong one may well be meant to see what others do."""
    for position, event in thread.positions(Access):
        effect, place = event.effect, event.address
        if not isinstance(effect, Access) or not isinstance(place, SymbolicValue) or effect.proxy == "tensormap":
            continue
        if (effect.kind, effect.order) == ("read", "weak"):
            yield position, event, (place.identity, place.offset)


def _is_ordered_after_wait(
    facts: ScenarioFacts, thread: ThreadView, until: int, waits: dict[int, tuple[int, TraceEvent]]
) -> bool:
    """Whether another thread has waited before, and a barrier orders that wait before this thread."""
    others = ((facts.threads[tid], at) for tid, (at, _) in waits.items() if tid != thread.tid)
    return any(any(facts.sync_edges(other, at, thread, until)) for other, at in others)
