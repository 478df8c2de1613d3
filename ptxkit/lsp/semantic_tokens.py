"""The classes of the words of a text: mnemonics, modifiers, registers, labels, variables by state space, directives.

Comments, constants and strings have none: editors color them by the syntax only. A word on a line that cannot be
parsed has one only if a name of it is declared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice

from lsprotocol import types

from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa import table
from ptxkit.lsp.documents import TextSnapshot
from ptxkit.lsp.limits import MAX_SEMANTIC_TOKENS
from ptxkit.lsp.name_index import NameIndex
from ptxkit.lsp.positions import units
from ptxkit.model.view import TokenClass
from ptxkit.semantics.symbols import CODE, ENTRY, FUNCTION, LABEL, PARAMETERS
from ptxkit.source import Span
from ptxkit.syntax.highlighting import highlight_spans

_Type = types.SemanticTokenTypes
_TYPES = (
    _Type.Keyword,
    _Type.Modifier,
    _Type.Variable,
    _Type.Parameter,
    _Type.Function,
    _Type.Label,
    _Type.Macro,
)
_DECLARATION = types.SemanticTokenModifiers.Declaration.value
_READ_ONLY = types.SemanticTokenModifiers.Readonly.value
_PREDEFINED = types.SemanticTokenModifiers.DefaultLibrary.value
_REGISTER = "register"
_OPCODE_PART = re.compile(r"\.?[^.]+")


@dataclass(frozen=True, slots=True)
class SemanticToken:
    """A word with its class. modifiers: of the class; `register`, or a state space such as `shared`, besides those of
    the protocol.
    """

    span: Span
    type: types.SemanticTokenTypes
    modifiers: tuple[str, ...] = ()


@cache
def legend() -> types.SemanticTokensLegend:
    """Returns the names of the types and modifiers, in the order of their numbers."""
    spaces = dict.fromkeys(space for each in table().module.types for space in each.spaces if space != "reg")
    return types.SemanticTokensLegend(
        [each.value for each in _TYPES], [_DECLARATION, _READ_ONLY, _PREDEFINED, _REGISTER, *spaces]
    )


def encoded_tokens(text: TextSnapshot, part: types.Range | None = None) -> types.SemanticTokens:
    """Returns the tokens in the encoding of the protocol: of the whole text, or of the lines of a range."""
    kinds = {kind: number for number, kind in enumerate(_TYPES)}
    flags = {name: 1 << number for number, name in enumerate(legend().token_modifiers)}
    data: list[int] = []
    line = character = 0
    for token in islice(semantic_tokens(text, part), MAX_SEMANTIC_TOKENS):
        start = text.lines.position(token.span.start)
        length = units(text.text[token.span.start : token.span.end], text.encoding)
        shift = start.character - character if start.line == line else start.character
        bits = sum(flags.get(name, 0) for name in token.modifiers)
        data += [start.line - line, shift, length, kinds[token.type], bits]
        line, character = start.line, start.character
    return types.SemanticTokens(data)


def semantic_tokens(text: TextSnapshot, part: types.Range | None = None) -> Iterator[SemanticToken]:
    """Yields the tokens in the order of the text; none if nothing can be parsed."""
    names = text.tolerant_parse.names
    if names is None:
        return
    wanted = text.lines.span(part) if part is not None else Span(0, len(text.text))
    for start, end, kind in highlight_spans(text.text, names.module):
        if start >= wanted.end:
            return
        if end > wanted.start:
            yield from _token(text, names, Span(start, end), kind)


def _token(text: TextSnapshot, names: NameIndex, span: Span, kind: TokenClass) -> Iterator[SemanticToken]:
    word = text.text[span.start : span.end]
    match kind:
        case TokenClass.OPCODE:
            for part in _OPCODE_PART.finditer(word):
                kind_of_part = _Type.Modifier if part.start() else _Type.Keyword
                yield SemanticToken(Span(span.start + part.start(), span.start + part.end()), kind_of_part)
        case TokenClass.DIRECTIVE if names.source.text.startswith(word, span.start):
            yield SemanticToken(span, _Type.Macro)
        case TokenClass.REGISTER | TokenClass.SPECIAL | TokenClass.LABEL | TokenClass.NAME:
            yield from _named_token(names, span, word)


def _named_token(names: NameIndex, span: Span, word: str) -> Iterator[SemanticToken]:
    """Yields the token of a name by its declaration; nothing for an undeclared one."""
    place = names.statement_before(span.start)
    meaning = names.resolve(word, place) if place is not None else None
    if meaning is None:
        numbered = place.scope.numbered_registers(word) if place is not None else None
        if numbered is not None and place is not None and numbered[1].start == place.start:
            yield SemanticToken(span, _Type.Variable, (_DECLARATION, _REGISTER))
        elif _is_special(word):
            yield SemanticToken(span, _Type.Variable, (_READ_ONLY, _PREDEFINED))
        return
    named = meaning.named
    declared = (_DECLARATION,) if meaning.span.start == span.start else ()
    if named.is_register:
        yield SemanticToken(span, _Type.Variable, (*declared, _REGISTER))
    elif named.kind == LABEL:
        yield SemanticToken(span, _Type.Label, declared)
    elif named.kind in (FUNCTION, ENTRY):
        yield SemanticToken(span, _Type.Function, declared)
    elif named.kind in PARAMETERS:
        yield SemanticToken(span, _Type.Parameter, (*declared, "param"))
    elif named.kind not in CODE:
        yield SemanticToken(span, _Type.Variable, (*declared, named.kind.removeprefix("&")))


def _is_special(word: str) -> bool:
    return table().special(word.partition(".")[0]) is not None
