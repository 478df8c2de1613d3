"""On which line of a TOML text a key is given: the standard reader reports only what was given."""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.settings.bounded_toml import parse_toml
from ptxkit.settings.limits import MAX_PARSED_CHARS


def line_of(text: str, path: Sequence[str]) -> int | None:
    """The 1-based line on which the statement begins that gives the key at `path`; None where nothing does.

    The text is read line by line longer, which is exact whatever way the key is written: the statement is the first
    after whose last line the key is there, and begins after the longest text before it that reads well. In a file so
    long that this would take seconds no line is found.
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
