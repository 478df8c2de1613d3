"""The chart of asynchronous operations as a table: bars at the left, the instruction and what it does at the right."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from ptxkit.records import dataclass, field
from ptxkit.report.style import visible
from ptxkit.report.trace_markup import tag, text
from ptxkit.report.transfers import cells
from ptxkit.report.view_lanes import MOST_LANES, MOST_LOOPS, MOST_ROWS, Bar, Chart, Row, chart
from ptxkit.report.view_marks import MEANINGS, SVG, sign
from ptxkit.source import SourceFile
from ptxkit.transfers import Transfer, Unit
from ptxkit.views import FunctionView, Happening, Sort

ROW, LANE, BAR, BRACKET = 38, 17, 11, 7
MIDDLE = ROW / 2
"""Pixels: the height of a row, the widths of a lane, of the bar in it, and of a loop's bracket."""
MOST_STATEMENT, MOST_TITLE = 76, 400
"""Characters of a statement that are shown, and of one that a pointer asks for."""

_LETTERS = {"group": "G", "bulk group": "B", "mbarrier": "M", "wgmma group": "W", "commit": "T", "nothing": "\u2013"}
_FAMILIES = (
    ("G", "cp.async group"),
    ("B", "bulk group"),
    ("M", "mbarrier"),
    ("W", "wgmma group"),
    ("T", "tcgen05: commit or wait"),
    ("\u2013", "nothing tells"),
)


@dataclass(frozen=True, slots=True)
class Found:
    """A finding in two words, `PTX401 error`, with its severity, and where it stands in the page."""

    words: str
    sort: str
    target: str


@dataclass(slots=True)
class _Cell:
    """What the lanes of one row hold, as markup, by bar."""

    parts: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    brackets: list[str] = field(default_factory=list)


def transfers_chart(
    source: SourceFile,
    function: FunctionView,
    everywhere: Mapping[int, Happening],
    found: Mapping[int, Sequence[Found]],
    name: str,
) -> str:
    """The chart with its legend, or a sentence that says why there is none.

    everywhere: what happens in all functions, by line. found: by line, links to what was found there. name: makes the
    bars' names unique.
    """
    drawn = chart(function, everywhere)
    if not drawn.rows:
        return tag("p", "Nothing here is asynchronous, and nothing synchronises.", class_="left")
    plan = _cells(drawn)
    rows = [_row(source, drawn, number, plan[number], found, name) for number in range(len(drawn.rows))]
    heads = ("line", "under way", "", "instruction, and what it does")
    head = tag("tr", *(tag("th", each, scope="col") for each in heads))
    table = tag("table", tag("thead", head), tag("tbody", *rows), class_="lanes")
    return _told(drawn) + _legend() + tag("div", table, class_="canvas")


def _told(drawn: Chart) -> str:
    count = sum(bar.count for bar in drawn.bars)
    words = [f"{count:,} asynchronous operation{'' if count == 1 else 's'}"]
    lost = sum(bar.count for bar in drawn.bars if bar.is_known and bar.is_open and _tells(bar.transfer))
    unknown = sum(bar.count for bar in drawn.bars if not bar.is_known)
    if lost:
        words.append(f"{lost:,} without a wait that the analysis saw")
    if unknown:
        words.append(f"{unknown:,} that no walk of the analysis reached (undecided)")
    said = tag("p", text(f"{', '.join(words)}. Bars go from the issue to the wait."), class_="how")
    left = []
    if drawn.left_rows:
        left.append(f"{drawn.left_rows:,} rows further down ({MOST_ROWS:,} are shown)")
    if drawn.left_bars:
        left.append(f"{drawn.left_bars:,} bars ({MOST_LANES} are drawn side by side)")
    return said + (tag("p", text(f"Left out: {'; '.join(left)}."), class_="left") if left else "")


def _tells(transfer: Transfer) -> bool:
    return transfer.completion.mechanism not in ("nothing", "at once")


# ---------------------------------------------------------------------------------------------------------- rows


def _row(
    source: SourceFile, drawn: Chart, number: int, cell: _Cell, found: Mapping[int, Sequence[Found]], name: str
) -> str:
    row = drawn.rows[number]
    own = next((at for at, bar in enumerate(drawn.bars) if bar.issue == number), None) if row.transfer else None
    happening = row.happening
    sort = happening.sort if happening is not None else Sort.ISSUE
    statement = " ".join(visible(source.line_text(row.first)).split())
    statement = statement[: statement.rfind(";") + 1] or statement  # without what a comment says behind it
    shown = statement if len(statement) <= MOST_STATEMENT else f"{statement[: MOST_STATEMENT - 1]}\u2026"
    more = tag("b", f" \u00d7{row.count}", class_="times") if row.count > 1 else ""
    lines = str(row.first) if row.count == 1 else f"{row.first}\u2013{row.last}"
    width = BRACKET * MOST_LOOPS + LANE * drawn.lanes + 4
    groups = [tag("g", *parts, data_bar=f"{name}-{at}") for at, parts in cell.parts.items()]
    lanes = tag(
        "svg",
        *cell.brackets,
        *groups,
        xmlns=SVG,
        width=width,
        height=ROW,
        viewBox=f"0 0 {width} {ROW}",
        aria_hidden="true",
    )
    words = _issue_words(row) if row.transfer is not None else text(happening.words if happening is not None else "")
    return tag(
        "tr",
        tag("td", tag("a", lines, href=f"#L{row.first}"), class_="at"),
        tag("td", lanes, class_="bars"),
        tag("td", sign(sort), tag("span", str(sort), class_="sr"), class_="mk"),
        tag(
            "td",
            tag("div", text(shown), more, class_="mono", title=statement[:MOST_TITLE] if shown != statement else None),
            tag("div", words, *_tags(row, found), class_="wd") if words or _tags(row, found) else "",
        ),
        class_=str(sort),
        data_bar=f"{name}-{own}" if own is not None else None,
    )


def _tags(row: Row, found: Mapping[int, Sequence[Found]]) -> list[str]:
    """Links to what was found on the row's lines, the first of each kind."""
    links = [each for line in row.lines for each in found.get(line, ())]
    kinds: dict[str, list[Found]] = {}
    for each in links:
        kinds.setdefault(each.words, []).append(each)
    return [_link(each[0], len(each)) for each in kinds.values()]


def _link(found: Found, count: int) -> str:
    more = f" \u00d7{count}" if count > 1 else ""
    return " " + tag("a", text(found.words + more), href=found.target, class_=f"found {found.sort}")


def _issue_words(row: Row) -> str:
    transfer = row.transfer
    assert transfer is not None
    moves, _, size, completion, waits, _ = cells(transfer)
    bytes_ = f"{size} bytes" if transfer.size.number is not None else size
    parts = [moves.replace("->", "\u2192")]
    if transfer.operation == "product":
        parts[0] = f"multiplies out of {transfer.source}, into {transfer.destination}"
    else:
        parts.append(bytes_ if transfer.unit is not Unit.TENSOR else "a box of a tensor map")
    parts.append(f"by {completion}" if _tells(transfer) else "nothing tells of its end")
    said = text(", ".join(parts))
    if not transfer.reached:
        return said + tag("em", "; undecided: no walk reached it", class_="undecided")
    if _tells(transfer) and not transfer.waits:
        return said + tag("em", f"; {waits}", class_="lost")
    return said + (text(f"; waited for at {waits}") if transfer.waits else "")


# --------------------------------------------------------------------------------------------------------- lanes


def _cells(drawn: Chart) -> list[_Cell]:
    cells_ = [_Cell() for _ in drawn.rows]
    for first, last, depth in drawn.loops:
        x = BRACKET * depth + 3.5
        for row in range(first, last + 1):
            top, bottom = (7 if row == first else 0), (ROW - 7 if row == last else ROW)
            path = f"M{x} {top} V{bottom}"
            if row == first:
                path = f"M{x + 4} {top} H{x} V{bottom}"
            if row == last:
                path = f"M{x} {top} V{bottom} H{x + 4}" if row != first else f"M{x + 4} {top} H{x} V{bottom} H{x + 4}"
            cells_[row].brackets.append(tag("path", d=path, class_="loop"))
    for number, bar in enumerate(drawn.bars):
        for row, markup in _bar(bar, len(drawn.rows)):
            cells_[row].parts[number].append(markup)
    return cells_


def _bar(bar: Bar, rows: int) -> Iterator[tuple[int, str]]:
    """(row, markup) of a bar's parts, those that lie below others first."""
    x = BRACKET * MOST_LOOPS + LANE * bar.lane + LANE / 2
    sort = "product" if bar.transfer.operation == "product" else "copy"
    sort += "" if bar.is_known else " unknown"
    for row in sorted(set(bar.fences)):
        yield from _thread(x, row, bar)
    for kind, spans in (("tail", bar.tails), ("", bar.spans)):
        for row, (top, bottom) in _covered(bar, spans).items():
            yield row, _piece(x, top, bottom, f"{sort} {kind}".strip())
    for first, last in bar.spans:
        if last not in (*bar.waits, *bar.reads):
            yield last, tag("path", class_="on", d=f"M{x - 5} {ROW - 6} l5 5 l5 -5")
        if first != bar.issue:
            yield first, tag("path", class_="on", d=f"M{x - 5} 1 l5 5 l5 -5")
    if bar.is_open:
        yield from _open_end(x, bar, rows, sort)
    for row in bar.commits:
        yield row, tag("path", class_="tick commit", d=f"M{x} {MIDDLE - 5} l5 5 l-5 5 l-5 -5 Z")
    for row in bar.fences:
        yield row, tag("path", class_="tick fence", d=f"M{x - 6} {MIDDLE - 2} h12 M{x - 6} {MIDDLE + 2} h12")
    for row in bar.reads:
        yield row, tag("circle", class_="tick read", cx=x, cy=MIDDLE, r=4)
    for row in bar.waits:
        yield row, tag("path", class_="tick wait", d=f"M{x - 7} {MIDDLE} h14")
    letter = _LETTERS.get(bar.transfer.completion.mechanism, "T")
    head = tag("rect", class_=f"head {sort}", x=x - 7, y=MIDDLE - 8, width=14, height=16, rx=3)
    yield bar.issue, head + tag("text", letter, x=x, y=MIDDLE + 4, text_anchor="middle", class_=f"letter {sort}")


def _covered(bar: Bar, spans: Sequence[tuple[int, int]]) -> dict[int, tuple[float, float]]:
    """By row: the part of it on which the bar is drawn, from and to; once, where spans overlap."""
    ends = (*bar.waits, *bar.reads)
    found: dict[int, tuple[float, float]] = {}
    for first, last in spans:
        for row in range(first, last + 1):
            top = MIDDLE if row == first and row in (bar.issue, *ends) and first != last else 0.0
            bottom = MIDDLE if row == last and row in ends else float(ROW)
            before = found.get(row, (top, bottom))
            found[row] = min(top, before[0]), max(bottom, before[1])
    return found


def _piece(x: float, top: float, bottom: float, sort: str) -> str:
    return tag("rect", class_=f"bar {sort}", x=x - BAR / 2, y=top, width=BAR, height=bottom - top)


def _open_end(x: float, bar: Bar, rows: int, sort: str) -> Iterator[tuple[int, str]]:
    """A bar that nobody is known to wait for goes on for a row, and ends in a point."""
    half = BAR / 2
    yield bar.issue, _piece(x, MIDDLE, ROW, f"{sort} open")
    if bar.issue + 1 < rows:
        path = f"M{x - half} 0 H{x + half} V9 L{x} 20 L{x - half} 9 Z"
        yield bar.issue + 1, tag("path", class_=f"bar {sort} open", d=path)


def _thread(x: float, fence: int, bar: Bar) -> Iterator[tuple[int, str]]:
    """A dotted line between a fence and the nearest end of the bar that it is for."""
    ends = [bar.issue, *(row for span in bar.spans for row in span)]
    if min(ends) <= fence <= max(ends):
        return
    end = min(ends, key=lambda each: abs(each - fence))
    first, last = min(fence, end), max(fence, end)
    for row in range(first, last + 1):
        top = MIDDLE if row == first else 0
        bottom = MIDDLE if row == last else ROW
        yield row, tag("path", class_="thread", d=f"M{x} {top:g} V{bottom:g}")


# -------------------------------------------------------------------------------------------------------- legend


def _legend() -> str:
    sorts = [tag("li", sign(sort), text(meaning)) for sort, meaning in MEANINGS.items()]
    letters = [tag("li", tag("b", letter, class_="key"), text(meaning)) for letter, meaning in _FAMILIES]
    drawn = [
        tag("li", _sample(markup), text(meaning))
        for markup, meaning in (
            (tag("rect", class_="bar copy", x=2, y=1, width=18, height=10), "under way"),
            (tag("rect", class_="bar copy tail", x=2, y=1, width=18, height=10), "until the last of several waits"),
            (tag("rect", class_="bar product", x=2, y=1, width=18, height=10), "a multiplication under way"),
            (tag("path", class_="tick wait", d="M2 6 h18"), "waited for"),
            (tag("circle", class_="tick read", cx=11, cy=6, r=4), "source read, no more"),
            (tag("path", class_="bar copy open", d="M2 1 H12 L20 6 L12 11 H2 Z"), "no wait known"),
            (tag("rect", class_="bar copy unknown", x=2, y=1, width=18, height=10), "undecided"),
            (tag("path", class_="loop", d="M8 1 H3 V11 H8"), "loop"),
            (tag("path", class_="on", d="M6 3 l5 5 l5 -5"), "goes on at the loop's beginning"),
        )
    ]
    lists = (tag("ul", *each, class_="legend") for each in (drawn, letters, sorts))
    return tag("details", tag("summary", "What the marks mean"), *lists, class_="key")


def _sample(markup: str) -> str:
    return tag("svg", markup, xmlns=SVG, width=22, height=12, viewBox="0 0 22 12", aria_hidden="true")
