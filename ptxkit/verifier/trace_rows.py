"""Selects the events of a recording near a finding that access its bytes or order accesses to them.

Omitted events are counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from ptxkit.emulator.races.event_recorder import RecordedEvent, ViolationRecording
from ptxkit.fast_dataclasses import dataclass
from ptxkit.model.trace import Dim3, FindingRole, StepKind
from ptxkit.verifier.limits import MAX_TRACE_STEPS
from ptxkit.verifier.trace_slice import ACCESSES, TraceSlice

STEPS_BEFORE, STEPS_AFTER = 4, 5
"""The number of steps shown before the first access of a finding and after the last."""
STEPS_ALONE = 12
"""The number of steps shown before the access of a finding with only one access."""


@dataclass(slots=True, eq=False)
class TraceRow:
    """Events that form one step of a trace.

    first: the first of the events. number: its number in the recording. threads: the threads that take part.
    touching_threads: the threads that use the bytes of the finding. omitted_events: the number of omitted events before
    it.
    """

    first: RecordedEvent
    number: int
    threads: Any
    touching_threads: Any
    part: FindingRole
    offset: int
    text: str
    omitted_events: int = 0

    @property
    def kind(self) -> StepKind:
        """The kind of the step."""
        return self.first.kind


@dataclass(frozen=True, slots=True)
class TraceRows:
    """The steps of a trace. omitted_before, omitted_after: the number of relevant steps omitted at both ends."""

    rows: Sequence[TraceRow]
    omitted_before: int
    omitted_after: int


def rows_of(recording: ViolationRecording, focus: TraceSlice) -> TraceRows:
    """Returns the steps of a finding's trace."""
    ctas = {focus.access.cta} | ({focus.other_access.cta} if focus.other_access is not None else set())
    events = [each for each in recording.events if each.cta in ctas and _is_relevant(each, focus)]
    if focus.access not in events:
        events.append(focus.access)
        events.sort(key=lambda each: each.serial)
    return _limit_rows(_join_barrier_rows(_merge_rows([_make_row(each, focus) for each in events])), focus)


def _is_relevant(event: RecordedEvent, focus: TraceSlice) -> bool:
    """Returns whether an event orders accesses, or concerns the bytes of the finding."""
    if event.kind not in ACCESSES or focus.role_of(event):
        return True
    return focus.common_range is not None and len(focus.common_range.threads_touching(event)) > 0


def _make_row(event: RecordedEvent, focus: TraceSlice) -> TraceRow:
    touching = event.threads[:0]
    part = focus.role_of(event)
    if event.kind in ACCESSES or event.operation is not None:
        touching = focus.common_range.threads_touching(event) if focus.common_range is not None else touching
        if not len(touching) and part:
            touching = event.threads[
                event.threads == (focus.thread if part is FindingRole.FAULT else focus.other_thread)
            ]
    return TraceRow(event, event.serial, event.threads, touching, part, event.offset, event.text)


def _merge_rows(rows: Sequence[TraceRow]) -> list[TraceRow]:
    """Merges successive rows in which other threads do the same."""
    found: list[TraceRow] = []
    for row in rows:
        last = found[-1] if found else None
        if last is not None and _is_same_step(last, row):
            last.threads = numpy.union1d(last.threads, row.threads)
            last.touching_threads = numpy.union1d(last.touching_threads, row.touching_threads)
            last.part = last.part or row.part
            last.number = row.number
        else:
            found.append(row)
    return found


def _is_same_step(last: TraceRow, row: TraceRow) -> bool:
    one, other = last.first, row.first
    if (one.kind, one.cta, one.offset, one.detail) != (other.kind, other.cta, other.offset, other.detail):
        return False
    if one.offset < 0 or (last.part and row.part) or one.operation is not other.operation:
        return False
    return not len(numpy.intersect1d(last.threads, row.threads))


def _join_barrier_rows(rows: Sequence[TraceRow]) -> list[TraceRow]:
    """Gives the completion of a barrier the instruction of the last arrivals.

    Both become one step if all threads arrived at once.
    """
    found: list[TraceRow] = []
    for row in rows:
        last = found[-1] if found else None
        if row.kind is StepKind.JOIN and last is not None and last.kind is StepKind.ARRIVE:
            row.offset, row.text = last.offset, last.text
            if numpy.array_equal(last.threads, row.threads):
                row.part, row.touching_threads = last.part, last.touching_threads
                found.pop()
        found.append(row)
    return found


def _limit_rows(rows: Sequence[TraceRow], focus: TraceSlice) -> TraceRows:
    """Returns the steps nearest to the accesses."""
    ends = [at for at, row in enumerate(rows) if row.part]
    before = STEPS_ALONE if focus.other_access is None else STEPS_BEFORE
    low, high = max(min(ends) - before, 0), min(max(ends) + STEPS_AFTER, len(rows) - 1)
    must = {at for at, row in enumerate(rows) if row.part or _completes_operation(row, focus)}
    named = {(focus.access.cta, focus.thread)}
    if focus.other_access is not None:
        named.add((focus.other_access.cta, focus.other_thread))

    def rank(at: int) -> tuple[bool, bool, bool, int]:
        row = rows[at]
        aside = row.kind in (StepKind.ISSUE, StepKind.COMPLETE) and not len(row.touching_threads)
        distance = min(abs(at - end) for end in ends)
        return at not in must, aside and distance > STEPS_BEFORE, not _has_thread(row, named), distance

    near = sorted({*range(low, high + 1), *must}, key=rank)
    shown = sorted(near[:MAX_TRACE_STEPS])
    previous = shown[0]
    for at in shown:
        rows[at].omitted_events = max(at - previous - 1, 0)
        previous = at
    return TraceRows([rows[at] for at in shown], shown[0], len(rows) - 1 - shown[-1])


def _completes_operation(row: TraceRow, focus: TraceSlice) -> bool:
    """Returns whether a step completes an operation of the finding."""
    if row.kind is not StepKind.COMPLETE:
        return False
    about = [each.operation for each in (focus.access, focus.other_access) if each is not None]
    return row.first.operation is not None and row.first.operation in about


def _has_thread(row: TraceRow, named: set[tuple[Dim3, int]]) -> bool:
    return any(row.first.cta == cta and thread in row.threads for cta, thread in named)
