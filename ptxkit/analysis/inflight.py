"""Which asynchronous copies of a thread are in flight, group by group, as its trace goes on.

Source: PTX ISA, "Completion Mechanisms for Asynchronous Copy Operations", "cp.async.commit_group",
"cp.async.wait_group / cp.async.wait_all", "cp.async.bulk.wait_group".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from ptxkit.analysis.trace import Event, Trace
from ptxkit.isa.effects import (
    Access,
    CommitGroup,
    MbarrierComplete,
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
    tracked: an mbarrier arrival depends on it (`cp.async.mbarrier.arrive`). phase: of the mbarrier that it completes on,
    from 1, where that is known.
    """

    position: int
    event: Event
    group: str
    committed: int | None = None
    read: int | None = None
    done: int | None = None
    tracked: int | None = None
    phase: int | None = None


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
    known = phases or {}
    groups: dict[str, _Groups] = defaultdict(_Groups)
    by_barrier: dict[object, list[Copy]] = defaultdict(list)
    copies: list[Copy] = []
    asked: list[tuple[object, int | None, bool]] = []  # waits that a relaxed order leaves to the next fence
    for position, event in enumerate(trace.events):
        if not isinstance(event, Event):
            continue
        effect = event.effect
        if isinstance(effect, Access) and effect.completion is not None:
            copy = Copy(position, event, effect.completion)
            copies.append(copy)
            if effect.completion in GROUPED:
                groups[effect.completion].open.append(copy)
            elif event.barrier is not None:
                by_barrier[event.barrier].append(copy)
        elif isinstance(effect, CommitGroup):
            groups[effect.group].commit(position)
        elif isinstance(effect, WaitGroup):
            if effect.commits:
                groups[effect.group].commit(position)
            pending = event.amount if isinstance(event.amount, int) else 0
            groups[effect.group].wait(pending, position, effect.read_only)
        elif isinstance(effect, MbarrierTrack):
            for copy in _unfinished(groups["cp.async"]):
                copy.tracked = copy.tracked if copy.tracked is not None else position
        elif isinstance(effect, MbarrierComplete):
            for copy in reversed(copies):
                if (copy.event.step, copy.event.visit) != (event.step, event.visit):
                    break
                copy.phase = known.get(position)
        elif isinstance(effect, MbarrierWait):
            asked.append((event.address, known.get(position), effect.order == "relaxed"))
        if asked and (isinstance(effect, MemoryFence) or not asked[-1][2]):
            for barrier, phase, _ in asked:
                _finish(by_barrier, barrier, phase, position)
            asked.clear()
    return copies


def _finish(by_barrier: dict[object, list[Copy]], barrier: object, phase: int | None, position: int) -> None:
    """Ends the copies of the phases that a wait tells of; all that are under way where phases are not known."""
    left: list[Copy] = []
    for copy in by_barrier.pop(barrier, ()):
        if phase is None or copy.phase is None or copy.phase <= phase:
            copy.done = copy.read = position
        else:
            left.append(copy)
    by_barrier[barrier].extend(left)


def _unfinished(groups: _Groups) -> list[Copy]:
    return [*groups.open, *(copy for group in groups.closed for copy in group)]
