"""Parses statements by text: equal texts of statements are one node, which is parsed once in a module."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ptxkit.fast_dataclasses import replace
from ptxkit.syntax.constants import require_plain_name
from ptxkit.syntax.grammar import Grammar
from ptxkit.syntax.instruction_columns import GuardMemo, OpcodeMemo, instructions, operand_lists
from ptxkit.syntax.operands import OperandMemo
from ptxkit.syntax.statement_splitter import FastPathError, PieceRow
from ptxkit.syntax.tree import Directive, LabelStatement, Statement

# There are no comments, strings or braces inside, where a comma may have another meaning.
_TABLE = re.compile(r"([^={/\"]*=[ \t\r\n]*)\{([^{}/\"]*)\}[ \t\r\n]*;")
_LOC = re.compile(r"\.loc[ \t]+([1-9][0-9]*)[ \t]+([0-9]|[1-9][0-9]*)[ \t]+([0-9]|[1-9][0-9]*)[ \t\r\n]*")


class StatementMemo(dict[str, Statement]):
    """The statements of one module, by text: the piece as it was split, with the blanks and comments after it."""

    def __init__(self, grammar: Grammar, operands: OperandMemo) -> None:
        super().__init__()
        self._grammar = grammar
        self._operands = operands
        self._opcodes = OpcodeMemo(grammar)
        self._guards = GuardMemo(grammar)
        self._label = re.compile(rf"({grammar.terminal('IDENT')})[ \t]*:[ \t\r\n]*").fullmatch

    def add_instructions(self, rows: Iterable[PieceRow]) -> None:
        """Builds the instructions among the pieces, all at once. Raises `FastPathError` if one is not an
        instruction.
        """
        rows = [row for row in rows if row[2]]
        if not rows:
            return
        pieces, guards, opcodes, rests = zip(*rows, strict=True)
        made = instructions(
            list(map(self._guards.__getitem__, guards)),
            list(map(self._opcodes.__getitem__, opcodes)),
            operand_lists(rests, self._operands),
        )
        self.update(zip(pieces, made, strict=True))

    def __missing__(self, piece: str) -> Statement:
        node = self._parse_statement(piece)
        self[piece] = node
        return node

    def _parse_statement(self, piece: str) -> Statement:
        label = self._label(piece)
        if label:
            return LabelStatement(require_plain_name(label[1], "label"))
        place = _LOC.fullmatch(piece)
        if place:
            return Directive("loc", place.groups())
        node: Statement = piece_node(self._grammar, self._operands, piece, "statement")
        return node


def piece_node(grammar: Grammar, operands: OperandMemo, piece: str, start: str) -> Any:
    """Returns the node of a piece by the sequence of its token types.

    An initializer may be very long, and few have the same length; a flat one is parsed element by element instead.
    """
    found = _TABLE.match(piece) if piece[0] == "." and "{" in piece else None
    if found is None:
        return grammar.node(piece, start)
    try:
        elements = operands.constants(found[2])
    except FastPathError:
        return grammar.node(piece, start)
    declaration = grammar.node(f"{found[1]}{{0}};", start)
    *others, last = declaration.declarators
    filled = replace(last, initialiser=replace(last.initialiser, elements=elements))
    return replace(declaration, declarators=(*others, filled))
