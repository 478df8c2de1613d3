"""Hints next to the registers of addresses: the state space, and the variable and value that the register holds."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from time import thread_time

from lsprotocol import types

from ptxkit.lsp.documents import TextSnapshot
from ptxkit.lsp.limits import MAX_HINT_CHARS, MAX_HINT_SECONDS, MAX_INLAY_HINTS
from ptxkit.lsp.name_index import NameIndex, SourceWord, StatementContext
from ptxkit.lsp.register_values import address_value
from ptxkit.mangled_names import short_names, with_short_names
from ptxkit.source import Span
from ptxkit.syntax import statement_spans, statement_tokens
from ptxkit.syntax.tree import Address, Instruction, Name
from ptxkit.untrusted_text import escape_text


def inlay_hints(text: TextSnapshot, part: types.Range) -> list[types.InlayHint]:
    """Returns the hints in a range, as far as they are found within the limits of time and number."""
    names = text.tolerant_parse.names
    if names is None:
        return []
    return list(islice(_hints(text, names, text.lines.span(part)), MAX_INLAY_HINTS))


def _hints(text: TextSnapshot, names: NameIndex, wanted: Span) -> Iterator[types.InlayHint]:
    last = thread_time() + MAX_HINT_SECONDS
    for place in names.statements_in(wanted):
        if thread_time() > last:
            return
        for word in _address_registers(names, place):
            value = address_value(names, word)
            if value is not None:
                space, held = value
                held = with_short_names(held, short_names([held]))
                shown = held if len(held) <= MAX_HINT_CHARS else f"{held[: MAX_HINT_CHARS - 3]}..."
                yield types.InlayHint(
                    text.lines.position(word.span.end),
                    escape_text(f": {space} {shown}" if space else f": {shown}"),
                    kind=types.InlayHintKind.Type,
                    tooltip=escape_text(held) if shown != held else None,
                )


def _address_registers(names: NameIndex, place: StatementContext) -> Iterator[SourceWord]:
    """Yields the registers with which the addresses of an instruction begin."""
    if not isinstance(place.node, Instruction):
        return
    spans = statement_spans(names.source, place.start).operands
    for operand, span in zip(place.node.operands, spans, strict=False):
        base = operand.base if isinstance(operand, Address) else None
        if not isinstance(base, Name):
            continue
        found = place.scope.find(base.text)
        if found is None or not found.is_register:
            continue
        for text, where in statement_tokens(names.source, place.start):
            if where.start >= span.start and text == base.text:
                yield SourceWord(text, where, place)
                break
