"""The softmax of the scores of a warpgroup, block by block, in base 2.

Each thread holds two rows of 64: those of `laneid / 4` and 8 below, of which four neighboring lanes have a quarter of
the columns each. A row has the greatest score so far, scaled to base 2, and the sum of this thread's powers; the sums
of the four lanes are added at the end.

    found     = max(scores) * scale
    maximum'  = found if found > maximum + RESCALE_THRESHOLD else maximum
    powers    = 2 ** (scores * scale - maximum')          one fma and one ex2
    factor    = 2 ** (maximum - maximum')                 for what was summed before
    sum'      = sum * factor + sum(powers)

Source: PTX ISA, "Floating Point Instructions: ex2", "Asynchronous Warpgroup Level Matrix Instructions", "Register
Fragments".
"""

from __future__ import annotations

import math
from functools import partial, reduce
from typing import Any, cast

from ptxkit.build import Accumulator, Kernel, Register, f32, pred, s32

NEGATIVE_INFINITY = float("-inf")
RESCALE_THRESHOLD = 8.0
"""The growth of a maximum, as an exponent of 2, up to which the old one is kept.

The growth is counted from the maximum that was kept, not from the last block, so it does not accumulate: powers are at
most 2 ** 8, and one of those that a row has summed is 1. So P does not overflow, not even as f16, and the relative
error of rounding it is that of a maximum which always grows; P of f16 loses less to numbers below 2 ** -14. The output
before its division is at most 2 ** 8 * keys * max(abs(V)), which f32 represents for all V of f16, and for V of bf16
below 2 ** 120 / keys.
"""
CHAINS = 2
"""The independent chains in which the values of a row are combined, so that an instruction does not wait for the one
before it.
"""
LN_2 = math.log(2)


class OnlineSoftmax:
    """The maxima and sums of a thread's two rows, and the operations on a block of scores."""

    def __init__(self, k: Kernel, scores: Accumulator, scale: Register[f32]) -> None:
        self._k = k
        self._scores = scores
        self._scale = scale
        self.maxima = [k.variable(f32, NEGATIVE_INFINITY) for _ in range(2)]
        self.sums = [k.variable(f32, 0.0) for _ in range(2)]

    def _row(self, row: int) -> list[Register[Any]]:
        """Returns this thread's scores of one of its two rows."""
        registers = self._scores.registers
        return [registers[number] for number in range(len(registers)) if number // 2 % 2 == row]

    def restart(self) -> None:
        """Begins with other rows."""
        for maximum, total in zip(self.maxima, self.sums, strict=True):
            maximum.set(NEGATIVE_INFINITY)
            total.set(0.0)

    def mask(self, visible: tuple[Register[s32], Register[s32]]) -> None:
        """Replaces the scores from column `visible` on, counted from this thread's first column, by -infinity."""
        k = self._k
        for number, score in enumerate(self._scores.registers):
            column = number // 4 * 8 + number % 2
            k.mov_f32(k.where(visible[number // 2 % 2] > column, score, NEGATIVE_INFINITY), into=score)

    def update(self, *, masked: bool) -> tuple[list[Register[f32]], Register[pred]]:
        """Replaces the scores by powers of 2. Returns the factors of the two rows for earlier results, and whether any
        factor of the warp is not 1.

        `masked` states that all scores of a row so far may be -infinity.
        """
        k = self._k
        factors, grown = [], []
        for row, (maximum, total) in enumerate(zip(self.maxima, self.sums, strict=True)):
            scores = self._row(row)
            found = _across_lanes(k, "max", _combine(k, "max", scores)) * self._scale
            greatest = k.max_f32(maximum, found)
            has_grown = greatest - maximum > RESCALE_THRESHOLD
            grown.append(has_grown)
            greatest = k.where(has_grown, greatest, maximum)
            shift = k.where(greatest == NEGATIVE_INFINITY, 0.0, greatest) if masked else greatest
            factor = k.exp2(maximum - shift, ftz=True)
            negative = -shift
            for score in scores:
                k.ex2_approx_ftz_f32(k.fma(score, self._scale, negative), into=score)
            total.set(k.fma(total, factor, _across_lanes(k, "add", _combine(k, "add", scores))))
            maximum.set(greatest)
            factors.append(factor)
        return factors, k.any(grown[0] | grown[1])

    def finish(self) -> tuple[list[Register[f32]], list[Register[f32]]]:
        """Returns the reciprocals of the rows' sums, and the natural logarithms of the sums of exponentials.

        A row without any key has the reciprocal 0 and the logarithm -infinity.
        """
        k = self._k
        reciprocals, logarithms = [], []
        for maximum, total in zip(self.maxima, self.sums, strict=True):
            reciprocals.append(k.where(total == 0.0, 0.0, k.rcp_approx_ftz_f32(total)))
            logarithms.append((k.log2(total, ftz=True) + maximum) * LN_2)
        return reciprocals, logarithms


def _combine(k: Kernel, operation: str, values: list[Register[Any]]) -> Register[f32]:
    """Returns the sum or the maximum of values, combined in CHAINS independent chains."""
    chains = values[:CHAINS]
    for number, value in enumerate(values[CHAINS:]):
        chains[number % CHAINS] = _apply(k, operation, chains[number % CHAINS], value)
    return reduce(partial(_apply, k, operation), chains)


def _across_lanes(k: Kernel, operation: str, value: Register[f32]) -> Register[f32]:
    """Returns the sum or the maximum of the values of four neighboring lanes, which share a row."""
    for distance in (1, 2):
        value = _apply(k, operation, value, k.shuffle_xor(value, distance))
    return value


def _apply(k: Kernel, operation: str, left: Register[f32], right: Register[f32]) -> Register[f32]:
    return cast("Register[f32]", k.instruction(operation, (left, right)))
