"""Parses and prints PTX. The package depends on no specific instruction.

The module that defines a name is loaded when the name is first used: parsing loads neither printer nor formatter.

Input: text. Output: the tree, and its text again. It imports no other package but those of plain data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ptxkit.syntax.errors import PTXSyntaxError
    from ptxkit.syntax.formatter import format_source
    from ptxkit.syntax.parser import parse
    from ptxkit.syntax.positions import StatementSpans, statement_spans, statement_tokens
    from ptxkit.syntax.printer import print_module

__all__ = [
    "PTXSyntaxError",
    "StatementSpans",
    "format_source",
    "parse",
    "print_module",
    "statement_spans",
    "statement_tokens",
]

_HOMES = {
    "PTXSyntaxError": "errors",
    "StatementSpans": "positions",
    "format_source": "formatter",
    "parse": "parser",
    "print_module": "printer",
    "statement_spans": "positions",
    "statement_tokens": "positions",
}
"""The module that defines each public name."""


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
