"""Where a name is declared, and everywhere that it stands for the same."""

from __future__ import annotations

from lsprotocol import types

from ptxkit.lsp.documents import Snapshot
from ptxkit.lsp.names import Meaning, Names


def meaning_at(text: Snapshot, position: types.Position) -> tuple[Names, Meaning] | None:
    """What the name at a position stands for."""
    names = text.reading.names
    word = names.word_at(text.lines.offset(position)) if names is not None else None
    if names is None or word is None or word.opcode:
        return None
    meaning = names.meaning(word.text, word.place)
    return None if meaning is None else (names, meaning)


def definition_at(text: Snapshot, position: types.Position) -> types.Location | None:
    """Where the name at a position is declared; None for what the machine has, and for what nothing declares."""
    found = meaning_at(text, position)
    return None if found is None else types.Location(text.uri, text.lines.range(found[1].span))


def references_at(text: Snapshot, position: types.Position, *, declared: bool) -> list[types.Location]:
    """Every place where the name at a position stands for the same. declared: its declaration, too."""
    found = meaning_at(text, position)
    if found is None:
        return []
    names, meaning = found
    spans = {span for span in names.uses(meaning) if span != meaning.span}
    if declared:
        spans.add(meaning.span)
    return [types.Location(text.uri, text.lines.range(span)) for span in sorted(spans)]
