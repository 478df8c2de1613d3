"""What threads do, kept while a run is watched: for a picture of what led to a finding.

A `Recorder` stands in the place of the run's `Clocks` and hears what these hear, so a run without one pays nothing. It
keeps the last events of each sort, and those behind a wanted finding, until it has enough.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulate.clocks import Clocks
from ptxkit.emulate.faults import Finding
from ptxkit.records import dataclass, field
from ptxkit.traces import StepKind, Three

if TYPE_CHECKING:
    from ptxkit.emulate.barriers import Phase
    from ptxkit.emulate.cta import Cta
    from ptxkit.emulate.groups import Group
    from ptxkit.emulate.mbarriers import Mbarrier
    from ptxkit.emulate.memory import Pool
    from ptxkit.emulate.operations import Arrival, Operation

KEPT = 2000
"""Events of each sort that are kept before a finding: accesses of its lines, other accesses, and all else."""
BEHIND = 400
"""Events that are kept behind a finding."""


@dataclass(slots=True, eq=False)
class Event:
    """One moment of a run. number: of events so far, from 1. cta: of the grid; threads: by number in it.

    offset: of the PTX instruction, -1 where there is none. text: its opcode; detail: what happens, in words. pool,
    places, size: the bytes of an access, a place for each thread. old, new: octets before and after, (threads, size),
    None where they are not known. operation: the one that begins or is complete.
    """

    number: int
    kind: StepKind
    cta: Three
    threads: Any
    offset: int
    text: str
    detail: str = ""
    pool: Pool | None = None
    places: Any = None
    size: int = 0
    old: Any = None
    new: Any = None
    operation: Operation | None = None


@dataclass(slots=True)
class Recording:
    """A finding with the events before and behind it. at: the event that showed it; None where no event did."""

    finding: Finding
    events: list[Event]
    at: Event | None
    number: int
    behind: int = field(default=0)


class Recorder(Clocks):
    """Keeps what happens near findings. wanted: (code, offset) of these."""

    def __init__(self, wanted: Collection[tuple[str, int]], *, strict: bool = False) -> None:
        super().__init__(strict=strict)
        self.recordings: list[Recording] = []
        self._wanted = set(wanted)
        self._lines = {offset for _, offset in wanted}
        self._number = self._judged = 0
        self._tensor: Event | None = None
        self._near: deque[Event] = deque(maxlen=KEPT)
        self._far: deque[Event] = deque(maxlen=KEPT)
        self._ordering: deque[Event] = deque(maxlen=KEPT)

    # ------------------------------------------------------------------------------------------------- keeping

    def _keep(self, into: deque[Event], event: Event) -> Event:
        into.append(event)
        for each in self.recordings:
            if each.behind < BEHIND:
                each.behind += 1
                each.events.append(event)
        return event

    def _event(self, kind: StepKind, cta: Cta, threads: Any, place: tuple[Any, int] | None, detail: str) -> Event:
        self._number += 1
        offset, text = -1, ""
        if place is not None:
            code, pc = place
            offset, text = code.offsets[pc], code.instructions[pc].opcode
        return Event(self._number, kind, cta.ctaid, numpy.array(threads, numpy.int64), offset, text, detail)

    def _orders(self, kind: StepKind, group: Group, index: Any, detail: str = "") -> None:
        """Threads execute an instruction that orders."""
        place = (group.activation.code, group.pc)
        self._keep(self._ordering, self._event(kind, group.cta, index, place, detail))

    def look(self, at: Event | None = None) -> None:
        """Open a recording for each wanted finding that is new; `at` showed it."""
        assert self.machine is not None
        findings = self.machine.report.findings
        for finding in findings[self._judged :]:
            key = (finding.code, finding.offset)
            if key in self._wanted:
                self._wanted.discard(key)
                events = sorted([*self._near, *self._far, *self._ordering], key=lambda each: each.number)
                self.recordings.append(Recording(finding, events, at, self._number))
        self._judged = len(findings)

    @property
    def _is_on(self) -> bool:
        return bool(self._wanted) or any(each.behind < BEHIND for each in self.recordings)

    # ------------------------------------------------------------------------------------------------ accesses

    def accessed(  # noqa: PLR0913, PLR0917 (all that an access is)
        self,
        group: Group,
        kind: str,
        pool: Pool,
        places: Any,
        size: int,
        order: str,
        scope: str | None,
        value: Any = None,
    ) -> None:
        """Threads read, write or update bytes."""
        event = None
        if self._is_on and pool.name not in ("local", "const", "param"):
            self.look()
            code, pc = group.activation.code, group.pc
            event = self._event(StepKind(kind), group.cta, group.lanes.index, (code, pc), "")
            event.pool, event.places, event.size = pool, numpy.array(places), size
            event.old = pool.data[event.places[:, None] + numpy.arange(size)]
            event.new = octets_of(value, len(event.places), size) if kind == "write" else None
            self._keep(self._near if event.offset in self._lines else self._far, event)
        super().accessed(group, kind, pool, places, size, order, scope, value)
        if event is not None:
            self.look(event)

    def fenced(self, group: Group, order: str, scope: str) -> None:
        """Threads execute a fence."""
        self._orders(StepKind.FENCE, group, group.lanes.index)
        super().fenced(group, order, scope)

    def proxy_fenced(
        self, group: Group, proxy: str, space: str | None, direction: str, scope: str | None, address: Any = None
    ) -> None:
        """Threads execute a fence between proxies."""
        self._orders(StepKind.FENCE, group, group.lanes.index, f"towards the {proxy} proxy")
        super().proxy_fenced(group, proxy, space, direction, scope, address)

    # ------------------------------------------------------------------------------------------------ barriers

    def barrier_arrives(self, group: Group, phase: Phase) -> None:
        """Threads have come to a barrier of their CTA."""
        self._orders(StepKind.ARRIVE, group, group.lanes.index, f"arrive at barrier {phase.barrier.number}")
        super().barrier_arrives(group, phase)

    def barrier_opens(self, cta: Cta, phase: Phase) -> None:
        """A barrier of a CTA lets its threads go."""
        joined = numpy.flatnonzero(phase.arrived)
        detail = f"barrier {phase.barrier.number} joins {len(joined)} threads"
        self._keep(self._ordering, self._event(StepKind.JOIN, cta, joined, None, detail))
        super().barrier_opens(cta, phase)

    def warp_synchronises(self, group: Group, masks: Any) -> None:
        """Lanes of a warp wait for each other."""
        self._orders(StepKind.JOIN, group, group.lanes.index, "joins lanes of a warp")
        super().warp_synchronises(group, masks)

    def cluster_arrives(self, group: Group, phase: Any, order: str) -> None:
        """Threads come to the barrier of their cluster."""
        self._orders(StepKind.ARRIVE, group, group.lanes.index, f"arrive at the cluster's barrier ({order})")
        super().cluster_arrives(group, phase, order)

    def passes_cluster_barrier(self, group: Group, phase: Any) -> None:
        """Threads go on behind the barrier of their cluster."""
        self._orders(StepKind.JOIN, group, group.lanes.index, "pass the cluster's barrier")
        super().passes_cluster_barrier(group, phase)

    # ----------------------------------------------------------------------------------------------- mbarriers

    def mbarrier_begins(self, group: Group, thread: int, barrier: Mbarrier) -> None:
        """A thread has initialised an mbarrier."""
        detail = f"{barrier.name} begins: {barrier.count} arrivals a phase"
        self._orders(StepKind.PHASE, group, [thread], detail)
        super().mbarrier_begins(group, thread, barrier)

    def arrives(self, group: Group, index: Any, barrier: Mbarrier, order: str, scope: str) -> None:
        """Threads are about to arrive at an mbarrier."""
        self._orders(StepKind.ARRIVE, group, index, f"arrive at {barrier.name}, phase {barrier.phase}")
        super().arrives(group, index, barrier, order, scope)

    def mbarrier_completes(self, barrier: Mbarrier) -> None:
        """The current phase of an mbarrier is complete."""
        detail = f"phase {barrier.phase} of {barrier.name} is complete"
        self._keep(self._ordering, self._event(StepKind.PHASE, barrier.cta, [], None, detail))
        super().mbarrier_completes(barrier)

    def observes(self, group: Group, index: Any, barrier: Mbarrier, order: str, scope: str) -> None:
        """Threads have seen that the phase before the current one is complete."""
        self._orders(StepKind.WAIT, group, index, f"see that phase {barrier.phase - 1} of {barrier.name} is complete")
        super().observes(group, index, barrier, order, scope)

    # ------------------------------------------------------------------------------------------ Tensor Memory

    def tensor_happens(self, group: Group, kind: str, detail: str) -> None:
        """Threads do something with Tensor Memory."""
        self.look()
        place = (group.activation.code, group.pc)
        self._tensor = self._event(StepKind(kind), group.cta, group.lanes.index, place, detail)
        self._keep(self._ordering, self._tensor)

    def tensor_judged(self) -> None:
        """What was found is about that."""
        self.look(self._tensor)

    # -------------------------------------------------------------------------------------------- asynchronous

    def issued(self, operation: Operation) -> None:
        """An asynchronous operation begins; what it meets then was reported just before."""
        place = (operation.code, operation.pc)
        threads = numpy.unique(operation.threads)
        event = self._event(StepKind.ISSUE, operation.cta, threads, place, "begins")
        event.operation = operation
        targets = [(each.target, each.octets("target", operation.writing)) for each in operation.transfers]
        if targets and len(targets[0][1]):
            event.pool, event.places = targets[0][0], targets[0][1]
            event.old = event.pool.data[event.places]
        self._keep(self._ordering, event)
        self.look(event)
        super().issued(operation)
        self.look(event)

    def completed(self, operation: Operation, rows: Any, *through: Any) -> None:
        """Rows of an operation are complete, and somebody will know."""
        threads = numpy.unique(operation.threads[rows])
        told = ", ".join(["is complete", *(f"tells {barrier.name}" for barrier, _ in operation.signals)])
        event = self._event(StepKind.COMPLETE, operation.cta, threads, (operation.code, operation.pc), told)
        event.operation = operation
        self._keep(self._ordering, event)
        super().completed(operation, rows, *through)
        self.look(event)

    def committed(self, group: Group, kind: str) -> None:
        """Threads close their groups of a kind."""
        self._orders(StepKind.COMMIT, group, group.lanes.index, f"close their {kind} group")
        super().committed(group, kind)

    def waited(self, group: Group, kind: str, limits: Any, *, reads_only: bool) -> None:
        """Threads have waited for their groups of a kind."""
        index = group.lanes.index
        assert self.machine is not None
        pending = self.machine.asynchrony.closed(group.cta, kind)[index] - limits[index]
        most = int(pending.max()) if len(index) else 0
        what = "the reads of all" if reads_only else "all"
        but = f" but the last {most}" if most > 0 else ""
        self._orders(StepKind.WAIT, group, index, f"wait for {what} their {kind} groups{but}")
        super().waited(group, kind, limits, reads_only=reads_only)

    def signals(self, operation: Operation | Arrival, barrier: Mbarrier) -> None:
        """A complete operation tells an mbarrier."""
        super().signals(operation, barrier)
        self.look()


def octets_of(value: Any, count: int, size: int) -> Any:
    """What threads write, (count, size) octets; None where it is not known."""
    parts = value if isinstance(value, tuple) else (value,)
    if any(part is None for part in parts):
        return None
    rows = []
    for part in parts:
        shape = (count, *part.shape[1:]) if part.ndim else (count,)
        whole = numpy.ascontiguousarray(numpy.broadcast_to(part, shape))
        rows.append(whole.view(numpy.uint8).reshape(count, -1))
    found = numpy.concatenate(rows, axis=1)
    return found if found.shape[1] == size else None
