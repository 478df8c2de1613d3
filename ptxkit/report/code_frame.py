"""Code frames: the lines that a diagnostic is about, with the text of each label.

    104 |   st.shared.f32 [%r35], %f1;        generic write of tile, every thread
    118 |   bar.sync 0;                       orders the threads, not the proxies
    128 |   cp.async.bulk.shared::cluster.global ...

Lines are in the order of the file; labels are in one column to their right. A line may be half a megabyte
long, so a window of it is cut out around the place before anything else is done with it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.diagnostics import Label
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.report.style import Line, TextRole
from ptxkit.source import SourceFile, Span
from ptxkit.untrusted_text import escape_text

TAB_INDENT = 4
"""Columns of a tab before a line. A tab inside a line is shown as one space: nvcc emits many, but does not align with
them."""
WIDTH = 100
"""Columns of code shown of one line."""
LABELED_WIDTH = 64
"""Columns of code shown of a line that has a label to its right."""
GAP = 4
"""The minimum number of spaces between the longest labeled line and its label."""
INDENT = 2
"""Spaces that the least indented line of a frame keeps."""
ELLIPSIS = "..."


@dataclass(slots=True)
class _FrameRow:
    """One source line of a frame. `column`: the 1-based column around which it is truncated. `carets`: (first,
    length)."""

    line: int
    column: int
    messages: list[str] = field(default_factory=list)
    carets: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class _DisplayedLine:
    """A displayed line: its text without `indent` columns, the column of its carets, and their number."""

    text: str
    indent: int
    carets: tuple[int, int] | None


def code_frame(source: SourceFile, span: Span, labels: Sequence[Label] = ()) -> list[Line]:
    """The lines of `span` and `labels`, in order. Carets mark `span` unless it is obviously the statement on
    its line."""
    rows = _rows(source, span, labels)
    shown = [_display_line(source.line_text(row.line), row) for row in rows]
    gutter = len(str(rows[-1].line))
    shift = min(each.indent for each in shown) - INDENT
    texts = [" " * max(0, each.indent - shift) + each.text for each in shown]
    say_at = max((len(text) for text, row in zip(texts, rows, strict=True) if row.messages), default=0) + GAP
    lines: list[Line] = []
    for row, text, each in zip(rows, texts, shown, strict=True):
        number = (f"  {row.line:>{gutter}} | ", TextRole.GUTTER)
        blank = (f"  {'':>{gutter}} | ", TextRole.GUTTER)
        first, *more = row.messages or [""]
        pad = " " * (say_at - len(text)) if first else ""
        lines.append((number, (text, TextRole.PLAIN), (pad + first, TextRole.LABEL)))
        if each.carets:
            start, length = each.carets
            lines.append((blank, (" " * (len(text) - len(each.text) + start) + "^" * length, TextRole.CARET)))
        lines.extend((blank, (" " * say_at + message, TextRole.LABEL)) for message in more)
    return lines


def _rows(source: SourceFile, span: Span, labels: Sequence[Label]) -> list[_FrameRow]:
    rows: dict[int, _FrameRow] = {}
    line, column = source.position(span.start)
    primary = rows.setdefault(line, _FrameRow(line, column))
    for label in sorted(labels, key=lambda label: label.span):
        at, label_column = source.position(label.span.start)
        rows.setdefault(at, _FrameRow(at, label_column)).messages.append(escape_text(label.message).replace("\t", " "))
    text = source.line_text(line)
    length = max(1, min(span.end - span.start, len(text) - column + 1))
    if len(rows) == 1 or column - 1 > _indent(text):
        primary.carets = (column, length)
    return [rows[number] for number in sorted(rows)]


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip(" \t"))


def _display_line(text: str, row: _FrameRow) -> _DisplayedLine:
    width = LABELED_WIDTH if row.messages else WIDTH
    indent = min(_indent(text), row.column - 1)
    begin = _window_start(text, indent, row.column - 1, width)
    ends = [0]
    cells = []
    for char in text[begin : begin + width]:
        cell = _display_char(char)
        if ends[-1] + len(cell) > width:
            break
        cells.append(cell)
        ends.append(ends[-1] + len(cell))
    lead = ELLIPSIS if begin > indent else ""
    tail = ELLIPSIS if text[begin + len(cells) : begin + len(cells) + width].strip() else ""
    carets = None
    if row.carets:
        first = min(row.carets[0] - 1 - begin, len(cells))
        last = min(first + row.carets[1], len(cells))
        carets = (len(lead) + ends[first], max(1, ends[last] - ends[first]))
    columns = INDENT if lead else indent + (TAB_INDENT - 1) * text[:indent].count("\t")
    return _DisplayedLine(lead + "".join(cells).rstrip() + tail, columns, carets)


def _window_start(text: str, indent: int, place: int, width: int) -> int:
    """The offset from which to show a line so that `place` is in the first two thirds of `width` columns."""
    used = 0
    for at in range(place - 1, indent - 1, -1):
        used += len(_display_char(text[at]))
        if used > width * 2 // 3:
            return at + 1
    return indent


def _display_char(char: str) -> str:
    """A character as it is displayed."""
    return " " if char == "\t" else escape_text(char)
