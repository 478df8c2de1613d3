"""The notation of `grammars/isa.lark`: text to parse tree, and mistakes in it with their place."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeAlias

from lark import Lark
from lark.exceptions import UnexpectedInput, UnexpectedToken

from ptxkit.resources import grammars

# A parse tree; its shape is the grammar's affair, and no type of Python says it.
Node: TypeAlias = Any


class NotationError(ValueError):
    """A mistake in an `.isa` file; its text shows file, line and a caret."""

    def __init__(self, message: str, path: str, text: str, line: int, column: int) -> None:
        lines = text.splitlines()
        shown = lines[line - 1] if 0 < line <= len(lines) else ""
        caret = " " * (max(column, 1) - 1) + "^"
        super().__init__(f"{path}:{line}:{column}: {message}\n    {shown}\n    {caret}")
        self.message, self.path, self.line, self.column = message, path, line, column


@cache
def _grammar() -> Lark:
    text = (grammars() / "isa.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr", propagate_positions=True)


def parse_notation(text: str, path: str) -> Node:
    """The parse tree of one `.isa` file; `NotationError` where it breaks the grammar."""
    try:
        return _grammar().parse(text + "\n")
    except UnexpectedInput as error:
        expected = ""
        if isinstance(error, UnexpectedToken):
            names = sorted(_readable(name) for name in error.accepts or error.expected)
            expected = f"; expected {', '.join(names[:8])}"
        found = repr(str(getattr(error, "token", ""))) if getattr(error, "token", "") else "this"
        raise NotationError(f"{found} does not fit here{expected}", path, text, error.line, error.column) from None


def _readable(terminal: str) -> str:
    """A terminal's name as the writer of an `.isa` file knows it."""
    names = {"_NL": "end of line", "VALUE": ".word", "NAME": "a name", "INT": "a number", "$END": "end of file"}
    return names.get(terminal, terminal.lower().strip("_"))
