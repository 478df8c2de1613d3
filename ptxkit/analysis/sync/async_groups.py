"""Tracks the asynchronous copies of a thread that are in flight, by group, along its trace.

Source: PTX ISA, "Completion Mechanisms for Asynchronous Copy Operations", "cp.async.commit_group",
"cp.async.wait_group / cp.async.wait_all", "cp.async.bulk.wait_group".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from ptxkit.analysis.symexec.trace import ThreadTrace, TraceEvent
from ptxkit.analysis.values.symbolic_values import Value
from ptxkit.fast_dataclasses import dataclass, field
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
from ptxkit.semantics.ordering import ACQUIRE_ORDERS, is_relaxed_sync

#: The completion mechanisms that use groups.
GROUP_MECHANISMS = ("cp.async", "bulk", "wgmma")


@dataclass(slots=True)
class AsyncCopy:
    """One access of an asynchronous operation, and the positions at which its state changes for the issuing thread.

    commit_position: where its group is committed. source_free_position: where its source may be reused.
    completion_position: where the thread observes its completion. track_position: where `cp.async.mbarrier.arrive`
    makes an arrival at `tracking_mbarrier` depend on it. phase: the phase, from 1, of the mbarrier on which it
    completes or that tracks it; None where the phase is unknown.
    """

    position: int
    event: TraceEvent
    group: str
    commit_position: int | None = None
    source_free_position: int | None = None
    completion_position: int | None = None
    track_position: int | None = None
    tracking_mbarrier: Value | None = None
    phase: int | None = None

    @property
    def barrier(self) -> Value | None:
        """The mbarrier that signals the completion of the operation."""
        return self.event.barrier if self.track_position is None else self.tracking_mbarrier


@dataclass(slots=True)
class _CopyGroups:
    open_copies: list[AsyncCopy] = field(default_factory=list)
    committed_groups: list[list[AsyncCopy]] = field(default_factory=list)

    def commit(self, position: int) -> None:
        for copy in self.open_copies:
            copy.commit_position = position
        self.committed_groups.append(self.open_copies)
        self.open_copies = []

    def wait(self, pending: int, position: int, read_only: bool) -> None:
        finished = self.committed_groups[: max(len(self.committed_groups) - pending, 0)]
        for group in finished:
            for copy in group:
                copy.source_free_position = (
                    copy.source_free_position if copy.source_free_position is not None else position
                )
                if not read_only:
                    copy.completion_position = (
                        copy.completion_position if copy.completion_position is not None else position
                    )
        if not read_only:
            del self.committed_groups[: len(finished)]


def async_copies_of(trace: ThreadTrace, phases: Mapping[int, int] | None = None) -> list[AsyncCopy]:
    """Returns every access to shared memory by an asynchronous operation of this thread, with its state changes.

    phases: by position, the phase in which a completion counts, or which a wait observes.
    """
    flight = _InflightTracker(phases or {})
    for position, event in enumerate(trace.events):
        if isinstance(event, TraceEvent):
            flight.observe(position, event)
    return flight.copies


class _InflightTracker:
    """Tracks the operations in flight, event by event. A relaxed wait takes effect at the next fence."""

    def __init__(self, phases: Mapping[int, int]) -> None:
        self.copies: list[AsyncCopy] = []
        self._phases = phases
        self._groups: dict[str, _CopyGroups] = defaultdict(_CopyGroups)
        self._by_mbarrier: dict[object, list[AsyncCopy]] = defaultdict(list)
        self._pending_waits: list[tuple[object, int | None]] = []

    def observe(self, position: int, event: TraceEvent) -> None:
        """Processes the next event of the thread."""
        match event.effect:
            case Access(completion=str(completion)):
                self._start(AsyncCopy(position, event, completion))
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
            case MbarrierWait() as effect:
                self._pending_waits.append((event.address, self._phases.get(position)))
                if not is_relaxed_sync(effect):
                    self._complete_awaited(position)
            case MbarrierInit() | MbarrierInvalidate():
                self._by_mbarrier.pop(event.address, None)  # a later mbarrier at this address tracks other copies
            case MemoryFence(order=order) if order in ACQUIRE_ORDERS:
                self._complete_awaited(position)

    def _track(self, position: int, event: TraceEvent) -> None:
        """Makes an mbarrier track all copies so far. A copy that another mbarrier already tracks is not affected."""
        for copy in _inflight_copies(self._groups["cp.async"]):
            if copy.track_position is None:
                copy.track_position, copy.tracking_mbarrier, copy.phase = (
                    position,
                    event.address,
                    self._phases.get(position),
                )

    def _start(self, copy: AsyncCopy) -> None:
        self.copies.append(copy)
        if copy.group in GROUP_MECHANISMS:
            self._groups[copy.group].open_copies.append(copy)
        elif copy.event.barrier is not None:
            self._by_mbarrier[copy.event.barrier].append(copy)

    def _wait(self, position: int, event: TraceEvent, effect: WaitGroup) -> None:
        if effect.commits:
            self._groups[effect.group].commit(position)
        pending = event.amount if isinstance(event.amount, int) else 0
        self._groups[effect.group].wait(pending, position, effect.read_only)

    def _complete_awaited(self, position: int) -> None:
        """Completes the copies of the observed phases, or all copies in flight where the phases are unknown."""
        for barrier, phase in self._pending_waits:
            left: list[AsyncCopy] = []
            for copy in self._by_mbarrier.pop(barrier, ()):
                if phase is None or copy.phase is None or copy.phase <= phase:
                    copy.completion_position = copy.source_free_position = position
                else:
                    left.append(copy)
            self._by_mbarrier[barrier].extend(left)
        self._pending_waits.clear()


def _inflight_copies(groups: _CopyGroups) -> list[AsyncCopy]:
    return [*groups.open_copies, *(copy for group in groups.committed_groups for copy in group)]
