"""Arithmetic on values of the formats that fit in f64; each result is exact, or rounded to odd for
`float_codec.narrow`.

The product of two significands of 24 bits is exact in f64. A quotient or a root of such numbers is either a number of
25 bits or differs from all of them by at least 2**-49 of itself, so rounding it to 53 bits first is harmless.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ptxkit.emulator.core.numbers.float_codec import add_round_to_odd, fix_zero_sign
from ptxkit.emulator.core.numbers.formats import Reals

Floats = NDArray[np.float32]


def add(a: Reals, b: Reals, rounding: str = "rn") -> Reals:
    """Returns a + b."""
    return fix_zero_sign(add_round_to_odd(a, b), a, b, rounding)


def multiply(a: Reals, b: Reals) -> Reals:
    """Returns a * b."""
    return a * b


def fused_multiply_add(a: Reals, b: Reals, c: Reals, rounding: str = "rn") -> Reals:
    """Returns a * b + c."""
    return add(a * b, c, rounding)


def divide(a: Reals, b: Reals) -> Reals:
    """Returns a / b."""
    return a / b


def sqrt(a: Reals) -> Reals:
    """Returns the square root."""
    return np.sqrt(a)


def fused_multiply_add_f32(a: Floats, b: Floats, c: Floats) -> Floats:
    """Returns a * b + c in f32, rounded to nearest.

    The sum in f64 may be rounded again unless it is halfway between two numbers of 24 bits.
    """
    product = a.astype(np.float64) * b
    total = product + c
    middle = (total.view(np.uint64) & _BELOW_F32) == _HALF_WAY
    if (middle | ((np.abs(total) < _NORMAL) & (total != 0))).any():
        total = add_round_to_odd(product, c.astype(np.float64))
    rounded: Floats = total.astype(np.float32)
    return rounded


_BELOW_F32 = np.uint64((1 << 29) - 1)
_HALF_WAY = np.uint64(1 << 28)
_NORMAL = 2.0**-126
