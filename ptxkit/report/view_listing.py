"""The text of a file with line numbers and colors, and the findings below their lines.

Lines are grouped, so that a browser need lay out only visible ones. The elements for colors are the shortest of HTML,
because a page contains hundreds of thousands of them.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from ptxkit.diagnostics import Diagnostic
from ptxkit.model.view import ColoredSpan, FileView, TokenClass
from ptxkit.report.limits import MAX_INLINE_FINDINGS, MAX_LINE_CHARS
from ptxkit.report.markup import escape_markup, tag
from ptxkit.report.view_findings import finding_box
from ptxkit.results import CodePage
from ptxkit.source import SourceLine
from ptxkit.untrusted_text import escape_text
from ptxkit.user_code import user_frames

LINES_PER_PORTION = 200
"""Lines that are laid out together."""

_MARKS = {
    TokenClass.OPCODE: "b",
    TokenClass.REGISTER: "i",
    TokenClass.SPECIAL: "u",
    TokenClass.NUMBER: "s",
    TokenClass.LABEL: "em",
    TokenClass.DIRECTIVE: "dfn",
    TokenClass.STRING: "q",
    TokenClass.COMMENT: "small",
}


def listing(
    view: FileView, findings: Sequence[Diagnostic], pages: Mapping[str, CodePage], places: Mapping[int, tuple[int, int]]
) -> str:
    """The whole text. findings: those to show, numbered by their index; pages: of their codes; places: by line, the
    file and the line of the program that is shown next to it."""
    return tag("div", *_portions(view, _findings_by_line(view, findings, pages), places), class_="text")


def _findings_by_line(
    view: FileView, findings: Sequence[Diagnostic], pages: Mapping[str, CodePage]
) -> dict[int, list[str]]:
    """By line: the findings as markup. The first finding of a code includes its page."""
    found: dict[int, list[str]] = defaultdict(list)
    seen: set[str] = set()
    for number, item in enumerate(findings[:MAX_INLINE_FINDINGS], 1):
        line = min(view.source.position(item.span.start)[0], view.source.line_count)
        page = pages.get(item.code) if item.code not in seen else None
        seen.add(item.code)
        found[line].append(finding_box(item, number, page))
    return found


def _portions(
    view: FileView, below: Mapping[int, list[str]], shown_places: Mapping[int, tuple[int, int]]
) -> Iterator[str]:
    sorts = {each.line: each.category for function in view.functions for each in function.async_ops}
    places = view.source_lines
    labels = _labels(view)
    rows: list[str] = []
    folded = foldable_lines(view)
    count = view.source.line_count
    pieces = _ColoredText(view.source.text, view.colored_spans, labels)
    for line in range(1, count + 1):
        content = pieces.line(view.source.line_bounds(line))
        extra = below.get(line)
        place = places.get(line)
        own = "{}-{}".format(*shown_places[line]) if line in shown_places else ""
        if extra or place:
            content = f"<code>{content}</code>{_origin_mark(place, own) if place else ''}{''.join(extra or ())}"
        sort = "fold" if line in folded and not extra else sorts.get(line)
        mark = f" class={sort}" if sort is not None else ""
        mark += f" data-src={own}" if own else ""
        rows.append(f"<li id=L{line}{mark}>{content}</li>\n")
        if len(rows) == LINES_PER_PORTION or line == count:
            # content that is laid out separately is also counted separately, so the count begins inside of it
            yield f'<div><ol start="{line - len(rows) + 1}">\n{"".join(rows)}</ol></div>\n'
            rows = []


def foldable_lines(view: FileView) -> frozenset[int]:
    """The routine lines that no finding and no transfer mentions."""
    shown = {each.line for function in view.functions for each in function.async_ops}
    for item in view.result.diagnostics:
        offsets = (item.span.start, *(label.span.start for label in item.labels))
        shown.update(view.source.position(offset)[0] for offset in offsets)
    return view.routine_lines - shown


def _origin_mark(chain: Sequence[SourceLine], shown: str) -> str:
    """The source line of an instruction; of inlined code, the innermost one outside of libraries. shown: where it is in
    the program next to the listing."""
    own = user_frames(chain)[0]
    words = escape_markup(escape_text(f"{os.path.basename(own.file)}:{own.line}"))
    title = escape_text(", inlined at ".join(f"{each.file}:{each.line}" for each in chain))
    if shown:
        return tag("a", words, class_="loc", title=title, href=f"#S{shown}")
    return tag("span", words, class_="loc", title=title)


def _labels(view: FileView) -> dict[str, int]:
    """By label: the line of its block. A label of several blocks has no link."""
    found: dict[str, int] = {}
    for function in view.functions:
        for block in function.blocks:
            if block.label:
                found[block.label] = 0 if block.label in found else block.first
    return {label: line for label, line in found.items() if line}


class _ColoredText:
    """Yields the colored text of each line."""

    def __init__(self, source: str, pieces: Sequence[ColoredSpan], labels: Mapping[str, int]) -> None:
        self._text = source
        self._spans = pieces
        self._labels = labels
        self._next = 0

    def line(self, span: tuple[int, int]) -> str:
        start, end = span
        cut = min(end, start + MAX_LINE_CHARS)
        parts: list[str] = []
        at = start
        pieces, source = self._spans, self._text
        number = self._next
        while number < len(pieces) and pieces[number][0] < end:
            first, last, color = pieces[number]
            if last > end:  # it continues in the next line
                last = end
                self._next = number
            else:
                self._next = number + 1
            number += 1
            first = max(first, start)
            if first < cut and first < last:
                if at < first:
                    parts.append(_display_text(source[at:first]))
                at = min(last, cut)
                parts.append(self._markup_of(source[first:at], color))
            if pieces[number - 1][1] > end:
                break
        if at < cut:
            parts.append(_display_text(source[at:cut]))
        if cut < end:
            parts.append(f'<span class="cut">\u2026 {end - cut:,} more characters</span>')
        return "".join(parts)

    def _markup_of(self, word: str, color: TokenClass) -> str:
        mark = _MARKS.get(color)
        if mark is None:
            return _display_text(word)
        if color is TokenClass.LABEL and word in self._labels:
            return f'<a href="#L{self._labels[word]}">{_display_text(word)}</a>'
        return f"<{mark}>{_display_text(word)}</{mark}>"


def _display_text(piece: str) -> str:
    return escape(piece if piece.isprintable() else escape_text(piece), quote=False)
