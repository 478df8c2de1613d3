"""Parses the notation of `grammars/isa.lark`, and reports errors in it with their location."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeAlias

from lark import Lark, Token
from lark.exceptions import UnexpectedInput, UnexpectedToken

from ptxkit.isa.errors import NotationError
from ptxkit.isa.notation_checks import check_notation
from ptxkit.resources import grammar_path

# A parse tree; its shape depends on the grammar, and Python has no type for it.
Node: TypeAlias = Any


__all__ = ["Node", "NotationError", "parse_notation", "position_of"]


@cache
def _grammar() -> Lark:
    text = (grammar_path() / "isa.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr", propagate_positions=True)


def parse_notation(text: str, path: str) -> Node:
    """Returns the parse tree of one `.isa` file. Raises `NotationError` for a syntax error."""
    try:
        tree = _grammar().parse(text + "\n")
    except UnexpectedInput as error:
        expected = ""
        if isinstance(error, UnexpectedToken):
            names = sorted(_terminal_words(name) for name in error.accepts or error.expected)
            expected = f"; expected {', '.join(names[:8])}"
        found = repr(str(getattr(error, "token", ""))) if getattr(error, "token", "") else "this"
        line, column = (error.line, error.column) if error.line > 0 else (text.count("\n") + 1, 1)
        raise NotationError(f"{found} does not fit here{expected}", path, text, line, column) from None
    check_notation(tree, lambda message, at: NotationError(message, path, text, *position_of(at)))
    return tree


def position_of(node: Node) -> tuple[int, int]:
    """Line and column, from 1, at which a token or tree begins."""
    where = node if isinstance(node, Token) else node.meta
    return getattr(where, "line", 1) or 1, getattr(where, "column", 1) or 1


def _terminal_words(terminal: str) -> str:
    """Returns a terminal's name in terms of the notation."""
    names = {"_NL": "end of line", "VALUE": ".word", "NAME": "a name", "INT": "a number", "$END": "end of file"}
    return names.get(terminal, terminal.lower().strip("_"))
