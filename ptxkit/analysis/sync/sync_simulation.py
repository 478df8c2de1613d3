"""Simulates the threads of a CTA, or of all CTAs of its cluster, together, and provides the results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum, auto
from functools import cached_property

from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.limits import (
    MAX_ANALYZED_CTAS,
    MAX_SCHEDULES,
    MAX_SIMULATED_CTAS,
    MAX_SIMULATED_EVENTS,
    MAX_THREAD_CLASSES,
)
from ptxkit.analysis.symexec.exploration import Exploration
from ptxkit.analysis.symexec.trace import ThreadTrace, TraceEvent
from ptxkit.analysis.sync.mbarrier_location import MbarrierLocation
from ptxkit.analysis.sync.phase_fault_localization import PhaseFault, PhaseFaultLocalizer
from ptxkit.analysis.sync.sync_schedule import ScheduleResult, simulate_schedule
from ptxkit.analysis.sync.thread_classes import ThreadClass, is_sync_effect, thread_classes_of, warp_operation_of
from ptxkit.isa.effects import Barrier, Effect, MbarrierArrive, MbarrierTrack


class SimulationObstacle(Enum):
    """Why no schedule of the threads can be simulated."""

    CLUSTER = auto()
    UNEXPLORED = auto()
    CLASSES = auto()
    EVENTS = auto()
    OTHER_CLUSTER = auto()
    UNKNOWN = auto()


class SyncSimulation:
    """The `ctas` of a cluster, or a single CTA, explored under one scenario."""

    def __init__(self, ctas: Sequence[Exploration]) -> None:
        self.ctas = ctas
        self.size = ctas[0].scenario.launch.cluster_size

    @cached_property
    def thread_classes(self) -> list[ThreadClass]:
        """The thread classes of all CTAs, CTA by CTA."""
        return [actor for cta in self.ctas for actor in thread_classes_of(cta.groups, cta.scenario.rank)]

    def steps_of(self, *kinds: type) -> set[Step]:
        """Returns the executed instructions with an effect of one of these classes; all that synchronize for none."""
        return {
            step
            for actor in self.thread_classes
            for kind, steps in actor.steps_by_effect.items()
            if not kinds or kind in kinds
            for step in steps
        }

    def events_at(self, place: MbarrierLocation) -> Sequence[TraceEvent]:
        """Returns all operations on the mbarrier at a location."""
        return self._events_by_location.get(place, ())

    @cached_property
    def _events_by_location(self) -> Mapping[MbarrierLocation, Sequence[TraceEvent]]:
        found: dict[MbarrierLocation, list[TraceEvent]] = {}
        for actor in self.thread_classes:
            for event, places in zip(actor.events, actor.locations, strict=True):
                for place in dict.fromkeys(places or ()):
                    found.setdefault(place, []).append(event)
        return found

    @cached_property
    def is_fully_known(self) -> bool:
        """Whether all threads of all CTAs were explored and call no external function."""
        return (
            len(self.ctas) == self.size <= MAX_SIMULATED_CTAS
            and all(cta.is_complete for cta in self.ctas)
            and not any(group.has_unknown_call for cta in self.ctas for group in cta.groups)
        )

    @cached_property
    def schedules(self) -> dict[int, ScheduleResult]:
        """The results by priority actor: one for each kind of actor of the CTAs that rules examine.

        The mapping is empty where the simulation is impossible: there are unexplored threads, external functions, or
        addresses and parities that are not constants.
        """
        if not self._can_simulate:
            return {}
        if self._is_lockstep:
            return dict.fromkeys(self._priority_classes, ScheduleResult())
        found: dict[int, ScheduleResult] = {}
        for first in self._priority_classes:
            if found and self._has_only_barriers:
                found[first] = next(iter(found.values()))
                continue
            found[first] = self._simulate(first)
            if found[first].is_approximate or not found[first].is_complete:
                return {}
        return found

    @property
    def chance_meetings(self) -> list[Step]:
        """The barriers of which not the kernel, but the speed of its threads determines which warps synchronize there.

        They are named by an instruction that declares the number of threads.
        """
        schedules = list(self.schedules.values())
        if any(each.count_mismatches for each in schedules):
            return []
        found = {
            met.step: None
            for key, met in (schedules[0].meetings.items() if schedules else ())
            if met.is_chance
            or any(key in each.meetings and each.meetings[key].groups != met.groups for each in schedules)
        }
        return list(found)

    def is_ordinal(self, rank: int, number: int) -> bool:
        """Returns whether the n-th use by each warp of a CTA's barrier counts in phase n, in all schedules."""
        met = [each.meetings.get(("cta", rank, number, None)) for each in self.schedules.values()]
        return bool(met) and all(each is not None and each.is_ordinal and not each.is_chance for each in met)

    @property
    def _can_simulate(self) -> bool:
        return self.is_fully_known and 0 < len(self.thread_classes) <= MAX_THREAD_CLASSES * self.size

    @cached_property
    def interrupted_schedules(self) -> Sequence[ScheduleResult]:
        """The schedules of which only a first part is exact, if `schedules` is empty for that reason."""
        if self.schedules or not self._can_simulate:
            return ()
        tried = [self._simulate(first) for first in self._priority_classes]
        return [each for each in tried if each.exact_events != 0]

    def _simulate(self, first: int) -> ScheduleResult:
        """Returns the schedule with priority for one actor, which is simulated once."""
        found = self._simulated.get(first)
        if found is None:
            found = self._simulated[first] = simulate_schedule(self.thread_classes, first, self.size)
        return found

    @cached_property
    def _simulated(self) -> dict[int, ScheduleResult]:
        return {}

    @cached_property
    def obstacle(self) -> SimulationObstacle | None:
        """The reason why there is no schedule, if a rule should report it.

        The result is None where there are schedules, where no thread synchronizes, or where another rule reports the
        reason: code that is not available, or an mbarrier that is not initialized.
        """
        if any(group.has_unknown_call for cta in self.ctas for group in cta.groups) or self.schedules:
            return None
        if not len(self.ctas) == self.size <= MAX_SIMULATED_CTAS:
            return SimulationObstacle.CLUSTER
        if not any(actor.events for actor in self.thread_classes):
            return None
        if not all(cta.is_complete for cta in self.ctas):
            return SimulationObstacle.UNEXPLORED
        if len(self.thread_classes) > MAX_THREAD_CLASSES * self.size:
            return SimulationObstacle.CLASSES
        tried = [self._simulate(first) for first in self._priority_classes]
        if any(each.is_misused for each in tried):
            return None
        if any(each.leaves_cluster for each in tried):
            return SimulationObstacle.OTHER_CLUSTER
        return SimulationObstacle.UNKNOWN if all(each.is_complete for each in tried) else SimulationObstacle.EVENTS

    @cached_property
    def _has_only_barriers(self) -> bool:
        """Whether the actors use only barriers of all threads, so that each priority gives the same result."""
        return all(_is_full_barrier(event.effect) for actor in self.thread_classes for event in actor.events)

    @property
    def _is_lockstep(self) -> bool:
        """Whether all threads execute the same CTA barriers, and all lanes of a warp the same warp barriers.

        Each barrier then completes.
        """
        if (
            not self._has_only_barriers
            or sum(len(actor.events) for actor in self.thread_classes) >= MAX_SIMULATED_EVENTS
        ):
            return False
        whole: set[Sequence[tuple[Effect, object]]] = set()
        by_warp: dict[tuple[int, int], Sequence[tuple[Effect, object, str]]] = {}
        for actor in self.thread_classes:
            met = tuple((event.effect, event.amount, warp_operation_of(event)) for event in actor.events)
            whole.add(tuple(each[:2] for each in met if is_sync_effect(each[0], warp=False)))
            if any(by_warp.setdefault((actor.rank, warp), met) != met for warp in actor.warps):
                return False
        return len(whole) == 1 and all(isinstance(number, int | None) for _, number in next(iter(whole)))

    @cached_property
    def eager_async_schedules(self) -> list[ScheduleResult]:
        """The schedules in which asynchronous arrivals take effect immediately, the last one round-robin.

        The list is empty where there are no asynchronous arrivals.
        """
        if not any(_is_async_arrival(event) for actor in self.thread_classes for event in actor.events):
            return []
        found = [simulate_schedule(self.thread_classes, first, self.size, eager=True) for first in self.schedules]
        return [*found, simulate_schedule(self.thread_classes, 0, self.size, eager=True, in_turn=True)] if found else []

    @cached_property
    def fault(self) -> PhaseFault | None:
        """The single fault of a parity, mbarrier, arrival or count that explains failed schedules, or None."""
        groups = [cta.groups for cta in self.ctas]
        return PhaseFaultLocalizer(self.thread_classes, groups, self.schedules).find()

    @property
    def _priority_classes(self) -> list[int]:
        """The actors that are given priority, one schedule each."""
        found: dict[int, None] = {}
        for cta in self.ctas:
            if cta.scenario.rank < MAX_ANALYZED_CTAS:
                own = [n for n, actor in enumerate(self.thread_classes) if actor.rank == cta.scenario.rank]
                found.update(dict.fromkeys(self._equivalent_classes[n] for n in own[:MAX_SCHEDULES]))
        return list(found)

    @cached_property
    def _equivalent_classes(self) -> list[int]:
        """Maps each actor to the first one that executes the same events, apart from barriers of its warp."""
        seen: dict[tuple[int, ...], int] = {}
        sequences = [
            (actor.rank, *(id(actor.events[index]) for index in actor.indices_without_warps))
            for actor in self.thread_classes
        ]
        return [seen.setdefault(events, number) for number, events in enumerate(sequences)]

    def phases_of(self, rank: int, trace: ThreadTrace) -> Mapping[int, int]:
        """Returns the phases of a thread's trace, by position, in the schedule that gives its threads priority."""
        number = self._class_of(rank, trace)
        first = None if number is None else self._equivalent_classes[number]
        if first is None or first not in self.schedules:
            return {}
        phases = self.schedules[first].phases
        indices = self._indices_by_position(first, trace)
        return {at: phases[first, index] for at, index in indices.items() if (first, index) in phases}

    def latest_phase_of(self, rank: int, trace: ThreadTrace, position: int) -> int | None:
        """Returns the phase in which an event of a trace counts in the schedule in which that is the latest one.

        These include schedules in which each copy completes at once.
        """
        number = self._class_of(rank, trace)
        index = None if number is None else self._indices_by_position(number, trace).get(position)
        if number is None or index is None:
            return None
        known = (each.phases.get((number, index)) for each in (*self.schedules.values(), *self._prompt_schedules))
        return max((phase for phase in known if phase is not None), default=None)

    @cached_property
    def _prompt_schedules(self) -> Sequence[ScheduleResult]:
        return [simulate_schedule(self.thread_classes, first, self.size, prompt=True) for first in self.schedules]

    def _class_of(self, rank: int, trace: ThreadTrace) -> int | None:
        return self._class_by_thread.get((rank, trace.tid))

    @cached_property
    def _class_by_thread(self) -> dict[tuple[int, int], int]:
        return {(each.rank, tid): number for number, each in enumerate(self.thread_classes) for tid in each.tids}

    def _indices_by_position(self, number: int, trace: ThreadTrace) -> dict[int, int]:
        """Maps the positions of a trace's synchronizing events to their indices among the events of its class."""
        own = enumerate(trace.events)
        positions = [at for at, e in own if isinstance(e, TraceEvent) and is_sync_effect(e.effect, warp=False)]
        return dict(zip(positions, self.thread_classes[number].indices_without_warps, strict=True))


def _is_full_barrier(effect: Effect) -> bool:
    """Returns whether an effect is a barrier of all threads of a CTA, or of a warp."""
    return (
        isinstance(effect, Barrier)
        and effect.level in ("cta", "warp")
        and (effect.action, effect.threads) == ("sync", None)
    )


def _is_async_arrival(event: TraceEvent) -> bool:
    """Returns whether an arrival takes effect at the completion of another operation."""
    effect = event.effect
    return isinstance(effect, MbarrierTrack) or (isinstance(effect, MbarrierArrive) and effect.asynchronous)
