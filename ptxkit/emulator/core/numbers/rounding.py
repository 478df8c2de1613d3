"""One rounding, from a 64-bit significand to a code of any format.

A number is three arrays: whether it is negative, the exponent, and a significand whose highest bit is set (zero is all
zeros). The lowest bit may be sticky: it is set if smaller bits were cut off. Manual: Rounding Modifiers; cvt (`.rs`,
`.satfinite`, `.relu`).
"""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from ptxkit.emulator.core.numbers.formats import Bits, Format

_ONE = np.uint64(1)
_WORD = 64


def pack(
    fmt: Format,
    rounding: str,
    negative: NDArray[np.bool_],
    exponent: NDArray[np.int64],
    significand: NDArray[np.uint64],
    *,
    satfinite: bool = False,
    random: tuple[NDArray[np.uint64], int] | None = None,
) -> Bits:
    """Returns the codes nearest to (-1)**negative * significand * 2**(exponent - 63), with one rounding.

    With `satfinite`, numbers beyond the largest finite number become that number, in every rounding mode. `random` has,
    for `rs`, the bits to add to those that are cut off, and their number; they are aligned with the highest of the bits
    cut off.
    """
    exponent = np.where(significand == 0, fmt.smallest_exponent, exponent)
    too_small = np.maximum(fmt.smallest_exponent - exponent, 0)
    dropped = (_WORD - 1 - fmt.fraction_bits + too_small).astype(np.uint64)
    kept = _shift_right(significand, dropped)
    rest = significand - _shift_left(kept, dropped)
    up = _rounds_up(rounding, negative, kept, rest, dropped, random)
    # The highest bit of a normal significand increments the exponent, so this one is decremented.
    code = ((exponent + too_small - fmt.smallest_exponent).astype(np.uint64) << np.uint64(fmt.fraction_bits)) + kept
    code = code + up
    if not fmt.fraction_bits:
        code = code - _ONE  # no subnormal numbers: the lowest code is a power of two, too
        code = np.where(significand == 0, np.uint64(0), np.where(kept + up == 0, np.uint64(0), code))
    code = _handle_overflow(fmt, rounding, negative, code, satfinite)
    signed = np.where(negative, code | np.uint64(fmt.sign), code)
    return (signed << np.uint64(fmt.shift)).astype(fmt.dtype)


def _rounds_up(
    rounding: str,
    negative: NDArray[np.bool_],
    kept: NDArray[np.uint64],
    rest: NDArray[np.uint64],
    dropped: NDArray[np.uint64],
    random: tuple[NDArray[np.uint64], int] | None,
) -> NDArray[np.uint64]:
    """Returns 1 if the magnitude is rounded up, else 0."""
    if rounding == "rz":
        return np.zeros_like(kept)
    if rounding == "rm":
        return cast(Bits, ((rest != 0) & negative).astype(np.uint64))
    if rounding == "rp":
        return cast(Bits, ((rest != 0) & ~negative).astype(np.uint64))
    if rounding == "rs":
        assert random is not None
        bits, count = random
        cut = _shift_right(rest, np.maximum(dropped.astype(np.int64) - count, 0).astype(np.uint64))
        return ((cut + bits) >> np.uint64(count)) & _ONE
    half = _shift_left(np.ones_like(kept), dropped - _ONE)
    at_half = rest == half
    if rounding == "rn":
        at_half &= (kept & _ONE).astype(bool)
    return cast(Bits, (((rest > half) | at_half) & (dropped <= _WORD)).astype(np.uint64))


def _handle_overflow(
    fmt: Format,
    rounding: str,
    negative: NDArray[np.bool_],
    code: NDArray[np.uint64],
    satfinite: bool,
) -> NDArray[np.uint64]:
    """Returns codes beyond the largest finite number replaced by infinity, NaN or that number."""
    maximum = np.uint64(fmt.maximum)
    beyond = code > maximum
    if satfinite or (fmt.infinity is None and fmt.nan is None) or rounding in ("rz", "rs"):
        return np.where(beyond, maximum, code)
    outside = np.uint64(fmt.nan or 0) if fmt.infinity is None else np.uint64(fmt.infinity)
    if rounding in ("rm", "rp"):
        toward_zero = negative if rounding == "rp" else ~negative
        return np.where(beyond, np.where(toward_zero, maximum, outside), code)
    return np.where(beyond, outside, code)


def _shift_right(value: NDArray[np.uint64], by: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return np.where(by >= _WORD, np.uint64(0), value >> np.minimum(by, np.uint64(_WORD - 1)))


def _shift_left(value: NDArray[np.uint64], by: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return np.where(by >= _WORD, np.uint64(0), value << np.minimum(by, np.uint64(_WORD - 1)))
