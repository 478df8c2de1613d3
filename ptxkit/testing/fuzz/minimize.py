"""Reduces a failing example: lines of its text are removed as long as it fails for the same cause."""

from __future__ import annotations

import time
from collections.abc import Callable

from ptxkit.fast_dataclasses import replace
from ptxkit.testing.corpus.examples import Example

CauseFunction = Callable[[Example], str]
"""The cause of a failure as a line; empty for a success."""


def minimize(example: Example, cause_of: CauseFunction, seconds: float = 20.0) -> Example:
    """Returns a smaller example with the same cause, within the given seconds. Only the first text is reduced."""
    if not example.texts:
        return example
    end = time.monotonic() + seconds
    smallest = example

    def fails(lines: list[str]) -> bool:
        nonlocal smallest
        if time.monotonic() > end:
            return False
        tried = replace(example, texts=("\n".join(lines) + "\n", *example.texts[1:]))
        if cause_of(tried) != example.cause:
            return False
        smallest = tried
        return True

    lines = example.texts[0].splitlines()
    size = max(1, len(lines) // 2)
    while time.monotonic() < end:
        shorter = _remove_chunks(lines, size, fails)
        if size == 1 and len(shorter) == len(lines):
            break
        lines, size = shorter, max(1, size // 2)
    return smallest


def _remove_chunks(lines: list[str], size: int, fails: Callable[[list[str]], bool]) -> list[str]:
    """Removes blocks of `size` lines that the failure does not need, from the end to the beginning."""
    for start in range((len(lines) - 1) // size * size, -1, -size):
        tried = lines[:start] + lines[start + size :]
        if tried and fails(tried):
            lines = tried
    return lines
