"""The bars of a chart, row by row: each row of the table holds its part of every bar that passes it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from ptxkit.model.transfer import Transfer
from ptxkit.report.markup import tag
from ptxkit.report.view_lanes import AsyncChart, ChartBar
from ptxkit.report.view_marks import SVG

ROW, BRACKET = 52, 7
MIDDLE = ROW / 2
WIDE_LANE, NARROW_LANE, LANES_WIDTH = 17, 10, 200
"""Pixels: the height of a row, the width of a loop's bracket, the maximum and minimum width of a lane, the width of all
lanes."""

LETTERS = {"group": "G", "bulk group": "B", "mbarrier": "M", "wgmma group": "W", "nothing": "\u2013"}
TENSOR = "T"
"""The letter of each completion mechanism, drawn at the head of a bar."""


def has_completion(transfer: Transfer) -> bool:
    """Whether anything signals the completion of a transfer."""
    return transfer.completion.mechanism not in ("nothing", "at once")


class LaneDrawing:
    """The drawings of the rows of a chart."""

    def __init__(self, drawn: AsyncChart) -> None:
        lane = max(min(LANES_WIDTH / max(drawn.lanes, 1), WIDE_LANE), NARROW_LANE)
        self._lane = int(lane)
        left = BRACKET * (1 + max((depth for _, _, depth in drawn.loops), default=-1)) + 2
        self._width = left + self._lane * drawn.lanes + 4
        self._brackets: list[list[str]] = [[] for _ in drawn.rows]
        self._parts: list[dict[int, list[str]]] = [defaultdict(list) for _ in drawn.rows]
        for first, last, depth in drawn.loops:
            for row in range(first, last + 1):
                self._brackets[row].append(_bracket(BRACKET * depth + 3.5, row == first, row == last))
        for number, bar in enumerate(drawn.bars):
            shape = _BarShape(left + self._lane * (bar.lane + 0.5), self._lane, bar)
            for row, markup in shape.parts(len(drawn.rows)):
                self._parts[row][number].append(markup)

    def draw_row(self, row: int, name: str) -> str:
        """The drawing of one row. name: of the chart; the names of its bars begin with it."""
        groups = [tag("g", *parts, data_bar=f"{name}-{at}") for at, parts in self._parts[row].items()]
        size = {"width": self._width, "height": ROW, "viewBox": f"0 0 {self._width} {ROW}"}
        return tag("svg", *self._brackets[row], *groups, xmlns=SVG, aria_hidden="true", **size)


def _bracket(x: float, is_first: bool, is_last: bool) -> str:
    top, bottom = 7 if is_first else 0, ROW - 7 if is_last else ROW
    begin = f"M{x + 4} {top} H{x}" if is_first else f"M{x} {top}"
    return tag("path", d=f"{begin} V{bottom}{f' H{x + 4}' if is_last else ''}", class_="loop")


class _BarShape:
    """One bar. x: of its center; lane: its maximum width."""

    def __init__(self, x: float, lane: int, bar: ChartBar) -> None:
        self._x = x
        self._head_width = min(lane - 2, 14)
        self._half_width = min(lane - 4, 11) / 2
        self._bar = bar
        kind = "product" if bar.transfer.operation == "product" else "copy"
        self._css_class = kind if bar.is_known else f"{kind} unknown"

    def parts(self, rows: int) -> Iterator[tuple[int, str]]:
        """(row, markup), in drawing order."""
        bar = self._bar
        for row in bar.fences:
            yield from self._fence_line(row)
        for kind, spans in (("tail", bar.tails), ("", bar.spans)):
            for row, (top, bottom) in self._covered_rows(spans).items():
                yield row, self._segment(top, bottom, kind)
        yield from self._loop_marks()
        if bar.is_open:
            yield from self._open_end(rows)
        yield from self._ticks()
        yield bar.issue, self._head()

    def _segment(self, top: float, bottom: float, kind: str) -> str:
        sort = f"bar {self._css_class} {kind}".rstrip()
        x, width = self._x - self._half_width, 2 * self._half_width
        return tag("rect", class_=sort, x=f"{x:g}", y=f"{top:g}", width=f"{width:g}", height=f"{bottom - top:g}")

    def _covered_rows(self, spans: Sequence[tuple[int, int]]) -> dict[int, tuple[float, float]]:
        """By row: the part of it that the bar covers, as (from, to); once for overlapping spans."""
        ends = (*self._bar.waits, *self._bar.reads)
        found: dict[int, tuple[float, float]] = {}
        for first, last in spans:
            for row in range(first, last + 1):
                top = MIDDLE if row == first and row in (self._bar.issue, *ends) and first != last else 0.0
                bottom = MIDDLE if row == last and row in ends else float(ROW)
                before = found.get(row, (top, bottom))
                found[row] = min(top, before[0]), max(bottom, before[1])
        return found

    def _loop_marks(self) -> Iterator[tuple[int, str]]:
        """Where a loop ends, and where it begins again."""
        bar = self._bar
        for first, last in bar.spans:
            if last not in (*bar.waits, *bar.reads):
                yield last, tag("path", class_="on", d=f"M{self._x - 4:g} {ROW - 5} l4 4 l4 -4")
            if first != bar.issue and first not in (*bar.waits, *bar.reads):
                yield first, tag("path", class_="on", d=f"M{self._x - 4:g} 1 l4 4 l4 -4")

    def _open_end(self, rows: int) -> Iterator[tuple[int, str]]:
        """A bar without a known wait continues for a row, and ends in a point."""
        issue, x, half = self._bar.issue, self._x, self._half_width
        yield issue, self._segment(MIDDLE, ROW, "open")
        if issue + 1 < rows:
            path = f"M{x - half:g} 0 H{x + half:g} V9 L{x:g} 20 L{x - half:g} 9 Z"
            yield issue + 1, tag("path", class_=f"bar {self._css_class} open", d=path)

    def _ticks(self) -> Iterator[tuple[int, str]]:
        x, half = self._x, self._head_width / 2
        for row in self._bar.commits:
            yield row, tag("path", class_="tick commit", d=f"M{x:g} {MIDDLE - 4:g} l4 4 l-4 4 l-4 -4 Z")
        for row in self._bar.fences:
            lines = " ".join(f"M{x - half:g} {MIDDLE + off:g} h{2 * half:g}" for off in (-2, 2))
            yield row, tag("path", class_="tick fence", d=lines)
        for row in self._bar.reads:
            yield row, tag("circle", class_="tick read", cx=f"{x:g}", cy=f"{MIDDLE:g}", r=min(half, 4))
        for row in self._bar.waits:
            yield row, tag("path", class_="tick wait", d=f"M{x - half:g} {MIDDLE:g} h{2 * half:g}")

    def _fence_line(self, fence: int) -> Iterator[tuple[int, str]]:
        """A dotted line between a fence and the nearest end of its bar."""
        ends = [self._bar.issue, *(row for span in self._bar.spans for row in span)]
        if min(ends) <= fence <= max(ends):
            return
        end = min(ends, key=lambda each: abs(each - fence))
        first, last = min(fence, end), max(fence, end)
        for row in range(first, last + 1):
            top = MIDDLE if row == first else 0
            bottom = MIDDLE if row == last else ROW
            yield row, tag("path", class_="thread", d=f"M{self._x:g} {top:g} V{bottom:g}")

    def _head(self) -> str:
        """A box with the letter of the completion mechanism."""
        letter = LETTERS.get(self._bar.transfer.completion.mechanism, TENSOR)
        x = f"{self._x - self._head_width / 2:g}"
        box = tag(
            "rect", class_=f"head {self._css_class}", x=x, y=f"{MIDDLE - 8:g}", width=self._head_width, height=16, rx=3
        )
        words = {"x": f"{self._x:g}", "y": f"{MIDDLE + 4:g}", "text_anchor": "middle"}
        small = " small" if self._head_width < 12 else ""
        return box + tag("text", letter, class_=f"letter {self._css_class}{small}", **words)
