"""Renaming what a text declares; registers that are declared by number (`%r<9>`) have no name of their own."""

from __future__ import annotations

import re

from lsprotocol import types

from ptxkit.lsp.definitions import resolve_at
from ptxkit.lsp.documents import TextSnapshot
from ptxkit.lsp.edits import workspace_edit
from ptxkit.source import Span
from ptxkit.validate.typed_scope import UNKNOWN

_NAME = re.compile(r"[A-Za-z][\w$]*|[_$%][\w$]+")


def renamable_range(text: TextSnapshot, position: types.Position) -> types.Range | None:
    """Where the name is that would be changed; None where there is none, or it cannot be."""
    found = resolve_at(text, position) if text.tolerant_parse.is_complete else None
    if found is None:
        return None
    names, meaning = found
    declared = names.source.text[meaning.span.start : meaning.span.end]
    word = names.word_at(text.lines.offset(position))
    if word is None or declared != meaning.name:
        return None
    return text.lines.range(Span(word.span.start, word.span.start + len(meaning.name)))


def rename_edits(text: TextSnapshot, position: types.Position, new: str) -> types.WorkspaceEdit | str | None:
    """The changes that give a name another one; why that cannot be."""
    found = resolve_at(text, position)
    if found is None or renamable_range(text, position) is None:
        return None
    if not _NAME.fullmatch(new):
        return f"`{new}` is not a valid PTX name"
    names, meaning = found
    places = {*names.find_uses(meaning), meaning.span}
    for place in {each.scope for span in places if (each := names.statement_before(span.start)) is not None}:
        if place.type_of(new) != UNKNOWN:
            return f"`{new}` is already declared"
    edits = [types.TextEdit(text.lines.range(span), new) for span in sorted(places)]
    return workspace_edit(text, edits)
