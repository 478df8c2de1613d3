"""Classifies the words of a text by the tokens of the grammar and, if the text can be parsed, the names its tree
declares.

A name is a register if its function declares one, a label if it has one, and a special register if no statement
declares it and it begins with `%`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.model.view import ColoredSpan, TokenClass
from ptxkit.syntax.grammar import grammar
from ptxkit.syntax.statement_splitter import COMMENT
from ptxkit.syntax.tokenizer import ScannedToken
from ptxkit.syntax.tree import Body, Declaration, Function, Instruction, LabelStatement, Module

_COMMENTS = re.compile(COMMENT)
_BATCH_CHARS = 100_000
#: Terminals that are one thing wherever they occur.
_CLASS_BY_TERMINAL = {
    "STRING": TokenClass.STRING,
    "INT": TokenClass.NUMBER,
    "FLOAT": TokenClass.NUMBER,
    "BITS": TokenClass.NUMBER,
    "WARP_SIZE": TokenClass.SPECIAL,
    "DWARF_LINE": TokenClass.COMMENT,
    "SOURCE_SECTION": TokenClass.COMMENT,
}
_PLAIN_WORDS = frozenset({"FLOAT", "SOURCE_SECTION"})
_BEFORE_A_STATEMENT = frozenset(";{}:")


@dataclass(frozen=True)
class _FunctionNames:
    """The names that one function declares, and the offsets of its instructions."""

    registers: set[str] = field(default_factory=set)
    families: dict[str, int] = field(default_factory=dict)
    labels: set[str] = field(default_factory=set)
    instructions: set[int] = field(default_factory=set)
    memo: dict[str, TokenClass] = field(default_factory=dict)

    def collect(self, body: Body) -> None:
        for statement, start in body.flatten_blocks():
            if isinstance(statement, Instruction):
                self.instructions.add(start)
            elif isinstance(statement, LabelStatement):
                self.labels.add(statement.name)
            elif isinstance(statement, Declaration) and statement.space == "reg":
                for each in statement.declarators:
                    if each.count is None:
                        self.registers.add(each.name)
                    else:
                        self.families[each.name] = max(each.count, self.families.get(each.name, 0))

    def token_class(self, name: str) -> TokenClass:
        """Returns the class of a name in an operand."""
        found = self.memo.get(name)
        if found is None:
            found = self.memo[name] = self._find_class(name)
        return found

    def _find_class(self, name: str) -> TokenClass:
        whole = name.partition(".")[0]
        stem = whole.rstrip("0123456789")
        if whole in self.registers or (stem in self.families and stem != whole):
            return TokenClass.REGISTER
        if name in self.labels:
            return TokenClass.LABEL
        return TokenClass.SPECIAL if name.startswith("%") else TokenClass.NAME


def highlight_spans(text: str, module: Module | None) -> Iterator[ColoredSpan]:
    """Yields the classified pieces of a text, in order. module: its tree, or None."""
    painter = _Highlighter(module)
    for token, before in _tokens(text):
        yield from before
        piece = painter.highlight(token)
        if piece is not None:
            yield piece


def _tokens(text: str) -> Iterator[tuple[ScannedToken | None, Sequence[ColoredSpan]]]:
    """Yields the tokens, each with the comments before it, and at the end None with those after the last."""
    scan = grammar().tokenizer.scan
    at = reached = 0
    while reached < len(text):
        tokens, end = scan(text, reached, _BATCH_CHARS)
        for token in tokens:
            yield token, _comment_spans(text, at, token[2])
            at = token[2] + len(token[1])
        reached = end if tokens or end > reached else reached + 1  # no token begins there, so it has no class
    yield None, _comment_spans(text, at, len(text))


def _comment_spans(text: str, start: int, end: int) -> Sequence[ColoredSpan]:
    if end - start < 2 or text.find("/", start, end) < 0:
        return ()
    return [(found.start(), found.end(), TokenClass.COMMENT) for found in _COMMENTS.finditer(text, start, end)]


class _Highlighter:
    """Classifies tokens, in the order of the text."""

    def __init__(self, module: Module | None) -> None:
        self._has_tree = module is not None
        self._functions: list[tuple[int, _FunctionNames]] = []
        for item, start in module.with_offsets() if module is not None else ():
            names = _FunctionNames()
            if isinstance(item, Function) and item.body is not None:
                names.collect(item.body)
            self._functions.append((start, names))
        self._functions.reverse()
        self._names = _FunctionNames()
        kinds = grammar().tokenizer.names
        self._kinds = kinds
        self._previous = ";"
        self._end = -1
        self._opcode_next = False

    def highlight(self, token: ScannedToken | None) -> ColoredSpan | None:
        if token is None:
            return None
        kind, word, start = token
        while self._functions and self._functions[-1][0] <= start:
            self._names = self._functions.pop()[1]
        follows, self._end = self._end == start, start + len(word)
        name = self._kinds[kind]
        color = self._class_of_word(name, word, start, follows=follows)
        self._previous = word if color is not TokenClass.OPCODE else ""
        return None if color is None else (start, self._end, color)

    def _class_of_word(self, name: str, word: str, start: int, *, follows: bool) -> TokenClass | None:
        if self._starts_instruction(start):
            self._opcode_next = True
        if name == "IDENT":
            if self._opcode_next and self._previous not in ("@", "!"):
                self._opcode_next = False
                return TokenClass.OPCODE
            return self._names.token_class(word) if self._has_tree else self._guess(word)
        if word.startswith(".") and name not in _PLAIN_WORDS:
            return TokenClass.OPCODE if follows and not self._previous else TokenClass.DIRECTIVE
        return _CLASS_BY_TERMINAL.get(name)

    def _starts_instruction(self, start: int) -> bool:
        """Returns whether an instruction begins there. Without a tree every statement may be one."""
        if self._has_tree:
            return start in self._names.instructions
        return self._previous in _BEFORE_A_STATEMENT

    def _guess(self, word: str) -> TokenClass:
        return TokenClass.REGISTER if word.startswith("%") else TokenClass.NAME
