"""Text to tree and back. Knows no instruction by name."""

from __future__ import annotations

from ptxkit.syntax.errors import PTXSyntaxError
from ptxkit.syntax.formatter import format_source
from ptxkit.syntax.parser import parse
from ptxkit.syntax.positions import StatementSpans, statement_spans, statement_words
from ptxkit.syntax.printer import print_module

__all__ = [
    "PTXSyntaxError",
    "StatementSpans",
    "format_source",
    "parse",
    "print_module",
    "statement_spans",
    "statement_words",
]
