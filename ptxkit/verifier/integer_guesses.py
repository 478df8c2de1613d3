"""The numbers that are passed for integers of which nobody said anything, and what is learned of them by running.

Kernels are often made for sizes that are multiples of sixteen. A number with which a run leaves memory, or finds an
address that is not aligned, gives its turn to such a one.
"""

from __future__ import annotations

INITIAL_INTEGERS = (9, 64, 1, 256, 2, 19, 3, 0, 1000)
"""What takes turns at first, so that loops go round 0, 1, 2 and more times."""

REPLACEMENT_INTEGERS = (16, 128, 32, 48, 512, 80, 96)
"""What stands in for numbers that do not fit."""


class IntegerGuesses:
    """Numbers that take turns from run to run."""

    def __init__(self) -> None:
        self._numbers = list(INITIAL_INTEGERS)
        self._replacements = list(reversed(REPLACEMENT_INTEGERS))
        self._used_replacements = False

    def integer(self, number: int) -> int:
        """What is passed in the run of that number."""
        self._used_replacements = True
        return self._numbers[number % len(self._numbers)]

    def is_degenerate(self, number: int) -> bool:
        """Whether what is passed in a run is 0 or 1."""
        return self._used_replacements and self._numbers[number % len(self._numbers)] < 2

    def replace(self, number: int) -> bool:
        """What was passed in a run does not fit: whether another number stands in its place now."""
        at = number % len(self._numbers)
        if not self._replacements or not self._used_replacements:
            return False
        self._numbers[at] = self._replacements.pop()
        return True
