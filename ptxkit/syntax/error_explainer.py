"""Why a statement is none: Lark is fed its tokens one by one, up to the one it refuses."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache

from lark import Token, UnexpectedInput
from lark.parsers.lalr_interactive_parser import InteractiveParser

from ptxkit.diagnostics import Edit, Fix
from ptxkit.diagnostics.catalogue.ptx1xx import MissingBrace
from ptxkit.fast_dataclasses import dataclass
from ptxkit.source import Span
from ptxkit.syntax.expected_tokens import TerminalNames
from ptxkit.syntax.grammar import grammar
from ptxkit.syntax.lark_tables import lark_parser
from ptxkit.syntax.limits import MAX_EXAMINED_TOKENS, MAX_SHOWN_CHARS
from ptxkit.syntax.tokenizer import ScannedToken

_OPCODE = re.compile(r"[a-z]\w*\.[a-z]")
_START = re.compile(rf"[.@}}]|{_OPCODE.pattern}")

_REMEDIES = {
    "#": "lines that begin with `#` are for the C preprocessor; run it first",
    "'": 'strings are written in `"`',
}


@dataclass(frozen=True, slots=True)
class SyntaxProblem:
    """A message and its place. resume: where reading can continue, None where that must be searched for."""

    span: Span
    message: str
    help: str | None = None
    fix: Fix | None = None
    resume: int | None = None
    fatal: bool = False
    depth: int = 0
    """How many braces of the statement are open at `span`."""
    payload: object = None


@cache
def _terminal_names() -> TerminalNames:
    return TerminalNames(grammar().terminals.spelling)


def explain_error(text: str, start: int, symbol: str) -> SyntaxProblem | None:
    """What is wrong with the statement or item at `start`; None where nothing is."""
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
    """The parser in front of the refused token: trying that one may have moved the other parser on."""
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
        # The refused token is not the fault: the one before it began a new statement, and looked like an operand.
        return _unexpected_token(text, symbol, before[:-1], before[-1], frozenset({"SEMICOLON"}))
    words = _terminal_names()
    spelled = words.spellings(accepted)
    end = before[-1][2] + len(before[-1][1]) if before else 0
    found = f"`{_shorten(token[1])}`" if token else "the end of the text"
    offset = token[2] if token else end
    new_line = token is None or "\n" in text[end:offset]
    if before and ";" in spelled and (new_line or (token is not None and token[1] == "}")):
        choice = " or `,`" if "," in spelled else ""
        return SyntaxProblem(
            span=Span(end - 1, end),
            message=f"expected `;`{choice} after `{_shorten(before[-1][1])}`, found {found}",
            help="end the statement with `;`",
            fix=Fix("insert `;`", (Edit(Span(end, end), ";"),)),
            resume=offset,
        )
    span = Span(offset, offset + len(token[1])) if token else Span(end, end)
    if not before and token is not None:
        return _not_a_statement(span, token[1])
    if len(before) == 1 and grammar().tokenizer.names[before[0][0]] == "DOT":  # a type alone is a statement
        return _not_a_statement(Span(before[0][2], end), before[0][1])
    joined = _malformed_number(before, token)
    if joined is not None:
        return joined
    expected = words.describe_expected(accepted, symbol)
    message = f"expected {expected} after `{_shorten(before[-1][1])}`, found {found}"
    depth = sum({"{": 1, "}": -1}.get(value, 0) for _, value, _ in before)
    resume = offset if token and new_line and _START.match(token[1]) else None
    payload = MissingBrace() if expected.startswith("`}`") else None
    return SyntaxProblem(span, message, _advice(before, token), depth=depth, resume=resume, payload=payload)


def _is_missing_semicolon(text: str, before: Sequence[ScannedToken]) -> bool:
    """Whether a line without `;` took the opcode of the next line for its operand: `ret`, then `mov.u32 %r1, 2;`."""
    if len(before) < 2:
        return False
    (_, _, start), (_, last, offset) = before[-2:]
    return len(before) in (2, 4, 5) and "\n" in text[start:offset] and _OPCODE.match(last) is not None


def _not_a_statement(span: Span, text: str) -> SyntaxProblem:
    if text == ";":
        fix = Fix("remove `;`", (Edit(span, ""),), safe=True)
        return SyntaxProblem(span, "`;` ends nothing: PTX has no empty statement", "remove it", fix, resume=span.end)
    if re.match(r"\.[A-Za-z_]", text):
        message = f"`{_shorten(text)}` is no directive that can stand here"
        return SyntaxProblem(
            span, message, "directives are listed in the manual under Directives; an opcode has no dot in front"
        )
    message = f"expected an instruction, a declaration, a label or a directive, found `{_shorten(text)}`"
    return SyntaxProblem(span, message, "remove the backslash" if text == "\\" else None)


def _malformed_number(before: Sequence[ScannedToken], token: ScannedToken | None) -> SyntaxProblem | None:
    """A number with letters on its end reads as two tokens; show it as the one word that was meant."""
    if token is None or not before:
        return None
    _, last, offset = before[-1]
    if not last[0].isdigit() or offset + len(last) != token[2] or not re.match(r"[A-Za-z0-9_$.]", token[1]):
        return None
    word = last + token[1]
    if word[:2].lower() in ("0f", "0d"):
        help_text = "`0f` takes exactly 8 hexadecimal digits, `0d` exactly 16"
    elif word[0] == "0" and word.isdigit():
        help_text = "a leading 0 makes a number octal: its digits are 0 to 7"
    else:
        help_text = "the only suffix of an integer is `U`"
    return SyntaxProblem(Span(offset, offset + len(word)), f"`{_shorten(word)}` is no number", help_text)


def _advice(before: Sequence[ScannedToken], token: ScannedToken | None) -> str | None:
    if token is None:
        return None
    if "\\" in (token[1], before[-1][1]):
        return "remove the backslash"
    if token[1] == ";" and before[-1][1] == ",":
        return "remove the comma, or add the operand"
    if token[1] == "," and before[-1][1] == ",":
        return "remove one comma"
    return None


def _unknown_token(text: str, place: int) -> SyntaxProblem:
    """No token begins at `place`."""
    char = text[place]
    span = Span(place, place + 1)
    if char == '"':
        line_end = text.find("\n", place)
        line_end = len(text) if line_end < 0 else line_end
        return SyntaxProblem(Span(place, line_end), "this string never ends", 'add the closing `"`', resume=line_end)
    if text.startswith("/*", place):
        return SyntaxProblem(Span(place, place + 2), "this comment never ends", "add the closing `*/`", fatal=True)
    if char == "\0":
        end = place
        while end < len(text) and text[end] == "\0":
            end += 1
        return SyntaxProblem(Span(place, end), "a NUL can stand at the very end of the text only", "remove it")
    if "\ud800" <= char <= "\udfff":
        return SyntaxProblem(span, f"the byte 0x{ord(char) & 0xFF:02X} is not UTF-8", "PTX is ASCII text")
    if ord(char) > 0x7E:
        message = f"U+{ord(char):04X} cannot stand outside of comments and strings"
        return SyntaxProblem(span, message, "PTX is ASCII text")
    shown = f"`{char}`" if char.isprintable() else f"the character 0x{ord(char):02X}"
    return SyntaxProblem(span, f"{shown} begins no word of PTX", _REMEDIES.get(char))


def _shorten(text: str) -> str:
    text = text.partition("\n")[0]
    return text if len(text) <= MAX_SHOWN_CHARS else f"{text[:MAX_SHOWN_CHARS]}..."
