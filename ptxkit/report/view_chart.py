"""The chart of asynchronous operations as a table: bars at the left, the instruction and its description at the
right."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ptxkit.fast_dataclasses import dataclass
from ptxkit.model.transfer import Unit
from ptxkit.model.view import AsyncOp, AsyncOpCategory, FunctionView
from ptxkit.report.limits import MAX_LANES, MAX_ROWS, MAX_STATEMENT_CHARS, MAX_TITLE_CHARS
from ptxkit.report.markup import escape_markup, tag
from ptxkit.report.transfer_table import cells
from ptxkit.report.view_bars import LaneDrawing, has_completion
from ptxkit.report.view_lanes import AsyncChart, ChartRow, build_chart
from ptxkit.report.view_marks import CATEGORY_WORDS, SVG, inline_mark
from ptxkit.source import SourceFile
from ptxkit.untrusted_text import escape_text

_VECTOR = re.compile(r"\{ *([^{},]+)(?:,[^{},]+){3,},([^{},]+)\}")
_FAMILIES = (
    ("G", "cp.async group"),
    ("B", "bulk group"),
    ("M", "mbarrier"),
    ("W", "wgmma group"),
    ("T", "tcgen05: commit or wait"),
    ("\u2013", "no completion mechanism"),
)


@dataclass(frozen=True, slots=True)
class FindingLink:
    """A link to a finding: its label, such as `PTX401 error`, its severity, and its target in the page."""

    label: str
    severity: str
    target: str


def transfers_chart(
    source: SourceFile,
    function: FunctionView,
    everywhere: Mapping[int, AsyncOp],
    found: Mapping[int, Sequence[FindingLink]],
    name: str,
) -> str:
    """The chart with its legend, or a sentence about why none exists.

    everywhere: the operations of all functions, by line. found: links to the findings, by line. name: makes the names
    of the bars unique.
    """
    drawn = build_chart(function, everywhere)
    if not drawn.rows:
        return tag("p", "This function has no asynchronous operation and no synchronization.", class_="left")
    lanes = LaneDrawing(drawn)
    rows = [_row(source, drawn, number, lanes, found, name) for number in range(len(drawn.rows))]
    heads = ["line", "in flight", "threads", "", "instruction, and what it does"]
    if not any(row.threads for row in drawn.rows):
        heads.remove("threads")
    head = tag("tr", *(tag("th", each, scope="col") for each in heads))
    table = tag("table", tag("thead", head), tag("tbody", *rows), class_="lanes")
    return _chart_description(drawn) + _legend() + tag("div", table, class_="canvas")


def _chart_description(drawn: AsyncChart) -> str:
    count = sum(bar.count for bar in drawn.bars)
    words = [f"{count:,} asynchronous operation{'' if count == 1 else 's'}"]
    lost = sum(bar.count for bar in drawn.bars if bar.is_known and bar.is_open and has_completion(bar.transfer))
    unknown = sum(bar.count for bar in drawn.bars if not bar.is_known)
    if lost:
        words.append(f"{lost:,} for which the analysis found no wait")
    if unknown:
        words.append(f"{unknown:,} that the analysis did not reach (undecided)")
    legend = tag(
        "p",
        escape_markup(
            f"{', '.join(words)}. Bars go from the issue to the wait, those of the same threads side by side."
        ),
        class_="how",
    )
    left = []
    if drawn.omitted_rows:
        left.append(f"{drawn.omitted_rows:,} more rows ({MAX_ROWS:,} are shown)")
    if drawn.omitted_bars:
        left.append(f"{drawn.omitted_bars:,} bars ({MAX_LANES} are drawn side by side)")
    return legend + (tag("p", escape_markup(f"Left out: {'; '.join(left)}."), class_="left") if left else "")


# ---------------------------------------------------------------------------------------------------------- rows


def _row(
    source: SourceFile,
    drawn: AsyncChart,
    number: int,
    lanes: LaneDrawing,
    found: Mapping[int, Sequence[FindingLink]],
    name: str,
) -> str:
    row = drawn.rows[number]
    own = next((at for at, bar in enumerate(drawn.bars) if bar.issue == number), None) if row.transfer else None
    happening = row.happening
    sort = happening.category if happening is not None else AsyncOpCategory.ISSUE
    statement = " ".join(escape_text(source.line_text(row.first)).split())
    statement = statement[: statement.rfind(";") + 1] or statement  # without the comment after it
    shown = _shorten(statement)
    more = tag("b", f" \u00d7{row.count}", class_="times") if row.count > 1 else ""
    lines = str(row.first) if row.count == 1 else f"{row.first}\u2013{row.last}"
    words = (
        _describe_issue(row)
        if row.transfer is not None
        else escape_markup(happening.description if happening is not None else "")
    )
    return tag(
        "tr",
        tag("td", tag("a", lines, href=f"#L{row.first}"), class_="at"),
        tag("td", lanes.draw_row(number, name), class_="bars"),
        tag("td", escape_markup(row.threads), class_="who") if any(each.threads for each in drawn.rows) else "",
        tag("td", inline_mark(sort), tag("span", str(sort), class_="sr"), class_="mk"),
        tag(
            "td",
            tag(
                "div",
                escape_markup(shown),
                more,
                class_="mono",
                title=statement[:MAX_TITLE_CHARS],
            ),
            tag("div", *_finding_tags(row, found), words, class_="wd") if words or _finding_tags(row, found) else "",
            class_="what",
        ),
        class_=str(sort),
        data_from=row.first,
        data_to=row.last,
        data_bar=f"{name}-{own}" if own is not None else None,
    )


def _finding_tags(row: ChartRow, found: Mapping[int, Sequence[FindingLink]]) -> list[str]:
    """Links to the findings on the lines of the row, the first of each kind."""
    links = [each for line in row.lines for each in found.get(line, ())]
    kinds: dict[str, list[FindingLink]] = {}
    for each in links:
        kinds.setdefault(each.label, []).append(each)
    return [_link(each[0], len(each)) for each in kinds.values()]


def _link(found: FindingLink, count: int) -> str:
    more = f" \u00d7{count}" if count > 1 else ""
    return tag("a", escape_markup(found.label + more), href=found.target, class_=f"found {found.severity}") + ". "


def _describe_issue(row: ChartRow) -> str:
    """Source, destination, size, completion mechanism, and the lines of the waits and fences."""
    transfer = row.transfer
    assert transfer is not None
    moves, _, size, completion, waits, fences = cells(transfer)
    if transfer.operation == "product":
        parts = [f"product of {transfer.source} into {transfer.destination}"]
    else:
        bytes_ = f"{size} bytes" if transfer.size.number is not None else size
        parts = [moves.replace("->", "\u2192"), "tensor box" if transfer.unit is Unit.TENSOR else bytes_]
    parts.append(completion if has_completion(transfer) else "nothing signals its completion")
    if fences not in ("-", "none"):
        parts.append(f"fenced at {fences}")
    legend = escape_markup(", ".join(parts))
    if not transfer.reached:
        return legend + tag("em", ", undecided: not reached by the analysis", class_="undecided")
    if has_completion(transfer) and not transfer.waits:
        return legend + tag("em", f", {waits}", class_="lost")
    return legend + (escape_markup(f", waited for at {waits}") if transfer.waits else "")


def _shorten(statement: str) -> str:
    """The statement with long vectors abbreviated, so that the following operands are visible."""
    words = _VECTOR.sub("{\\1, \u2026, \\2}", statement)
    return words if len(words) <= MAX_STATEMENT_CHARS else f"{words[: MAX_STATEMENT_CHARS - 1]}\u2026"


# -------------------------------------------------------------------------------------------------------- legend


def _legend() -> str:
    sorts = [tag("li", inline_mark(sort), escape_markup(meaning)) for sort, meaning in CATEGORY_WORDS.items()]
    letters = [tag("li", tag("b", letter, class_="key"), escape_markup(meaning)) for letter, meaning in _FAMILIES]
    drawn = [
        tag("li", _sample(markup), escape_markup(meaning))
        for markup, meaning in (
            (tag("rect", class_="bar copy", x=2, y=1, width=18, height=10), "in flight"),
            (
                tag("rect", class_="bar copy tail", x=2, y=1, width=18, height=10),
                "in flight until the last of several waits",
            ),
            (tag("rect", class_="bar product", x=2, y=1, width=18, height=10), "a matrix multiplication in flight"),
            (tag("path", class_="tick wait", d="M2 6 h18"), "waited for"),
            (tag("circle", class_="tick read", cx=11, cy=6, r=4), "wait for the read of the source only"),
            (tag("path", class_="bar copy open", d="M2 1 H12 L20 6 L12 11 H2 Z"), "no wait known"),
            (tag("rect", class_="bar copy unknown", x=2, y=1, width=18, height=10), "undecided"),
            (tag("path", class_="loop", d="M8 1 H3 V11 H8"), "loop"),
            (tag("path", class_="on", d="M6 3 l5 5 l5 -5"), "continues at the beginning of the loop"),
        )
    ]
    lists = (tag("ul", *each, class_="legend") for each in (drawn, letters, sorts))
    return tag("details", tag("summary", "What the marks mean"), *lists, class_="key")


def _sample(markup: str) -> str:
    return tag("svg", markup, xmlns=SVG, width=22, height=12, viewBox="0 0 22 12", aria_hidden="true")
