"""Source text and locations in it.

Offsets count characters of the text (not bytes); lines and columns count from 1, as editors do. A tab is one column, as
in ptxas.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property

from ptxkit.fast_dataclasses import dataclass, field

_LINE_END = re.compile(r"\n")


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of character offsets `[start, end)` in one `SourceFile`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of the program that a PTX was compiled from, and the column on it, from 1, or 0 if it is not known."""

    file: str
    line: int
    column: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class TextOrigin:
    """The place where a text was read, which determines whether it may be rewritten. The name in reports does not,
    because a member of a container may be reported with a name that is the path of another file.

    file: the file that consists of this text, or None. folder: the folder that the user named and that contains the
    file, or None if the user named the file. container: the file that the text is a member of.
    """

    file: str | None = None
    folder: str | None = None
    container: str | None = None


@dataclass(frozen=True)
class SourceFile:
    """A text and its name in reports (`path`, or `<stdin>`, `<string>`)."""

    path: str
    text: str
    origin: TextOrigin = field(default=TextOrigin(), compare=False, repr=False)

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in _LINE_END.finditer(self.text))]

    def position(self, offset: int) -> tuple[int, int]:
        """Returns the 1-based (line, column) of a character offset."""
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def line_text(self, line: int) -> str:
        """Returns the text of a 1-based line, without its line end, or an empty text after the last line."""
        starts = self._line_starts
        if not 1 <= line <= len(starts):
            return ""
        end = starts[line] if line < len(starts) else len(self.text)
        return self.text[starts[line - 1] : end].rstrip("\r\n")

    def line_bounds(self, line: int) -> tuple[int, int]:
        """Returns the offsets of an existing 1-based line, without its line end."""
        start = self._line_starts[line - 1]
        return start, start + len(self.line_text(line))

    def line_span(self, line: int) -> Span:
        """Returns the span of a 1-based line without the blanks around it, or the empty end after the last line."""
        starts = self._line_starts
        text = self.line_text(line)
        start = starts[line - 1] if 1 <= line <= len(starts) else len(self.text)
        return (
            Span(start + len(text) - len(text.lstrip()), start + len(text.rstrip()))
            if text.strip()
            else Span(start, start)
        )

    def statement_span(self, offset: int) -> Span:
        """Returns the span of the statement that begins at an offset, up to its semicolon."""
        end = self.text.find(";", offset)
        return Span(offset, end + 1 if end >= 0 else offset)

    @property
    def line_count(self) -> int:
        """The number of lines of the text (an empty text has one)."""
        return len(self._line_starts)


def origin_chain(origin: Sequence[SourceLine]) -> str:
    """Describes source lines: `lib.h:50, inlined at k.cu:7`."""
    return ", inlined at ".join(f"{place.file}:{place.line}" for place in origin)
