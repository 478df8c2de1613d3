"""Text with roles: renderers say what a piece of text is; only here it gets a colour, and only on a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from typing import TextIO


class TextRole(StrEnum):
    """What a piece of text is. The value is its style in rich's notation."""

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
"""One line of output: pieces of text, each with its role."""


def plain(lines: Iterable[Line]) -> str:
    """The text alone, each line ended."""
    return "".join(map(plain_line, lines))


def plain_line(line: Line) -> str:
    """The text of one line, ended."""
    return "".join(text for text, _ in line).rstrip() + "\n"


def to_terminal(lines: Iterable[Line], stream: TextIO) -> None:
    """Write the lines in colour. rich decides how many colours the terminal has; nothing is wrapped or highlighted."""
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, highlight=False, markup=False, emoji=False, force_terminal=True)
    for line in lines:
        console.print(Text.assemble(*((text, str(role)) for text, role in line)), soft_wrap=True)
