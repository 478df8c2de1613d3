"""Finds the line of a key in a TOML text, because the standard parser only returns the values."""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.settings.bounded_toml import parse_toml
from ptxkit.settings.limits import MAX_PARSED_CHARS


def line_of(text: str, path: Sequence[str]) -> int | None:
    """Returns the 1-based line of the statement that gives the key at `path`, or None.

    Prefixes of the text with more and more lines are parsed, which is exact for all ways of writing the key: the
    statement is the first one after whose last line the key is present, and begins after the longest earlier prefix
    that can be parsed. In a file so long that this would take seconds no line is returned.
    """
    lines = text.splitlines(keepends=True)
    left = MAX_PARSED_CHARS
    start = next((number for number, line in enumerate(lines) if path[-1] in line), 0)
    whole = start
    for end in range(start, len(lines) + 1):
        part = "".join(lines[:end])
        left -= len(part)
        if left < 0:
            return None
        try:
            document = parse_toml(part)
        except ValueError:
            continue
        if _has_key(document, path):
            return next((n + 1 for n in range(whole, end) if _is_statement(lines[n])), end)
        whole = end
    return None


def _has_key(document: object, path: Sequence[str]) -> bool:
    for key in path:
        if not isinstance(document, dict) or key not in document:
            return False
        document = document[key]
    return True


def _is_statement(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")
