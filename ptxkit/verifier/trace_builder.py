"""Builds the trace of a violation: columns of threads that do the same, steps, and asynchronous operations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from ptxkit.diagnostics import Diagnostic
from ptxkit.emulator import Violation
from ptxkit.emulator.driver.finding_diagnostics import locate_witnesses
from ptxkit.emulator.races.event_recorder import RecordedEvent, ViolationRecording
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.mangled_names import short_names, with_short_names
from ptxkit.model.trace import Dim3, FindingRole, FindingTrace, StepKind, ThreadColumn, TraceBar, TraceStep
from ptxkit.number_runs import consecutive_runs, format_runs
from ptxkit.source import SourceFile
from ptxkit.syntax.constants import WARP_SIZE
from ptxkit.verifier.limits import MAX_THREAD_RANGES, MAX_TRACE_BARS, MAX_TRACE_COLUMNS
from ptxkit.verifier.trace_places import TracePlaces, format_value
from ptxkit.verifier.trace_rows import TraceRow, TraceRows, rows_of
from ptxkit.verifier.trace_slice import (
    ACCESSES,
    TraceSlice,
    accesses_of,
    slice_of_violation,
    thread_position,
    value_type,
    values_of,
)


def build_trace(
    found: Diagnostic,
    finding: Violation,
    recording: ViolationRecording | None,
    block: Dim3,
    launch: Sequence[str],
    places: TracePlaces,
) -> FindingTrace:
    """Returns the trace of a finding, which has no steps without a recording.

    launch: how to reproduce the run, in words. places: names of what the run uses.
    """
    source = found.source
    kernel = str(found.properties.get("kernel", ""))
    text, others = locate_witnesses(finding)
    message = text.at_lines(places.line_words(finding, others))
    names = short_names([message, kernel, *launch])
    plain = FindingTrace(
        found.code,
        str(found.severity),
        with_short_names(message, names),
        with_short_names(kernel, names),
        finding.line,
        source,
        tuple(with_short_names(each, names) for each in launch),
        finding.missing,
        origin=places.origin(finding.offset),
    )
    if recording is None:
        return replace(plain, omissions=("all: a second run did not show this finding again",))
    focus = slice_of_violation(recording, source, block)
    accesses = accesses_of(finding, focus, block, places)
    chosen = rows_of(recording, focus)
    classes, silent = _thread_columns(chosen.rows, focus, block)
    shown = _select_columns(classes)
    columns = [
        ThreadColumn(_column_label(each.threads, block), each.cta, len(each.threads), each.part) for each in shown
    ]
    about = next((each.place for each in accesses if each.place), "these bytes")
    steps = [_make_step(row, shown, _StepTexts(focus, about), source, places) for row in chosen.rows]
    bars, more = _make_bars(recording, chosen.rows, shown, source)
    return replace(
        plain,
        accesses=accesses,
        columns=tuple(columns),
        steps=tuple(steps),
        bars=tuple(bars),
        omissions=tuple(_omission_notes(chosen, len(classes) - len(shown), silent, more)),
    )


@dataclass(frozen=True, slots=True)
class _ThreadColumn:
    """Threads of a CTA that do the same in all rows.

    activity: for each row, 0 if they do nothing, 1 if they take part, 2 if they use the bytes of the finding.
    """

    cta: Dim3
    threads: tuple[int, ...]
    activity: tuple[int, ...]
    part: FindingRole


def _thread_columns(rows: Sequence[TraceRow], focus: TraceSlice, block: Dim3) -> tuple[list[_ThreadColumn], int]:
    """Returns the columns, by CTA and thread, and how many threads do nothing in any row."""
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
            single_threads = [each for each in threads if (cta, each) in named]
            found += [_ThreadColumn(cta, (each,), column, named[cta, each]) for each in single_threads]
            rest = tuple(each for each in threads if (cta, each) not in named)
            if any(column) and rest:
                found.append(_ThreadColumn(cta, rest, column, FindingRole.NONE))
            else:
                silent += len(rest)
    return sorted(found, key=lambda each: (each.cta, each.threads[0])), silent


def _select_columns(classes: Sequence[_ThreadColumn]) -> list[_ThreadColumn]:
    """Returns the shown columns: those of the finding, then those that use its bytes, then the largest."""
    best = sorted(classes, key=lambda each: (not each.part, 2 not in each.activity, -len(each.threads)))
    kept = best[:MAX_TRACE_COLUMNS]
    return [each for each in classes if each in kept]


def _column_label(threads: Sequence[int], block: Dim3) -> str:
    """Returns a label: `thread 33`, `warp 1`, `warps 2-3`, `threads 0-31, 33-63`, `96 of threads 0-127`."""
    if len(threads) == 1:
        flat = block[1] == block[2] == 1
        return f"thread {threads[0]}" if flat else f"thread {thread_position(threads[0], block)}"
    runs = consecutive_runs(threads)
    if len(runs) == 1 and not threads[0] % WARP_SIZE and not len(threads) % WARP_SIZE:
        first, last = threads[0] // WARP_SIZE, threads[-1] // WARP_SIZE
        return f"warp {first}" if first == last else f"warps {first}-{last}"
    if len(runs) > MAX_THREAD_RANGES:
        return f"{len(threads)} of threads {threads[0]}-{threads[-1]}"
    return f"threads {format_runs(threads)}"


def _make_step(
    row: TraceRow, shown: Sequence[_ThreadColumn], texts: _StepTexts, source: SourceFile, places: TracePlaces
) -> TraceStep:
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
        texts.text(row),
        tuple(columns),
        tuple(touching),
        row.part,
        row.omitted_events,
        places.origin(row.offset),
    )


class _StepTexts:
    """Describes steps in sentences. about: the variable and the index that the finding is about."""

    def __init__(self, focus: TraceSlice, about: str) -> None:
        self._focus, self._about = focus, about
        self._type = value_type(focus)

    def text(self, row: TraceRow) -> str:
        """Returns the description of a step."""
        event, focus = row.first, self._focus
        if event.kind in (StepKind.ISSUE, StepKind.COMPLETE):
            brought = None
            if focus.common_range is not None and row.part:
                _, brought = values_of(event, focus.other_thread, focus.common_range)
            more = "" if brought is None else f"; it writes {format_value(brought, self._type)} to {self._about}"
            return f"the operation {event.detail}{more}"
        if event.kind in ACCESSES and event.pool is not None:
            return self._access_text(row)
        return f"{_subject(row)} {_inflect(event.detail, len(row.threads))}" if _has_subject(row) else event.detail

    def _access_text(self, row: TraceRow) -> str:
        event, focus = row.first, self._focus
        if not row.part:
            threads = len(row.touching_threads)
            verb = event.kind if threads != 1 else f"{event.kind}s"
            who = "" if not threads else f"thread {row.touching_threads[0]}" if threads == 1 else f"{threads} threads"
            return f"{who} {verb} {self._about}" if threads else event.detail
        if event is focus.access and event is focus.other_access:
            return f"{self._values_text(event, focus.thread)}; thread {focus.other_thread}, too"
        return self._values_text(event, focus.thread if row.part is FindingRole.FAULT else focus.other_thread)

    def _values_text(self, event: RecordedEvent, thread: int) -> str:
        """Returns a thread's access to the bytes of the finding, with their values."""
        old, new = (format_value(each, self._type) for each in values_of(event, thread, self._focus.common_range))
        does = {StepKind.READ: "reads", StepKind.WRITE: "writes", StepKind.UPDATE: "updates"}[event.kind]
        text = f"thread {thread} {does} {self._about}"
        if old is None:
            return text
        return f"{text}: {old}" if event.kind is StepKind.READ else f"{text}: {old} becomes {new or 'something else'}"


_SINGULAR = {"close": "closes", "wait": "waits", "arrive": "arrives", "see": "sees", "pass": "passes"}


def _has_subject(row: TraceRow) -> bool:
    return row.first.detail.split(" ", 1)[0] in _SINGULAR


def _subject(row: TraceRow) -> str:
    count = len(row.threads)
    return f"thread {row.threads[0]}" if count == 1 else f"{count} threads"


def _inflect(detail: str, count: int) -> str:
    """Returns a predicate of several threads for their number."""
    if count != 1:
        return detail
    verb, _, rest = detail.partition(" ")
    return f"{_SINGULAR[verb]} {rest.replace('their ', 'its ')}"


def _make_bars(
    recording: ViolationRecording, rows: Sequence[TraceRow], shown: Sequence[_ThreadColumn], source: SourceFile
) -> tuple[list[TraceBar], int]:
    """Returns the bars of the operations that begin in the trace, and how many more there are."""
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
    """Returns whether an operation is entirely complete; it may complete for one thread after another."""
    whole = event.operation is not None and not event.operation.pending_writes.any()
    return whole and event.kind is StepKind.COMPLETE


def _last_step_before(rows: Sequence[TraceRow], number: int) -> int:
    """Returns the position of the last step that is not after an event."""
    return max(at for at, row in enumerate(rows) if row.number <= number)


def _column_of(row: TraceRow, shown: Sequence[_ThreadColumn]) -> int | None:
    """Returns the column of a thread that issued an operation, preferably one with bytes of the finding."""
    for threads in (set(row.touching_threads.tolist()), set(row.threads.tolist())):
        for at, each in sorted(enumerate(shown), key=lambda pair: not pair[1].part):
            if each.cta == row.first.cta and each.threads[0] in threads:
                return at
    return None


def _omission_notes(chosen: TraceRows, columns: int, silent: int, bars: int) -> list[str]:
    """Returns descriptions of what the trace omits."""
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
