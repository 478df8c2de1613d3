"""Text with roles: renderers assign roles to text; the roles become colors on a terminal only."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from typing import TextIO


class TextRole(StrEnum):
    """The role of a piece of text. The value is its style in rich's notation."""

    PLAIN = "none"
    LOCATION = "bold"
    ERROR = "bold red"
    WARNING = "bold yellow"
    NOTE = "bold cyan"
    GUTTER = "blue"
    CARET = "red bold"
    LABEL = "yellow"
    FIELD = "cyan"
    DIM = "dim"


Line: TypeAlias = tuple[tuple[str, TextRole], ...]
"""One line of output: pieces of text with roles."""


def plain(lines: Iterable[Line]) -> str:
    """The text without styles, each line with a line end."""
    return "".join(map(plain_line, lines))


def plain_line(line: Line) -> str:
    """The text of one line, with a line end."""
    return "".join(text for text, _ in line).rstrip() + "\n"


def to_terminal(lines: Iterable[Line], stream: TextIO) -> None:
    """Writes the lines in color. rich determines the number of colors of the terminal; nothing is wrapped or
    highlighted."""
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, highlight=False, markup=False, emoji=False, force_terminal=True)
    for line in lines:
        console.print(Text.assemble(*((text, str(role)) for text, role in line)), soft_wrap=True)
