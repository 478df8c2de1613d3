"""Models barriers in a simulated schedule: which threads have arrived, and when a phase of a barrier completes.

Each CTA has its own barriers, each warp has one barrier, and the threads of all CTAs of a cluster share one more.
Source: PTX ISA, "bar, barrier", "barrier.cluster", "bar.warp.sync".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TypeAlias

from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.sync.thread_classes import ThreadClass
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.isa.effects import Barrier

#: The mask of all lanes.
_FULL = 0xFFFFFFFF

#: The level of a barrier, the CTA (its rank), and the barrier's number or the warp's.
BarrierKey: TypeAlias = tuple[str, int, int]


@dataclass(slots=True)
class BarrierState:
    """The state of a barrier.

    members: the actors that a barrier of all threads waits for. completed_phases: the number of complete phases.
    arrived_threads: the threads that have arrived in the current phase. declared_threads: the thread count, and the
    event that declares it; None for all threads. arrival_phases: by warp, the phase in which each arrival counts.
    partial_warps: the warps of which only some lanes have arrived, which do not count yet. last_arrivals: by actor, how
    often it arrived, and the phase of its last arrival. wait_counts: by actor, how often it waited.
    """

    members: tuple[int, ...]
    completed_phases: int = 0
    arrived_threads: int = 0
    declared_threads: tuple[int, TraceEvent] | None = None
    arrival_phases: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    partial_warps: set[int] = field(default_factory=set)
    last_arrivals: dict[int, tuple[int, int]] = field(default_factory=dict)
    wait_counts: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    remaining_threads: int | None = None
    """The number of member threads that have not exited; None where it must be recomputed after an exit."""


class BarrierModel:
    """All barriers of one simulated schedule.

    has_left: whether an actor has exited, so that no barrier waits for it. `count_mismatches` holds events at one
    barrier that declare different thread counts, and `is_approximate` is set where something could not be simulated
    exactly. `released_barriers` holds the barriers that completed a phase since it was last read.
    """

    def __init__(self, actors: Sequence[ThreadClass], has_left: Callable[[int], bool]) -> None:
        self._thread_classes = actors
        self._warps = [sorted(each.warps) for each in actors]
        self._with_lanes_of: dict[tuple[int, int], list[int]] = defaultdict(list)  # the actors, by CTA and warp
        for index, each in enumerate(actors):
            for warp in self._warps[index]:
                self._with_lanes_of[(each.rank, warp)].append(index)
        self._has_exited = has_left
        self._barriers: dict[BarrierKey, BarrierState] = {}
        self.count_mismatches: list[tuple[TraceEvent, TraceEvent]] = []
        self.is_approximate = False
        self.released_barriers: list[BarrierState] = []

    def arrive(self, actor: int, effect: Barrier, event: TraceEvent) -> tuple[BarrierState, int] | None:
        """Simulates a barrier operation of an actor; returns the barrier and the phase that the actor waits for."""
        key = self._barrier_key(self._thread_classes[actor], effect, event)
        if key is None:
            return None
        meeting = self._barriers.get(key)
        if meeting is None:
            meeting = self._barriers[key] = BarrierState(self._members(key))
        if effect.level == "cluster" and not _alternates(meeting, actor, effect.action):
            self.is_approximate = True  # PTX613 reports it
        if effect.action != "wait":
            self._note_declared_threads(meeting, effect, event)
            self._count_arrivals(actor, meeting)
        if effect.action == "arrive":
            return None
        meeting.wait_counts[actor] += 1
        return meeting, meeting.last_arrivals.get(actor, (0, 1))[1]

    def _barrier_key(self, thread_class: ThreadClass, effect: Barrier, event: TraceEvent) -> BarrierKey | None:
        """Returns the key of the barrier; None for a barrier of some lanes of a warp, which blocks no actor."""
        if effect.level == "warp":
            mask = event.amount  # -1 is as wide as an immediate is
            whole = mask is None or (isinstance(mask, int) and mask & _FULL == _FULL)
            return ("warp", thread_class.rank, thread_class.tids[0] // 32) if whole else None
        if effect.level == "cluster":
            return ("cluster", 0, 0)
        if isinstance(event.amount, int):
            return ("cta", thread_class.rank, event.amount)
        self.is_approximate |= event.amount is not None
        return ("cta", thread_class.rank, 0)

    def _members(self, key: BarrierKey) -> tuple[int, ...]:
        level, rank, number = key
        return tuple(
            index
            for index, thread_class in enumerate(self._thread_classes)
            if level == "cluster"
            or (thread_class.rank == rank and (level == "cta" or thread_class.tids[0] // 32 == number))
        )

    def _note_declared_threads(self, meeting: BarrierState, effect: Barrier, event: TraceEvent) -> None:
        """Records the number of threads that the barrier is declared to wait for."""
        if effect.threads is None:
            return
        if not isinstance(event.size, int):
            self.is_approximate = True
        elif (
            meeting.declared_threads is not None
            and meeting.declared_threads[0] != event.size
            and (meeting.arrived_threads or meeting.partial_warps)
        ):
            self.count_mismatches.append((meeting.declared_threads[1], event))
        else:
            meeting.declared_threads = (event.size, event)

    def _count_arrivals(self, actor: int, meeting: BarrierState) -> None:
        """Counts the threads of an actor.

        A barrier with a thread count counts whole warps: when the last lane of the warp arrives, or when no actor can
        advance.
        """
        before, _ = meeting.last_arrivals.get(actor, (0, 0))
        last = meeting.completed_phases + 1
        if meeting.declared_threads is None:
            meeting.arrived_threads += len(self._thread_classes[actor].tids)
        else:
            for warp in self._warps[actor]:
                rounds = meeting.arrival_phases[warp]
                rounds.extend(
                    [meeting.completed_phases] * (before - len(rounds))
                )  # from when it waited for all threads
                if len(rounds) == before:
                    if warp in meeting.partial_warps:
                        self._count_warp(meeting, warp)
                    rounds.append(meeting.completed_phases + 1)
                    meeting.partial_warps.add(warp)
                last = rounds[before]
                if warp in meeting.partial_warps and self._is_whole(meeting, warp, actor):
                    self._count_warp(meeting, warp)
        meeting.last_arrivals[actor] = (before + 1, last)
        self.release(meeting)

    def _is_whole(self, meeting: BarrierState, warp: int, comes: int) -> bool:
        """Whether, with the arrival of an actor, all lanes of a warp that have not exited have arrived."""
        times = len(meeting.arrival_phases[warp])
        return all(
            meeting.last_arrivals.get(member, (0, 0))[0] + (member == comes) >= times or self._has_exited(member)
            for member in self._with_lanes_of[(self._thread_classes[comes].rank, warp)]
        )

    def _count_warp(self, meeting: BarrierState, warp: int) -> None:
        """Counts the arrival of a warp; its phase was determined when the first lanes of the warp arrived."""
        meeting.partial_warps.discard(warp)
        self.is_approximate |= meeting.arrival_phases[warp][-1] != meeting.completed_phases + 1
        meeting.arrived_threads += 32
        self.release(meeting)

    def count_partial_warp(self) -> bool:
        """Counts a warp whose remaining lanes do not arrive, and returns whether there was one."""
        for meeting in self._barriers.values():
            if meeting.partial_warps:
                self._count_warp(meeting, min(meeting.partial_warps))
                return True
        return False

    def release(self, meeting: BarrierState) -> bool:
        """Completes the phase of a barrier at which all expected threads have arrived; returns whether it did."""
        if not meeting.arrived_threads or meeting.arrived_threads < self.expected_threads(meeting):
            return False
        self.released_barriers.append(meeting)
        meeting.completed_phases += 1
        meeting.arrived_threads = 0
        return True

    def release_all(self) -> bool:
        """Completes the barriers whose missing threads have exited, and returns whether there were any."""
        opened = [self.release(meeting) for meeting in self._barriers.values()]
        return any(opened)

    def expected_threads(self, meeting: BarrierState) -> int:
        """Returns how many threads must arrive. A barrier does not wait for exited threads."""
        if meeting.declared_threads is not None:
            return meeting.declared_threads[0]
        if meeting.remaining_threads is None:
            left = self._has_exited
            meeting.remaining_threads = sum(
                len(self._thread_classes[member].tids) for member in meeting.members if not left(member)
            )
        return meeting.remaining_threads

    def note_exit(self) -> None:
        """Records that an actor has exited, so that barriers no longer wait for it."""
        for meeting in self._barriers.values():
            meeting.remaining_threads = None


def _alternates(meeting: BarrierState, actor: int, action: str) -> bool:
    """Whether an actor's arrivals and waits alternate."""
    arrived, waited = meeting.last_arrivals.get(actor, (0, 0))[0], meeting.wait_counts[actor]
    return arrived == waited if action == "arrive" else arrived == waited + 1
