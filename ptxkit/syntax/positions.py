"""Locates the parts of a statement. Trees hold only the start of a statement; other positions are computed on
request.
"""

from __future__ import annotations

from functools import lru_cache

from ptxkit.fast_dataclasses import dataclass
from ptxkit.source import SourceFile, Span
from ptxkit.syntax.grammar import grammar
from ptxkit.syntax.statement_splitter import statement_splitter

_CACHE_SIZE = 8
"""The number of statements whose positions are cached. A long one, such as a header with thousands of parameters, may
have many errors, each of which requests its positions.
"""


@dataclass(frozen=True, slots=True)
class StatementSpans:
    """The positions of one statement.

    statement: from its first to its last token, including the semicolon; for a block the opening brace, for a function
    its header. guard, opcode, operands: of an instruction; None and empty for anything else.
    """

    statement: Span
    guard: Span | None = None
    opcode: Span | None = None
    operands: tuple[Span, ...] = ()


@lru_cache(_CACHE_SIZE)
def statement_spans(source: SourceFile, start: int) -> StatementSpans:
    """Returns the positions of the statement or item that begins at offset `start` of a text that can be parsed.

    A tree that was built has no text: for it, and if nothing begins at `start`, all spans are empty.
    """
    piece = statement_splitter().piece_at(source.text, start)
    tokens = grammar().tokenizer.scan(piece.group())[0] if piece else []
    if not tokens:
        return StatementSpans(Span(start, start))
    places = [Span(start + offset, start + offset + len(text)) for _, text, offset in tokens]
    texts = [text for _, text, _ in tokens]
    whole = Span(places[0].start, places[-1].end)
    if texts[0][0] in ".{}" or texts[1:2] == [":"]:
        return StatementSpans(whole)
    return _instruction_spans(whole, texts, places)


def statement_tokens(source: SourceFile, start: int) -> list[tuple[str, Span]]:
    """Returns the tokens of the statement, item or function header that begins at offset `start`, with their
    positions.
    """
    piece = statement_splitter().piece_at(source.text, start)
    tokens = grammar().tokenizer.scan(piece.group())[0] if piece else []
    return [(text, Span(start + offset, start + offset + len(text))) for _, text, offset in tokens]


def _instruction_spans(whole: Span, texts: list[str], places: list[Span]) -> StatementSpans:
    place = 0
    guard = None
    if texts[0] == "@":
        place = 3 if texts[1:2] == ["!"] else 2
        guard = Span(places[0].start, places[min(place, len(places)) - 1].end)
    if texts[place : place + 1] == ["\\"]:
        place += 1
    if place >= len(texts):
        return StatementSpans(whole, guard)
    last = place
    while last + 1 < len(texts) and texts[last + 1][0] == "." and not texts[last + 1][1:2].isdigit():
        last += 1
    opcode = Span(places[place].start, places[last].end)
    return StatementSpans(whole, guard, opcode, _operand_spans(texts, places, last + 1))


def _operand_spans(texts: list[str], places: list[Span], first: int) -> tuple[Span, ...]:
    found: list[Span] = []
    depth = 0
    begin = first
    for place in range(first, len(texts)):
        text = texts[place]
        if text in ("[", "{", "("):
            depth += 1
        elif text in ("]", "}", ")"):
            depth -= 1
        elif depth == 0 and text in (",", ";"):
            if place > begin:
                found.append(Span(places[begin].start, places[place - 1].end))
            begin = place + 1
    return tuple(found)
