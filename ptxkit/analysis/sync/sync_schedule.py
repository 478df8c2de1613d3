"""Simulates how the threads of a CTA, or of all CTAs of a cluster, synchronize by barriers and mbarrier phases.

An actor is a thread class. One actor has priority: it advances whenever it can, the other actors take a step only while
it is blocked, and asynchronous completions are deferred until no actor can advance. The manual allows this schedule. A
wait of the priority actor therefore succeeds in the earliest phase that can let it succeed, and where all actors are
blocked and no operation is pending, the kernel can deadlock.

Source: PTX ISA, "Phases of the mbarrier object", "Tracking asynchronous operations by the mbarrier object",
"cp.async.mbarrier.arrive".
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from heapq import heappop, heappush, heapreplace

from ptxkit.analysis.limits import MAX_SIMULATED_EVENTS
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.sync.barrier_model import BarrierKey, BarrierMeetings, BarrierModel, SimulatedBarrier
from ptxkit.analysis.sync.mbarrier_location import MbarrierLocation, location_of
from ptxkit.analysis.sync.mbarrier_model import BoxEquation, ExcessArrival, MbarrierModel, SimulatedMbarrier
from ptxkit.analysis.sync.thread_classes import ThreadClass
from ptxkit.analysis.sync.unsized_copy_balance import UnsizedCopyBalance
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.isa.effects import (
    Barrier,
    MbarrierArrive,
    MbarrierComplete,
    MbarrierExpect,
    MbarrierInit,
    MbarrierInvalidate,
    MbarrierTrack,
    MbarrierWait,
)

#: The number of an event after all others.
_NEVER = 1 << 62


@dataclass(frozen=True, slots=True)
class BlockedThread:
    """An actor that is deadlocked at an event.

    mbarrier: the mbarrier for which it waits. arrived_threads: how many of the `expected_threads` have arrived at the
    barrier at which it waits.
    """

    thread_class: int
    event: TraceEvent
    mbarrier: SimulatedMbarrier | None = None
    arrived_threads: int = 0
    expected_threads: int = 0


@dataclass(slots=True)
class ScheduleResult:
    """The result of a simulated schedule.

    phases: by (actor, event number), the number of complete phases when a wait succeeded, or the phase, from 1, in
    which an arrival or a copy counts. For an operation on the mbarriers of several CTAs it is the phase of the mbarrier
    that the operand names. Where an mbarrier is initialized again at the same location, its phases continue the count.

    blocked_threads: the actors that are deadlocked at the end. count_mismatches: events at one barrier that declare
    different thread counts. tx_mismatches: the mbarriers whose tx-count is not zero at the end, or was completed
    without an expect-tx. tx_overflows: the first expect-tx after which the tx-count of an mbarrier exceeded its range,
    with that count. box_equations: what copies of unknown size must transfer in the phases that were completed.
    meetings: which warps synchronize at the barriers of a number of threads.

    certain_events: the number of events that were simulated before the first that follows a guess of its thread, or
    before the end of a thread that guessed; None if all are certain. has_certain_end: whether all threads came to where
    they are at the end without a guess.

    exact_events: the number of events that were simulated exactly; None if all were.

    is_approximate: whether something could not be simulated exactly, such as an unknown parity or address. is_misused:
    whether another rule reports the reason, such as an mbarrier that is used before it is initialized. leaves_cluster:
    whether an operation names an mbarrier of a CTA that the cluster does not have. is_complete: whether the simulation
    reached its end.
    """

    phases: dict[tuple[int, int], int] = field(default_factory=dict)
    blocked_threads: list[BlockedThread] = field(default_factory=list)
    excess_arrivals: list[ExcessArrival] = field(default_factory=list)
    count_mismatches: list[tuple[TraceEvent, TraceEvent]] = field(default_factory=list)
    tx_mismatches: list[MbarrierLocation] = field(default_factory=list)
    tx_overflows: list[tuple[TraceEvent, int]] = field(default_factory=list)
    box_equations: dict[BoxEquation, None] = field(default_factory=dict)
    meetings: dict[BarrierKey, BarrierMeetings] = field(default_factory=dict)
    certain_events: int | None = None
    has_certain_end: bool = True
    exact_events: int | None = None
    is_approximate: bool = False
    is_misused: bool = False
    leaves_cluster: bool = False
    is_complete: bool = True

    @property
    def first_excess_arrival(self) -> ExcessArrival | None:
        """The first arrival that exceeds the count of its phase, if everything before it was simulated exactly."""
        first = next(iter(self.excess_arrivals), None)
        return None if first is None or not _is_before(first.clock, self.exact_events) else first

    def is_certain_at(self, clock: int) -> bool:
        """Returns whether no event before a time follows a guess."""
        return _is_before(clock, self.certain_events)


def _is_before(clock: int, limit: int | None) -> bool:
    return limit is None or clock < limit


class _ScheduleSimulator:
    """The state of one simulation.

    size: the number of CTAs of the cluster. eager: whether asynchronous arrivals are not deferred. prompt: whether
    copies are not.
    """

    def __init__(self, actors: Sequence[ThreadClass], size: int, eager: bool, prompt: bool) -> None:
        self.thread_classes = actors
        self.cluster_size = size
        self.eager_async, self.prompt_copies = eager, prompt
        self.result = ScheduleResult()
        self.mbarriers = MbarrierModel(actors)
        self._live = self.mbarriers.live
        self.barriers = BarrierModel(actors, self._has_exited)
        self.positions = [0] * len(actors)
        self._locations = [each.locations for each in actors]
        self._named = [each.named_locations for each in actors]
        self._may_leave_cluster = [each.highest_rank >= size for each in actors]
        self._first_guesses = [_NEVER if each.first_guess is None else each.first_guess for each in actors]
        self.awaited_barriers: list[tuple[SimulatedBarrier, int] | None] = [None] * len(actors)
        #: By actor: the mbarrier of its last unsuccessful wait, and the number of phases that were complete then.
        self.failed_waits: list[tuple[MbarrierLocation, SimulatedMbarrier, int] | None] = [None] * len(actors)
        self.unsized_copies = UnsizedCopyBalance(actors)
        self.pending_async: deque[tuple[int, int, TraceEvent, MbarrierLocation]] = deque()
        self.executed_events = 0
        if any(actor.first_guess is not None and not actor.events for actor in actors):
            self.result.certain_events = 0

    def blocker_of(self, actor: int) -> SimulatedBarrier | SimulatedMbarrier | None:
        """Returns the object that blocks an actor that could not advance; None where the actor is at its end."""
        waiting, held = self.awaited_barriers[actor], self.failed_waits[actor]
        return waiting[0] if waiting is not None else held[1] if held is not None else None

    def take_changes(self) -> Sequence[SimulatedBarrier | SimulatedMbarrier]:
        """Returns the objects that changed since the last call and may therefore unblock an actor."""
        changed, opened = self.mbarriers.changed_mbarriers, self.barriers.released_barriers
        found: tuple[SimulatedBarrier | SimulatedMbarrier, ...] = (*changed, *opened)
        for known in changed if self.unsized_copies.is_needed else ():
            phases = known.earlier_phases + known.state.completed_phases
            self.unsized_copies.note_completions(known.location, phases, self.mbarriers.clock)
        changed.clear()
        opened.clear()
        return found

    def advance(self, actor: int, *, once: bool) -> bool:
        """Simulates events of an actor until it is blocked or an object changes; returns whether it could advance last.

        once: whether only the next event is simulated.
        """
        changed, released = self.mbarriers.changed_mbarriers, self.barriers.released_barriers
        while self._step(actor):
            if once or changed or released or self.executed_events >= MAX_SIMULATED_EVENTS:
                return True
        return False

    def _step(self, actor: int) -> bool:
        """Simulates the next event of an actor, and returns whether the actor could advance."""
        waiting = self.awaited_barriers[actor]
        if waiting is not None:
            if waiting[0].state.completed_phases < waiting[1]:
                return False
            self.awaited_barriers[actor] = None
            self._note_possible_exit(actor)
            return True
        held = self.failed_waits[actor]
        if held is not None and held[1].state.completed_phases == held[2] and self._live.get(held[0]) is held[1]:
            return False
        number = self.positions[actor]
        events = self.thread_classes[actor].events
        if number >= len(events) or not self._execute(actor, number, events[number]):
            return False
        self.positions[actor] = number + 1
        if number >= self._first_guesses[actor]:
            self._note_guess()
        self.executed_events += 1
        if number + 1 == len(events):
            self._note_possible_exit(actor)
            # After the end of a truncated exploration, further arrivals and waits are unknown.
            self.mbarriers.is_truncated |= self.thread_classes[actor].end_reason != "exit"
        return True

    def _is_guessed(self, actor: int, number: int) -> bool:
        """Returns whether an event of an actor, or its end, follows a guess."""
        return number >= self._first_guesses[actor]

    def _note_guess(self) -> None:
        if self.result.certain_events is None:
            self.result.certain_events = self.executed_events

    def _execute(self, actor: int, number: int, event: TraceEvent) -> bool:
        effect = event.effect
        if isinstance(effect, Barrier):
            self.awaited_barriers[actor] = self.barriers.arrive(actor, effect, event)
            return True
        places = self._locations[actor][number]
        if places is None:
            self.result.is_approximate = True
            return True
        if self._may_leave_cluster[actor] and max(places, default=(0, 0))[0] >= self.cluster_size:
            self.result.is_approximate = self.result.leaves_cluster = True
            return True
        if isinstance(effect, MbarrierInit):
            self.mbarriers.initialize(
                places[0], event.amount, (event.step, event.visit, self.thread_classes[actor].warps)
            )
            return True
        self.mbarriers.clock = self.executed_events
        for place in places:
            known = self._live.get(place)
            if known is None:
                self.result.is_misused = True  # PTX501 reports it
            elif isinstance(effect, MbarrierWait):
                return self._wait(actor, number, event, place, known)
            else:
                self._signal(actor, number, event, place, known)
        return True

    def _wait(
        self, actor: int, number: int, event: TraceEvent, place: MbarrierLocation, known: SimulatedMbarrier
    ) -> bool:
        assert isinstance(event.effect, MbarrierWait)
        passes = self.mbarriers.test_wait(actor, event.effect, event, place, known)
        self.failed_waits[actor] = None if passes else (place, known, known.state.completed_phases)
        if passes:
            self.result.phases[(actor, number)] = known.earlier_phases + known.state.completed_phases
        if place[0] != self.thread_classes[actor].rank:
            self.result.is_approximate = True  # no thread can wait in another CTA
        return passes

    def _signal(
        self, actor: int, number: int, event: TraceEvent, place: MbarrierLocation, known: SimulatedMbarrier
    ) -> None:
        """Simulates an mbarrier operation that does not block."""
        times = len(self.thread_classes[actor].tids)
        match event.effect:
            case MbarrierArrive(asynchronous=False):
                self._note_phase(actor, number, place, known)
                self.mbarriers.arrive(actor, event, place, known)
            case MbarrierInvalidate():
                self.mbarriers.invalidate(place)
            case MbarrierExpect():
                self.mbarriers.expect_tx(known, event, event.size, times)
            case MbarrierTrack() as effect:
                if not effect.counted:
                    known.state.add_pending(times)
                self._defer(actor, number, event, place)
            case MbarrierComplete():
                self._note_phase(actor, number, place, known)
                if not isinstance(event.size, int):
                    phase = known.earlier_phases + known.state.completed_phases + 1
                    self.unsized_copies.add(place, phase, self.thread_classes[actor].rank, times)
                self.mbarriers.begin_copy(known, event, times)
                self.pending_async.append((actor, number, event, place))
                if self.prompt_copies:
                    self._complete_newest()
            case MbarrierArrive():
                self._defer(actor, number, event, place)

    def _defer(self, actor: int, number: int, event: TraceEvent, place: MbarrierLocation) -> None:
        """Defers an asynchronous arrival; in an eager simulation it takes effect immediately."""
        self.pending_async.append((actor, number, event, place))
        if self.eager_async:
            self._complete_newest()

    def _complete_newest(self) -> None:
        self.pending_async.rotate(1)
        self.complete_oldest()

    def _note_phase(self, actor: int, number: int, place: MbarrierLocation, known: SimulatedMbarrier) -> None:
        """Records the phase of an operation; for several mbarriers, the phase of the one that the operand names."""
        if place == self._named[actor][number]:
            self.result.phases[(actor, number)] = known.earlier_phases + known.state.completed_phases + 1

    def complete_oldest(self) -> bool:
        """Completes the oldest asynchronous operation, and returns whether there was one."""
        if not self.pending_async:
            return False
        self.mbarriers.clock = self.executed_events
        actor, number, event, place = self.pending_async.popleft()
        known = self._live.get(place)
        if known is None:
            return True
        times = len(self.thread_classes[actor].tids)
        if isinstance(event.effect, MbarrierComplete):
            self.mbarriers.end_copy(known, event.size, times)
            return True
        each = event.amount if isinstance(event.amount, int) else 1
        self._note_phase(actor, number, place, known)
        self.mbarriers.count_arrivals(known, each * times, actor, event, place)
        return True

    def _has_exited(self, actor: int) -> bool:
        thread_class = self.thread_classes[actor]
        return (
            self.awaited_barriers[actor] is None
            and self.positions[actor] >= len(thread_class.events)
            and thread_class.end_reason == "exit"
        )

    def _note_possible_exit(self, actor: int) -> None:
        number = self.positions[actor]
        if number >= len(self.thread_classes[actor].events) and self._has_exited(actor):
            if self._is_guessed(actor, number):
                self._note_guess()
            self.barriers.note_exit(actor)

    def finish(self) -> ScheduleResult:
        """Returns the result, once no actor can advance."""
        result = self.result
        result.excess_arrivals, result.count_mismatches = self.mbarriers.excess_arrivals, self.barriers.count_mismatches
        result.tx_overflows, result.meetings = self.mbarriers.tx_overflows, self.barriers.meetings()
        result.box_equations = self.mbarriers.box_equations
        result.is_misused |= self.barriers.is_misused
        result.is_approximate |= self.mbarriers.is_approximate or self.barriers.is_approximate or result.is_misused
        result.exact_events = 0 if result.is_approximate else self.unsized_copies.first_uneven
        result.is_approximate |= not self.unsized_copies.is_uniform(self._completed_phases)
        result.is_complete = self.executed_events < MAX_SIMULATED_EVENTS
        if result.is_complete:
            result.blocked_threads, result.tx_mismatches = (
                self._find_blocked_threads(),
                self.mbarriers.unbalanced_locations(),
            )
        result.has_certain_end = result.certain_events is None and not any(
            number < len(self.thread_classes[actor].events) and self._is_guessed(actor, number)
            for actor, number in enumerate(self.positions)
        )
        return result

    def _completed_phases(self, place: MbarrierLocation) -> int:
        """Returns how many phases of the mbarrier at a location are complete."""
        known = self._live.get(place)
        return 0 if known is None else known.earlier_phases + known.state.completed_phases

    def _find_blocked_threads(self) -> list[BlockedThread]:
        found: list[BlockedThread] = []
        for actor, thread_class in enumerate(self.thread_classes):
            waiting = self.awaited_barriers[actor]
            if waiting is not None:
                state, event = waiting[0].state, thread_class.events[self.positions[actor] - 1]
                found.append(BlockedThread(actor, event, None, state.arrived_count, state.expected_count))
            elif self.positions[actor] < len(thread_class.events):
                event = thread_class.events[self.positions[actor]]
                place = location_of(thread_class.rank, event)
                known = None if place is None else self._live.get(place)
                found.append(BlockedThread(actor, event, known))
        return found


def simulate_schedule(
    actors: Sequence[ThreadClass],
    first: int = 0,
    size: int = 1,
    *,
    eager: bool = False,
    in_turn: bool = False,
    prompt: bool = False,
) -> ScheduleResult:
    """Simulates the actors of a CTA, or of all CTAs of a cluster of a size, with priority for one of them.

    eager: asynchronous arrivals take effect immediately, which may exceed the count of a phase. in_turn: the actors
    that can advance take one step each, round-robin. prompt: copies complete immediately. The manual allows all these
    schedules as well.
    """
    stage = _ScheduleSimulator(actors, size, eager, prompt)
    order = [first, *(n for n in range(len(actors)) if n != first)]
    ready = list(range(len(order)))  # a heap of positions in the order of actors not known to be blocked
    waiting: dict[int, list[int]] = defaultdict(list)  # by the object that blocks them
    changed, released = stage.mbarriers.changed_mbarriers, stage.barriers.released_barriers
    while stage.executed_events < MAX_SIMULATED_EVENTS:
        if ready:
            actor = order[ready[0] % len(order)]
            if not stage.advance(actor, once=in_turn):
                place, held_by = heappop(ready), stage.blocker_of(actor)
                if held_by is not None:
                    waiting[id(held_by)].append(place)
            elif in_turn:
                heapreplace(ready, ready[0] + len(order))
        elif (
            not stage.barriers.release_all() and not stage.complete_oldest() and not stage.barriers.count_partial_warp()
        ):
            break
        for thing in stage.take_changes() if changed or released else ():
            for place in waiting.pop(id(thing), ()):
                heappush(ready, place)
    return stage.finish()
