"""The parts of a text that an editor can fold: bodies, blocks, comments, and runs of register declarations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby, islice

from lsprotocol import types

from ptxkit.lsp.documents import TextSnapshot
from ptxkit.lsp.limits import MAX_FOLDING_RANGES
from ptxkit.lsp.name_index import NameIndex, StatementContext
from ptxkit.syntax import statement_spans
from ptxkit.syntax.statement_splitter import COMMENT
from ptxkit.syntax.tree import Declaration

_PIECES = re.compile(rf'(?P<comment>{COMMENT})|"[^"\n]*"|[{{}}]')


def folding_ranges(text: TextSnapshot, most: int | None = None) -> list[types.FoldingRange]:
    """Returns the ranges of whole lines that can be folded, in the order of their first lines. most: their number.

    Braces and comments are those of the text, so that a text with syntax errors has them, too.
    """
    names = text.tolerant_parse.names
    found = [*_braces_and_comments(text), *(_register_runs(text, names) if names is not None else ())]
    found.sort(key=lambda each: (each.start_line, -each.end_line))
    kept = MAX_FOLDING_RANGES if most is None else max(0, min(most, MAX_FOLDING_RANGES))
    return list(islice(found, kept))


def _braces_and_comments(text: TextSnapshot) -> Iterator[types.FoldingRange]:
    """Yields the pairs of braces, comments of several lines, and runs of lines that are only a comment."""
    opened: list[int] = []
    first = last = -2
    for piece in _PIECES.finditer(text.text):
        if piece["comment"] is None:
            if piece.group() == "{":
                opened.append(_line(text, piece.start()))
            elif piece.group() == "}" and opened:  # the line of the closing brace remains visible
                yield from _fold(opened.pop(), _line(text, piece.start()) - 1, None)
            continue
        start, end = _line(text, piece.start()), _line(text, piece.end())
        if start == last or _follows_text(text, piece.start()):
            last = max(last, end) if start == last else last
            continue
        if start != last + 1:
            yield from _fold(first, last, types.FoldingRangeKind.Comment)
            first = start
        last = end
    yield from _fold(first, last, types.FoldingRangeKind.Comment)


def _register_runs(text: TextSnapshot, names: NameIndex) -> Iterator[types.FoldingRange]:
    """Yields the runs of consecutive declarations of registers in one function."""
    for (is_run, _), run in groupby(names.statements, lambda each: (_declares_registers(each), id(each.function))):
        places = [each.start for each in run]
        if is_run:
            end = statement_spans(names.source, places[-1]).statement.end
            yield from _fold(_line(text, places[0]), _line(text, end), types.FoldingRangeKind.Region)


def _declares_registers(place: StatementContext) -> bool:
    return isinstance(place.node, Declaration) and place.node.space == "reg"


def _follows_text(text: TextSnapshot, offset: int) -> bool:
    """Returns whether something else precedes an offset in its line."""
    start = text.lines.offset(types.Position(_line(text, offset), 0))
    return bool(text.text[start:offset].strip())


def _line(text: TextSnapshot, offset: int) -> int:
    return text.lines.position(min(offset, len(text.text))).line


def _fold(first: int, last: int, kind: types.FoldingRangeKind | None) -> Iterator[types.FoldingRange]:
    if 0 <= first < last:
        yield types.FoldingRange(first, last, kind=kind)
