"""Arithmetic of the formats that fit in f64, on values: each result is exact or rounded to odd, for `carriers.narrow`.

A product of two significands of 24 bits is exact in f64. A quotient or a root of such numbers comes no nearer to a
number of 25 bits than 2**-49 of itself unless it is one, so rounding it to 53 bits first is harmless.
"""

from __future__ import annotations

import numpy as np

from ptxkit.emulate.numbers.carriers import odd_sum
from ptxkit.emulate.numbers.formats import Reals


def add(a: Reals, b: Reals, rounding: str = "rn") -> Reals:
    """a + b."""
    return _zero_signed(odd_sum(a, b), a, b, rounding)


def multiply(a: Reals, b: Reals) -> Reals:
    """a * b."""
    return a * b


def fused(a: Reals, b: Reals, c: Reals, rounding: str = "rn") -> Reals:
    """a * b + c."""
    return add(a * b, c, rounding)


def divide(a: Reals, b: Reals) -> Reals:
    """a / b."""
    return a / b


def root(a: Reals) -> Reals:
    """The square root."""
    return np.sqrt(a)


def _zero_signed(total: Reals, a: Reals, b: Reals, rounding: str) -> Reals:
    """A sum that is exactly zero is -0 where rounding goes down, unless both of it are +0."""
    if rounding != "rm":
        return total
    positive = ~np.signbit(a) & ~np.signbit(b)
    return np.where((total == 0) & ~positive, -0.0, total)
