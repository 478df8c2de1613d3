"""Pieces of Markdown: tables, and plain text that must stay what it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_SPECIAL = re.compile(r"([\\*_\[\]<>|])")
_CODE = re.compile(r"(`[^`]+`)")
_WORDS_OF_CODE = re.compile(
    r"(?<![\w`])(// ptxkit: [\w-]+\[[^\]]*\]|[\w-]+\[PTX\d+\]|\[tool\.ptxkit\]|--[a-z][\w-]*(?: [A-Z]{2,})?"
    r"|PTX\d+(?:xx)?|\.?sm_\d+\w?|[\w*./-]+\.(?:ptx|toml|json|html)\b)"
)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table. Cells are Markdown in which `|` and line ends are replaced."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    lines += [f"| {' | '.join(_cell(each) for each in row)} |" for row in rows]
    return [*lines, ""]


def code(text: str) -> str:
    """Text as code within a line."""
    return f"`{text}`" if "`" not in text else f"`` {text} ``"


def escape(text: str) -> str:
    """Plain text, whose code is between backticks, as Markdown: other characters mean themselves."""
    parts = _CODE.split(text)
    return "".join(part if number % 2 else _SPECIAL.sub(r"\\\1", part) for number, part in enumerate(parts))


def mark_code(text: str) -> str:
    """Plain text as Markdown, in which options, codes, targets and file names are code."""
    parts = _CODE.split(text)
    for number in range(0, len(parts), 2):
        words = _WORDS_OF_CODE.split(parts[number])
        parts[number] = "".join(
            code(word) if place % 2 else _SPECIAL.sub(r"\\\1", word) for place, word in enumerate(words)
        )
    return "".join(parts)


def capitalize(text: str) -> str:
    """The text with a capital first letter; code keeps its own."""
    return text[:1].upper() + text[1:]


def _cell(text: str) -> str:
    parts = _CODE.split(text)
    parts[::2] = [re.sub(r"(?<!\\)\|", r"\\|", part) for part in parts[::2]]
    return " ".join("".join(parts).split())
