"""Conversions between integers and floating-point values, and rounding to integers.

Manual: cvt (Integer Notes, Floating Point Notes).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ptxkit.emulator.core.numbers.formats import DTYPES, Bits, Format, Reals
from ptxkit.emulator.core.numbers.rounding import pack

ROUND_TO_INTEGER: dict[str, Callable[[Reals], Reals]] = {
    "rni": np.rint,
    "rzi": np.trunc,
    "rmi": np.floor,
    "rpi": np.ceil,
}
"""Rounding to an integer, by the modifier's name."""


def from_integer(fmt: Format, integers: Bits, *, signed: bool, rounding: str) -> Bits:
    """Returns the codes of integers of any width, with one rounding."""
    width = integers.dtype.itemsize * 8
    if rounding == "rn" and fmt.name in ("f32", "f64"):
        numbers = integers.view(f"i{width // 8}") if signed else integers
        return numbers.astype(f"f{fmt.width // 8}").view(fmt.dtype)
    words = np.asarray(integers).astype(np.uint64)
    negative = np.zeros(np.shape(words), bool)
    if signed:
        words = np.asarray(integers).view(f"i{width // 8}").astype(np.int64).view(np.uint64)
        negative = words >> np.uint64(63) != 0
        words = np.where(negative, np.uint64(0) - words, words)
    # The conversion may round up to the next power of two; then the exponent is one too high.
    exponent = np.frexp(words.astype(np.float64))[1].astype(np.int64) - 1
    exponent = np.clip(exponent, 0, 63)
    exponent = np.where((words >> exponent.astype(np.uint64) == 0) & (words != 0), exponent - 1, exponent)
    significand = words << (63 - exponent).astype(np.uint64)
    return pack(fmt, rounding, negative, exponent, significand)


def to_integer(values: Reals, width: int, *, signed: bool, rounding: str, nan: int) -> Bits:
    """Returns values rounded to integers and saturated to `width` bits; NaNs become `nan`."""
    lowest = -(2.0 ** (width - 1)) if signed else 0.0
    beyond = 2.0 ** (width - 1) if signed else 2.0**width
    rounded = ROUND_TO_INTEGER[rounding](values)
    inside = (rounded >= lowest) & (rounded < beyond)
    held = np.where(inside, rounded, 0.0)
    words = held.astype(np.int64).view(np.uint64) if signed else _to_uint64(held)
    highest = (1 << (width - 1)) - 1 if signed else (1 << width) - 1
    limited = np.where(rounded < 0, np.uint64(int(lowest) & (2**64 - 1)), np.uint64(highest))
    words = np.where(inside, words, limited)
    words = np.where(np.isnan(values), np.uint64(nan), words)
    return words.astype(DTYPES[width])


def _to_uint64(values: Reals) -> Bits:
    """Returns values of 0 .. 2**64 - 1, whose upper half does not fit in a signed integer."""
    upper = values >= 2.0**63
    low = np.where(upper, values - 2.0**63, values).astype(np.int64).view(np.uint64)
    return np.where(upper, low | np.uint64(1 << 63), low)
