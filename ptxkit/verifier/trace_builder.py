"""A finding of the machine as a picture: threads that do the same in one column, steps, bars of what is in flight."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy

from ptxkit.diagnostics import Diagnostic
from ptxkit.emulator import Violation
from ptxkit.emulator.races.event_recorder import RecordedEvent, ViolationRecording
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.model.trace import Dim3, FindingRole, FindingTrace, StepKind, ThreadColumn, TraceBar, TraceStep
from ptxkit.source import SourceFile
from ptxkit.verifier.limits import MAX_THREAD_RANGES, MAX_TRACE_BARS, MAX_TRACE_COLUMNS
from ptxkit.verifier.trace_rows import TraceRow, TraceRows, rows_of
from ptxkit.verifier.trace_slice import (
    ACCESSES,
    TraceSlice,
    accesses_of,
    slice_of_violation,
    thread_position,
    values_of,
)

WARP_SIZE = 32


def build_trace(
    found: Diagnostic, finding: Violation, recording: ViolationRecording | None, block: Dim3, launch: Sequence[str]
) -> FindingTrace:
    """The picture of a finding; without steps where there is no recording. launch: how to see it again, in words."""
    source = found.source
    kernel = str(found.properties.get("kernel", ""))
    plain = FindingTrace(
        found.code, str(found.severity), finding.message, kernel, finding.line, source, tuple(launch), finding.missing
    )
    if recording is None:
        return replace(plain, omissions=("all: a second run did not show this finding again",))
    focus = slice_of_violation(recording, source, block)
    chosen = rows_of(recording, focus)
    classes, silent = _thread_columns(chosen.rows, focus, block)
    shown = _select_columns(classes)
    columns = [
        ThreadColumn(_column_label(each.threads, block), each.cta, len(each.threads), each.part) for each in shown
    ]
    steps = [_make_step(row, shown, focus, source) for row in chosen.rows]
    bars, more = _make_bars(recording, chosen.rows, shown, source)
    return replace(
        plain,
        accesses=accesses_of(finding, focus, block),
        columns=tuple(columns),
        steps=tuple(steps),
        bars=tuple(bars),
        omissions=tuple(_omission_notes(chosen, len(classes) - len(shown), silent, more)),
    )


# ------------------------------------------------------------------------------------------------------ columns


@dataclass(frozen=True, slots=True)
class _ThreadColumn:
    """Threads of a CTA that do the same in all rows. does: for each row 0 nothing, 1 takes part, 2 uses the bytes."""

    cta: Dim3
    threads: tuple[int, ...]
    activity: tuple[int, ...]
    part: FindingRole


def _thread_columns(rows: Sequence[TraceRow], focus: TraceSlice, block: Dim3) -> tuple[list[_ThreadColumn], int]:
    """The columns, by CTA and thread; and how many threads do nothing in any row."""
    count = block[0] * block[1] * block[2]
    named = {(focus.access.cta, focus.thread): FindingRole.FAULT}
    if focus.other_access is not None:
        named.setdefault((focus.other_access.cta, focus.other_thread), FindingRole.OTHER)
    found: list[_ThreadColumn] = []
    silent = 0
    for cta in dict.fromkeys(cta for cta, _ in named):
        does = numpy.zeros((len(rows), count), numpy.uint8)
        for at, row in enumerate(rows):
            if row.first.cta == cta:
                does[at, row.threads] = 1
                does[at, row.touching_threads] = 2
        kinds, which = numpy.unique(does, axis=1, return_inverse=True)
        which = which.reshape(-1)
        for kind in range(kinds.shape[1]):
            column = tuple(int(each) for each in kinds[:, kind])
            threads = [int(each) for each in numpy.flatnonzero(which == kind)]
            alone = [each for each in threads if (cta, each) in named]
            found += [_ThreadColumn(cta, (each,), column, named[cta, each]) for each in alone]
            rest = tuple(each for each in threads if (cta, each) not in named)
            if any(column) and rest:
                found.append(_ThreadColumn(cta, rest, column, FindingRole.NONE))
            else:
                silent += len(rest)
    return sorted(found, key=lambda each: (each.cta, each.threads[0])), silent


def _select_columns(classes: Sequence[_ThreadColumn]) -> list[_ThreadColumn]:
    """The columns that have room: those of the finding, then those that use its bytes, then the fullest."""
    best = sorted(classes, key=lambda each: (not each.part, 2 not in each.activity, -len(each.threads)))
    kept = best[:MAX_TRACE_COLUMNS]
    return [each for each in classes if each in kept]


def _column_label(threads: Sequence[int], block: Dim3) -> str:
    """`thread 33`, `warp 1`, `warps 2-3`, `threads 0-31, 33-63`, `96 of threads 0-127`."""
    if len(threads) == 1:
        flat = block[1] == block[2] == 1
        return f"thread {threads[0]}" if flat else f"thread {thread_position(threads[0], block)}"
    cuts = [0, *(at for at in range(1, len(threads)) if threads[at] != threads[at - 1] + 1), len(threads)]
    ranges = [(threads[low], threads[high - 1]) for low, high in pairwise(cuts)]
    if len(ranges) == 1 and not threads[0] % WARP_SIZE and not len(threads) % WARP_SIZE:
        first, last = threads[0] // WARP_SIZE, threads[-1] // WARP_SIZE
        return f"warp {first}" if first == last else f"warps {first}-{last}"
    if len(ranges) > MAX_THREAD_RANGES:
        return f"{len(threads)} of threads {threads[0]}-{threads[-1]}"
    return "threads " + ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in ranges)


# -------------------------------------------------------------------------------------------------------- steps


def _make_step(row: TraceRow, shown: Sequence[_ThreadColumn], focus: TraceSlice, source: SourceFile) -> TraceStep:
    columns, touching = [], []
    taking, using = set(row.threads.tolist()), set(row.touching_threads.tolist())
    for at, each in enumerate(shown):
        if each.cta == row.first.cta and each.threads[0] in taking:
            columns.append(at)
            if each.threads[0] in using:
                touching.append(at)
    line = source.position(row.offset)[0] if row.offset >= 0 else 0
    return TraceStep(
        row.number,
        row.kind,
        line,
        row.text,
        _step_text(row, focus),
        tuple(columns),
        tuple(touching),
        row.part,
        row.omitted_events,
    )


def _step_text(row: TraceRow, focus: TraceSlice) -> str:
    """What happens, in words."""
    event = row.first
    if event.kind in (StepKind.ISSUE, StepKind.COMPLETE) and focus.common_range is not None and row.part:
        _, brought = values_of(event, focus.other_thread, focus.common_range)
        return event.detail if brought is None else f"{event.detail}; it brings {brought} to the bytes in question"
    if event.kind not in ACCESSES or event.pool is None:
        return event.detail
    if not row.part:
        return f"{event.kind}s these bytes" if len(row.touching_threads) else event.detail
    if event is focus.access and event is focus.other_access:
        return f"{_access_text(event, focus.thread, focus)}; thread {focus.other_thread}, too"
    return _access_text(event, focus.thread if row.part is FindingRole.FAULT else focus.other_thread, focus)


def _access_text(event: RecordedEvent, thread: int, focus: TraceSlice) -> str:
    """What a thread does to the bytes of the finding, with their values."""
    old, new = values_of(event, thread, focus.common_range)
    does = {StepKind.READ: "reads", StepKind.WRITE: "writes", StepKind.UPDATE: "updates"}[event.kind]
    text = f"thread {thread} {does} {event.size} bytes"
    if old is None:
        return text
    return f"{text}: {old}" if event.kind is StepKind.READ else f"{text}: {old} becomes {new or 'something else'}"


def _make_bars(
    recording: ViolationRecording, rows: Sequence[TraceRow], shown: Sequence[_ThreadColumn], source: SourceFile
) -> tuple[list[TraceBar], int]:
    """The operations that begin in the picture, and how many more there are."""
    found = []
    over = {each.operation: each.serial for each in recording.events if _is_complete(each)}
    parts = {row.first.operation: row.part for row in rows if row.part}
    for first, row in enumerate(rows):
        if row.kind is not StepKind.ISSUE:
            continue
        end = over.get(row.first.operation)
        last = None if end is None or end > rows[-1].number else _last_step_before(rows, end)
        column = _column_of(row, shown)
        if column is not None:
            line = source.position(row.offset)[0]
            found.append(
                TraceBar(
                    row.text,
                    line,
                    column,
                    first,
                    last,
                    parts.get(row.first.operation, row.part),
                    is_complete=end is not None,
                )
            )
    best = sorted(found, key=lambda each: (not each.role, each.first))[:MAX_TRACE_BARS]
    return [each for each in found if each in best], len(found) - len(best)


def _is_complete(event: RecordedEvent) -> bool:
    """Return whether an operation is entirely complete; it may complete for one thread after another."""
    whole = event.operation is not None and not event.operation.pending_writes.any()
    return whole and event.kind is StepKind.COMPLETE


def _last_step_before(rows: Sequence[TraceRow], number: int) -> int:
    """Return the last step that is not after an event."""
    return max(at for at, row in enumerate(rows) if row.number <= number)


def _column_of(row: TraceRow, shown: Sequence[_ThreadColumn]) -> int | None:
    """The column of a thread that issued an operation: best one whose bytes are those of the finding."""
    for threads in (set(row.touching_threads.tolist()), set(row.threads.tolist())):
        for at, each in sorted(enumerate(shown), key=lambda pair: not pair[1].part):
            if each.cta == row.first.cta and each.threads[0] in threads:
                return at
    return None


def _omission_notes(chosen: TraceRows, columns: int, silent: int, bars: int) -> list[str]:
    """What the picture leaves out, in words."""
    between = sum(row.omitted_events for row in chosen.rows)
    counted = [
        (chosen.omitted_before, "step before the first one shown", "steps before the first one shown"),
        (between, "step in between", "steps in between"),
        (chosen.omitted_after, "step after the last one shown", "steps after the last one shown"),
        (columns, "group of threads", "groups of threads"),
        (silent, "thread that does nothing in these steps", "threads that do nothing in these steps"),
        (bars, "asynchronous operation", "asynchronous operations"),
    ]
    notes = [f"{count} {one if count == 1 else many}" for count, one, many in counted if count]
    return [*notes, "accesses of other bytes, other CTAs, and instructions that use no memory"]
