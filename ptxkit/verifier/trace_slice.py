"""Finds the accesses of a finding among the events of its recording."""

from __future__ import annotations

from typing import Any

import numpy

from ptxkit.emulator import Violation, Witness
from ptxkit.emulator.races.event_recorder import RecordedEvent, ViolationRecording
from ptxkit.emulator.state.byte_transfers import NO_OFFSET
from ptxkit.fast_dataclasses import dataclass
from ptxkit.model.trace import Dim3, FindingRole, StepKind, TraceAccess
from ptxkit.semantics.object_names import type_of
from ptxkit.source import SourceFile
from ptxkit.verifier.limits import MAX_SHOWN_BYTES
from ptxkit.verifier.trace_places import TracePlaces, format_value

ACCESSES = frozenset({StepKind.READ, StepKind.WRITE, StepKind.UPDATE})


@dataclass(frozen=True, slots=True)
class BufferRange:
    """A range in a memory pool of the machine."""

    pool: Any
    start: int
    size: int

    def threads_touching(self, event: RecordedEvent) -> Any:
        """Returns the numbers of an event's threads that access the range."""
        if event.operation is not None:
            return issuers(event, self)
        if event.pool is not self.pool:
            return event.threads[:0]
        meets = (event.byte_offsets < self.start + self.size) & (event.byte_offsets + event.size > self.start)
        return event.threads[meets]


@dataclass(frozen=True, slots=True)
class TraceSlice:
    """The accesses of a finding.

    access, thread: the access at fault, and the number of its thread in the CTA. other_access, other_thread: the access
    with which it conflicts; None if none exists, or it is no longer in the recording. common_range: the bytes that
    both use.
    """

    access: RecordedEvent
    thread: int
    other_access: RecordedEvent | None
    other_thread: int
    common_range: BufferRange | None

    def role_of(self, event: RecordedEvent) -> FindingRole:
        """Returns the role of an event in the finding."""
        if event is self.access:
            return FindingRole.FAULT
        return FindingRole.OTHER if event is self.other_access else FindingRole.NONE


def slice_of_violation(recording: ViolationRecording, source: SourceFile, block: Dim3) -> TraceSlice:
    finding = recording.finding
    first = finding.witnesses[0] if finding.witnesses else Witness("", finding.line, (0, 0, 0), (0, 0, 0))
    actor = _accessing_thread(first, block)
    fault = recording.trigger if _is_witness_event(recording.trigger, finding.offset, first, actor) else None
    fault = (
        fault or _pending_event(recording, first, actor) or _make_final_event(finding, first, actor, recording.number)
    )
    where = _accessed_range(fault, actor) if actor is not None else None
    other, other_actor = None, None
    if len(finding.witnesses) > 1:
        other_actor = _accessing_thread(finding.witnesses[1], block)
        other = _find_other_access(recording, fault, finding.witnesses[1], other_actor, source, where)
    if where is None and other is not None and other_actor is not None:
        where = _accessed_range(other, other_actor)
    thread = _thread_of(fault, actor, where)
    return TraceSlice(fault, thread, other, thread if other is None else _thread_of(other, other_actor, where), where)


def _accessing_thread(witness: Witness, block: Dim3) -> int | None:
    """Returns the number of the accessing thread; None for an agent that executes operations of all threads."""
    number = thread_number(witness.thread, block)
    return number if number < block[0] * block[1] * block[2] else None


def _thread_of(event: RecordedEvent, actor: int | None, where: BufferRange | None) -> int:
    """Returns the accessing thread; for an operation, the thread that issued its part that concerns the bytes."""
    if event.operation is not None and where is not None:
        found = issuers(event, where)
        actor = int(found[0]) if len(found) else actor
    return actor if actor is not None else int(event.threads[0])


def thread_number(thread: Dim3, block: Dim3) -> int:
    """Returns a thread's number in its CTA."""
    return thread[0] + block[0] * (thread[1] + block[1] * thread[2])


def thread_position(number: int, block: Dim3) -> Dim3:
    """Returns a thread's position in its CTA."""
    return number % block[0], number // block[0] % block[1], number // (block[0] * block[1])


def _is_witness_event(event: RecordedEvent | None, offset: int, witness: Witness, actor: int | None) -> bool:
    """Returns whether a witness executed an instruction in an event."""
    if event is None or event.offset != offset or event.cta != witness.cta or not len(event.threads):
        return False
    return event.operation is not None if actor is None else actor in event.threads


def _pending_event(recording: ViolationRecording, witness: Witness, actor: int | None) -> RecordedEvent | None:
    """Returns the event of an operation in flight, or of a wait, that was pending when the finding occurred."""
    for event in reversed(recording.events):
        if event.serial <= recording.number and _is_witness_event(event, recording.finding.offset, witness, actor):
            operation = event.operation
            if event.kind is StepKind.ARRIVE:
                return event
            if event.kind is StepKind.ISSUE and operation is not None:
                return event if operation.pending_writes.any() or operation.pending_reads.any() else None
    return None


def _make_final_event(finding: Violation, witness: Witness, actor: int | None, number: int) -> RecordedEvent:
    """Returns an event for an access at which the run ended: its address or a state is not valid."""
    threads = numpy.array([actor or 0])
    text = witness.action.rpartition(": ")[2]
    return RecordedEvent(number + 1, StepKind.UPDATE, witness.cta, threads, finding.offset, text, "does not continue")


def _accessed_range(event: RecordedEvent, thread: int) -> BufferRange | None:
    """Returns an event for the fault that ended the run before the access took place."""
    if event.kind not in ACCESSES or event.byte_offsets is None:
        return None
    row = int(numpy.searchsorted(event.threads, thread))
    return BufferRange(event.pool, int(event.byte_offsets[row]), event.size)


def _find_other_access(
    recording: ViolationRecording,
    fault: RecordedEvent,
    witness: Witness,
    actor: int | None,
    source: SourceFile,
    where: BufferRange | None,
) -> RecordedEvent | None:
    """Returns the last event at the line of the other access by its thread, preferably one on the same bytes."""
    found = None
    for event in reversed(recording.events):
        if event.serial > fault.serial or event.cta != witness.cta or event.offset < 0:
            continue
        if event.kind not in ACCESSES and event.kind is not StepKind.ISSUE:
            continue
        if source.position(event.offset)[0] != witness.line or not _is_witness_event(
            event, event.offset, witness, actor
        ):
            continue
        if where is not None and len(where.threads_touching(event)):
            return event
        if event is not fault:
            found = found or event
    return found


def accesses_of(finding: Violation, focus: TraceSlice, block: Dim3, places: TracePlaces) -> tuple[TraceAccess, ...]:
    """Returns the accesses of a finding, with the values that they read and write if these are known."""
    found = []
    type_ = value_type(focus)
    for position, witness in enumerate(finding.witnesses):
        event = (focus.access, focus.other_access)[position] if position < 2 else None
        thread = (focus.thread, focus.other_thread)[position] if position < 2 else thread_number(witness.thread, block)
        old, new = values_of(event, thread, focus.common_range) if event is not None else (None, None)
        old, new = old if old is not None else witness.old, new if new is not None else witness.new
        found.append(
            TraceAccess(
                FindingRole.FAULT if position == 0 else FindingRole.OTHER,
                witness.action.rpartition(": ")[2],
                witness.line,
                thread_position(thread, block),
                witness.cta,
                witness.space,
                witness.start,
                witness.size,
                old,
                new,
                places.place(witness.space, witness.start, type_) if witness.size else "",
                type_,
                format_value(old, type_),
                format_value(new, type_),
                places.origin(event.offset) if event is not None else None,
            )
        )
    return tuple(found)


def value_type(focus: TraceSlice) -> str | None:
    """Returns the type of the bytes of a finding, by the instruction that moves them as values."""
    events = [each for each in (focus.access, focus.other_access) if each is not None]
    return next((found for each in events if (found := type_of(each.text)) is not None), None)


def values_of(event: RecordedEvent, thread: int, where: BufferRange | None) -> tuple[str | None, str | None]:
    """Returns the bytes before an event and after it, as hexadecimal digits."""
    if event.operation is not None:
        return _copied_values(event, where)
    if event.old is None or event.kind not in ACCESSES or thread not in event.threads:
        return None, None
    row = int(numpy.searchsorted(event.threads, thread))
    return _hex_digits(event.old[row]), None if event.new is None else _hex_digits(event.new[row])


def _copied_values(event: RecordedEvent, where: BufferRange | None) -> tuple[str | None, str | None]:
    """Returns the bytes when an asynchronous operation began, and the bytes that it writes."""
    if where is None or event.pool is not where.pool or event.old is None:
        return None, None
    wanted = numpy.arange(where.start, where.start + where.size)
    order = numpy.argsort(event.byte_offsets, kind="stable")
    at = numpy.searchsorted(event.byte_offsets[order], wanted)
    if (at >= len(order)).any() or (event.byte_offsets[order][at] != wanted).any():
        return None, None
    transfer = event.operation.transfers[0] if event.operation is not None else None
    if transfer is None or transfer.combine is not None:
        return _hex_digits(event.old[order][at]), None
    transfer.read(numpy.ones(transfer.rows, bool))
    there = transfer.targets != NO_OFFSET
    brought = numpy.ascontiguousarray(transfer.data[there]).view(numpy.uint8).ravel()
    return _hex_digits(event.old[order][at]), _hex_digits(brought[order][at]) if len(brought) == len(order) else None


def issuers(event: RecordedEvent, where: BufferRange) -> Any:
    """Returns the threads that issued the rows of an operation that concern some bytes."""
    operation = event.operation
    if operation is None:
        return event.threads
    wanted = numpy.arange(where.start, where.start + where.size)
    found = [numpy.zeros(0, numpy.int64)]
    for transfer in operation.transfers:
        for pool, numbers in ((transfer.target, transfer.targets), (transfer.source, transfer.sources)):
            if pool is where.pool:
                rows = numpy.isin(numbers * transfer.unit, wanted - wanted % transfer.unit).any(axis=1)
                found.append(operation.threads[rows])
    return numpy.unique(numpy.concatenate(found))


def _hex_digits(octets: Any) -> str:
    """Returns bytes as hexadecimal digits, beginning with the lowest address."""
    whole: bytes = octets.tobytes()
    return whole[:MAX_SHOWN_BYTES].hex() + (".." if len(whole) > MAX_SHOWN_BYTES else "")
