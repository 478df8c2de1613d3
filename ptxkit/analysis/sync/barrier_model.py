"""Barriers as a rehearsal plays them: who has come, and when they open.

Each CTA has barriers of its own, and each warp one; the threads of all CTAs of a cluster share one more.
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
    """A barrier. opened: how often it did. arrived: threads that have come since. wanted: the number of threads that it
    waits for and the event that said so; None for all. rounds: by warp, in which round each of its arrivals counts.
    parts: the warps of which only some lanes have come, and do not count yet. own: by actor, how often it arrived, and
    in which round it did so last. waited: by actor, how often it did. members: the actors that a barrier of all waits
    for.
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
    """The threads of its members that are still there; None where nobody has counted them since one left."""


class BarrierModel:
    """All barriers of one rehearsal.

    has_left: whether an actor has left the kernel, so that nobody waits for it. uneven: events at one barrier that name
    different numbers of threads. vague: something could not be played as it is. opened: those that have since somebody
    looked.
    """

    def __init__(self, actors: Sequence[ThreadClass], has_left: Callable[[int], bool]) -> None:
        self._thread_classes = actors
        self._warps = [sorted(each.warps) for each in actors]
        self._with_lanes_of: dict[tuple[int, int], list[int]] = defaultdict(list)  # actors, by CTA and warp
        for index, each in enumerate(actors):
            for warp in self._warps[index]:
                self._with_lanes_of[(each.rank, warp)].append(index)
        self._has_exited = has_left
        self._barriers: dict[BarrierKey, BarrierState] = {}
        self.count_mismatches: list[tuple[TraceEvent, TraceEvent]] = []
        self.is_approximate = False
        self.released_barriers: list[BarrierState] = []

    def arrive(self, actor: int, effect: Barrier, event: TraceEvent) -> tuple[BarrierState, int] | None:
        """Plays an actor's part in a barrier; the barrier, and the round of it that the actor waits for now."""
        key = self._barrier_key(self._thread_classes[actor], effect, event)
        if key is None:
            return None
        meeting = self._barriers.get(key)
        if meeting is None:
            meeting = self._barriers[key] = BarrierState(self._members(key))
        if effect.level == "cluster" and not _alternates(meeting, actor, effect.action):
            self.is_approximate = True  # PTX613 speaks of it
        if effect.action != "wait":
            self._note_declared_threads(meeting, effect, event)
            self._count_arrivals(actor, meeting)
        if effect.action == "arrive":
            return None
        meeting.wait_counts[actor] += 1
        return meeting, meeting.last_arrivals.get(actor, (0, 1))[1]

    def _barrier_key(self, told: ThreadClass, effect: Barrier, event: TraceEvent) -> BarrierKey | None:
        """Which barrier it is; None where some lanes only meet: nobody here is held up by that."""
        if effect.level == "warp":
            mask = event.amount  # -1 is as wide as an immediate is
            whole = mask is None or (isinstance(mask, int) and mask & _FULL == _FULL)
            return ("warp", told.rank, told.tids[0] // 32) if whole else None
        if effect.level == "cluster":
            return ("cluster", 0, 0)
        if isinstance(event.amount, int):
            return ("cta", told.rank, event.amount)
        self.is_approximate |= event.amount is not None
        return ("cta", told.rank, 0)

    def _members(self, key: BarrierKey) -> tuple[int, ...]:
        level, rank, number = key
        return tuple(
            index
            for index, told in enumerate(self._thread_classes)
            if level == "cluster" or (told.rank == rank and (level == "cta" or told.tids[0] // 32 == number))
        )

    def _note_declared_threads(self, meeting: BarrierState, effect: Barrier, event: TraceEvent) -> None:
        """Notes how many threads the barrier is said to wait for."""
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
        """Counts the threads of an actor. A barrier that waits for a number of threads takes warps as a whole: when the
        last of its lanes comes, or when nobody else can move."""
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
        """Whether all lanes of a warp have come to what it is at, but for those that have left, when an actor comes."""
        times = len(meeting.arrival_phases[warp])
        return all(
            meeting.last_arrivals.get(member, (0, 0))[0] + (member == comes) >= times or self._has_exited(member)
            for member in self._with_lanes_of[(self._thread_classes[comes].rank, warp)]
        )

    def _count_warp(self, meeting: BarrierState, warp: int) -> None:
        """A warp has come. In which round, its first lanes were told when they came."""
        meeting.partial_warps.discard(warp)
        self.is_approximate |= meeting.arrival_phases[warp][-1] != meeting.completed_phases + 1
        meeting.arrived_threads += 32
        self.release(meeting)

    def count_partial_warp(self) -> bool:
        """Counts a warp of which the other lanes do not come; whether there was one."""
        for meeting in self._barriers.values():
            if meeting.partial_warps:
                self._count_warp(meeting, min(meeting.partial_warps))
                return True
        return False

    def release(self, meeting: BarrierState) -> bool:
        """Opens a barrier that all have come to; whether it did."""
        if not meeting.arrived_threads or meeting.arrived_threads < self.expected_threads(meeting):
            return False
        self.released_barriers.append(meeting)
        meeting.completed_phases += 1
        meeting.arrived_threads = 0
        return True

    def release_all(self) -> bool:
        """Opens the barriers that nobody else comes to, since the others have left; whether there were any."""
        opened = [self.release(meeting) for meeting in self._barriers.values()]
        return any(opened)

    def expected_threads(self, meeting: BarrierState) -> int:
        """How many threads must come. Those that have left the kernel are not waited for."""
        if meeting.declared_threads is not None:
            return meeting.declared_threads[0]
        if meeting.remaining_threads is None:
            left = self._has_exited
            meeting.remaining_threads = sum(
                len(self._thread_classes[member].tids) for member in meeting.members if not left(member)
            )
        return meeting.remaining_threads

    def note_exit(self) -> None:
        """Takes note that an actor has left the kernel: it is not waited for any more."""
        for meeting in self._barriers.values():
            meeting.remaining_threads = None


def _alternates(meeting: BarrierState, actor: int, action: str) -> bool:
    """Whether an actor arrives and waits in turn."""
    arrived, waited = meeting.last_arrivals.get(actor, (0, 0))[0], meeting.wait_counts[actor]
    return arrived == waited if action == "arrive" else arrived == waited + 1
