"""Choices of a run that are stratified over seeds: consecutive seeds divide among the alternatives.

Source: Owen, "Randomly Permuted (t, m, s)-Nets and (t, s)-Sequences", for the idea of scrambled digits.
"""

from __future__ import annotations

from collections.abc import Sequence

_BLOCK_BITS = 6
_MASK = (1 << 64) - 1


class StratifiedChoices:
    """A sequence of choices that depend on a number, such that consecutive numbers make different ones.

    A choice distributes the numbers that have made the same choices before: it divides them among the alternatives in
    proportion to the weights, and renumbers those that make the same choice, so that they are consecutive again. Few
    consecutive numbers thus make all combinations of the first choices, and none of them twice before the others once.
    """

    __slots__ = ("_number", "_path")

    def __init__(self, number: int) -> None:
        self._number, self._path = number, 0x9E3779B97F4A7C15

    def choose(self, weights: Sequence[int]) -> int:
        """Returns the index of an alternative. Each has a weight of at least one."""
        total = sum(weights)
        if len(weights) == 1:
            return 0
        rest, slot = divmod(self._number, total)
        slot = (slot + (self._path >> 33)) % total
        chosen = 0
        while slot >= weights[chosen]:
            slot -= weights[chosen]
            chosen += 1
        self._number = rest * weights[chosen] + slot
        # Constants of a linear congruential generator; the upper bits are well mixed.
        self._path = ((self._path ^ (total << 8 | chosen)) * 0xD1342543DE82EF95 + 0x632BE59BD9B4E019) & _MASK
        return chosen


def reverse_low_bits(seed: int) -> int:
    """Returns a seed whose six lowest bits are reversed.

    Choices that depend on it are nearly independent of those that depend on the seed itself, and stratified, too.
    """
    low = seed & ((1 << _BLOCK_BITS) - 1)
    return seed - low + int(f"{low:0{_BLOCK_BITS}b}"[::-1], 2)
