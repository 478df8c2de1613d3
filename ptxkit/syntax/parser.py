"""Text to tree, fast: Lark is asked once for each new kind of statement.

The text is cut into statements (`cutter`). A statement text seen before in the module is the same node. A new
instruction is its opcode and its operands, each of which is looked up by its text; what remains goes to the
grammar's recipes, that is to Lark once for each new sequence of token types. This is exact: the grammar says that an
instruction *is* an opcode and operands joined by commas, and that a tree depends on token types alone.

Whatever does not fit (a cut in the wrong place, a statement that is none) makes the whole attempt void; then
`recovery` looks for the errors, without haste.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from lark import UnexpectedInput

from ptxkit.source import SourceFile
from ptxkit.syntax.builder import MalformedError
from ptxkit.syntax.cutter import cutter
from ptxkit.syntax.grammar import Grammar, grammar
from ptxkit.syntax.operands import OperandMemo, UnfitError
from ptxkit.syntax.tree import (
    Block,
    Body,
    Declaration,
    Function,
    Guard,
    Instruction,
    Item,
    Module,
    Section,
    Statement,
)

_SECTION = re.compile(r"\.section[ \t\r\n]+(\.[^ \t\r\n{]+)[ \t\r\n]*\{([^}]*)\}")
_TABLE = re.compile(r"([^={/\"]*=[ \t\r\n]*)\{([^{}/\"]*)\}[ \t\r\n]*;")
_LONG_TABLE = 64
"""Characters from which on an initialiser is read element by element instead of by its token types."""


class StatementMemo(dict[str, Statement]):
    """The statements of one module, by text."""

    def __init__(self, grammar: Grammar, operands: OperandMemo) -> None:
        super().__init__()
        self._grammar = grammar
        self._operands = operands
        self._opcodes: dict[str, str] = {}
        ident = grammar.terminal("IDENT")
        blank = r"[ \t\r\n]*+"
        self._instruction = re.compile(
            rf"(?:@{blank}(!?){blank}((?>{ident})){blank})?((?>{ident})){blank}([^;/:]*+);"
        ).match

    def __missing__(self, piece: str) -> Statement:
        node = self._statement(piece)
        self[piece] = node
        return node

    def _statement(self, piece: str) -> Statement:
        found = self._instruction(piece)
        if found is None:
            return self._other(piece)
        negated, predicate, opcode, rest = found.groups()
        try:
            operands = self._operands.split(rest) if rest else ()
        except UnfitError:
            return self._other(piece)
        guard = Guard(predicate, bool(negated)) if predicate else None
        return Instruction(self._opcodes.setdefault(opcode, opcode), operands, guard)

    def _other(self, piece: str) -> Statement:
        if "=" in piece and len(piece) > _LONG_TABLE and piece[0] == ".":
            declaration: Declaration = table(self._grammar, self._operands, piece, "statement")
            return declaration
        node: Statement = self._grammar.node(piece, "statement")
        return node


def table(grammar: Grammar, operands: OperandMemo, piece: str, start: str) -> Any:
    """A declaration whose initialiser is a flat list of constants, which may be very long."""
    found = _TABLE.match(piece)
    if found is None:
        return grammar.node(piece, start)
    try:
        elements = operands.constants(found[2])
    except UnfitError:
        return grammar.node(piece, start)
    declaration = grammar.node(f"{found[1]}{{0}};", start)
    *others, last = declaration.declarators
    filled = replace(last, initialiser=replace(last.initialiser, elements=elements))
    return replace(declaration, declarators=(*others, filled))


class _ModuleReader:
    """One parse: the pieces, and the memos that live as long as it."""

    def __init__(self, grammar: Grammar, pieces: Sequence[str], starts: Sequence[int]) -> None:
        self._grammar = grammar
        self._pieces = pieces
        self._starts = starts
        self._operands = OperandMemo(grammar)
        self._statements = StatementMemo(grammar, self._operands)
        self._lines: dict[str, str] = {}

    def module(self, source: SourceFile) -> Module:
        """The module; raises `UnexpectedInput`, `MalformedError` or `UnfitError` where the pieces are none."""
        pieces = self._pieces
        items: list[Item] = []
        starts: list[int] = []
        place = 0
        while place < len(pieces):
            starts.append(self._starts[place])
            piece = pieces[place]
            if place + 1 < len(pieces) and pieces[place + 1][0] == "{":
                header: Function = self._grammar.node(piece, "header")
                end = self._closing(place + 1)
                items.append(replace(header, body=self._body(place + 2, end)))
                place = end + 1
            else:
                items.append(self._item(piece, place))
                place += 1
        if len(items) < 2:
            raise UnfitError
        return Module(tuple(items), tuple(starts), source)

    def _item(self, piece: str, place: int) -> Item:
        if place < 2:
            node: Item = self._grammar.node(piece, ("version", "target")[place])
            return node
        if piece.startswith(".section"):
            return self._section(piece)
        if "=" in piece and len(piece) > _LONG_TABLE:
            found: Item = table(self._grammar, self._operands, piece, "item")
            return found
        item: Item = self._grammar.node(piece, "item")
        return item

    def _section(self, piece: str) -> Section:
        found = _SECTION.match(piece)
        if found is None:
            section: Section = self._grammar.node(piece, "item")
            return section
        lines = [line for line in map(str.strip, found[2].split("\n")) if line]
        try:
            return Section(
                found[1], tuple([self._lines.get(line) or self._line(line) for line in lines if line[:2] != "//"])
            )
        except (UnexpectedInput, MalformedError):
            whole: Section = self._grammar.node(piece, "item")
            return whole

    def _line(self, line: str) -> str:
        node: str = self._grammar.node(line, "section_line")
        self._lines[line] = node
        return node

    def _closing(self, opening: int) -> int:
        depth = 0
        pieces = self._pieces
        for place in range(opening, len(pieces)):
            first = pieces[place][0]
            if first == "{":
                depth += 1
            elif first == "}":
                depth -= 1
                if not depth:
                    return place
        raise UnfitError

    def _body(self, start: int, end: int) -> Body:
        pieces, starts = self._pieces, self._starts
        memo = self._statements
        stack: list[tuple[list[Statement], list[int], int]] = []
        nodes: list[Statement] = []
        places: list[int] = []
        for place in range(start, end):
            piece = pieces[place]
            if piece[0] == "{":
                stack.append((nodes, places, starts[place]))
                nodes, places = [], []
            elif piece[0] == "}":
                block = Block(Body(tuple(nodes), tuple(places)))
                nodes, places, opened = stack.pop()
                nodes.append(block)
                places.append(opened)
            else:
                nodes.append(memo[piece])
                places.append(starts[place])
        return Body(tuple(nodes), tuple(places))


@contextmanager
def _no_collections() -> Iterator[None]:
    """Nothing that a parse makes is garbage; looking for it again and again costs a third of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def parse(text: str, path: str | None = None) -> Module:
    """The module that `text` holds; `path` is the name it is reported under.

    Raises `PTXSyntaxError` with all errors. A NUL at the very end, which some producers write, is accepted.
    """
    from ptxkit.syntax.recovery import recover

    source = SourceFile(path if path is not None else "<string>", text)
    with _no_collections():
        cut = cutter().cut(text)
        if cut is not None:
            try:
                return _ModuleReader(grammar(), *cut).module(source)
            except (UnexpectedInput, MalformedError, UnfitError):
                pass
    return recover(source)
