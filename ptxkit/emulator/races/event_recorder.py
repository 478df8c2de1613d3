"""Records the events of a run, from which the trace of a finding is generated.

An `EventRecorder` receives the events of a run before the observers that check it, and checks for findings after them.
It keeps the last events of each kind, and those after a wanted finding, up to a limit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulator.core.findings import Violation
from ptxkit.emulator.core.lane_set import thread_index_of
from ptxkit.emulator.limits import MAX_EVENTS_AFTER, MAX_EVENTS_BEFORE
from ptxkit.emulator.threads.machine_observer import AccessEvent, MachineObserver
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.model.trace import Dim3, StepKind

if TYPE_CHECKING:
    from ptxkit.emulator.state.memory import ByteBuffer
    from ptxkit.emulator.sync.async_operation import AsyncOperation
    from ptxkit.emulator.sync.mbarrier import Mbarrier
    from ptxkit.emulator.sync.named_barrier import BarrierPhase
    from ptxkit.emulator.threads.machine_state import CtaState, MachineState
    from ptxkit.emulator.threads.thread_groups import ThreadGroup


@dataclass(slots=True, eq=False)
class RecordedEvent:
    """One event of a run, with its serial number from 1.

    `cta` is the CTA in the grid, and `threads` are numbers of its threads. `offset` is that of the PTX instruction, or
    -1 if none exists, `text` its opcode, and `detail` a description. An access has `size` bytes of `pool` at an
    offset for each thread; `old` and `new` are the bytes before and after, of the shape (threads, size), or None if
    they are not known. `operation` is the asynchronous operation that starts or completes.
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
    """A violation with the events before and after it. `trigger` is the event that revealed it, or None."""

    finding: Violation
    events: list[RecordedEvent]
    trigger: RecordedEvent | None
    number: int
    remaining_after: int = field(default=0)


class EventRecorder(MachineObserver):
    """Keeps the events near findings. `wanted` are the codes and offsets of these findings."""

    def __init__(self, wanted: Collection[tuple[str, int]]) -> None:
        self.machine: MachineState | None = None
        self.recordings: list[ViolationRecording] = []
        self._wanted = set(wanted)
        self._lines = {offset for _, offset in wanted}
        self._serial = self._checked_event = 0
        self.present: RecordedEvent | None = None
        """The access, or the event of an asynchronous operation, that the other observers handle at present."""
        self._tensor: RecordedEvent | None = None
        self._line_events: deque[RecordedEvent] = deque(maxlen=MAX_EVENTS_BEFORE)
        self._other_accesses: deque[RecordedEvent] = deque(maxlen=MAX_EVENTS_BEFORE)
        self._ordering_events: deque[RecordedEvent] = deque(maxlen=MAX_EVENTS_BEFORE)

    def around(self, observers: Sequence[MachineObserver]) -> tuple[MachineObserver, ...]:
        """Returns the observers of a run in which `observers` report the findings."""
        return (self, *observers, _FindingCapture(self))

    def on_launch(self, machine: MachineState) -> None:
        """Keeps the launch."""
        self.machine = machine

    # ------------------------------------------------------------------------------------------------- recording

    def _append(self, into: deque[RecordedEvent], event: RecordedEvent) -> RecordedEvent:
        into.append(event)
        for each in self.recordings:
            if each.remaining_after < MAX_EVENTS_AFTER:
                each.remaining_after += 1
                each.events.append(event)
        return event

    def _record_event(
        self, kind: StepKind, cta: CtaState, threads: Any, place: tuple[Any, int] | None, detail: str
    ) -> RecordedEvent:
        self._serial += 1
        offset, text = -1, ""
        if place is not None:
            code, pc = place
            offset, text = code.offsets[pc], code.instructions[pc].opcode
        return RecordedEvent(self._serial, kind, cta.ctaid, numpy.array(threads, numpy.int64), offset, text, detail)

    def _record_ordering(self, kind: StepKind, group: ThreadGroup, index: Any, detail: str = "") -> None:
        """Records that threads execute an ordering instruction."""
        place = (group.activation.function, group.pc)
        self._append(self._ordering_events, self._record_event(kind, group.cta, index, place, detail))

    def capture(self, at: RecordedEvent | None = None) -> None:
        """Starts a recording for each new wanted finding; `at` is the event that revealed it."""
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

    def on_access(self, event: AccessEvent) -> None:
        """Threads read, write or update bytes."""
        self.present = None
        if not self._is_recording:
            return
        self.capture()
        group, buffer, size = event.group, event.buffer, event.size
        place = (group.activation.function, group.pc)
        self.present = made = self._record_event(StepKind(event.kind), group.cta, group.lanes.index, place, "")
        made.pool, made.byte_offsets, made.size = buffer, numpy.array(event.byte_offsets), size
        made.old = buffer.data[made.byte_offsets[:, None] + numpy.arange(size)]
        made.new = written_bytes(event.value, len(made.byte_offsets), size) if event.kind == "write" else None
        self._append(self._line_events if made.offset in self._lines else self._other_accesses, made)

    def on_fence(self, group: ThreadGroup, order: str, scope: str) -> None:
        """Threads execute a fence."""
        self._record_ordering(StepKind.FENCE, group, group.lanes.index)

    def on_proxy_fence(
        self, group: ThreadGroup, proxy: str, space: str | None, direction: str, scope: str | None, address: Any = None
    ) -> None:
        """Threads execute a fence between proxies."""
        self._record_ordering(StepKind.FENCE, group, group.lanes.index, f"order the generic before the {proxy} proxy")
        if direction != "both" and scope is not None:  # it is a memory fence, too
            self.on_fence(group, direction, scope)

    # ------------------------------------------------------------------------------------------------ barriers

    def on_barrier_arrive(self, group: ThreadGroup, phase: BarrierPhase) -> None:
        """Threads have arrived at a barrier of their CTA."""
        self._record_ordering(StepKind.ARRIVE, group, group.lanes.index, f"arrive at barrier {phase.barrier.number}")

    def on_barrier_complete(self, cta: CtaState, phase: BarrierPhase) -> None:
        """A barrier of a CTA has completed and releases its threads."""
        joined = thread_index_of(phase.arrived)
        detail = f"barrier {phase.barrier.number} joins {len(joined)} threads"
        self._append(self._ordering_events, self._record_event(StepKind.JOIN, cta, joined, None, detail))

    def on_warp_sync(self, group: ThreadGroup, masks: Any) -> None:
        """Lanes of a warp wait for each other."""
        self._record_ordering(StepKind.JOIN, group, group.lanes.index, "joins lanes of a warp")

    def on_cluster_arrive(self, group: ThreadGroup, phase: Any, order: str) -> None:
        """Threads arrive at the barrier of their cluster."""
        self._record_ordering(StepKind.ARRIVE, group, group.lanes.index, f"arrive at the cluster's barrier ({order})")

    def on_cluster_barrier_pass(self, group: ThreadGroup, phase: Any) -> None:
        """Threads continue after the barrier of their cluster."""
        self._record_ordering(StepKind.JOIN, group, group.lanes.index, "pass the cluster's barrier")

    # ----------------------------------------------------------------------------------------------- mbarriers

    def on_mbarrier_init(self, group: ThreadGroup, thread: int, barrier: Mbarrier) -> None:
        """A thread has initialized an mbarrier."""
        detail = f"{barrier.short_name} begins: {barrier.state.count} arrivals a phase"
        self._record_ordering(StepKind.PHASE, group, [thread], detail)

    def on_mbarrier_arrive(self, group: ThreadGroup, index: Any, barrier: Mbarrier, order: str, scope: str) -> None:
        """Threads are about to arrive at an mbarrier."""
        self._record_ordering(
            StepKind.ARRIVE,
            group,
            index,
            f"arrive at {barrier.short_name}, in phase {barrier.phase}",
        )

    def on_phase_complete(self, barrier: Mbarrier) -> None:
        """A phase of an mbarrier is complete."""
        detail = f"phase {barrier.phase - 1} of {barrier.short_name} is complete"
        self._append(self._ordering_events, self._record_event(StepKind.PHASE, barrier.cta, [], None, detail))

    def on_phase_observed(self, group: ThreadGroup, index: Any, barrier: Mbarrier, order: str, scope: str) -> None:
        """Threads have observed that the phase before the current one is complete."""
        self._record_ordering(
            StepKind.WAIT,
            group,
            index,
            f"see that phase {barrier.phase - 1} of {barrier.short_name} is complete",
        )

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
        self.present = event

    def on_completion(
        self,
        operation: AsyncOperation,
        rows: Any,
        through: Any,
    ) -> None:
        """Rows of an operation are complete, and their completion will be signaled."""
        threads = numpy.unique(operation.threads[rows])
        text = ", ".join(["is complete", *(f"signals {barrier.short_name}" for barrier, _ in operation.signals)])
        event = self._record_event(StepKind.COMPLETE, operation.cta, threads, (operation.function, operation.pc), text)
        event.operation = operation
        self._append(self._ordering_events, event)
        self.present = event

    def on_group_commit(self, group: ThreadGroup, kind: str) -> None:
        """Threads commit their groups of a kind."""
        self._record_ordering(StepKind.COMMIT, group, group.lanes.index, f"close their {kind} group")

    def on_group_wait(self, group: ThreadGroup, kind: str, limits: Any, reads_only: bool) -> None:
        """Threads have waited for their groups of a kind."""
        index = group.lanes.index
        assert self.machine is not None
        pending = self.machine.async_engine.committed_groups(group.cta, kind)[index] - limits[index]
        most = int(pending.max()) if len(index) else 0
        what = "the reads of all" if reads_only else "all"
        but = f" but the last {most}" if most > 0 else ""
        self._record_ordering(StepKind.WAIT, group, index, f"wait for {what} their {kind} groups{but}")


class _FindingCapture(MachineObserver):
    """Notifies a recorder after the observers before this one, so that it can record their findings."""

    def __init__(self, recorder: EventRecorder) -> None:
        self._recorder = recorder

    def on_access(self, event: AccessEvent) -> None:
        """An access has been checked."""
        if self._recorder.present is not None:
            self._recorder.capture(self._recorder.present)

    def on_issue(self, operation: AsyncOperation) -> None:
        """An operation that starts has been checked."""
        self._recorder.capture(self._recorder.present)

    def on_completion(self, operation: AsyncOperation, rows: Any, through: Any) -> None:
        """The completion of an operation has been checked."""
        self._recorder.capture(self._recorder.present)

    def on_mbarrier_signal(self, operation: Any, barrier: Mbarrier) -> None:
        """A signal has been checked."""
        self._recorder.capture()


def written_bytes(value: Any, count: int, size: int) -> Any:
    """Returns the bytes that threads write, (count, size), or None if they are not known."""
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
