"""Comparing and choosing by codes, which needs no arithmetic.

Manual: Floating Point Comparisons; min; max. -0.0 is less than +0.0 to min and max, and equal to it in comparisons.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ptxkit.emulate.numbers.carriers import is_nan, magnitudes
from ptxkit.emulate.numbers.formats import Bits, Format

Truth = NDArray[np.bool_]

COMPARISONS: dict[str, Callable[[Bits, Bits], Truth]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
"""Ordered comparisons; with a `u` behind them they hold for NaNs, too."""


def comparison(fmt: Format, name: str) -> Callable[[Bits, Bits], Truth]:
    """A comparison of codes by its name in PTX: `lt`, `ltu`, `num`, `nan`, ..."""

    def unordered(a: Bits, b: Bits) -> Truth:
        return is_nan(fmt, a) | is_nan(fmt, b)

    if name == "nan":
        return unordered
    if name == "num":
        return lambda a, b: ~unordered(a, b)
    if name in COMPARISONS:
        test = COMPARISONS[name]
        return lambda a, b: test(_key(fmt, a), _key(fmt, b)) & ~unordered(a, b)
    test = COMPARISONS[name[:-1]]
    return lambda a, b: test(_key(fmt, a), _key(fmt, b)) | unordered(a, b)


def _key(fmt: Format, codes: Bits) -> Bits:
    """Integers in the order of the numbers, both zeros equal: the magnitude, negated by the sign."""
    magnitude = magnitudes(fmt, codes)
    width = np.dtype(magnitude.dtype).itemsize * 8
    middle = magnitude.dtype.type(1 << (width - 1))
    return cast(Bits, np.where(codes & magnitude.dtype.type(fmt.sign) != 0, middle - magnitude, middle + magnitude))


def extreme(fmt: Format, *, greatest: bool, nan: bool = False) -> Callable[[Bits, Bits], Bits]:
    """The smaller or greater code. A NaN is passed over, or, with `nan`, given; two NaNs give the format's own."""
    kind = fmt.dtype
    sign, quiet = kind(fmt.sign), kind(fmt.nan or 0)

    def key(codes: Bits) -> Bits:
        return np.where(codes & sign != 0, ~codes, codes | sign)

    def choose(a: Bits, b: Bits) -> Bits:
        first = key(a) >= key(b) if greatest else key(a) <= key(b)
        chosen = np.where(first, a, b)
        a_wrong, b_wrong = is_nan(fmt, a), is_nan(fmt, b)
        if not (a_wrong | b_wrong).any():
            return chosen
        if nan:
            return np.where(a_wrong | b_wrong, quiet, chosen)
        return np.where(a_wrong, np.where(b_wrong, quiet, b), np.where(b_wrong, a, chosen))

    return choose
