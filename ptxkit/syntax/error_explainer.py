"""Explains syntax errors: Lark parses the tokens of a statement one by one, up to the one that it rejects."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache

from lark import Token, UnexpectedInput
from lark.parsers.lalr_interactive_parser import InteractiveParser

from ptxkit.diagnostics import Edit, Fix, Message
from ptxkit.diagnostics.catalogue import syntax_errors
from ptxkit.diagnostics.catalogue.ptx1xx import MissingBrace
from ptxkit.fast_dataclasses import dataclass
from ptxkit.source import Span
from ptxkit.syntax.expected_tokens import TerminalNames, join_alternatives
from ptxkit.syntax.grammar import grammar
from ptxkit.syntax.lark_tables import lark_parser
from ptxkit.syntax.limits import MAX_EXAMINED_TOKENS, MAX_SHOWN_CHARS
from ptxkit.syntax.tokenizer import ScannedToken

_OPCODE = re.compile(r"[a-z]\w*\.[a-z]")
_START = re.compile(rf"[.@}}]|{_OPCODE.pattern}")

_REMEDIES = {
    "#": syntax_errors.PREPROCESSOR_LINE(),
    "'": syntax_errors.WRITE_DOUBLE_QUOTES(),
}


@dataclass(frozen=True, slots=True)
class SyntaxProblem:
    """A message and its location. resume: the offset where parsing can continue, or None if it must be searched for."""

    span: Span
    message: Message
    help: Message | None = None
    fix: Fix | None = None
    resume: int | None = None
    fatal: bool = False
    depth: int = 0
    """The number of open braces of the statement at `span`."""
    payload: object = None


@cache
def _terminal_names() -> TerminalNames:
    return TerminalNames(grammar().terminals.spelling)


def explain_error(text: str, start: int, symbol: str) -> SyntaxProblem | None:
    """Returns the error in the statement or item at `start`, or None."""
    tokens, reached = grammar().tokenizer.scan(text, start, MAX_EXAMINED_TOKENS)
    parser = _new_parser(symbol)
    for place, token in enumerate(tokens):
        if place and tokens[place - 1][1] in (";", "}") and "$END" in _accepted_terminals(parser):
            return None
        try:
            parser.feed_token(_token(token))
        except UnexpectedInput:
            return _unexpected_token(
                text, symbol, tokens[:place], token, _accepted_terminals(_parser_after(symbol, tokens[:place]))
            )
    if reached < len(text) and len(tokens) < MAX_EXAMINED_TOKENS:
        return _unknown_token(text, reached)
    if reached >= len(text):
        accepted = _accepted_terminals(parser)
        if "$END" in accepted or not tokens:
            return None
        return _unexpected_token(text, symbol, tokens, None, accepted)
    return None  # no error in the part that is examined


def _accepted_terminals(parser: InteractiveParser) -> frozenset[str]:
    return frozenset(parser.accepts())  # type: ignore[no-untyped-call]  # lark leaves it so


def _new_parser(symbol: str) -> InteractiveParser:
    return lark_parser().parse_interactive("", start=symbol)


def _parser_after(symbol: str, tokens: Sequence[ScannedToken]) -> InteractiveParser:
    """Returns the parser before the rejected token, because trying that token may have changed the other parser."""
    parser = _new_parser(symbol)
    for token in tokens:
        parser.feed_token(_token(token))
    return parser


def _token(token: ScannedToken) -> Token:
    kind, value, offset = token
    return Token(grammar().tokenizer.names[kind], value, offset, 0, 0, 0, 0, offset + len(value))


def _unexpected_token(
    text: str, symbol: str, before: Sequence[ScannedToken], token: ScannedToken | None, accepted: Collection[str]
) -> SyntaxProblem:
    if _is_missing_semicolon(text, before):
        # The rejected token is not the error: the one before it began a new statement, and was parsed as an operand.
        return _unexpected_token(text, symbol, before[:-1], before[-1], frozenset({"SEMICOLON"}))
    words = _terminal_names()
    spelled = words.spellings(accepted)
    end = before[-1][2] + len(before[-1][1]) if before else 0
    found = f"`{_shorten(token[1])}`" if token else syntax_errors.END_OF_TEXT()
    offset = token[2] if token else end
    new_line = token is None or "\n" in text[end:offset]
    if before and ";" in spelled and (new_line or (token is not None and token[1] == "}")):
        expected = join_alternatives(["`;`", "`,`"] if "," in spelled else ["`;`"])
        return SyntaxProblem(
            span=Span(end - 1, end),
            message=syntax_errors.EXPECTED_AFTER(expected=expected, last=_shorten(before[-1][1]), found=found),
            help=syntax_errors.END_STATEMENT(),
            fix=Fix(str(syntax_errors.INSERT_SEMICOLON()), (Edit(Span(end, end), ";"),)),
            resume=offset,
        )
    span = Span(offset, offset + len(token[1])) if token else Span(end, end)
    if not before and token is not None:
        return _not_a_statement(span, token[1])
    if len(before) == 1 and grammar().tokenizer.names[before[0][0]] == "DOT":  # a type without more is not a statement
        return _not_a_statement(Span(before[0][2], end), before[0][1])
    joined = _malformed_number(before, token)
    if joined is not None:
        return joined
    phrases = words.expected_phrases(accepted, symbol)
    message = syntax_errors.EXPECTED_AFTER(
        expected=join_alternatives(phrases), last=_shorten(before[-1][1]), found=found
    )
    depth = sum({"{": 1, "}": -1}.get(value, 0) for _, value, _ in before)
    resume = offset if token and new_line and _START.match(token[1]) else None
    payload = MissingBrace() if phrases[:1] == ["`}`"] else None
    return SyntaxProblem(span, message, _advice(before, token), depth=depth, resume=resume, payload=payload)


def _is_missing_semicolon(text: str, before: Sequence[ScannedToken]) -> bool:
    """Returns whether the opcode of the next line was parsed as an operand of a line without `;`: `ret`, then `mov.u32
    %r1, 2;`.
    """
    if len(before) < 2:
        return False
    (_, _, start), (_, last, offset) = before[-2:]
    return len(before) in (2, 4, 5) and "\n" in text[start:offset] and _OPCODE.match(last) is not None


def _not_a_statement(span: Span, text: str) -> SyntaxProblem:
    if text == ";":
        fix = Fix(str(syntax_errors.REMOVE_SEMICOLON()), (Edit(span, ""),), safe=True)
        return SyntaxProblem(span, syntax_errors.EMPTY_STATEMENT(), syntax_errors.REMOVE_IT(), fix, resume=span.end)
    if re.match(r"\.[A-Za-z_]", text):
        message = syntax_errors.NO_DIRECTIVE(word=_shorten(text))
        return SyntaxProblem(span, message, syntax_errors.LISTED_DIRECTIVES())
    message = syntax_errors.EXPECTED_STATEMENT(found=_shorten(text))
    return SyntaxProblem(span, message, syntax_errors.REMOVE_THE_BACKSLASH() if text == "\\" else None)


def _malformed_number(before: Sequence[ScannedToken], token: ScannedToken | None) -> SyntaxProblem | None:
    """Returns the problem of a number with letters at its end, which is read as two tokens and shown as one word."""
    if token is None or not before:
        return None
    _, last, offset = before[-1]
    if not last[0].isdigit() or offset + len(last) != token[2] or not re.match(r"[A-Za-z0-9_$.]", token[1]):
        return None
    word = last + token[1]
    if word[:2].lower() in ("0f", "0d"):
        help_text = syntax_errors.DIGITS_OF_BITS()
    elif word[0] == "0" and word.isdigit():
        help_text = syntax_errors.LEADING_ZERO()
    else:
        help_text = syntax_errors.INTEGER_SUFFIX()
    return SyntaxProblem(Span(offset, offset + len(word)), syntax_errors.NO_NUMBER(word=_shorten(word)), help_text)


def _advice(before: Sequence[ScannedToken], token: ScannedToken | None) -> Message | None:
    if token is None:
        return None
    if "\\" in (token[1], before[-1][1]):
        return syntax_errors.REMOVE_THE_BACKSLASH()
    if token[1] == ";" and before[-1][1] == ",":
        return syntax_errors.REMOVE_COMMA_OR_ADD()
    if token[1] == "," and before[-1][1] == ",":
        return syntax_errors.REMOVE_COMMA()
    return None


def _unknown_token(text: str, place: int) -> SyntaxProblem:
    """Returns the problem of a text at `place` where no token begins."""
    char = text[place]
    span = Span(place, place + 1)
    if char == '"':
        line_end = text.find("\n", place)
        line_end = len(text) if line_end < 0 else line_end
        return SyntaxProblem(
            Span(place, line_end), syntax_errors.STRING_WITHOUT_END(), syntax_errors.ADD_QUOTE(), resume=line_end
        )
    if text.startswith("/*", place):
        return SyntaxProblem(
            Span(place, place + 2), syntax_errors.COMMENT_WITHOUT_END(), syntax_errors.ADD_COMMENT_END(), fatal=True
        )
    if char == "\0":
        end = place
        while end < len(text) and text[end] == "\0":
            end += 1
        return SyntaxProblem(Span(place, end), syntax_errors.NUL_INSIDE(), syntax_errors.REMOVE_IT())
    if "\ud800" <= char <= "\udfff":
        return SyntaxProblem(span, syntax_errors.NOT_UTF8(byte=ord(char) & 0xFF), syntax_errors.ASCII_TEXT())
    if ord(char) > 0x7E:
        message = syntax_errors.NOT_ASCII(char=ord(char))
        return SyntaxProblem(span, message, syntax_errors.ASCII_TEXT())
    shown = f"`{char}`" if char.isprintable() else syntax_errors.CHARACTER_CODE(code=ord(char))
    return SyntaxProblem(span, syntax_errors.BEGINS_NO_WORD(shown=shown), _REMEDIES.get(char))


def _shorten(text: str) -> str:
    text = text.partition("\n")[0]
    return text if len(text) <= MAX_SHOWN_CHARS else f"{text[:MAX_SHOWN_CHARS]}..."
