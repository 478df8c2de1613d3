"""Changing a text at several places at once."""

from __future__ import annotations

from collections.abc import Iterable

from ptxkit.diagnostics import Edit


def apply_edits(text: str, edits: Iterable[Edit]) -> str | None:
    """The text with all edits; None where two of them touch the same characters, or one leaves the text.

    Lines that are put in end as the line does at which they are put in.
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
    """What an edit puts in, with the line ends of the text at that place (CR LF or LF)."""
    if "\n" not in edit.replacement:
        return edit.replacement
    end = text.find("\n", edit.span.end)
    if end < 0:
        end = text.rfind("\n")
    plain = edit.replacement.replace("\r\n", "\n")
    return plain.replace("\n", "\r\n") if end > 0 and text[end - 1] == "\r" else plain
