"""Sets of integers of a fixed width: an interval with a stride, which may wrap around.

A range describes what the bits of a register may be. All operations are exact or give a larger set.

Source: Reps, Balakrishnan and Lim, "Intermediate-Representation Recovery from Low-Level Code"; Navas, Schachte,
Sondergaard and Stuckey, "Signedness-Agnostic Program Analysis".
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from math import gcd

from ptxkit.fast_dataclasses import dataclass


@dataclass(frozen=True)
class StridedRange:
    """The numbers `low`, `low + stride`, ..., `high`, modulo `2**width`.

    low is not negative and less than `2**width`; high is less than `low + 2**width`. stride is 0 for a single number.
    """

    width: int
    low: int
    high: int
    stride: int

    @property
    def is_single(self) -> bool:
        return self.low == self.high

    @property
    def count(self) -> int:
        """How many numbers there are."""
        return 1 if not self.stride else (self.high - self.low) // self.stride + 1

    @cached_property
    def power(self) -> int:
        """The largest power of two, at most `2**width`, modulo which all numbers have one remainder."""
        return 1 << self.width if not self.stride else self.stride & -self.stride

    @property
    def remainder(self) -> int:
        """The remainder of all numbers modulo `power`."""
        return self.low % self.power

    @cached_property
    def unsigned(self) -> tuple[int, int, int]:
        """The least and the largest number without a sign, and a stride."""
        if self.high < 1 << self.width:
            return self.low, self.high, self.stride
        return self.remainder, (1 << self.width) - self.power + self.remainder, self.power

    @cached_property
    def signed(self) -> tuple[int, int, int]:
        """The least and the largest number in two's complement, and a stride."""
        half, moved = 1 << self.width - 1, (1 << self.width if self.low >> self.width - 1 else 0)
        if self.high - moved < half:
            return self.low - moved, self.high - moved, self.stride
        return self.remainder - half, half - self.power + self.remainder, self.power

    @property
    def compact(self) -> tuple[int, int, int]:
        """The bounds in the interpretation with the smaller distance."""
        unsigned, signed = self.unsigned, self.signed
        return signed if signed[1] - signed[0] < unsigned[1] - unsigned[0] else unsigned

    def numbers(self, *, is_signed: bool) -> tuple[int, int, int]:
        return self.signed if is_signed else self.unsigned

    def __contains__(self, value: int) -> bool:
        distance = (value - self.low) % (1 << self.width)
        return distance <= self.high - self.low and not (distance % self.stride if self.stride else distance)

    def members(self) -> list[int]:
        """Returns the numbers without a sign; for small sets."""
        mask = (1 << self.width) - 1
        return [each & mask for each in range(self.low, self.high + 1, self.stride or 1)]


def make_range(width: int, low: int, high: int, stride: int) -> StridedRange:
    """Returns the range of the numbers from `low` to `high`, which may be negative or exceed the width."""
    if low == high:
        value = low & (1 << width) - 1
        return StridedRange(width, value, value, 0)
    stride = stride or high - low
    high -= (high - low) % stride
    if high - low >= 1 << width:
        return full_range(width, stride & -stride, low)
    moved = low >> width << width
    return StridedRange(width, low - moved, high - moved, stride)


def single(width: int, value: int) -> StridedRange:
    """Returns the range with one number."""
    return make_range(width, value, value, 0)


def full_range(width: int, power: int = 1, remainder: int = 0) -> StridedRange:
    """Returns all numbers of a width with a remainder modulo a power of two."""
    power = min(power, 1 << width)
    remainder %= power
    return make_range(width, remainder, (1 << width) - power + remainder, power)


def range_of(width: int, values: Collection[int]) -> StridedRange:
    """Returns a range that contains some numbers."""
    low, high = min(values), max(values)
    return make_range(width, low, high, gcd(*(value - low for value in values)))


def join_ranges(first: StridedRange, second: StridedRange) -> StridedRange:
    """Returns a range that contains two others of the same width."""
    if first == second:
        return first
    found = [
        _join_numbers(first.width, first.numbers(is_signed=sign), second.numbers(is_signed=sign))
        for sign in (False, True)
    ]
    return min(found, key=lambda each: each.high - each.low)


def _join_numbers(width: int, first: Sequence[int], second: Sequence[int]) -> StridedRange:
    stride = gcd(first[2], second[2], first[0] - second[0])
    return make_range(width, min(first[0], second[0]), max(first[1], second[1]), stride)


def widen_range(old: StridedRange, new: StridedRange, thresholds: Sequence[int]) -> StridedRange:
    """Returns a range that contains both, and whose bounds are those of the old one, thresholds, or the limits.

    thresholds: in ascending order.
    """
    width, joined = old.width, join_ranges(old, new)
    if joined == old:
        return old
    is_signed = joined.numbers(is_signed=True)[1] - joined.signed[0] < joined.unsigned[1] - joined.unsigned[0]
    low, high, stride = joined.numbers(is_signed=is_signed)
    was = old.numbers(is_signed=is_signed)
    least, most = (-1 << width - 1, (1 << width - 1) - 1) if is_signed else (0, (1 << width) - 1)
    if low < was[0]:
        bound = max((each for each in thresholds if least <= each <= low), default=least)
        low -= (low - bound) // stride * stride
    if high > was[1]:
        bound = min((each for each in thresholds if high <= each <= most), default=most)
        high += (bound - high) // stride * stride
    return make_range(width, low, high, stride)


def restrict(held: StridedRange, low: int, high: int, *, is_signed: bool) -> StridedRange | None:
    """Returns the numbers between two bounds; None if no number is between them."""
    least, most, stride = held.numbers(is_signed=is_signed)
    if low > least:
        least += -(-(low - least) // stride) * stride if stride else low - least
    if high < most:
        most -= -(-(most - high) // stride) * stride if stride else most - high
    if least > most or (held.is_single and least not in held):
        return None
    return (
        held if (least, most) == held.numbers(is_signed=is_signed)[:2] else make_range(held.width, least, most, stride)
    )


def without(held: StridedRange, value: int) -> StridedRange | None:
    """Returns the numbers other than one, if that is the first or the last."""
    if held.is_single:
        return None if value in held else held
    low, high, stride = held.compact
    if (value - low) % (1 << held.width) == 0:
        return make_range(held.width, low + stride, high, stride)
    if (value - high) % (1 << held.width) == 0:
        return make_range(held.width, low, high - stride, stride)
    return held
