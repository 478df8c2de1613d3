"""Applies several edits to a text at once."""

from __future__ import annotations

from collections.abc import Iterable

from ptxkit.diagnostics import Edit


def apply_edits(text: str, edits: Iterable[Edit]) -> str | None:
    """Returns the text with all edits; None where two of them overlap, or one is outside of the text.

    Inserted lines get the line ends of the line at which they are inserted.
    """
    pieces: list[str] = []
    place = 0
    for edit in sorted(dict.fromkeys(edits), key=lambda edit: (edit.span.start, edit.span.end)):
        if not place <= edit.span.start <= edit.span.end <= len(text):
            return None
        pieces += [text[place : edit.span.start], with_line_ends(text, edit)]
        place = edit.span.end
    return "".join((*pieces, text[place:]))


def with_line_ends(text: str, edit: Edit) -> str:
    """Returns the text that an edit inserts, with the line ends of the place (CR LF or LF)."""
    if "\n" not in edit.replacement:
        return edit.replacement
    end = text.find("\n", edit.span.end)
    if end < 0:
        end = text.rfind("\n")
    plain = edit.replacement.replace("\r\n", "\n")
    return plain.replace("\n", "\r\n") if end > 0 and text[end - 1] == "\r" else plain
