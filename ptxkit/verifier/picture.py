"""A finding of the machine as a picture: threads that do the same in one column, steps, bars of what is in flight."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy

from ptxkit.diagnostics import Diagnostic
from ptxkit.emulate import Finding
from ptxkit.emulate.recording import Event, Recording
from ptxkit.records import dataclass, replace
from ptxkit.source import SourceFile
from ptxkit.traces import Bar, Column, Part, Step, StepKind, Three, Trace
from ptxkit.verifier.focus import ACCESSES, Focus, accesses_of, focus_of, place_of, values_of
from ptxkit.verifier.rows import Chosen, Row, rows_of

MOST_COLUMNS = 12
MOST_BARS = 6
WARP = 32
_RANGES = 2
"""Ranges of threads that a column's name lists."""


def trace_of(
    found: Diagnostic, finding: Finding, recording: Recording | None, block: Three, launch: Sequence[str]
) -> Trace:
    """The picture of a finding; without steps where there is no recording. launch: how to see it again, in words."""
    source = found.source
    kernel = str(found.properties.get("kernel", ""))
    plain = Trace(
        found.code, str(found.severity), finding.message, kernel, finding.line, source, tuple(launch), finding.missing
    )
    if recording is None:
        return replace(plain, left_out=("all: a second run did not show this finding again",))
    focus = focus_of(recording, source, block)
    chosen = rows_of(recording, focus)
    classes, silent = _classes(chosen.rows, focus, block)
    shown = _shown(classes)
    columns = [Column(_label(each.threads, block), each.cta, len(each.threads), each.part) for each in shown]
    steps = [_step(row, shown, focus, source) for row in chosen.rows]
    bars, more = _bars(recording, chosen.rows, shown, source)
    return replace(
        plain,
        accesses=accesses_of(finding, focus, block),
        columns=tuple(columns),
        steps=tuple(steps),
        bars=tuple(bars),
        left_out=tuple(_notes(chosen, len(classes) - len(shown), silent, more)),
    )


# ------------------------------------------------------------------------------------------------------ columns


@dataclass(frozen=True, slots=True)
class _Class:
    """Threads of a CTA that do the same in all rows. does: for each row 0 nothing, 1 takes part, 2 uses the bytes."""

    cta: Three
    threads: tuple[int, ...]
    does: tuple[int, ...]
    part: Part


def _classes(rows: Sequence[Row], focus: Focus, block: Three) -> tuple[list[_Class], int]:
    """The columns, by CTA and thread; and how many threads do nothing in any row."""
    count = block[0] * block[1] * block[2]
    named = {(focus.fault.cta, focus.thread): Part.FAULT}
    if focus.other is not None:
        named.setdefault((focus.other.cta, focus.other_thread), Part.OTHER)
    found: list[_Class] = []
    silent = 0
    for cta in dict.fromkeys(cta for cta, _ in named):
        does = numpy.zeros((len(rows), count), numpy.uint8)
        for at, row in enumerate(rows):
            if row.first.cta == cta:
                does[at, row.threads] = 1
                does[at, row.touching] = 2
        kinds, which = numpy.unique(does, axis=1, return_inverse=True)
        which = which.reshape(-1)
        for kind in range(kinds.shape[1]):
            column = tuple(int(each) for each in kinds[:, kind])
            threads = [int(each) for each in numpy.flatnonzero(which == kind)]
            alone = [each for each in threads if (cta, each) in named]
            found += [_Class(cta, (each,), column, named[cta, each]) for each in alone]
            rest = tuple(each for each in threads if (cta, each) not in named)
            if any(column) and rest:
                found.append(_Class(cta, rest, column, Part.NONE))
            else:
                silent += len(rest)
    return sorted(found, key=lambda each: (each.cta, each.threads[0])), silent


def _shown(classes: Sequence[_Class]) -> list[_Class]:
    """The columns that have room: those of the finding, then those that use its bytes, then the fullest."""
    best = sorted(classes, key=lambda each: (not each.part, 2 not in each.does, -len(each.threads)))
    kept = best[:MOST_COLUMNS]
    return [each for each in classes if each in kept]


def _label(threads: Sequence[int], block: Three) -> str:
    """`thread 33`, `warp 1`, `warps 2-3`, `threads 0-31, 33-63`, `96 of threads 0-127`."""
    if len(threads) == 1:
        flat = block[1] == block[2] == 1
        return f"thread {threads[0]}" if flat else f"thread {place_of(threads[0], block)}"
    cuts = [0, *(at for at in range(1, len(threads)) if threads[at] != threads[at - 1] + 1), len(threads)]
    ranges = [(threads[low], threads[high - 1]) for low, high in pairwise(cuts)]
    if len(ranges) == 1 and not threads[0] % WARP and not len(threads) % WARP:
        first, last = threads[0] // WARP, threads[-1] // WARP
        return f"warp {first}" if first == last else f"warps {first}-{last}"
    if len(ranges) > _RANGES:
        return f"{len(threads)} of threads {threads[0]}-{threads[-1]}"
    return "threads " + ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in ranges)


# -------------------------------------------------------------------------------------------------------- steps


def _step(row: Row, shown: Sequence[_Class], focus: Focus, source: SourceFile) -> Step:
    columns, touching = [], []
    taking, using = set(row.threads.tolist()), set(row.touching.tolist())
    for at, each in enumerate(shown):
        if each.cta == row.first.cta and each.threads[0] in taking:
            columns.append(at)
            if each.threads[0] in using:
                touching.append(at)
    line = source.position(row.offset)[0] if row.offset >= 0 else 0
    return Step(
        row.number,
        row.kind,
        line,
        row.text,
        _text(row, focus),
        tuple(columns),
        tuple(touching),
        row.part,
        row.left_out,
    )


def _text(row: Row, focus: Focus) -> str:
    """What happens, in words."""
    event = row.first
    if event.kind in (StepKind.ISSUE, StepKind.COMPLETE) and focus.bytes is not None and row.part:
        _, brought = values_of(event, focus.other_thread, focus.bytes)
        return event.detail if brought is None else f"{event.detail}; it brings {brought} to the bytes in question"
    if event.kind not in ACCESSES or event.pool is None:
        return event.detail
    if not row.part:
        return f"{event.kind}s these bytes" if len(row.touching) else event.detail
    if event is focus.fault and event is focus.other:
        return f"{_access(event, focus.thread, focus)}; thread {focus.other_thread}, too"
    return _access(event, focus.thread if row.part is Part.FAULT else focus.other_thread, focus)


def _access(event: Event, thread: int, focus: Focus) -> str:
    """What a thread does to the bytes of the finding, with their values."""
    old, new = values_of(event, thread, focus.bytes)
    does = {StepKind.READ: "reads", StepKind.WRITE: "writes", StepKind.UPDATE: "updates"}[event.kind]
    text = f"thread {thread} {does} {event.size} bytes"
    if old is None:
        return text
    return f"{text}: {old}" if event.kind is StepKind.READ else f"{text}: {old} becomes {new or 'something else'}"


def _bars(
    recording: Recording, rows: Sequence[Row], shown: Sequence[_Class], source: SourceFile
) -> tuple[list[Bar], int]:
    """The operations that begin in the picture, and how many more there are."""
    found = []
    over = {each.operation: each.number for each in recording.events if _is_over(each)}
    parts = {row.first.operation: row.part for row in rows if row.part}
    for first, row in enumerate(rows):
        if row.kind is not StepKind.ISSUE:
            continue
        end = over.get(row.first.operation)
        last = None if end is None or end > rows[-1].number else _at(rows, end)
        column = _column_of(row, shown)
        if column is not None:
            line = source.position(row.offset)[0]
            found.append(
                Bar(
                    row.text,
                    line,
                    column,
                    first,
                    last,
                    parts.get(row.first.operation, row.part),
                    is_complete=end is not None,
                )
            )
    best = sorted(found, key=lambda each: (not each.part, each.first))[:MOST_BARS]
    return [each for each in found if each in best], len(found) - len(best)


def _is_over(event: Event) -> bool:
    """Whether an operation is complete at last; it may be so for one thread after another."""
    whole = event.operation is not None and not event.operation.writing.any()
    return whole and event.kind is StepKind.COMPLETE


def _at(rows: Sequence[Row], number: int) -> int:
    """The last step that is not behind a moment."""
    return max(at for at, row in enumerate(rows) if row.number <= number)


def _column_of(row: Row, shown: Sequence[_Class]) -> int | None:
    """The column of a thread that issued an operation: best one whose bytes are those of the finding."""
    for threads in (set(row.touching.tolist()), set(row.threads.tolist())):
        for at, each in sorted(enumerate(shown), key=lambda pair: not pair[1].part):
            if each.cta == row.first.cta and each.threads[0] in threads:
                return at
    return None


def _notes(chosen: Chosen, columns: int, silent: int, bars: int) -> list[str]:
    """What the picture leaves out, in words."""
    between = sum(row.left_out for row in chosen.rows)
    counted = [
        (chosen.before, "step before the first one shown", "steps before the first one shown"),
        (between, "step in between", "steps in between"),
        (chosen.behind, "step behind the last one shown", "steps behind the last one shown"),
        (columns, "group of threads", "groups of threads"),
        (silent, "thread that does nothing in these steps", "threads that do nothing in these steps"),
        (bars, "asynchronous operation", "asynchronous operations"),
    ]
    notes = [f"{count} {one if count == 1 else many}" for count, one, many in counted if count]
    return [*notes, "accesses of other bytes, other CTAs, and instructions that use no memory"]
