"""Finds the errors of a text that is not PTX."""

from __future__ import annotations

from lark import UnexpectedInput

from ptxkit.diagnostics import Diagnostic, Severity
from ptxkit.source import SourceFile, Span
from ptxkit.syntax.builder import MalformedError
from ptxkit.syntax.errors import PTXSyntaxError
from ptxkit.syntax.reference import parse_plainly
from ptxkit.syntax.tree import Module


def recover(source: SourceFile) -> Module:
    """The module after all, where Lark accepts the text; else raises `PTXSyntaxError`."""
    try:
        return parse_plainly(source)
    except UnexpectedInput as error:
        start = getattr(error, "pos_in_stream", None) or 0
        message = str(error).split("\n")[0]
    except MalformedError as error:
        start, message = 0, str(error)
    raise PTXSyntaxError((Diagnostic("PTX101", Severity.ERROR, message, source, Span(start, start + 1)),))
