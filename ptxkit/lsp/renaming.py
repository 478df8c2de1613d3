"""Renames declared names, also one register of those that are declared by number (`%r<9>`), or all of them.

A register of `%r<9>` gets a separate declaration next to that of the others, whose number remains. The new text is
parsed before it is offered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lsprotocol import types

from ptxkit.fast_dataclasses import dataclass
from ptxkit.lsp.definitions import resolve_at
from ptxkit.lsp.documents import TextSnapshot
from ptxkit.lsp.edits import workspace_edit
from ptxkit.lsp.name_index import NameIndex, SourceWord
from ptxkit.semantics.symbols import NameBinding
from ptxkit.source import Span
from ptxkit.syntax import PTXSyntaxError, parse
from ptxkit.syntax.tree import Declaration
from ptxkit.validate.typed_scope import UNKNOWN

_NAME = re.compile(r"[A-Za-z][\w$]*|[_$%][\w$]+")
_DIGITS = re.compile(r"[0-9]*\Z")


@dataclass(frozen=True, slots=True)
class RenameTarget:
    """What a name at a position denotes, and where it is written.

    word: the span of the name at the position. places: all of its spans with the rest that follows the renamed part,
    such as `7` of `%r7` where `%r<9>` is renamed. insertion: the offset before which a declaration is added, or None.
    binding: of the name.
    """

    names: NameIndex
    word: Span
    places: dict[Span, str]
    binding: NameBinding
    insertion: int | None = None
    is_prefix: bool = False


def renamable_range(text: TextSnapshot, position: types.Position) -> types.Range | None:
    """Returns the range of the name that would be changed, or None if none exists, or it cannot be renamed."""
    found = _target_at(text, position)
    return text.lines.range(found.word) if found is not None else None


def rename_edits(text: TextSnapshot, position: types.Position, new: str) -> types.WorkspaceEdit | str | None:
    """Returns the changes that rename a name, or the reason why this is impossible."""
    found = _target_at(text, position)
    if found is None:
        broken = not text.tolerant_parse.is_complete and resolve_at(text, position) is not None
        return "a text with syntax errors cannot be changed" if broken else None
    if not _NAME.fullmatch(new):
        return f"`{new}` is not a valid PTX name"
    if found.is_prefix and new[-1].isdecimal():
        return f"`{new}` ends with a digit, which numbered registers cannot"
    taken = _declared_before(found, new)
    if taken is not None:
        return f"`{taken}` is already declared"
    changes = [(span, new + rest) for span, rest in found.places.items()]
    if found.insertion is not None:
        changes.append((Span(found.insertion, found.insertion), f"{new}, "))
    changes.sort()
    if not _is_parsable(text, changes):
        return f"the text would have a syntax error with the name `{new}`"
    return workspace_edit(text, [types.TextEdit(text.lines.range(span), words) for span, words in changes])


def _target_at(text: TextSnapshot, position: types.Position) -> RenameTarget | None:
    names = text.tolerant_parse.names if text.tolerant_parse.is_complete else None
    word = names.word_at(text.lines.offset(position)) if names is not None else None
    if names is None or word is None or word.opcode:
        return None
    meaning = names.resolve(word.text, word.statement)
    if meaning is None:
        return _prefix_target(names, word)
    start = word.span.start
    written = Span(start, start + len(meaning.name))
    declared = names.source.text[meaning.span.start : meaning.span.end]
    if declared == meaning.name:
        spans = {*names.find_uses(meaning), meaning.span}
        return RenameTarget(names, written, dict.fromkeys(spans, ""), meaning.named)
    stem = _DIGITS.sub("", meaning.name)
    if not meaning.named.is_register or declared != stem:
        return None
    number = int(meaning.name[len(stem) :])
    uses = {span: "" for span, digits in _numbered_uses(names, stem, meaning.named) if int(digits) == number}
    return RenameTarget(names, written, uses, meaning.named, insertion=meaning.span.start)


def _prefix_target(names: NameIndex, word: SourceWord) -> RenameTarget | None:
    """Returns the target of `%r` in the declaration of `%r<9>`."""
    node = word.statement.node
    counted = [each.name for each in node.declarators if each.count] if isinstance(node, Declaration) else []
    found = word.statement.scope.find(f"{word.text}0") if word.text in counted else None
    if found is None or found.start != word.statement.start:
        return None
    places = dict(_numbered_uses(names, word.text, found))
    return RenameTarget(names, word.span, {**places, word.span: ""}, found, is_prefix=True)


def _numbered_uses(names: NameIndex, stem: str, named: NameBinding) -> Iterator[tuple[Span, str]]:
    """Yields the uses of the registers of a numbered declaration, each with its digits; `%r04` is `%r4`."""
    for found in re.finditer(rf"(?<![%$\w]){re.escape(stem)}([0-9]+)(?![%$\w])", names.source.text):
        place = names.statement_before(found.start())
        if place is not None and place.scope.find(found.group()) is named and names.is_token(place, found.start()):
            yield Span(found.start(), found.end()), found[1]


def _declared_before(target: RenameTarget, new: str) -> str | None:
    """Returns a name that the new one would hide or repeat where the old one is used or declared, or None."""
    starts = [span.start for span in target.places] + [target.binding.start]
    for scope in {place.scope for start in starts if (place := target.names.statement_before(start)) is not None}:
        if not target.is_prefix:
            if scope.type_of(new) != UNKNOWN:
                return new
            continue
        if scope.numbered_registers(new) is not None:
            return f"{new}0"
        for name in scope.visible_names():
            if name.startswith(new) and name[len(new) :].isdecimal():
                return name
    return None


def _is_parsable(text: TextSnapshot, changes: list[tuple[Span, str]]) -> bool:
    pieces: list[str] = []
    end = 0
    for span, words in changes:
        pieces += [text.text[end : span.start], words]
        end = span.end
    try:
        parse("".join((*pieces, text.text[end:])), text.path)
    except PTXSyntaxError:
        return False
    return True
