"""Renaming what a text declares; registers that are declared by number (`%r<9>`) have no name of their own."""

from __future__ import annotations

import re

from lsprotocol import types

from ptxkit.lsp.definitions import meaning_at
from ptxkit.lsp.documents import Snapshot
from ptxkit.lsp.edits import of_document
from ptxkit.source import Span
from ptxkit.validate.scopes import UNKNOWN

_NAME = re.compile(r"[A-Za-z][\w$]*|[_$%][\w$]+")


def renamable_at(text: Snapshot, position: types.Position) -> types.Range | None:
    """Where the name stands that would be changed; None where there is none, or it cannot be."""
    found = meaning_at(text, position) if text.reading.is_whole else None
    if found is None:
        return None
    names, meaning = found
    declared = names.source.text[meaning.span.start : meaning.span.end]
    word = names.word_at(text.lines.offset(position))
    if word is None or declared != meaning.name:
        return None
    return text.lines.range(Span(word.span.start, word.span.start + len(meaning.name)))


def renamed(text: Snapshot, position: types.Position, new: str) -> types.WorkspaceEdit | str | None:
    """The changes that give a name another one; why that cannot be."""
    found = meaning_at(text, position)
    if found is None or renamable_at(text, position) is None:
        return None
    if not _NAME.fullmatch(new):
        return f"`{new}` is no name of PTX"
    names, meaning = found
    places = {*names.uses(meaning), meaning.span}
    for place in {each.scope for span in places if (each := names.before(span.start)) is not None}:
        if place.type_of(new) != UNKNOWN:
            return f"`{new}` is taken"
    edits = [types.TextEdit(text.lines.range(span), new) for span in sorted(places)]
    return of_document(text, edits)
