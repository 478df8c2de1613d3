"""Whether any thread waits for a phase of an mbarrier: a phase that nobody waits for may stay open for good.

A rehearsal tells who waits for ever. Where there is none, the parities of a thread's waits tell which phases it waits
for at the least.

Source: PTX ISA, "Phase of the mbarrier object", "mbarrier.test_wait / mbarrier.try_wait".
"""

from __future__ import annotations

from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.sync.mbarrier_location import location_of
from ptxkit.isa.effects import MbarrierArrive, MbarrierWait


def is_phase_awaited(world: ScenarioFacts, address: int, ordinal: int | None) -> bool | None:
    """Whether some thread of a CTA waits for a phase of the mbarrier at an address, or for a later one.

    ordinal: the number of the phase, from 1, which never ends; None where only the rehearsals could tell. The answer is
    None where nobody knows.
    """
    is_whole = all(actor.end_reason == "exit" for actor in world.simulation.thread_classes)
    if is_whole and world.schedules:
        stuck = [
            location_of(world.simulation.thread_classes[each.thread_class].rank, each.event)
            for rehearsal in world.schedules
            for each in rehearsal.blocked_threads
        ]
        own = world.scenario.rank, address
        return own in stuck or (None if stuck else False)
    if ordinal is None:
        return None
    threads = [*world.threads.values(), *(world.all_threads(MbarrierArrive, MbarrierWait) or ())]
    if any(_last_awaited_phase(thread, address) >= ordinal for thread in threads):
        return True
    is_known = is_whole and world.is_complete and not any(_may_wait_untraced(thread) for thread in threads)
    return False if is_known else None


def _last_awaited_phase(thread: ThreadView, address: int) -> int:
    """The number of the last phase that a thread surely waits for; 0 where there is none."""
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
    """Whether a thread may wait for something else than its trace shows."""
    waits = [event for _, event in thread.positions(MbarrierWait)]
    return thread.trace.has_unknown_call or any(not isinstance(event.address, int) for event in waits)
