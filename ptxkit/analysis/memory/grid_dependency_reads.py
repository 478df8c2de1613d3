"""Finds reads of global memory before a grid has waited for the grids on which it depends, and repeated reads after it.

A location is identified by the term of its address: accesses at one offset from one unknown are at one location.

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
    """A read before the `wait` of its thread.

    repeated_read: a read of the same location after a wait.
    """

    thread: ThreadView
    position: int
    read: TraceEvent
    wait: TraceEvent
    repeated_read: TraceEvent | None


def find_early_reads(facts: ScenarioFacts) -> Iterator[EarlyRead]:
    """Yields the weak reads before a wait, each with a read of the same location after a wait, if there is one."""
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


def find_reads_without_wait(facts: ScenarioFacts) -> Iterator[TraceEvent]:
    """Yields the weak reads by threads that never wait, of locations that another thread reads only after a wait.

    A read that anything may order after a wait of another thread is left out.
    """
    found = ((thread, _wait_of(thread)) for thread in facts.threads.values())
    waits = {thread.tid: (thread, waited[0]) for thread, waited in found if waited is not None}
    early: set[tuple[int, int]] = set()
    late: set[tuple[int, int]] = set()
    for thread, at in waits.values():
        for position, _, place in _weak_reads(thread):
            (late if position > at else early).add(place)
    for thread in facts.threads.values() if late else ():
        for position, event, place in _weak_reads(thread) if thread.tid not in waits else ():
            if place in late - early and not any(
                _may_precede(facts, other, at, thread, position) for other, at in waits.values()
            ):
                yield event


def _may_precede(facts: ScenarioFacts, first: ThreadView, since: int, second: ThreadView, until: int) -> bool:
    """Returns whether anything may order an event of one thread before an event of another one."""
    order = facts.happens_before
    releaser, acquirer = order.path_of(first.tid), order.path_of(second.tid)
    start, end = (
        order.positions_by_execution(path.group).get((event.step, event.visit))
        for path, event in ((releaser, first.trace.events[since]), (acquirer, second.trace.events[until]))
    )
    return start is None or end is None or order.may_precede(releaser, start, acquirer, end)


def _wait_of(thread: ThreadView) -> tuple[int, TraceEvent] | None:
    found = ((at, e) for at, e in thread.positions(Grid) if isinstance(e.effect, Grid) and e.effect.action == "wait")
    return next(found, None)


def _weak_reads(thread: ThreadView) -> Iterator[tuple[int, TraceEvent, tuple[int, int]]]:
    """Yields a thread's weak reads of locations that were passed to it.

    A strong read may be intended to observe what other threads write.
    """
    for position, event in thread.positions(Access):
        effect, place = event.effect, event.address
        if not isinstance(effect, Access) or not isinstance(place, SymbolicValue) or effect.proxy == "tensormap":
            continue
        if (effect.kind, effect.order) == ("read", "weak"):
            yield position, event, (place.identity, place.offset)


def _is_ordered_after_wait(
    facts: ScenarioFacts, thread: ThreadView, until: int, waits: dict[int, tuple[int, TraceEvent]]
) -> bool:
    """Returns whether another thread has executed a wait that a barrier orders before this position."""
    others = ((facts.threads[tid], at) for tid, (at, _) in waits.items() if tid != thread.tid)
    return any(facts.is_ordered(other, at, thread, until) for other, at in others)
