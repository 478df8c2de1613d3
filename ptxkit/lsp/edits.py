"""Converts changes of a text to edits of the protocol."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

from ptxkit.diagnostics import Edit
from ptxkit.fixes.apply_edits import with_line_ends
from ptxkit.lsp.documents import TextSnapshot
from ptxkit.source import Span


def to_text_edits(text: TextSnapshot, changes: Sequence[Edit]) -> list[types.TextEdit]:
    """Converts changes that the library proposes. Inserted lines have the line ends of the text."""
    return [types.TextEdit(text.lines.range(change.span), with_line_ends(text.text, change)) for change in changes]


def minimal_edits(text: TextSnapshot, new: str) -> list[types.TextEdit]:
    """Returns the edits from a text to another one: the lines that differ, from the first to the last, or nothing."""
    old = text.text
    if old == new:
        return []
    start = _common_prefix_length(old, new)
    start = old.rfind("\n", 0, start) + 1
    most = min(len(old), len(new)) - start
    end = _common_prefix_length(old[: -most - 1 : -1], new[: -most - 1 : -1]) if most else 0
    if end and old[len(old) - end - 1 : len(old) - end + 1] == "\r\n":
        end -= 1  # a position between the two is invalid
    return [types.TextEdit(text.lines.range(Span(start, len(old) - end)), new[start : len(new) - end])]


def workspace_edit(text: TextSnapshot, edits: Sequence[types.TextEdit]) -> types.WorkspaceEdit:
    """Returns changes of one version of a text."""
    document = types.OptionalVersionedTextDocumentIdentifier(text.uri, text.version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(document, list(edits))])


def _common_prefix_length(first: str, second: str) -> int:
    """Returns the length of the longest common prefix of two texts."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first.startswith(second[:middle]):
            low = middle
        else:
            high = middle - 1
    return low
