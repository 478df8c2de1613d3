"""Changing a text at several places at once."""

from __future__ import annotations

from collections.abc import Iterable

from ptxkit.diagnostics import Edit


def edited(text: str, edits: Iterable[Edit]) -> str | None:
    """The text with all edits; None where two of them touch the same characters, or one leaves the text."""
    pieces: list[str] = []
    place = 0
    for edit in sorted(dict.fromkeys(edits), key=lambda edit: (edit.span.start, edit.span.end)):
        if not place <= edit.span.start <= edit.span.end <= len(text):
            return None
        pieces += [text[place : edit.span.start], edit.replacement]
        place = edit.span.end
    return "".join((*pieces, text[place:]))
