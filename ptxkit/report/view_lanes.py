"""The asynchronous operations of a function as bars along its program: issues, commits, waits, fences.

The rows are the lines that synchronize, in the order of the text; equal neighbors are merged. A bar extends from the
row of the issue to the row of the wait; if that is further up, in a loop, the bar continues at the beginning of the
loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.model.transfer import Transfer, Unit
from ptxkit.model.view import AsyncOp, FunctionView, LoopView
from ptxkit.report.limits import MAX_FENCE_DISTANCE, MAX_LANES, MAX_LOOP_BRACKETS, MAX_ROWS


@dataclass(frozen=True, slots=True)
class ChartRow:
    """Equal neighboring lines in the chart. happening: of the first one. transfer: that it issues."""

    first: int
    last: int
    count: int
    happening: AsyncOp | None
    transfer: Transfer | None = None
    lines: tuple[int, ...] = ()

    @property
    def threads(self) -> str:
        """Those that execute it, in words."""
        return self.happening.threads if self.happening is not None else ""


@dataclass(frozen=True, slots=True)
class ChartBar:
    """An operation in flight. lane: its column from the left. issue: its row. spans: pairs of rows, from the middle of
    the first to the middle of the last, during which it is in flight; tails: after the first of several waits. waits,
    reads: the rows that wait for it, and for its source only. commits, fences: rows. is_open: no wait is known;
    is_known: the analysis reached it.
    threads: those that issue it, in words."""

    issue: int
    transfer: Transfer
    count: int
    spans: tuple[tuple[int, int], ...]
    tails: tuple[tuple[int, int], ...]
    waits: tuple[int, ...]
    reads: tuple[int, ...]
    commits: tuple[int, ...]
    fences: tuple[int, ...]
    threads: str = ""
    lane: int = 0

    @property
    def is_known(self) -> bool:
        return self.transfer.reached

    @property
    def is_open(self) -> bool:
        return not self.waits and not self.reads

    @property
    def extent(self) -> tuple[int, int]:
        """The first and the last row that it occupies in its lane."""
        rows = [self.issue, *self.fences, *self.commits, *(row for span in (*self.spans, *self.tails) for row in span)]
        return min(rows), max(rows) + (1 if self.is_open else 0)


@dataclass(frozen=True, slots=True)
class AsyncChart:
    """omitted_rows, omitted_bars: the number that exceeds the limits. loops: (first row, last row, depth)."""

    rows: tuple[ChartRow, ...] = ()
    bars: tuple[ChartBar, ...] = ()
    loops: tuple[tuple[int, int, int], ...] = ()
    lanes: int = 0
    omitted_rows: int = 0
    omitted_bars: int = 0


def build_chart(function: FunctionView, everywhere: Mapping[int, AsyncOp]) -> AsyncChart:
    """The chart of a function. everywhere: the operations of all functions, which it may call, by line."""
    rows = _rows(function, everywhere)
    left = max(len(rows) - MAX_ROWS, 0)
    rows = rows[:MAX_ROWS]
    place = {line: number for number, row in enumerate(rows) for line in row.lines}
    bars = [_bar(number, row, row.transfer, place, function.loops) for number, row in enumerate(rows) if row.transfer]
    drawn, lanes = _assign_lanes(bars)
    loops = tuple(_loop_brackets(function.loops, rows))
    return AsyncChart(tuple(rows), tuple(drawn), loops, lanes, left, len(bars) - len(drawn))


def _rows(function: FunctionView, everywhere: Mapping[int, AsyncOp]) -> list[ChartRow]:
    transfers = function.transfers.transfers if function.transfers is not None else ()
    issued = {each.line: each for each in transfers if each.unit is not Unit.PLAIN}
    wanted = {each.line: each for each in function.async_ops}
    for each in issued.values():
        for line in _lines_of(each):
            if line not in wanted and line in everywhere:
                wanted[line] = everywhere[line]
    found: list[ChartRow] = []
    keys: list[object] = []
    for line in sorted({*wanted, *issued}):
        row = ChartRow(line, line, 1, wanted.get(line), issued.get(line), (line,))
        key = _key(row, function.loops)
        if found and keys[-1] == key:
            before = found[-1]
            found[-1] = replace(before, last=line, count=before.count + 1, lines=(*before.lines, line))
        else:
            found.append(row)
            keys.append(key)
    return found


def _lines_of(transfer: Transfer) -> Iterator[int]:
    yield transfer.line
    yield from transfer.completion.lines
    yield from (wait.line for wait in transfer.waits)
    yield from (fence.line for fence in transfer.fences if fence.line is not None)


def _key(row: ChartRow, loops: Sequence[LoopView]) -> object:
    """The properties that neighbors must have in common to be merged."""
    around = [number for number, loop in enumerate(loops) if loop.first <= row.first <= loop.last]
    what = row.transfer
    if what is not None:
        key = (what.operation, what.source, what.destination, what.unit, what.completion, what.waits, what.fences)
        return (*key, what.reached, what.variable, what.size, row.threads, around)
    if row.happening is None:
        return row.first
    return (row.happening.category, row.happening.opcode, row.happening.description, row.threads, around)


def _bar(
    issue: int, row: ChartRow, transfer: Transfer, place: Mapping[int, int], loops: Sequence[LoopView]
) -> ChartBar:
    full = [place[wait.line] for wait in transfer.waits if not wait.reads_only and wait.line in place]
    reads = [place[wait.line] for wait in transfer.waits if wait.reads_only and wait.line in place]
    spans: list[tuple[int, int]] = []
    tails: list[tuple[int, int]] = []
    last = full or reads
    later = sorted({each for each in last if each > issue})
    earlier = sorted({each for each in last if each <= issue})
    if later:
        spans.append((issue, later[0]))
        if later[-1] > later[0]:
            tails.append((later[0], later[-1]))
    if earlier:
        held = [row.first, min(line for line, at in place.items() if at == earlier[0])]
        loop = _loop_containing([*held, *transfer.completion.lines], loops) or _loop_containing(held, loops)
        inside = sorted(at for line, at in place.items() if loop and loop.first <= line <= loop.last)
        if inside:
            spans.append((issue, max(inside[-1], issue)))
            spans.append((min(inside[0], earlier[0]), earlier[-1]))
        else:
            spans.append((earlier[0], issue))
    ends = [issue, *(end for span in spans for end in span)]
    near = range(min(ends) - MAX_FENCE_DISTANCE, max(ends) + MAX_FENCE_DISTANCE + 1)
    lines = [each.line for each in transfer.fences if each.line is not None]
    fences = tuple(sorted({place[line] for line in lines if line in place and place[line] in near}))
    commits = tuple(sorted({place[line] for line in transfer.completion.lines if line in place}))
    return ChartBar(
        issue,
        transfer,
        row.count,
        tuple(spans),
        tuple(tails),
        tuple(sorted(set(full))),
        tuple(sorted(set(reads))),
        commits,
        fences,
        row.threads,
    )


def _loop_containing(lines: Sequence[int], loops: Sequence[LoopView]) -> LoopView | None:
    """The innermost loop that contains these lines."""
    low, high = min(lines), max(lines)
    holding = [each for each in loops if each.first <= low and high <= each.last]
    return min(holding, key=lambda each: each.last - each.first, default=None)


def _assign_lanes(bars: Sequence[ChartBar]) -> tuple[list[ChartBar], int]:
    """Assigns each bar a lane, side by side those of the same threads, and of these the first free one; bars without
    one are omitted."""
    drawn: list[ChartBar] = []
    lanes = 0
    for threads in dict.fromkeys(bar.threads for bar in bars):
        free: list[int] = []
        for bar in sorted((each for each in bars if each.threads == threads), key=lambda each: each.extent):
            low, high = bar.extent
            lane = next((number for number, end in enumerate(free) if end < low), len(free))
            if lanes + lane >= MAX_LANES:
                continue
            if lane == len(free):
                free.append(-1)
            free[lane] = high
            drawn.append(replace(bar, lane=lanes + lane))
        lanes += len(free)
    return sorted(drawn, key=lambda each: each.issue), lanes


def _loop_brackets(loops: Sequence[LoopView], rows: Sequence[ChartRow]) -> Iterator[tuple[int, int, int]]:
    """The loops that contain rows: their first and last row, and their nesting depth."""
    seen: list[tuple[int, int]] = []
    for loop in sorted(loops, key=lambda each: (each.first, -each.last)):
        inside = [number for number, row in enumerate(rows) if loop.first <= row.first <= loop.last]
        if inside:
            depth = sum(first <= loop.first and loop.last <= last for first, last in seen)
            seen.append((loop.first, loop.last))
            if depth < MAX_LOOP_BRACKETS:
                yield inside[0], inside[-1], depth
