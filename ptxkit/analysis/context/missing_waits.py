"""Finds the copies for whose mbarriers no thread waits, if this explains excess arrivals.

A thread that reads the bytes of a copy without a wait also arrives too early at the mbarriers after the read. The
hypothesis is that each thread waits for the phase of the copy before it reads a slot. It is accepted if all threads
then reach their ends, in every schedule, without an excess arrival.

Source: PTX ISA, "Phases of the mbarrier object", "mbarrier.test_wait / mbarrier.try_wait".
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.access_ranges import is_async_read, is_generic_read
from ptxkit.analysis.symexec.trace import GroupEvent, TraceEvent, UnknownCall
from ptxkit.analysis.sync.sync_schedule import ScheduleResult, simulate_schedule
from ptxkit.analysis.sync.thread_classes import ThreadClass, is_sync_effect
from ptxkit.fast_dataclasses import replace
from ptxkit.isa.effects import Access, MbarrierWait

_WAIT = MbarrierWait("", "", "parity", "", blocking=True)


def find_missing_waits(kernel: KernelFacts) -> tuple[Step, ...]:
    """Returns the copies for which no thread waits, if waits for them settle all excess arrivals; else none.

    The waits must do so in each scenario with such copies, and in one of them all threads must reach their ends.
    """
    steps: dict[Step, None] = {}
    is_proven = False
    for facts in kernel.scenarios:
        if facts.simulation.size > 1 or not _has_excess(facts.schedules + facts.simulation.eager_async_schedules):
            continue
        copies = list(_unawaited_copies(facts))
        mbarriers = {start: mbarrier for _, start, mbarrier in copies}
        actors = [_with_waits(facts, actor, mbarriers) for actor in facts.thread_classes] if copies else []
        played = list(_schedules_of(facts, actors)) if copies else []
        if _has_excess(played) or any(each.is_approximate for each in played):
            return ()
        is_proven |= bool(played) and all(each.is_complete and not each.blocked_threads for each in played)
        steps.update(dict.fromkeys(step for step, _, _ in copies))
    return tuple(steps) if is_proven else ()


def _has_excess(played: Iterable[ScheduleResult]) -> bool:
    return any(each.excess_arrivals for each in played)


def _schedules_of(facts: ScenarioFacts, actors: Sequence[ThreadClass]) -> Iterator[ScheduleResult]:
    kinds = (False, True) if facts.simulation.eager_async_schedules else (False,)
    return (simulate_schedule(actors, first, eager=eager) for first in facts.simulation.schedules for eager in kinds)


def _unawaited_copies(facts: ScenarioFacts) -> Iterator[tuple[Step, int, int]]:
    """Yields (copy, address of its bytes, mbarrier on which it completes) for each mbarrier without a wait."""
    awaited = {e.address for actor in facts.thread_classes for e in actor.events if isinstance(e.effect, MbarrierWait)}
    for group in facts.groups:
        for _, copy in group.thread_events(_is_copy):
            if isinstance(copy.address, int) and isinstance(copy.barrier, int) and copy.barrier not in awaited:
                yield copy.step, copy.address, copy.barrier


def _is_copy(event: TraceEvent | GroupEvent) -> bool:
    effect = event.effect
    return isinstance(effect, Access) and effect.completion == "mbarrier" and effect.kind != "read"


def _with_waits(facts: ScenarioFacts, actor: ThreadClass, mbarriers: Mapping[int, int]) -> ThreadClass:
    """Returns the threads with a wait before they read the bytes of a copy, for each of its phases in turn.

    mbarriers: the mbarrier on which copies complete, by the address at which they begin.
    """
    tid = actor.tids[0]
    trace = next(group for group in facts.groups if tid in group.tids).for_thread(tid)
    starts, left = sorted(mbarriers), deque(actor.events)
    events: list[TraceEvent] = []
    phases: Counter[int] = Counter()
    current: int | None = None  # the mbarrier of the slot that is being read
    for event in trace.events:
        if isinstance(event, UnknownCall):
            continue
        if left and (event.step, event.visit, event.effect) == (left[0].step, left[0].visit, left[0].effect):
            events.append(left.popleft())
            current = None if is_sync_effect(event.effect, warp=False) else current
        elif (is_generic_read(event) or is_async_read(event)) and isinstance(event.address, int):
            start = starts[max(bisect_right(starts, event.address) - 1, 0)]
            mbarrier = mbarriers[start]
            if facts.program.variable_at(start) is facts.program.variable_at(event.address) and mbarrier != current:
                events.append(event._replace(effect=_WAIT, address=mbarrier, amount=phases[mbarrier] & 1))
                phases[mbarrier] += 1
                current = mbarrier
    return replace(actor, events=(*events, *left))
