"""Statements by text: each text of a statement is one node, and is looked at once in a module."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from ptxkit.syntax.grammar import Grammar
from ptxkit.syntax.operands import OperandMemo, UnfitError
from ptxkit.syntax.tree import Guard, Instruction, Statement

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
        node: Statement = piece_node(self._grammar, self._operands, piece, "statement")
        return node


def piece_node(grammar: Grammar, operands: OperandMemo, piece: str, start: str) -> Any:
    """The node of a piece that is no plain instruction.

    An initialiser may be very long; a flat one is read element by element, not by its token types.
    """
    found = _TABLE.match(piece) if len(piece) > _LONG_TABLE and piece[0] == "." else None
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
