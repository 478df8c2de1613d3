"""The events of a recording that belong into a picture: those near the finding that are about its bytes or order them.

What is left out is counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from ptxkit.emulate.recording import Event, Recording
from ptxkit.records import dataclass
from ptxkit.traces import Part, StepKind, Three
from ptxkit.verifier.focus import ACCESSES, Focus

MOST_STEPS = 24
STEPS_BEFORE, STEPS_BEHIND = 4, 5
"""Steps before the first access of a finding, and behind the last, that are shown."""
STEPS_ALONE = 12
"""Steps before the one access of a finding that has no other."""


@dataclass(slots=True, eq=False)
class Row:
    """Events that are one step of a picture. first: of them. touching: threads that use the bytes of the finding."""

    first: Event
    number: int
    threads: Any
    touching: Any
    part: Part
    offset: int
    text: str
    left_out: int = 0

    @property
    def kind(self) -> StepKind:
        """What happens."""
        return self.first.kind


@dataclass(frozen=True, slots=True)
class Chosen:
    """The steps of a picture. before, behind: how many that would belong there are left out at both ends."""

    rows: Sequence[Row]
    before: int
    behind: int


def rows_of(recording: Recording, focus: Focus) -> Chosen:
    """The steps of a finding's picture."""
    ctas = {focus.fault.cta} | ({focus.other.cta} if focus.other is not None else set())
    events = [each for each in recording.events if each.cta in ctas and _matters(each, focus)]
    if focus.fault not in events:
        events.append(focus.fault)
        events.sort(key=lambda each: each.number)
    return _limited(_joined(_merged([_row(each, focus) for each in events])), focus)


def _matters(event: Event, focus: Focus) -> bool:
    """Whether an event orders, or is about the bytes of the finding."""
    if event.kind not in ACCESSES or focus.part(event):
        return True
    return focus.bytes is not None and len(focus.bytes.touched(event)) > 0


def _row(event: Event, focus: Focus) -> Row:
    touching = event.threads[:0]
    part = focus.part(event)
    if event.kind in ACCESSES or event.operation is not None:
        touching = focus.bytes.touched(event) if focus.bytes is not None else touching
        if not len(touching) and part:
            touching = event.threads[event.threads == (focus.thread if part is Part.FAULT else focus.other_thread)]
    return Row(event, event.number, event.threads, touching, part, event.offset, event.text)


def _merged(rows: Sequence[Row]) -> list[Row]:
    """One step of the same by other threads, one after another."""
    found: list[Row] = []
    for row in rows:
        last = found[-1] if found else None
        if last is not None and _is_same(last, row):
            last.threads = numpy.union1d(last.threads, row.threads)
            last.touching = numpy.union1d(last.touching, row.touching)
            last.part = last.part or row.part
            last.number = row.number
        else:
            found.append(row)
    return found


def _is_same(last: Row, row: Row) -> bool:
    one, other = last.first, row.first
    if (one.kind, one.cta, one.offset, one.detail) != (other.kind, other.cta, other.offset, other.detail):
        return False
    if one.offset < 0 or (last.part and row.part) or one.operation is not other.operation:
        return False
    return not len(numpy.intersect1d(last.threads, row.threads))


def _joined(rows: Sequence[Row]) -> list[Row]:
    """A barrier that opens has the instruction of those who came last; where all came at once it is one step."""
    found: list[Row] = []
    for row in rows:
        last = found[-1] if found else None
        if row.kind is StepKind.JOIN and last is not None and last.kind is StepKind.ARRIVE:
            row.offset, row.text = last.offset, last.text
            if numpy.array_equal(last.threads, row.threads):
                row.part, row.touching = last.part, last.touching
                found.pop()
        found.append(row)
    return found


def _limited(rows: Sequence[Row], focus: Focus) -> Chosen:
    """The steps nearest to the accesses."""
    ends = [at for at, row in enumerate(rows) if row.part]
    before = STEPS_ALONE if focus.other is None else STEPS_BEFORE
    low, high = max(min(ends) - before, 0), min(max(ends) + STEPS_BEHIND, len(rows) - 1)
    must = {at for at, row in enumerate(rows) if row.part or _completes(row, focus)}
    named = {(focus.fault.cta, focus.thread)}
    if focus.other is not None:
        named.add((focus.other.cta, focus.other_thread))

    def rank(at: int) -> tuple[bool, bool, bool, int]:
        row = rows[at]
        aside = row.kind in (StepKind.ISSUE, StepKind.COMPLETE) and not len(row.touching)
        distance = min(abs(at - end) for end in ends)
        return at not in must, aside and distance > STEPS_BEFORE, not _involves(row, named), distance

    near = sorted({*range(low, high + 1), *must}, key=rank)
    shown = sorted(near[:MOST_STEPS])
    previous = shown[0]
    for at in shown:
        rows[at].left_out = max(at - previous - 1, 0)
        previous = at
    return Chosen([rows[at] for at in shown], shown[0], len(rows) - 1 - shown[-1])


def _completes(row: Row, focus: Focus) -> bool:
    """Whether a step completes an operation that the finding is about."""
    if row.kind is not StepKind.COMPLETE:
        return False
    about = [each.operation for each in (focus.fault, focus.other) if each is not None]
    return row.first.operation is not None and row.first.operation in about


def _involves(row: Row, named: set[tuple[Three, int]]) -> bool:
    return any(row.first.cta == cta and thread in row.threads for cta, thread in named)
