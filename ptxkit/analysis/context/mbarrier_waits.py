"""Finds the waits that observe the operations tracked by an mbarrier, in the issuing thread and in others."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.ir.shared_window import CTA_BITS
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.sync.async_groups import AsyncCopy
from ptxkit.analysis.sync.late_expect_tx import PendingTx, expected_tx_of
from ptxkit.analysis.values.symbolic_values import Value
from ptxkit.isa.effects import MbarrierArrive, MbarrierExpect, MbarrierTrack

_RANK_BITS = 0xFF << CTA_BITS


def cta_offset(address: Value | None) -> int | None:
    """Returns a shared-memory address as an offset in the CTA that contains it.

    The result is None where it is not known as a number.
    """
    return address & ~_RANK_BITS if isinstance(address, int) else None


def find_phase_waits(facts: ScenarioFacts, thread: ThreadView, position: int, barrier: Value | None) -> Iterator[Step]:
    """Yields the waits that observe the end of the phase to which the operation at a position of a thread belongs.

    All CTAs of a cluster run the same kernel, so waits for the corresponding mbarrier of this CTA represent those for
    an mbarrier of another CTA. The issuing thread's own wait determines the phase; if it does not wait, its expect-tx
    operations and arrivals do.
    """
    place = cta_offset(barrier)
    if place is None:
        return
    key = ("mbarrier", place)
    acquires = thread.release_acquire_points.acquires.get(key, [])
    own = bisect_right(acquires, position)
    if own < len(acquires):
        yield thread.trace.events[acquires[own]].step
        phase: int | None = thread.release_acquire_points.acquire_phases[key][own]
    else:
        phase = _phase_of(thread, position, place)
    for other in facts.threads.values():
        if other is not thread and phase is not None:
            acquired = other.release_acquire_points.first_acquire(key, phase)
            if acquired is not None:
                yield other.trace.events[acquired].step
        elif other is not thread:
            yield from dict.fromkeys(
                other.trace.events[at].step for at in other.release_acquire_points.acquires.get(key, ())
            )


def _phase_of(thread: ThreadView, position: int, place: int) -> int | None:
    """Returns the number of the phase, from 1, at a position.

    The result is None where the thread never arrives at the mbarrier itself.

    A phase begins either with its expect-tx or with its copies; the first such event determines which. After an
    arrival, an expect-tx begins the next phase unless the current phase still expects bytes whose transfer was not
    started. A copy begins the next phase only where copies come first.
    """
    entries = sorted(
        [
            *((at, True, event) for at, event in _expects_and_arrivals(thread, place)),
            *((copy.position, False, copy.event) for copy in thread.copies if cta_offset(copy.event.barrier) == place),
        ],
        key=lambda entry: entry[0],
    )
    if not any(_is_arrival(event) for _, _, event in entries):
        return None
    copies_follow = entries[0][1]
    phase, arrived, due = 1, False, PendingTx()
    for at, expects, event in entries:
        is_next = _is_arrival(event) or not due.keeps_phase_open if expects else not copies_follow
        if arrived and is_next:
            phase, arrived, due = phase + 1, False, PendingTx()
        if at >= position:
            return phase
        arrived = arrived or _is_arrival(event)
        if expects:
            due.add_expected(expected_tx_of(event))
        else:
            due.add_copied(event.size)
    return phase + 1 if arrived and not copies_follow else phase


def _is_arrival(event: TraceEvent) -> bool:
    return isinstance(event.effect, MbarrierArrive | MbarrierTrack)


def _expects_and_arrivals(thread: ThreadView, place: int) -> Iterator[tuple[int, TraceEvent]]:
    """Yields the expect-tx operations and arrivals of the thread on an mbarrier, with their positions."""
    for at, event in thread.positions(MbarrierExpect, MbarrierArrive, MbarrierTrack):
        if cta_offset(event.address) == place:
            yield at, event


def find_commit(thread: ThreadView, copy: AsyncCopy) -> tuple[int, TraceEvent] | None:
    """Returns the asynchronous arrival that signals a tensor-core copy: the next one of the thread."""
    return next(
        (
            (at, event)
            for at, event in thread.positions(MbarrierArrive)
            if at > copy.position and isinstance(event.effect, MbarrierArrive) and event.effect.asynchronous
        ),
        None,
    )
