"""Runs of consecutive numbers, such as lines, threads or registers, and their text."""

from __future__ import annotations

from collections.abc import Iterable


def consecutive_runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Returns the first and the last number of each run. numbers: ascending."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs


def format_runs(numbers: Iterable[int], dash: str = "-", separator: str = ", ") -> str:
    """Returns ascending numbers as `0-2, 5`."""
    runs = consecutive_runs(numbers)
    return separator.join(str(first) if first == last else f"{first}{dash}{last}" for first, last in runs)
