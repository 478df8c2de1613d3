"""Parses text quickly: Lark is called once for each new kind of statement.

The text is split into statements (`statement_splitter`). Equal statement texts in a module are the same node. A new
instruction is its opcode and its operands, each of which is looked up by its text; the rest is parsed with the
grammar's recipes, that is by Lark once for each new sequence of token types. This is exact: according to the grammar,
an instruction *is* an opcode and operands joined by commas, and a tree depends only on token types.

If anything does not fit (a split in the wrong place, an invalid statement), the whole attempt is discarded; then
`error_recovery` searches for the errors, without a time limit.
"""

from __future__ import annotations

import re
from operator import itemgetter

from ptxkit.fast_dataclasses import replace
from ptxkit.gc_control import pause_collection
from ptxkit.source import SourceFile
from ptxkit.syntax.constants import MalformedConstructError
from ptxkit.syntax.errors import UnexpectedTokenError
from ptxkit.syntax.function_headers import HeaderMemo
from ptxkit.syntax.grammar import Grammar, grammar
from ptxkit.syntax.limits import MAX_NESTING, MAX_UNMATCHED_BRACES
from ptxkit.syntax.operands import OperandMemo
from ptxkit.syntax.statement_splitter import BLANK, TRIVIA, FastPathError, statement_splitter
from ptxkit.syntax.statements import StatementMemo, piece_node
from ptxkit.syntax.tree import (
    Block,
    Body,
    Function,
    Item,
    Module,
    Section,
    Statement,
)

_SECTION = re.compile(rf"\.section{BLANK}+(\.[A-Za-z_][A-Za-z0-9_$]*+){BLANK}*\{{([^}}]*)\}}{TRIVIA}")
_DATA = re.compile(r"(\.[a-z0-9]+[ \t]+)(0|[1-9][0-9]*)((?:[ \t]*,[ \t]*(?:0|[1-9][0-9]*))+)")
"""A line of a section that contains several plain numbers."""

_HEADINGS = 2
"""`.version` and `.target`, with which every module begins."""

_TOO_DEEP = "{" * (MAX_NESTING + 2)


class _ModuleReader:
    """One parse: its caches, and the pieces from which no items have been built yet."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._operands = OperandMemo(grammar)
        self._statements = StatementMemo(grammar, self._operands)
        self._headers = HeaderMemo(grammar)
        self._lines: dict[str, str] = {}
        self._items: list[Item] = []
        self._item_starts: list[int] = []
        self._pieces: list[str] = []
        self._starts: list[int] = []
        self._braces: list[int] = []
        self._next_brace = 0

    def read_module(self, source: SourceFile) -> Module:
        """Returns the module. Raises `RefusedError`, `MalformedConstructError` or `FastPathError` if the text is not
        one.
        """
        text = source.text
        if abs(text.count("{") - text.count("}")) > MAX_UNMATCHED_BRACES or _TOO_DEEP in text:
            raise FastPathError  # split in pieces, a text of braces would need two hundred times its size
        depth = 0
        for cut in statement_splitter().split(text):
            self._statements.add_instructions(cut.rows)
            first = len(self._pieces)
            self._pieces += map(itemgetter(0), cut.rows)
            self._starts += cut.starts
            braces = [place for place in range(first, len(self._pieces)) if self._pieces[place][0] in "{}"]
            self._braces += braces
            depth += sum([1 if self._pieces[place][0] == "{" else -1 for place in braces])
            if depth == 0:
                self._read_items()
        if self._pieces or len(self._items) < _HEADINGS:
            raise FastPathError
        return Module(tuple(self._items), tuple(self._item_starts), source)

    def _read_items(self) -> None:
        pieces = self._pieces
        self._next_brace = 0
        place = 0
        while place < len(pieces):
            self._item_starts.append(self._starts[place])
            piece = pieces[place]
            if len(self._items) >= _HEADINGS and place + 1 < len(pieces) and pieces[place + 1][0] == "{":
                function, place = self._read_function(place)
                self._items.append(function)
            else:
                self._items.append(self._read_item(piece))
                place += 1
        self._pieces, self._starts, self._braces = [], [], []

    def _read_item(self, piece: str) -> Item:
        if len(self._items) < _HEADINGS:
            node: Item = self._grammar.node(piece, ("version", "target")[len(self._items)])
            return node
        if piece.startswith(".section"):
            return self._read_section(piece)
        if ".func" in piece:
            declared: Item = self._headers.node(piece, "item")
            return declared
        item: Item = piece_node(self._grammar, self._operands, piece, "item")
        return item

    def _read_section(self, piece: str) -> Section:
        found = _SECTION.fullmatch(piece)
        if found is None or not self._grammar.is_word(found[1]):
            section: Section = self._grammar.node(piece, "item")
            return section
        lines = [line for line in map(str.strip, found[2].split("\n")) if line]
        try:
            return Section(
                found[1],
                tuple([self._lines.get(line) or self._read_section_line(line) for line in lines if line[:2] != "//"]),
            )
        except (UnexpectedTokenError, MalformedConstructError):
            whole: Section = self._grammar.node(piece, "item")
            return whole

    def _read_section_line(self, line: str) -> str:
        data = _DATA.fullmatch(line)
        if data:
            first = self._grammar.node(data[1] + data[2], "section_line")
            node = ", ".join([first, *map(str.strip, data[3].split(",")[1:])])
        else:
            node = self._grammar.node(line, "section_line")
        self._lines[line] = node
        return node

    def _read_function(self, place: int) -> tuple[Function, int]:
        """Returns the function whose header is the piece at `place`, and the place after it."""
        header: Function = self._headers.node(self._pieces[place], "header")
        body, end = self._read_body(place + 2)
        return replace(header, body=body), end

    def _read_body(self, start: int) -> tuple[Body, int]:
        """Returns the body whose first statement, or closing brace, is at `start`, and the place after its brace."""
        pieces, starts, braces = self._pieces, self._starts, self._braces
        memo = self._statements.__getitem__
        stack: list[tuple[list[Statement], list[int], int]] = []
        nodes: list[Statement] = []
        places: list[int] = []
        self._next_brace += 1  # the one that begins this body
        while self._next_brace < len(braces):
            brace = braces[self._next_brace]
            self._next_brace += 1
            nodes += map(memo, pieces[start:brace])
            places += starts[start:brace]
            start = brace + 1
            if pieces[brace][0] == "{":
                if len(stack) >= MAX_NESTING:
                    raise FastPathError
                stack.append((nodes, places, starts[brace]))
                nodes, places = [], []
                continue
            body = Body(tuple(nodes), tuple(places))
            if not stack:
                return body, start
            nodes, places, opened = stack.pop()
            nodes.append(Block(body))
            places.append(opened)
        raise FastPathError


def parse(text: str, path: str | None = None) -> Module:
    """Parses a module. `path` is its name in reports.

    Raises `PTXSyntaxError` with all errors. A NUL at the very end, which some producers write, is accepted.
    """
    source = SourceFile(path if path is not None else "<string>", text)
    with pause_collection():
        try:
            return _ModuleReader(grammar()).read_module(source)
        except (UnexpectedTokenError, MalformedConstructError, FastPathError):
            from ptxkit.syntax.error_recovery import (
                recover_module,
            )  # and with it Lark, which a correct text does not need

            return recover_module(source)
