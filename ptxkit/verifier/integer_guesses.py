"""Selects the numbers that are passed for unspecified integers, and refines them after runs.

Kernels often support only sizes that are multiples of sixteen. A number with which a run accesses memory out of bounds,
or at a misaligned address, is replaced by such a multiple.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.analysis.values.scenario import Arguments, ParameterKey

INITIAL_INTEGERS = (9, 64, 1, 256, 2, 19, 3, 0, 1000)
"""The initial numbers, used in turn, so that loops execute 0, 1, 2 and more iterations."""

MIXED_INTEGERS = ((16, 4, 64), (4, 16, 64), (64, 16, 256), (16, 64, 256))
"""Numbers that are passed in turn for several integers: a size is often a multiple of another one, or the product of
two, and a number of rounds is often much smaller than one of elements."""

MIXED_REALS = (1.0, 4.0, 0.25)
"""Numbers that are passed in turn for several floating-point arguments."""

REPLACEMENT_INTEGERS = (16, 128, 32, 48, 512, 80, 96)
"""The replacements of unsuitable numbers."""

SMALLER_INTEGERS = (128, 192, 32, 16, 48, 96, 4, 5)
"""The replacements of numbers with which a run takes too long: multiples of usual tiles first."""


BUFFER_BYTES = 1 << 20
"""The size in bytes of the buffer of a pointer."""

LARGE_MEMORY_BYTES = 1 << 25
"""The size in bytes of all buffers together, where a run has left one: the machine keeps much more than that of it."""

_LARGEST_FEW, _REDUCTION = 64, 4
"""A number of this size or less with which a run takes too long is reduced by this factor, if possible: it is then no
size of tiles but a count, of which a run may take the cube.
"""

LEAST_USUAL = 2
"""The least number with which rows do not overlap."""


class IntegerGuesses:
    """The numbers, which are used in turn from run to run.

    buffer_bytes: the size in bytes of the buffers of pointers. buffers: their number.
    """

    def __init__(self, buffer_bytes: int = BUFFER_BYTES, buffers: int = 1) -> None:
        self.buffer_bytes, self._large_bytes = buffer_bytes, LARGE_MEMORY_BYTES >> max(buffers - 1, 1).bit_length()
        self._numbers = list(INITIAL_INTEGERS)
        self._replacements = list(reversed(REPLACEMENT_INTEGERS))
        self._used_replacements = False

    def integer(self, number: int, place: ParameterKey, position: int = 0) -> int:  # noqa: ARG002 (subclasses use them)
        """Returns the number that is passed in a run for an integer.

        place: its parameter, and the byte in it. position: how many integers are before it.
        """
        self._used_replacements = True
        return self._numbers[number % len(self._numbers)]

    def real(self, number: int, position: int) -> float:  # noqa: ARG002 (subclasses use them)
        """Returns the number that is passed in a run for a floating-point argument, by its position among these."""
        return 1.0

    def grow_buffers(self) -> bool:
        """Makes the buffers of the following runs larger; returns whether they were small."""
        were_small = self.buffer_bytes < self._large_bytes
        self.buffer_bytes = max(self.buffer_bytes, self._large_bytes)
        return were_small

    def lower(self, number: int) -> bool:
        """Replaces the number of a run that took too long, and all larger ones; returns whether another was left."""
        limit = self._numbers[number % len(self._numbers)]
        found = False
        for at, held in enumerate(self._numbers):
            left = [each for each in SMALLER_INTEGERS if each < limit and each not in self._numbers]
            if held >= limit and left:
                much_smaller = (each for each in left if limit > _LARGEST_FEW or each <= limit // _REDUCTION)
                self._numbers[at], found = next(much_smaller, left[0]), True
        return found and self._used_replacements

    def replace(self, number: int) -> bool:
        """Replaces the unsuitable number of a run; returns whether another number was available."""
        at = number % len(self._numbers)
        if not self._replacements or not self._used_replacements:
            return False
        self._numbers[at] = self._replacements.pop()
        return True


class MixedIntegers(IntegerGuesses):
    """Numbers that differ from one parameter to the next. mixture: the index of those of all runs; None: in turn."""

    def __init__(self, buffer_bytes: int = BUFFER_BYTES, mixture: int | None = None) -> None:
        super().__init__(buffer_bytes)
        self._mixture = mixture

    def integer(self, number: int, place: ParameterKey, position: int = 0) -> int:  # noqa: ARG002
        """Returns the number that is passed in a run for an integer, by its position among the integers."""
        mixed = MIXED_INTEGERS[(number if self._mixture is None else self._mixture) % len(MIXED_INTEGERS)]
        return mixed[position % len(mixed)]

    def real(self, number: int, position: int) -> float:
        """Returns another number for each floating-point argument: the ends of a range, and a tolerance, differ."""
        first = number if self._mixture is None else self._mixture
        return MIXED_REALS[(first + position) % len(MIXED_REALS)]


class PathIntegers(IntegerGuesses):
    """The numbers with which the rules have followed paths of a kernel, used in turn.

    assignments: for each of them the number of most integers, and the integers that have other numbers.
    """

    def __init__(self, assignments: Sequence[Arguments], buffer_bytes: int = BUFFER_BYTES) -> None:
        super().__init__(buffer_bytes)
        self._assignments = assignments

    def integer(self, number: int, place: ParameterKey, position: int = 0) -> int:  # noqa: ARG002
        """Returns the number that is passed in a run for an integer, by its place."""
        usual, others = self._assignments[number % len(self._assignments)]
        return dict(others).get(place, usual)
