"""A record of the events of a run, from which a trace of a finding is drawn.

A `Recorder` replaces the run's `HappensBeforeMonitor` and receives the same events, so a run without one has no
overhead. It keeps the last events of each kind, and those after a wanted finding, up to a limit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulator.core.findings import Violation
from ptxkit.emulator.races.happens_before_monitor import HappensBeforeMonitor
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.model.trace import Dim3, StepKind

if TYPE_CHECKING:
    from ptxkit.emulator.engine.cta import Cta
    from ptxkit.emulator.state.memory import ByteBuffer
    from ptxkit.emulator.sync.async_operation import AsyncOperation, DeferredArrival
    from ptxkit.emulator.sync.mbarrier import Mbarrier
    from ptxkit.emulator.sync.named_barrier import BarrierPhase
    from ptxkit.emulator.threads.thread_groups import ThreadGroup

MAX_EVENTS_BEFORE = 2000
"""The number of events kept before a finding, by kind: accesses of its lines, other accesses, and others."""
MAX_EVENTS_AFTER = 400
"""The number of events kept after a finding."""


@dataclass(slots=True, eq=False)
class RecordedEvent:
    """One event of a run. number: its serial number, from 1. cta: of the grid; threads: by number in it.

    offset: of the PTX instruction, -1 where there is none. text: its opcode; detail: what happens, in words. pool,
    places, size: the bytes of an access, an offset for each thread. old, new: bytes before and after, (threads, size),
    None where they are not known. operation: the one that starts or completes.
    """

    serial: int
    kind: StepKind
    cta: Dim3
    threads: Any
    offset: int
    text: str
    detail: str = ""
    pool: ByteBuffer | None = None
    byte_offsets: Any = None
    size: int = 0
    old: Any = None
    new: Any = None
    operation: AsyncOperation | None = None


@dataclass(slots=True)
class ViolationRecording:
    """A finding with the events before and after it. at: the event that revealed it; None where no event did."""

    finding: Violation
    events: list[RecordedEvent]
    trigger: RecordedEvent | None
    number: int
    remaining_after: int = field(default=0)


class EventRecorder(HappensBeforeMonitor):
    """Keeps the events near findings. wanted: (code, offset) of these findings."""

    def __init__(self, wanted: Collection[tuple[str, int]], *, strict: bool = False) -> None:
        super().__init__(strict=strict)
        self.recordings: list[ViolationRecording] = []
        self._wanted = set(wanted)
        self._lines = {offset for _, offset in wanted}
        self._serial = self._checked_event = 0
        self._tensor: RecordedEvent | None = None
        self._line_events: deque[RecordedEvent] = deque(maxlen=MAX_EVENTS_BEFORE)
        self._other_accesses: deque[RecordedEvent] = deque(maxlen=MAX_EVENTS_BEFORE)
        self._ordering_events: deque[RecordedEvent] = deque(maxlen=MAX_EVENTS_BEFORE)

    # ------------------------------------------------------------------------------------------------- recording

    def _append(self, into: deque[RecordedEvent], event: RecordedEvent) -> RecordedEvent:
        into.append(event)
        for each in self.recordings:
            if each.remaining_after < MAX_EVENTS_AFTER:
                each.remaining_after += 1
                each.events.append(event)
        return event

    def _record_event(
        self, kind: StepKind, cta: Cta, threads: Any, place: tuple[Any, int] | None, detail: str
    ) -> RecordedEvent:
        self._serial += 1
        offset, text = -1, ""
        if place is not None:
            code, pc = place
            offset, text = code.offsets[pc], code.instructions[pc].opcode
        return RecordedEvent(self._serial, kind, cta.ctaid, numpy.array(threads, numpy.int64), offset, text, detail)

    def _record_ordering(self, kind: StepKind, group: ThreadGroup, index: Any, detail: str = "") -> None:
        """Record that threads execute an ordering instruction."""
        place = (group.activation.function, group.pc)
        self._append(self._ordering_events, self._record_event(kind, group.cta, index, place, detail))

    def capture(self, at: RecordedEvent | None = None) -> None:
        """Start a recording for each new wanted finding; `at` is the event that revealed it."""
        assert self.machine is not None
        findings = self.machine.report.findings
        for finding in findings[self._checked_event :]:
            key = (finding.code, finding.offset)
            if key in self._wanted:
                self._wanted.discard(key)
                events = sorted(
                    [*self._line_events, *self._other_accesses, *self._ordering_events], key=lambda each: each.serial
                )
                self.recordings.append(ViolationRecording(finding, events, at, self._serial))
        self._checked_event = len(findings)

    @property
    def _is_recording(self) -> bool:
        return bool(self._wanted) or any(each.remaining_after < MAX_EVENTS_AFTER for each in self.recordings)

    # ------------------------------------------------------------------------------------------------ accesses

    def on_access(  # noqa: PLR0913, PLR0917 (all properties of an access)
        self,
        group: ThreadGroup,
        kind: str,
        pool: ByteBuffer,
        places: Any,
        size: int,
        order: str,
        scope: str | None,
        value: Any = None,
    ) -> None:
        """Threads read, write or update bytes."""
        event = None
        if self._is_recording and pool.name not in ("local", "const", "param"):
            self.capture()
            code, pc = group.activation.function, group.pc
            event = self._record_event(StepKind(kind), group.cta, group.lanes.index, (code, pc), "")
            event.pool, event.byte_offsets, event.size = pool, numpy.array(places), size
            event.old = pool.data[event.byte_offsets[:, None] + numpy.arange(size)]
            event.new = written_bytes(value, len(event.byte_offsets), size) if kind == "write" else None
            self._append(self._line_events if event.offset in self._lines else self._other_accesses, event)
        super().on_access(group, kind, pool, places, size, order, scope, value)
        if event is not None:
            self.capture(event)

    def on_fence(self, group: ThreadGroup, order: str, scope: str) -> None:
        """Threads execute a fence."""
        self._record_ordering(StepKind.FENCE, group, group.lanes.index)
        super().on_fence(group, order, scope)

    def on_proxy_fence(
        self, group: ThreadGroup, proxy: str, space: str | None, direction: str, scope: str | None, address: Any = None
    ) -> None:
        """Threads execute a fence between proxies."""
        self._record_ordering(StepKind.FENCE, group, group.lanes.index, f"towards the {proxy} proxy")
        super().on_proxy_fence(group, proxy, space, direction, scope, address)

    # ------------------------------------------------------------------------------------------------ barriers

    def on_barrier_arrive(self, group: ThreadGroup, phase: BarrierPhase) -> None:
        """Threads have arrived at a barrier of their CTA."""
        self._record_ordering(StepKind.ARRIVE, group, group.lanes.index, f"arrive at barrier {phase.barrier.number}")
        super().on_barrier_arrive(group, phase)

    def on_barrier_complete(self, cta: Cta, phase: BarrierPhase) -> None:
        """A barrier of a CTA has completed and releases its threads."""
        joined = numpy.flatnonzero(phase.has_arrived)
        detail = f"barrier {phase.barrier.number} joins {len(joined)} threads"
        self._append(self._ordering_events, self._record_event(StepKind.JOIN, cta, joined, None, detail))
        super().on_barrier_complete(cta, phase)

    def on_warp_sync(self, group: ThreadGroup, masks: Any) -> None:
        """Lanes of a warp wait for each other."""
        self._record_ordering(StepKind.JOIN, group, group.lanes.index, "joins lanes of a warp")
        super().on_warp_sync(group, masks)

    def on_cluster_arrive(self, group: ThreadGroup, phase: Any, order: str) -> None:
        """Threads arrive at the barrier of their cluster."""
        self._record_ordering(StepKind.ARRIVE, group, group.lanes.index, f"arrive at the cluster's barrier ({order})")
        super().on_cluster_arrive(group, phase, order)

    def on_cluster_barrier_pass(self, group: ThreadGroup, phase: Any) -> None:
        """Threads continue after the barrier of their cluster."""
        self._record_ordering(StepKind.JOIN, group, group.lanes.index, "pass the cluster's barrier")
        super().on_cluster_barrier_pass(group, phase)

    # ----------------------------------------------------------------------------------------------- mbarriers

    def on_mbarrier_init(self, group: ThreadGroup, thread: int, barrier: Mbarrier) -> None:
        """A thread has initialised an mbarrier."""
        detail = f"{barrier.name} begins: {barrier.count} arrivals a phase"
        self._record_ordering(StepKind.PHASE, group, [thread], detail)
        super().on_mbarrier_init(group, thread, barrier)

    def on_mbarrier_arrive(self, group: ThreadGroup, index: Any, barrier: Mbarrier, order: str, scope: str) -> None:
        """Threads are about to arrive at an mbarrier."""
        self._record_ordering(StepKind.ARRIVE, group, index, f"arrive at {barrier.name}, phase {barrier.phase}")
        super().on_mbarrier_arrive(group, index, barrier, order, scope)

    def on_phase_complete(self, barrier: Mbarrier) -> None:
        """The current phase of an mbarrier is complete."""
        detail = f"phase {barrier.phase} of {barrier.name} is complete"
        self._append(self._ordering_events, self._record_event(StepKind.PHASE, barrier.cta, [], None, detail))
        super().on_phase_complete(barrier)

    def on_phase_observed(self, group: ThreadGroup, index: Any, barrier: Mbarrier, order: str, scope: str) -> None:
        """Threads have observed that the phase before the current one is complete."""
        self._record_ordering(
            StepKind.WAIT, group, index, f"see that phase {barrier.phase - 1} of {barrier.name} is complete"
        )
        super().on_phase_observed(group, index, barrier, order, scope)

    # ------------------------------------------------------------------------------------------ Tensor Memory

    def on_tensor_memory_op(self, group: ThreadGroup, kind: str, detail: str) -> None:
        """Threads access Tensor Memory."""
        self.capture()
        place = (group.activation.function, group.pc)
        self._tensor = self._record_event(StepKind(kind), group.cta, group.lanes.index, place, detail)
        self._append(self._ordering_events, self._tensor)

    def on_tensor_memory_checked(self) -> None:
        """New findings concern the last operation on Tensor Memory."""
        self.capture(self._tensor)

    # -------------------------------------------------------------------------------------------- asynchronous

    def on_issue(self, operation: AsyncOperation) -> None:
        """An asynchronous operation starts; its conflicts were reported just before."""
        place = (operation.function, operation.pc)
        threads = numpy.unique(operation.threads)
        event = self._record_event(StepKind.ISSUE, operation.cta, threads, place, "begins")
        event.operation = operation
        targets = [(each.target, each.byte_offsets("target", operation.pending_writes)) for each in operation.transfers]
        if targets and len(targets[0][1]):
            event.pool, event.byte_offsets = targets[0][0], targets[0][1]
            event.old = event.pool.data[event.byte_offsets]
        self._append(self._ordering_events, event)
        self.capture(event)
        super().on_issue(operation)
        self.capture(event)

    def on_completion(self, operation: AsyncOperation, rows: Any, *through: Any) -> None:
        """Rows of an operation are complete, and their completion will be signalled."""
        threads = numpy.unique(operation.threads[rows])
        told = ", ".join(["is complete", *(f"tells {barrier.name}" for barrier, _ in operation.signals)])
        event = self._record_event(StepKind.COMPLETE, operation.cta, threads, (operation.function, operation.pc), told)
        event.operation = operation
        self._append(self._ordering_events, event)
        super().on_completion(operation, rows, *through)
        self.capture(event)

    def on_group_commit(self, group: ThreadGroup, kind: str) -> None:
        """Threads commit their groups of a kind."""
        self._record_ordering(StepKind.COMMIT, group, group.lanes.index, f"close their {kind} group")
        super().on_group_commit(group, kind)

    def on_group_wait(self, group: ThreadGroup, kind: str, limits: Any, *, reads_only: bool) -> None:
        """Threads have waited for their groups of a kind."""
        index = group.lanes.index
        assert self.machine is not None
        pending = self.machine.async_engine.committed_groups(group.cta, kind)[index] - limits[index]
        most = int(pending.max()) if len(index) else 0
        what = "the reads of all" if reads_only else "all"
        but = f" but the last {most}" if most > 0 else ""
        self._record_ordering(StepKind.WAIT, group, index, f"wait for {what} their {kind} groups{but}")
        super().on_group_wait(group, kind, limits, reads_only=reads_only)

    def on_mbarrier_signal(self, operation: AsyncOperation | DeferredArrival, barrier: Mbarrier) -> None:
        """A complete operation signals an mbarrier."""
        super().on_mbarrier_signal(operation, barrier)
        self.capture()


def written_bytes(value: Any, count: int, size: int) -> Any:
    """Return what threads write as bytes, (count, size); None where it is not known."""
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
