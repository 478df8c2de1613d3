"""Models barriers in a simulated schedule: which threads have arrived, and when a phase of a barrier completes.

Each CTA has its own barriers, each warp has one for each instruction and mask of lanes, and the threads of all CTAs of
a cluster share one more.
Source: PTX ISA, "bar, barrier", "barrier.cluster", "bar.warp.sync".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeAlias

from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.sync.sync_edges import FULL_MASK
from ptxkit.analysis.sync.thread_classes import ThreadClass, warp_operation_of
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.isa.effects import Barrier
from ptxkit.semantics.barrier_state import BarrierOutcome, BarrierState
from ptxkit.semantics.cluster_barrier_state import ClusterBarrierOutcome, ClusterBarrierState
from ptxkit.semantics.thread_sets import thread_range, thread_set
from ptxkit.syntax.constants import WARP_SIZE

#: The level of a barrier, the rank of its CTA, the number of the barrier or of its warp, and which threads of a warp
#: wait for each other: those that execute the same instruction with the same mask.
BarrierKey: TypeAlias = tuple[str, int, int, tuple[str, int] | None]


@dataclass(slots=True)
class SimulatedBarrier:
    """A barrier, and the arrivals that led to its state.

    declaration: the event that declares its number of threads. arrival_phases: by warp, the phase in which each arrival
    counts. partial_warps: the warps of which only some lanes have arrived, which are not counted yet. last_arrivals: by
    actor, how often it has arrived, and the phase of its last arrival. waiting: the actors that wait for the current
    phase of the barrier of the cluster. counts_all: whether some phase was one of all threads.
    """

    state: BarrierState | ClusterBarrierState
    declaration: TraceEvent | None = None
    arrival_phases: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    partial_warps: set[int] = field(default_factory=set)
    last_arrivals: dict[int, tuple[int, int]] = field(default_factory=dict)
    waiting: list[int] = field(default_factory=list)
    counts_all: bool = False


@dataclass(frozen=True, slots=True)
class BarrierMeetings:
    """Which warps synchronize in the phases of a barrier with a number of threads.

    step: an instruction that declares the number. groups: for each phase, (warp, how often it had arrived before).
    is_chance: whether only some of several warps that execute the same events synchronize with others, which might as
    well be the other ones. is_ordinal: whether the n-th arrival of each warp counts in phase n.
    """

    step: Step
    groups: frozenset[frozenset[tuple[int, int]]]
    is_chance: bool
    is_ordinal: bool


class BarrierModel:
    """All barriers of one simulated schedule.

    has_left: whether an actor has exited, so that no barrier waits for it. `count_mismatches` holds events at one
    barrier that declare different thread counts, and `is_approximate` is set where something could not be simulated
    exactly. `released_barriers` holds the barriers that completed a phase since it was last read.
    """

    def __init__(self, actors: Sequence[ThreadClass], has_left: Callable[[int], bool]) -> None:
        self._thread_classes = actors
        self._has_exited = has_left
        self._barriers: dict[BarrierKey, SimulatedBarrier] = {}
        self.count_mismatches: list[tuple[TraceEvent, TraceEvent]] = []
        self.is_approximate = False
        self.is_misused = False
        self.released_barriers: list[SimulatedBarrier] = []

    @cached_property
    def _with_lanes_of(self) -> dict[tuple[int, int], list[int]]:
        """The actors by the rank of their CTA and their warp."""
        found: dict[tuple[int, int], list[int]] = defaultdict(list)
        for index, each in enumerate(self._thread_classes):
            for warp in each.ordered_warps:
                found[(each.rank, warp)].append(index)
        return found

    @cached_property
    def _threads(self) -> list[int]:
        """The threads of each actor, as a set of threads of all CTAs."""
        return [_set_of(each.tids) << each.rank * self._stride for each in self._thread_classes]

    @cached_property
    def _stride(self) -> int:
        """The distance of the threads of consecutive CTAs in the set of all threads."""
        return 1 + max(each.tids[-1] for each in self._thread_classes)

    def arrive(self, actor: int, effect: Barrier, event: TraceEvent) -> tuple[SimulatedBarrier, int] | None:
        """Simulates a barrier operation of an actor; returns the barrier and the phase that the actor waits for."""
        key = self._barrier_key(self._thread_classes[actor], effect, event)
        if key is None:
            return None
        barrier = self._barriers.get(key)
        if barrier is None:
            barrier = self._barriers[key] = self._new_barrier(key)
        state = barrier.state
        if isinstance(state, ClusterBarrierState):
            return self._use_cluster_barrier(actor, effect, barrier, state)
        self._declare(barrier, state, effect, event)
        self._count_arrivals(actor, barrier, state)
        return None if effect.action == "arrive" else (barrier, barrier.last_arrivals[actor][1])

    def _use_cluster_barrier(
        self, actor: int, effect: Barrier, barrier: SimulatedBarrier, state: ClusterBarrierState
    ) -> tuple[SimulatedBarrier, int] | None:
        """Simulates an arrival or a wait at the barrier of the cluster.

        PTX613 reports where the two do not alternate.
        """
        threads = self._threads[actor]
        if effect.action == "arrive":
            self._note_misuse(is_error=state.arrive(threads).is_error)
            self.release(barrier)
            return None
        outcome = state.wait(threads)
        self._note_misuse(is_error=outcome.is_error)
        if outcome is ClusterBarrierOutcome.PENDING:
            barrier.waiting.append(actor)
            return barrier, state.completed_phases + 1
        return barrier, state.completed_phases

    def _note_misuse(self, *, is_error: bool) -> None:
        self.is_misused |= is_error
        self.is_approximate |= is_error

    def _barrier_key(self, thread_class: ThreadClass, effect: Barrier, event: TraceEvent) -> BarrierKey | None:
        """Returns the key of the barrier; None for one that blocks no actor.

        That is one of lanes that are not known, and an instruction of the whole warp, which names no lanes: PTX603
        reports where only some execute it.
        """
        if effect.level == "warp":
            mask = event.amount
            if not isinstance(mask, int) or thread_class.lanes & ~mask:
                return None
            met = (warp_operation_of(event), mask & FULL_MASK)  # the immediate -1 is wider than a mask
            return ("warp", thread_class.rank, thread_class.tids[0] // WARP_SIZE, met)
        if effect.level == "cluster":
            return ("cluster", 0, 0, None)
        if isinstance(event.amount, int):
            return ("cta", thread_class.rank, event.amount, None)
        self.is_approximate |= event.amount is not None
        return ("cta", thread_class.rank, 0, None)

    def _new_barrier(self, key: BarrierKey) -> SimulatedBarrier:
        """Returns a barrier at which all threads of its level that have not exited are expected."""
        level, rank, number, met = key
        members = 0
        for index, each in enumerate(self._thread_classes):
            is_member = level == "cluster" or (
                each.rank == rank and (level == "cta" or each.tids[0] // WARP_SIZE == number)
            )
            if is_member and not self._has_exited(index):
                members |= self._threads[index]
        if met is not None:
            members &= self._lanes_of(rank, number, met[1])
        if level == "cluster":
            return SimulatedBarrier(ClusterBarrierState(members))
        return SimulatedBarrier(BarrierState(members))

    def _lanes_of(self, rank: int, warp: int, mask: int) -> int:
        """Returns the set of the threads of a warp that a mask names."""
        return mask << rank * self._stride + warp * WARP_SIZE

    def _declare(self, barrier: SimulatedBarrier, state: BarrierState, effect: Barrier, event: TraceEvent) -> None:
        """Records the number of threads that the barrier is declared to wait for."""
        if effect.threads is None:
            return
        if not isinstance(event.size, int):
            self.is_approximate = True
            return
        outcome = state.declare(event.size, has_partial_warps=bool(barrier.partial_warps), counts_earlier=True)
        if outcome is BarrierOutcome.COUNT_MISMATCH and barrier.declaration is not None:
            self.count_mismatches.append((barrier.declaration, event))
        else:
            barrier.declaration = event

    def _count_arrivals(self, actor: int, barrier: SimulatedBarrier, state: BarrierState) -> None:
        """Counts the threads of an actor.

        A barrier with a thread count counts whole warps. A warp is counted when its last lane arrives, or when no actor
        can advance.
        """
        before, _ = barrier.last_arrivals.get(actor, (0, 0))
        last = state.completed_phases + 1
        if state.declared_count is None:
            barrier.counts_all = True
            state.arrive(self._threads[actor])
        else:
            for warp in self._thread_classes[actor].ordered_warps:
                phases = barrier.arrival_phases[warp]
                # The barrier may have waited for all threads in earlier phases.
                phases.extend([state.completed_phases] * (before - len(phases)))
                if len(phases) == before:
                    if warp in barrier.partial_warps:
                        self._count_warp(barrier, state, warp)
                    phases.append(state.completed_phases + 1)
                    barrier.partial_warps.add(warp)
                last = phases[before]
                if warp in barrier.partial_warps and self._is_whole(barrier, warp, actor):
                    self._count_warp(barrier, state, warp)
        barrier.last_arrivals[actor] = (before + 1, last)
        self.release(barrier)

    def _is_whole(self, barrier: SimulatedBarrier, warp: int, comes: int) -> bool:
        """Returns whether, with the arrival of an actor, all lanes of a warp that have not exited have arrived."""
        times = len(barrier.arrival_phases[warp])
        return all(
            barrier.last_arrivals.get(member, (0, 0))[0] + (member == comes) >= times or self._has_exited(member)
            for member in self._with_lanes_of[(self._thread_classes[comes].rank, warp)]
        )

    def _count_warp(self, barrier: SimulatedBarrier, state: BarrierState, warp: int) -> None:
        """Counts the arrival of a warp; its phase was determined when the first lanes of the warp arrived."""
        barrier.partial_warps.discard(warp)
        self.is_approximate |= barrier.arrival_phases[warp][-1] != state.completed_phases + 1
        state.count_warp()
        self.release(barrier)

    def count_partial_warp(self) -> bool:
        """Counts a warp whose remaining lanes do not arrive, and returns whether there was one."""
        for barrier in self._barriers.values():
            if barrier.partial_warps and isinstance(barrier.state, BarrierState):
                self._count_warp(barrier, barrier.state, min(barrier.partial_warps))
                return True
        return False

    def release(self, barrier: SimulatedBarrier) -> bool:
        """Completes the phase of a barrier at which all expected threads have arrived; returns whether it did."""
        before = barrier.state.completed_phases
        barrier.state.complete_if_ready()
        if barrier.state.completed_phases == before:
            return False
        self.released_barriers.append(barrier)
        if isinstance(barrier.state, ClusterBarrierState):
            for actor in barrier.waiting:
                barrier.state.wait(self._threads[actor])
            barrier.waiting.clear()
        return True

    def meetings(self) -> dict[BarrierKey, BarrierMeetings]:
        """Returns which warps synchronize at each barrier that always has a number of threads."""
        found: dict[BarrierKey, BarrierMeetings] = {}
        for key, barrier in self._barriers.items():
            if barrier.declaration is None or barrier.counts_all:
                continue
            groups: dict[int, set[tuple[int, int]]] = defaultdict(set)
            for warp, phases in barrier.arrival_phases.items():
                for number, phase in enumerate(phases):
                    groups[phase].add((warp, number))
            is_chance = any(
                len(set(phases)) > 1 and any(len(groups[phase]) > 1 for phase in phases)
                for actor in barrier.last_arrivals
                for phases in zip(
                    *map(barrier.arrival_phases.__getitem__, self._thread_classes[actor].ordered_warps), strict=False
                )
            )
            is_ordinal = all(
                phase == number for phases in barrier.arrival_phases.values() for number, phase in enumerate(phases, 1)
            )
            found[key] = BarrierMeetings(
                barrier.declaration.step, frozenset(map(frozenset, groups.values())), is_chance, is_ordinal
            )
        return found

    def release_all(self) -> bool:
        """Completes the barriers whose missing threads have exited, and returns whether there were any."""
        opened = [self.release(barrier) for barrier in self._barriers.values()]
        return any(opened)

    def note_exit(self, actor: int) -> None:
        """Records that an actor has exited, so that barriers no longer wait for it."""
        for barrier in self._barriers.values():
            barrier.state.exit(self._threads[actor])


def _set_of(tids: Sequence[int]) -> int:
    """Returns the set of the threads, which are in ascending order and most often form a range."""
    is_range = tids[-1] - tids[0] + 1 == len(tids)
    return thread_range(tids[0], len(tids)) if is_range else thread_set(tids)
