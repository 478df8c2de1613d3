"""The syntactic context at a position: part of an opcode, a modifier, an operand, a directive. It is derived from the
text only.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from ptxkit.fast_dataclasses import dataclass
from ptxkit.lsp.limits import MAX_STATEMENT_LINES

ContextKind: TypeAlias = Literal["opcode", "modifier", "operand", "guard", "directive", "type", "heading"]


_WORD = re.compile(r"[%$\w.]*\Z")
_MODIFIER = re.compile(r"\.[\w:]*\Z")
_LABEL = re.compile(r"\s*[A-Za-z_$%][\w$]*\s*:(?!:)")
_GUARD = re.compile(r"@\s*!?\s*[%$\w]+\s+")
_OPCODE = re.compile(r"[A-Za-z_][\w.:]*")
_HEADING = re.compile(r"\.(version|target)\s+(?:\w+\s*,\s*)*[\w.]*\Z")
_SPACES = re.compile(r"\.(reg|shared|global|local|const|param)\b")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_OPEN_COMMENT = re.compile(r"//[^\n]*\Z|/\*(?:(?!\*/).)*\Z", re.DOTALL)
_STRING = re.compile(r'"[^"\n]*"')
_BRACKETS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


@dataclass(frozen=True, slots=True)
class CursorContext:
    """The syntactic context. word: the part that is written, from `start` to `end`.

    opcode: for a modifier, the opcode before it; for an operand, that of its instruction; for a type, the state space;
    for a heading, `version` or `target`. operand: its index. address: whether it is the first name in brackets.
    """

    kind: ContextKind
    word: str
    start: int
    end: int
    opcode: str = ""
    operand: int = 0
    address: bool = False


def context_at(text: str, offset: int) -> CursorContext | None:
    """Returns the context before an offset, or None in comments and strings."""
    begun = _statement_prefix(text, offset)
    if begun is None:
        return None
    rest = begun.lstrip()
    if rest.startswith("@"):
        guard = _GUARD.match(rest)
        if guard is None:
            return _make_context("guard", _WORD, rest, offset)
        rest = rest[guard.end() :]
    if rest.startswith("."):
        return _directive_context(rest, offset)
    opcode = _OPCODE.match(rest)
    if opcode is None:
        return _make_context("opcode", _WORD, rest, offset) if not rest.strip() else None
    if opcode.end() == len(rest):
        whole, dot, _ = rest.rpartition(".")
        return (
            _make_context("modifier", _MODIFIER, rest, offset, whole)
            if dot
            else _make_context("opcode", _WORD, rest, offset)
        )
    operands = rest[opcode.end() :]
    return _make_context("operand", _WORD, operands, offset, opcode.group(), _count_commas(operands))


def _make_context(
    kind: ContextKind, pattern: re.Pattern[str], begun: str, offset: int, opcode: str = "", operand: int = 0
) -> CursorContext | None:
    found = pattern.search(begun)
    if found is None or (kind == "operand" and found.group()[:1].isdecimal()):
        return None
    address = kind == "operand" and begun[: found.start()].rstrip().endswith("[")
    return CursorContext(kind, found.group(), offset - len(found.group()), offset, opcode, operand, address)


def _directive_context(rest: str, offset: int) -> CursorContext | None:
    words = rest.split()
    if len(words) == 1 and rest == rest.rstrip():
        return _make_context("directive", _MODIFIER, rest, offset)
    heading = _HEADING.match(rest)
    if heading is not None:
        return _make_context("heading", _WORD, rest, offset, heading[1])
    space = _SPACES.search(rest)
    tail = _MODIFIER.search(rest)
    if tail is None:
        return None
    if space is not None and rest.count("(") == rest.count(")"):
        return _make_context("type", _MODIFIER, rest, offset, space[1])
    last = list(_SPACES.finditer(rest[: tail.start()]))
    inside = rest.count("(") > rest.count(")")
    if inside and last and "," not in rest[last[-1].end() :]:
        return _make_context("type", _MODIFIER, rest, offset, last[-1][1])
    return _make_context("directive", _MODIFIER, rest, offset)


def _statement_prefix(text: str, offset: int) -> str | None:
    """Returns the text of the statement before an offset, without its label and comments, or None inside a comment."""
    start = text.rfind("\n", 0, offset) + 1
    for _ in range(MAX_STATEMENT_LINES):
        if start == 0 or _ends_statement(text[text.rfind("\n", 0, start - 1) + 1 : start - 1]):
            break
        start = text.rfind("\n", 0, start - 1) + 1
    begun = _STRING.sub('""', text[start:offset])
    if _OPEN_COMMENT.search(_COMMENT_CLOSED.sub(" ", begun)):
        return None
    begun = _COMMENT.sub(" ", begun)
    if begun.count('"') % 2:
        return None
    begun = begun[_last_statement_end(begun) :]
    label = _LABEL.match(begun)
    return begun[label.end() :] if label is not None else begun


_COMMENT_CLOSED = re.compile(r"/\*.*?\*/|//[^\n]*\n", re.DOTALL)


def _ends_statement(line: str) -> bool:
    """Returns whether no statement continues after a line: it is blank, ends one, or is a directive that ends with its
    line.
    """
    line = _COMMENT.sub(" ", line).strip()
    return not line or line[-1] in ";{}:" or (line[0] == "." and line[-1] not in ",(")


def _last_statement_end(begun: str) -> int:
    """Returns the end of the last semicolon or brace that ends a statement, which is not one of a vector."""
    depth, end = 0, 0
    for index, character in enumerate(begun):
        if character == ";":
            depth, end = 0, index + 1
        elif character in "{}" and depth == 0 and not begun[end:index].strip().rstrip("{}"):
            end = index + 1
        elif character in _BRACKETS:
            depth = max(0, depth + _BRACKETS[character])
    return end


def _count_commas(operands: str) -> int:
    """Returns the number of operands before the last one."""
    depth = count = 0
    for character in operands:
        depth += _BRACKETS.get(character, 0)
        count += character == "," and depth == 0
    return count
