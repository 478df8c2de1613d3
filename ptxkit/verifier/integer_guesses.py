"""Selects the numbers that are passed for unspecified integers, and refines them after runs.

Kernels often support only sizes that are multiples of sixteen. A number with which a run accesses memory out of bounds,
or at a misaligned address, is replaced by such a multiple.
"""

from __future__ import annotations

INITIAL_INTEGERS = (9, 64, 1, 256, 2, 19, 3, 0, 1000)
"""The initial numbers, used in turn, so that loops execute 0, 1, 2 and more iterations."""

MIXED_INTEGERS = ((16, 4, 64), (4, 16, 64), (64, 16, 256), (16, 64, 256))
"""Numbers that are passed in turn, where equal numbers do not lead to an instruction: a size is often a multiple of
another one, or the product of two."""

REPLACEMENT_INTEGERS = (16, 128, 32, 48, 512, 80, 96)
"""The replacements of unsuitable numbers."""


class IntegerGuesses:
    """The numbers, which are used in turn from run to run."""

    def __init__(self) -> None:
        self._numbers = list(INITIAL_INTEGERS)
        self._replacements = list(reversed(REPLACEMENT_INTEGERS))
        self._used_replacements = False

    def integer(self, number: int, position: int = 0) -> int:  # noqa: ARG002 (a subclass uses it)
        """Returns the number that is passed in a run for the integer at a position among the parameters."""
        self._used_replacements = True
        return self.number_of_run(number)

    def number_of_run(self, number: int) -> int:
        """Returns the number that is passed for the first integer in a run, if there is one."""
        return self._numbers[number % len(self._numbers)]

    def is_degenerate(self, number: int) -> bool:
        """Returns whether the number that is passed in a run is 0 or 1."""
        return self._used_replacements and self._numbers[number % len(self._numbers)] < 2

    def replace(self, number: int) -> bool:
        """Replaces the unsuitable number of a run; returns whether another number was available."""
        at = number % len(self._numbers)
        if not self._replacements or not self._used_replacements:
            return False
        self._numbers[at] = self._replacements.pop()
        return True


class MixedIntegers(IntegerGuesses):
    """Numbers that differ from one parameter to the next."""

    def integer(self, number: int, position: int = 0) -> int:
        """Returns the number that is passed in a run for the integer at a position among the parameters."""
        mixed = MIXED_INTEGERS[number % len(MIXED_INTEGERS)]
        return mixed[position % len(mixed)]

    def number_of_run(self, number: int) -> int:
        """Returns the number that is passed for the first integer in a run, if there is one."""
        return self.integer(number)
