"""The declaration of a name, and all of its uses."""

from __future__ import annotations

import os

from lsprotocol import types
from pygls.uris import from_fs_path

from ptxkit.lsp.documents import TextSnapshot
from ptxkit.lsp.name_index import NameIndex, ResolvedName
from ptxkit.syntax.tree import Directive


def resolve_at(text: TextSnapshot, position: types.Position) -> tuple[NameIndex, ResolvedName] | None:
    """Returns the meaning of the name at a position."""
    names = text.tolerant_parse.names
    word = names.word_at(text.lines.offset(position)) if names is not None else None
    if names is None or word is None or word.opcode:
        return None
    meaning = names.resolve(word.text, word.statement)
    return None if meaning is None else (names, meaning)


def definition_at(text: TextSnapshot, position: types.Position) -> types.Location | None:
    """Returns the declaration of the name at a position, or for a `.loc` the line of the program that it names.

    Returns None for names that the machine defines, and for undeclared ones.
    """
    found = resolve_at(text, position)
    if found is None:
        return _loc_target(text, position)
    return types.Location(text.uri, text.lines.range(found[1].span))


def _loc_target(text: TextSnapshot, position: types.Position) -> types.Location | None:
    """Returns the location that a `.loc` names, or None if there is no such file."""
    names = text.tolerant_parse.names
    place = names.statement_before(text.lines.offset(position)) if names is not None else None
    node = place.node if place is not None else None
    if names is None or not isinstance(node, Directive) or node.name != "loc" or len(node.words) < 2:
        return None
    wanted, line, *column = (int(word) for word in node.words[:3] if word.isdecimal())
    for item in names.module.items:
        if isinstance(item, Directive) and item.name == "file" and item.words[:1] == (str(wanted),):
            path = os.path.join(text.folder or "", item.words[1].strip('"'))
            if not os.path.isfile(path):
                return None
            start = types.Position(max(line - 1, 0), max(*column, 1) - 1 if column else 0)
            return types.Location(from_fs_path(os.path.abspath(path)) or "", types.Range(start, start))
    return None


def highlights_at(text: TextSnapshot, position: types.Position) -> list[types.DocumentHighlight]:
    """Returns all uses of the name at a position in the document."""
    places = references_at(text, position, declared=True)
    return [types.DocumentHighlight(place.range, types.DocumentHighlightKind.Text) for place in places]


def references_at(text: TextSnapshot, position: types.Position, *, declared: bool) -> list[types.Location]:
    """Returns all uses of the name at a position. declared: whether its declaration is included."""
    found = resolve_at(text, position)
    if found is None:
        return []
    names, meaning = found
    spans = {span for span in names.find_uses(meaning) if span != meaning.span}
    if declared:
        spans.add(meaning.span)
    return [types.Location(text.uri, text.lines.range(span)) for span in sorted(spans)]
