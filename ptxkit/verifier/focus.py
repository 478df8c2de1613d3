"""The accesses of a finding among the events of its recording: what a picture of it is about."""

from __future__ import annotations

from typing import Any

import numpy

from ptxkit.emulate import Finding, Witness
from ptxkit.emulate.recording import Event, Recording
from ptxkit.emulate.transfers import NOWHERE
from ptxkit.records import dataclass
from ptxkit.source import SourceFile
from ptxkit.traces import Part, StepKind, Three, TracedAccess

ACCESSES = frozenset({StepKind.READ, StepKind.WRITE, StepKind.UPDATE})
SHOWN_BYTES = 16
"""Bytes of a value that are shown."""


@dataclass(frozen=True, slots=True)
class Bytes:
    """A range in a pool of the machine."""

    pool: Any
    start: int
    size: int

    def touched(self, event: Event) -> Any:
        """The threads of an event whose bytes these are, by number."""
        if event.operation is not None:
            return issuers(event, self)
        if event.pool is not self.pool:
            return event.threads[:0]
        meets = (event.places < self.start + self.size) & (event.places + event.size > self.start)
        return event.threads[meets]


@dataclass(frozen=True, slots=True)
class Focus:
    """fault: where the finding showed; other: the access that it conflicts with; None where there is none, or it lies
    further back than was kept. thread, other_thread: by number in their CTAs. bytes: what both use.
    """

    fault: Event
    thread: int
    other: Event | None
    other_thread: int
    bytes: Bytes | None

    def part(self, event: Event) -> Part:
        """What an event has to do with the finding."""
        if event is self.fault:
            return Part.FAULT
        return Part.OTHER if event is self.other else Part.NONE


def focus_of(recording: Recording, source: SourceFile, block: Three) -> Focus:
    """The accesses of a finding."""
    finding = recording.finding
    first = finding.witnesses[0] if finding.witnesses else Witness("", finding.line, (0, 0, 0), (0, 0, 0))
    actor = _actor(first, block)
    fault = recording.at if _is_by(recording.at, finding.offset, first, actor) else None
    fault = fault or _under_way(recording, first, actor) or _last_step(finding, first, actor, recording.number)
    where = _bytes_of(fault, actor) if actor is not None else None
    other, other_actor = None, None
    if len(finding.witnesses) > 1:
        other_actor = _actor(finding.witnesses[1], block)
        other = _other(recording, fault, finding.witnesses[1], other_actor, source, where)
    if where is None and other is not None and other_actor is not None:
        where = _bytes_of(other, other_actor)
    thread = _thread_of(fault, actor, where)
    return Focus(fault, thread, other, thread if other is None else _thread_of(other, other_actor, where), where)


def _actor(witness: Witness, block: Three) -> int | None:
    """The number of a thread that accesses; None for what is none: what carries out operations of all threads."""
    number = number_of(witness.thread, block)
    return number if number < block[0] * block[1] * block[2] else None


def _thread_of(event: Event, actor: int | None, where: Bytes | None) -> int:
    """The thread that accesses; of an operation, the one that issued what is about the bytes."""
    if event.operation is not None and where is not None:
        found = issuers(event, where)
        actor = int(found[0]) if len(found) else actor
    return actor if actor is not None else int(event.threads[0])


def number_of(thread: Three, block: Three) -> int:
    """A thread's number in its CTA."""
    return thread[0] + block[0] * (thread[1] + block[1] * thread[2])


def place_of(number: int, block: Three) -> Three:
    """A thread's place in its CTA."""
    return number % block[0], number // block[0] % block[1], number // (block[0] * block[1])


def _is_by(event: Event | None, offset: int, witness: Witness, actor: int | None) -> bool:
    """Whether a witness executed an instruction in an event."""
    if event is None or event.offset != offset or event.cta != witness.cta or not len(event.threads):
        return False
    return event.operation is not None if actor is None else actor in event.threads


def _under_way(recording: Recording, witness: Witness, actor: int | None) -> Event | None:
    """What had begun and was not over when the finding showed: an operation in flight, a wait at a barrier."""
    for event in reversed(recording.events):
        if event.number <= recording.number and _is_by(event, recording.finding.offset, witness, actor):
            operation = event.operation
            if event.kind is StepKind.ARRIVE:
                return event
            if event.kind is StepKind.ISSUE and operation is not None:
                return event if operation.writing.any() or operation.reading.any() else None
    return None


def _last_step(finding: Finding, witness: Witness, actor: int | None, number: int) -> Event:
    """What ended the run before it was an access: an address of nothing, a state that forbids it."""
    threads = numpy.array([actor or 0])
    text = witness.action.rpartition(": ")[2]
    return Event(number + 1, StepKind.UPDATE, witness.cta, threads, finding.offset, text, "goes no further")


def _bytes_of(event: Event, thread: int) -> Bytes | None:
    """The bytes that a thread's access is about."""
    if event.kind not in ACCESSES or event.places is None:
        return None
    row = int(numpy.searchsorted(event.threads, thread))
    return Bytes(event.pool, int(event.places[row]), event.size)


def _other(
    recording: Recording, fault: Event, witness: Witness, actor: int | None, source: SourceFile, where: Bytes | None
) -> Event | None:
    """The last event at the other access's line and by its thread, best one that is about the same bytes."""
    found = None
    for event in reversed(recording.events):
        if event.number > fault.number or event.cta != witness.cta or event.offset < 0:
            continue
        if event.kind not in ACCESSES and event.kind is not StepKind.ISSUE:
            continue
        if source.position(event.offset)[0] != witness.line or not _is_by(event, event.offset, witness, actor):
            continue
        if where is not None and len(where.touched(event)):
            return event
        if event is not fault:
            found = found or event
    return found


# ------------------------------------------------------------------------------------------------------- values


def accesses_of(finding: Finding, focus: Focus, block: Three) -> tuple[TracedAccess, ...]:
    """The accesses of a finding, with what they read and write as far as it was seen."""
    found = []
    for position, witness in enumerate(finding.witnesses):
        event = (focus.fault, focus.other)[position] if position < 2 else None
        thread = (focus.thread, focus.other_thread)[position] if position < 2 else number_of(witness.thread, block)
        old, new = values_of(event, thread, focus.bytes) if event is not None else (None, None)
        found.append(
            TracedAccess(
                Part.FAULT if position == 0 else Part.OTHER,
                witness.action.rpartition(": ")[2],
                witness.line,
                place_of(thread, block),
                witness.cta,
                witness.space,
                witness.start,
                witness.size,
                old if old is not None else witness.old,
                new if new is not None else witness.new,
            )
        )
    return tuple(found)


def values_of(event: Event, thread: int, where: Bytes | None) -> tuple[str | None, str | None]:
    """The bytes before an event and after it, as hexadecimal digits."""
    if event.operation is not None:
        return _copied(event, where)
    if event.old is None or event.kind not in ACCESSES or thread not in event.threads:
        return None, None
    row = int(numpy.searchsorted(event.threads, thread))
    return _digits(event.old[row]), None if event.new is None else _digits(event.new[row])


def _copied(event: Event, where: Bytes | None) -> tuple[str | None, str | None]:
    """Of an asynchronous operation: what stood in the bytes when it began, and what it brings."""
    if where is None or event.pool is not where.pool or event.old is None:
        return None, None
    wanted = numpy.arange(where.start, where.start + where.size)
    order = numpy.argsort(event.places, kind="stable")
    at = numpy.searchsorted(event.places[order], wanted)
    if (at >= len(order)).any() or (event.places[order][at] != wanted).any():
        return None, None
    transfer = event.operation.transfers[0] if event.operation is not None else None
    if transfer is None or transfer.combine is not None:
        return _digits(event.old[order][at]), None
    transfer.read(numpy.ones(transfer.rows, bool))
    there = transfer.targets != NOWHERE
    brought = numpy.ascontiguousarray(transfer.data[there]).view(numpy.uint8).ravel()
    return _digits(event.old[order][at]), _digits(brought[order][at]) if len(brought) == len(order) else None


def issuers(event: Event, where: Bytes) -> Any:
    """The threads that issued the rows of an operation which are about some bytes."""
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


def _digits(octets: Any) -> str:
    """Bytes as hexadecimal digits, from the lowest address on."""
    whole: bytes = octets.tobytes()
    return whole[:SHOWN_BYTES].hex() + (".." if len(whole) > SHOWN_BYTES else "")
