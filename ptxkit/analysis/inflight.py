"""Which asynchronous copies of a thread are in flight, group by group, as its trace goes on.

Source: PTX ISA, "Completion Mechanisms for Asynchronous Copy Operations", "cp.async.commit_group",
"cp.async.wait_group / cp.async.wait_all", "cp.async.bulk.wait_group".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from ptxkit.analysis.terms import Value
from ptxkit.analysis.trace import Event, Trace
from ptxkit.isa.effects import (
    Access,
    CommitGroup,
    MbarrierComplete,
    MbarrierInit,
    MbarrierInvalidate,
    MbarrierTrack,
    MbarrierWait,
    MemoryFence,
    WaitGroup,
)
from ptxkit.records import dataclass, field

#: The completion mechanisms that work by groups.
GROUPED = ("cp.async", "bulk", "wgmma")


@dataclass(slots=True)
class Copy:
    """One access of an asynchronous operation, and the positions at which the issuing thread learnt more of it.

    committed: its group was closed. read: its source may be reused. done: it is complete, as seen by this thread.
    tracked: an mbarrier arrival depends on it (`cp.async.mbarrier.arrive`), at the mbarrier `tracker`. phase: of the
    mbarrier that it completes on or that tracks it, from 1, where that is known.
    """

    position: int
    event: Event
    group: str
    committed: int | None = None
    read: int | None = None
    done: int | None = None
    tracked: int | None = None
    tracker: Value | None = None
    phase: int | None = None

    @property
    def barrier(self) -> Value | None:
        """The mbarrier that tells of its end."""
        return self.event.barrier if self.tracked is None else self.tracker


@dataclass(slots=True)
class _Groups:
    open: list[Copy] = field(default_factory=list)
    closed: list[list[Copy]] = field(default_factory=list)

    def commit(self, position: int) -> None:
        for copy in self.open:
            copy.committed = position
        self.closed.append(self.open)
        self.open = []

    def wait(self, pending: int, position: int, read_only: bool) -> None:
        finished = self.closed[: max(len(self.closed) - pending, 0)]
        for group in finished:
            for copy in group:
                copy.read = copy.read if copy.read is not None else position
                if not read_only:
                    copy.done = copy.done if copy.done is not None else position
        if not read_only:
            del self.closed[: len(finished)]


def copies_of(trace: Trace, phases: Mapping[int, int] | None = None) -> list[Copy]:
    """Every access to shared memory by an asynchronous operation of this thread, with what became of it.

    phases: by position, the phase in which a completion counts, or of which a wait tells.
    """
    flight = _Flight(phases or {})
    for position, event in enumerate(trace.events):
        if isinstance(event, Event):
            flight.see(position, event)
    return flight.copies


class _Flight:
    """What is under way, event by event. asked: waits on mbarriers that a relaxed order leaves to the next fence."""

    def __init__(self, phases: Mapping[int, int]) -> None:
        self.copies: list[Copy] = []
        self._phases = phases
        self._groups: dict[str, _Groups] = defaultdict(_Groups)
        self._by_barrier: dict[object, list[Copy]] = defaultdict(list)
        self._asked: list[tuple[object, int | None]] = []

    def see(self, position: int, event: Event) -> None:
        """The next event of the thread."""
        match event.effect:
            case Access(completion=str(completion)):
                self._start(Copy(position, event, completion))
            case CommitGroup(group=group):
                self._groups[group].commit(position)
            case WaitGroup() as effect:
                self._wait(position, event, effect)
            case MbarrierTrack():
                self._track(position, event)
            case MbarrierComplete():
                for copy in reversed(self.copies):
                    if (copy.event.step, copy.event.visit) != (event.step, event.visit):
                        break
                    copy.phase = self._phases.get(position)
            case MbarrierWait(order=order):
                self._asked.append((event.address, self._phases.get(position)))
                if order != "relaxed":
                    self._learn(position)
            case MbarrierInit() | MbarrierInvalidate():
                self._by_barrier.pop(event.address, None)  # the next one in its place tells of other copies
            case MemoryFence():
                self._learn(position)

    def _track(self, position: int, event: Event) -> None:
        """An mbarrier is told when the copies so far are complete; what another one tells of already, stays with it."""
        for copy in _unfinished(self._groups["cp.async"]):
            if copy.tracked is None:
                copy.tracked, copy.tracker, copy.phase = position, event.address, self._phases.get(position)

    def _start(self, copy: Copy) -> None:
        self.copies.append(copy)
        if copy.group in GROUPED:
            self._groups[copy.group].open.append(copy)
        elif copy.event.barrier is not None:
            self._by_barrier[copy.event.barrier].append(copy)

    def _wait(self, position: int, event: Event, effect: WaitGroup) -> None:
        if effect.commits:
            self._groups[effect.group].commit(position)
        pending = event.amount if isinstance(event.amount, int) else 0
        self._groups[effect.group].wait(pending, position, effect.read_only)

    def _learn(self, position: int) -> None:
        """Ends the copies of the phases that waits told of; all that are under way where phases are not known."""
        for barrier, phase in self._asked:
            left: list[Copy] = []
            for copy in self._by_barrier.pop(barrier, ()):
                if phase is None or copy.phase is None or copy.phase <= phase:
                    copy.done = copy.read = position
                else:
                    left.append(copy)
            self._by_barrier[barrier].extend(left)
        self._asked.clear()


def _unfinished(groups: _Groups) -> list[Copy]:
    return [*groups.open, *(copy for group in groups.closed for copy in group)]
