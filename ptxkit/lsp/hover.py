"""Information about the word at the pointer: an instruction's form, a register, a name, a directive, a constant."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

from lsprotocol import types

from ptxkit.isa.describe_module import describe_directive, describe_special
from ptxkit.isa.wording import clip_text
from ptxkit.lsp.documents import TextSnapshot
from ptxkit.lsp.instructions import describe_instruction
from ptxkit.lsp.limits import MAX_HOVER_CHARS
from ptxkit.lsp.name_index import NameIndex, ResolvedName, SourceWord
from ptxkit.lsp.register_values import describe_value
from ptxkit.semantics.symbols import LABEL, is_symbol
from ptxkit.syntax import statement_spans
from ptxkit.syntax.tree import Declaration, Function, Instruction
from ptxkit.untrusted_text import escape_lines, escape_text
from ptxkit.validate.name_problems import describe_class

_MARKDOWN_MARKS = re.compile(r"^```.*\n?|\*\*|`", re.MULTILINE)
_BACKTICKS = re.compile("`+")
_FLOAT = re.compile(r"0([fFdD])([0-9A-Fa-f]+)")
_HEXADECIMAL = re.compile(r"0[xX]([0-9A-Fa-f]+)U?")


def hover_at(text: TextSnapshot, position: types.Position, *, markdown: bool = True) -> types.Hover | None:
    """Returns the information as Markdown or as plain text, or None if nothing is known."""
    names = text.tolerant_parse.names
    word = names.word_at(text.lines.offset(position)) if names is not None else None
    if names is None or word is None:
        return None
    words = "\n\n".join(_describe_word(names, word))
    if not words:
        return None
    kind = types.MarkupKind.Markdown if markdown else types.MarkupKind.PlainText
    shown = words if markdown else _MARKDOWN_MARKS.sub("", words)
    return types.Hover(types.MarkupContent(kind, shown), text.lines.range(word.span))


def _describe_word(names: NameIndex, word: SourceWord) -> Iterator[str]:
    if word.opcode and isinstance(word.statement.node, Instruction):
        yield from describe_instruction(names.module, word.statement.node, word.statement.scope)
        return
    meaning = names.resolve(word.text, word.statement)
    if meaning is not None:
        yield from _describe_name(names, word, meaning)
    elif word.text[0] in "%W":
        yield from _describe_in_isa(describe_special, word.text)
    elif word.text[0] == "." or word.text.startswith("sm_"):
        yield from _describe_in_isa(describe_directive, word.text)
    else:
        yield from _describe_constant(word.text)


def _describe_in_isa(describe: object, word: str) -> Iterator[str]:
    """Yields the output of `ptxkit isa`."""
    assert callable(describe)
    try:
        yield code_block(str(describe(word.rstrip(":"))))
    except LookupError:
        return


def _describe_name(names: NameIndex, word: SourceWord, meaning: ResolvedName) -> Iterator[str]:
    named = meaning.named
    yield f"{code_span(clip_text(word.text))}: {describe_class(named.kind)}"
    if named.kind == LABEL:
        line, _ = names.source.position(named.start)
        yield f"line {line}: {code_span(clip_text(names.source.line_text(line + 1).strip()))}"
        return
    span = statement_spans(names.source, named.start).statement
    declared = names.source.text[span.start : span.end]
    if isinstance(named.node, Function | Declaration):
        yield code_block(declared if len(declared) <= MAX_HOVER_CHARS else f"{declared[:MAX_HOVER_CHARS]} ...", "ptx")
    if not is_symbol(named.kind):
        yield from describe_value(names, word)


def _describe_constant(word: str) -> Iterator[str]:
    """Yields a constant in decimal digits."""
    found = _FLOAT.fullmatch(word)
    if found is not None and len(found[2]) == (8 if found[1] in "fF" else 16):
        [value] = struct.unpack(">f" if found[1] in "fF" else ">d", bytes.fromhex(found[2]))
        yield f"`{word}` = {value:.9g}" if found[1] in "fF" else f"`{word}` = {value!r}"
    found = _HEXADECIMAL.fullmatch(word)
    if found is not None:
        yield f"`{word}` = {int(found[1], 16):,}"


def code_block(text: str, language: str = "text") -> str:
    """Returns a text as a code block in Markdown, with a fence that nothing in it ends. Line ends are LF."""
    marks = _backtick_fence(text, 3)
    shown = escape_lines(text.replace("\r\n", "\n").rstrip())
    return f"{marks}{language}\n{shown}\n{marks}"


def code_span(text: str) -> str:
    """Returns a part of a line as a code span in Markdown. Source: CommonMark, "Code spans"."""
    marks = _backtick_fence(text, 1)
    blank = " " * text.startswith("`") or " " * text.endswith("`")
    return f"{marks}{blank}{escape_text(text)}{blank}{marks}" if text else ""


def _backtick_fence(text: str, least: int) -> str:
    """Returns more backticks than follow each other in a text, which another user may have written and which must
    remain text.
    """
    return "`" * max([least, *(len(each) + 1 for each in _BACKTICKS.findall(text))])
