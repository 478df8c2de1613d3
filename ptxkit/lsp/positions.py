r"""Positions in a text in the form of the protocol: lines from 0, and columns in the units of an encoding.

Lines end with `\n`, `\r\n` or `\r`, and not with other line separators of Unicode. The units of a column are those of
UTF-16 unless client and server agree on another encoding.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from lsprotocol import types

from ptxkit.source import Span

_LINE_END = re.compile(r"\r\n|\n|\r")
_LAST_OF_ONE_UNIT = {"utf-16": 0xFFFF, "utf-32": 0x10FFFF}


def units(text: str, encoding: str) -> int:
    """Returns the length of a text in the units of an encoding; an unpaired surrogate counts as one character."""
    if text.isascii():
        return len(text)
    if encoding == "utf-8":
        return len(text.encode("utf-8", "surrogatepass"))
    last = _LAST_OF_ONE_UNIT[encoding]
    return len(text) + sum(ord(character) > last for character in text)


class TextLines:
    """The lines of one text, in one encoding (`utf-8`, `utf-16` or `utf-32`)."""

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self.text = text
        self._encoding = encoding
        ends = _LINE_END if "\r" in text else re.compile("\n")
        self._starts = [0, *(match.end() for match in ends.finditer(text))]
        self._plain = text.isascii()

    def offset(self, position: types.Position) -> int:
        """Returns the offset of the character at a position. A position after the end of a line, or of the text, is
        that end.
        """
        if position.line >= len(self._starts):
            return len(self.text)
        start, end = self._starts[position.line], self._end(position.line)
        if self._plain:
            return min(start + position.character, end)
        line = self.text[start:end]
        if line.isascii():
            return min(start + position.character, end)
        left = position.character
        for index, character in enumerate(line):
            left -= units(character, self._encoding)
            if left < 0:
                return start + index
        return end

    def position(self, offset: int) -> types.Position:
        """Returns the position of a character. A line end is at the end of its line."""
        line = bisect_right(self._starts, offset) - 1
        start = self._starts[line]
        inside = min(offset, self._end(line))
        character = inside - start if self._plain else units(self.text[start:inside], self._encoding)
        return types.Position(line, character)

    def range(self, span: Span) -> types.Range:
        """Returns a span as a range."""
        return types.Range(self.position(span.start), self.position(span.end))

    def span(self, wanted: types.Range) -> Span:
        """Returns a range as a span; one that ends before it starts is empty."""
        start = self.offset(wanted.start)
        return Span(start, max(start, self.offset(wanted.end)))

    def _end(self, line: int) -> int:
        """Returns the end of the last character of a line, without its line end."""
        if line + 1 >= len(self._starts):
            return len(self.text)
        end = self._starts[line + 1]
        return end - 2 if self.text.startswith("\r\n", end - 2) else end - 1
