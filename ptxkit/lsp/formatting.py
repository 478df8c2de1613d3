"""Formats the whole text as `ptxkit fmt` does."""

from __future__ import annotations

from lsprotocol import types

from ptxkit.lsp.documents import TextSnapshot
from ptxkit.lsp.edits import minimal_edits
from ptxkit.syntax import PTXSyntaxError, format_source


def format_edits(text: TextSnapshot) -> list[types.TextEdit] | str:
    """Returns the edits that lead to the canonical form, or the reason why a text with a syntax error is not
    changed.
    """
    try:
        new = format_source(text.source)
    except PTXSyntaxError as error:
        first = error.diagnostics[0]
        line = text.lines.position(first.span.start).line + 1
        return f"ptxkit: not formatted, as line {line} has a syntax error: {first.message}"
    if "\r\n" in text.text:
        new = new.replace("\r\n", "\n").replace("\n", "\r\n")
    return minimal_edits(text, new)
