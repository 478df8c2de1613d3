"""Determines whether any thread waits for a phase of an mbarrier: a phase without a waiting thread may stay incomplete.

A simulated schedule shows which threads deadlock. Where there is no schedule, the parities of a thread's waits give a
lower bound for the phases for which it waits.

Source: PTX ISA, "Phases of the mbarrier object", "mbarrier.test_wait / mbarrier.try_wait".
"""

from __future__ import annotations

from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.sync.mbarrier_location import location_of
from ptxkit.isa.effects import MbarrierArrive, MbarrierWait


def is_phase_awaited(facts: ScenarioFacts, address: int, ordinal: int | None) -> bool | None:
    """Returns whether some thread of a CTA waits for a phase of the mbarrier at an address, or for a later phase.

    ordinal: the number of the phase, from 1, which never completes; None where only the schedules can decide. The
    result is None where it is unknown.
    """
    is_whole = all(actor.end_reason == "exit" for actor in facts.simulation.thread_classes)
    if is_whole and facts.schedules:
        blocked = [
            location_of(facts.simulation.thread_classes[each.thread_class].rank, each.event)
            for schedule in facts.schedules
            for each in schedule.blocked_threads
        ]
        own = facts.scenario.rank, address
        return own in blocked or (None if blocked else False)
    if ordinal is None:
        return None
    threads = [*facts.threads.values(), *(facts.distinct_threads(MbarrierArrive, MbarrierWait) or ())]
    if any(last_awaited_phase(thread, address) >= ordinal for thread in threads):
        return True
    is_known = is_whole and facts.is_complete and not any(_may_wait_untraced(thread) for thread in threads)
    return False if is_known else None


def last_awaited_phase(thread: ThreadView, address: int) -> int:
    """Returns the number of the last phase for which a thread certainly waits; 0 if it waits for none."""
    phase = arrivals = 0
    events = [(at, e) for at, e in thread.positions(MbarrierArrive, MbarrierWait) if e.address == address]
    for _, event in sorted(events, key=lambda each: each[0]):
        if isinstance(event.effect, MbarrierArrive):
            arrivals += 1
        elif isinstance(event.effect, MbarrierWait) and event.effect.by != "parity":
            phase = max(phase, arrivals)
        elif isinstance(event.amount, int):
            phase += (phase - 1) & 1 != event.amount & 1
    return phase


def _may_wait_untraced(thread: ThreadView) -> bool:
    """Returns whether a thread may execute a wait that its trace does not show."""
    waits = [event for _, event in thread.positions(MbarrierWait)]
    return thread.trace.has_unknown_call or any(not isinstance(event.address, int) for event in waits)
