"""Who is rehearsed together: the threads of a CTA, or those of all CTAs of its cluster; and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from ptxkit.analysis.ir.budget import (
    MAX_ANALYSED_CTAS,
    MAX_SCHEDULES,
    MAX_SIMULATED_CTAS,
    MAX_SIMULATED_EVENTS,
    MAX_THREAD_CLASSES,
)
from ptxkit.analysis.symexec.explorer import Exploration
from ptxkit.analysis.symexec.trace import ThreadTrace, TraceEvent
from ptxkit.analysis.sync.mbarrier_location import MbarrierLocation, locations_of
from ptxkit.analysis.sync.phase_fault_localization import PhaseFaultLocalizer, WrongCount, WrongParity
from ptxkit.analysis.sync.sync_schedule import ScheduleResult, simulate_schedule
from ptxkit.analysis.sync.thread_classes import ThreadClass, is_sync_effect, thread_classes_of
from ptxkit.isa.effects import Barrier, Effect, MbarrierArrive, MbarrierTrack


class SyncSimulation:
    """The CTAs of a cluster, or a CTA alone, walked under one scenario."""

    def __init__(self, ctas: Sequence[Exploration]) -> None:
        self._ctas = ctas
        self.size = ctas[0].scenario.launch.cluster_size

    @cached_property
    def thread_classes(self) -> list[ThreadClass]:
        """The threads of all CTAs by how they synchronise, CTA by CTA."""
        return [actor for cta in self._ctas for actor in thread_classes_of(cta.groups, cta.scenario.rank)]

    def events_at(self, place: MbarrierLocation) -> Sequence[TraceEvent]:
        """All that is done with the mbarrier at a place."""
        return self._events_by_location.get(place, ())

    @cached_property
    def _events_by_location(self) -> Mapping[MbarrierLocation, Sequence[TraceEvent]]:
        found: dict[MbarrierLocation, list[TraceEvent]] = {}
        for actor in self.thread_classes:
            for event in actor.events:
                if not isinstance(event.effect, Barrier):
                    for place in dict.fromkeys(locations_of(actor.rank, event) or ()):
                        found.setdefault(place, []).append(event)
        return found

    @cached_property
    def is_fully_known(self) -> bool:
        """Whether all threads of all CTAs were walked, and call nothing that is not here."""
        return (
            len(self._ctas) == self.size <= MAX_SIMULATED_CTAS
            and all(cta.is_complete for cta in self._ctas)
            and not any(group.has_unknown_call for cta in self._ctas for group in cta.groups)
        )

    @cached_property
    def schedules(self) -> dict[int, ScheduleResult]:
        """By the actor that comes first: each kind of actor, of the CTAs that rules look at.

        Empty where not all of it is known: threads that nobody walked, code that is not here, addresses or parities
        that are not numbers.
        """
        if not self.is_fully_known or not 0 < len(self.thread_classes) <= MAX_THREAD_CLASSES * self.size:
            return {}
        if self._is_lockstep:
            return dict.fromkeys(self._priority_classes, ScheduleResult())
        found: dict[int, ScheduleResult] = {}
        for first in self._priority_classes:
            if found and self._has_only_barriers:
                found[first] = next(iter(found.values()))
                continue
            found[first] = simulate_schedule(self.thread_classes, first, self.size)
            if found[first].is_approximate or not found[first].is_complete:
                return {}
        return found

    @cached_property
    def _has_only_barriers(self) -> bool:
        """Whether the actors only wait for all others at barriers: it comes to the same, whoever is first."""
        return all(_is_full_barrier(event.effect) for actor in self.thread_classes for event in actor.events)

    @property
    def _is_lockstep(self) -> bool:
        """Whether all threads meet at the same barriers of their CTAs, one after the other, and those of a warp at the
        same ones of theirs, too: then each of them opens."""
        if (
            not self._has_only_barriers
            or sum(len(actor.events) for actor in self.thread_classes) >= MAX_SIMULATED_EVENTS
        ):
            return False
        whole: set[Sequence[tuple[Effect, object]]] = set()
        by_warp: dict[tuple[int, int], Sequence[tuple[Effect, object]]] = {}
        for actor in self.thread_classes:
            met = tuple((event.effect, event.amount) for event in actor.events)
            whole.add(tuple(each for each in met if is_sync_effect(each[0], warp=False)))
            if any(by_warp.setdefault((actor.rank, warp), met) != met for warp in actor.warps):
                return False
        return len(whole) == 1 and all(isinstance(number, int | None) for _, number in next(iter(whole)))

    @cached_property
    def eager_async_schedules(self) -> list[ScheduleResult]:
        """The rehearsals with asynchronous arrivals that come at once, the last with all actors in turn; none where
        there are no such arrivals."""
        if not any(_is_async_arrival(event) for actor in self.thread_classes for event in actor.events):
            return []
        found = [simulate_schedule(self.thread_classes, first, self.size, hasty=True) for first in self.schedules]
        return [*found, simulate_schedule(self.thread_classes, 0, self.size, hasty=True, in_turn=True)] if found else []

    @cached_property
    def fault(self) -> WrongParity | WrongCount | None:
        """The one parity or count that is to blame where rehearsals end badly; None where none is, or more are."""
        groups = [cta.groups for cta in self._ctas]
        return PhaseFaultLocalizer(self.thread_classes, groups, self.schedules).find()

    @property
    def _priority_classes(self) -> list[int]:
        """The actors that come first."""
        found: dict[int, None] = {}
        for cta in self._ctas:
            if cta.scenario.rank < MAX_ANALYSED_CTAS:
                own = [n for n, actor in enumerate(self.thread_classes) if actor.rank == cta.scenario.rank]
                found.update(dict.fromkeys(self._equivalent_classes[n] for n in own[:MAX_SCHEDULES]))
        return list(found)

    @cached_property
    def _equivalent_classes(self) -> list[int]:
        """By actor: the first one that does the same, but for meetings of its warp."""
        seen: dict[tuple[int, ...], int] = {}
        told = [
            (actor.rank, *(id(e) for e in actor.events if is_sync_effect(e.effect, warp=False)))
            for actor in self.thread_classes
        ]
        return [seen.setdefault(events, number) for number, events in enumerate(told)]

    def phases_of(self, rank: int, trace: ThreadTrace) -> Mapping[int, int]:
        """What a rehearsal with its threads first says of the phases in a thread's trace, by position."""
        number = next(
            (n for n, actor in enumerate(self.thread_classes) if actor.rank == rank and trace.tid in actor.tids), None
        )
        first = None if number is None else self._equivalent_classes[number]
        if first is None or first not in self.schedules:
            return {}
        phases = self.schedules[first].phases
        events = enumerate(self.thread_classes[first].events)
        told = [phases.get((first, index)) for index, e in events if is_sync_effect(e.effect, warp=False)]
        own = [
            at
            for at, e in enumerate(trace.events)
            if isinstance(e, TraceEvent) and is_sync_effect(e.effect, warp=False)
        ]
        return {position: phase for position, phase in zip(own, told, strict=True) if phase is not None}


def _is_full_barrier(effect: Effect) -> bool:
    """Whether all threads of a CTA, or of a warp, wait for each other."""
    return (
        isinstance(effect, Barrier)
        and effect.level in ("cta", "warp")
        and (effect.action, effect.threads) == ("sync", None)
    )


def _is_async_arrival(event: TraceEvent) -> bool:
    """Whether an arrival comes when something else is complete."""
    effect = event.effect
    return isinstance(effect, MbarrierTrack) or (isinstance(effect, MbarrierArrive) and effect.asynchronous)
