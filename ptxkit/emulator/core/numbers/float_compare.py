"""Comparisons and selections of codes, which need no arithmetic.

Manual: Floating Point Comparisons; min; max. min and max treat -0.0 as less than +0.0; comparisons treat them as equal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ptxkit.emulator.core.numbers.float_codec import is_nan, magnitudes
from ptxkit.emulator.core.numbers.formats import Bits, Format
from ptxkit.semantics.value_ops import COMPARISONS

BoolArray = NDArray[np.bool_]

_QUIET = np.uint64(1 << 51)


def comparison(fmt: Format, name: str) -> Callable[[Bits, Bits], BoolArray]:
    """Returns a comparison of codes by its name in PTX: `lt`, `ltu`, `num`, `nan`, ...; with a `u` it holds for
    NaNs.
    """
    if fmt.name in _NATIVE:
        native, test = _NATIVE[fmt.name], _VALUES[name]
        return lambda a, b: test(a.view(native), b.view(native))

    def has_nan(a: Bits, b: Bits) -> BoolArray:
        return is_nan(fmt, a) | is_nan(fmt, b)

    if name == "nan":
        return has_nan
    if name == "num":
        return lambda a, b: ~has_nan(a, b)
    if name in COMPARISONS:
        ordered = COMPARISONS[name]
        return lambda a, b: ordered(_sort_key(fmt, a), _sort_key(fmt, b)) & ~has_nan(a, b)
    either = COMPARISONS[name[:-1]]
    return lambda a, b: either(_sort_key(fmt, a), _sort_key(fmt, b)) | has_nan(a, b)


_NATIVE: dict[str, type[np.floating[Any]]] = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
_VALUES: dict[str, Callable[[Any, Any], BoolArray]] = {
    **COMPARISONS,
    "ne": lambda a, b: (a < b) | (a > b),
    "equ": lambda a, b: ~((a < b) | (a > b)),
    "neu": np.not_equal,
    "ltu": lambda a, b: ~(a >= b),
    "leu": lambda a, b: ~(a > b),
    "gtu": lambda a, b: ~(a <= b),
    "geu": lambda a, b: ~(a < b),
    "num": lambda a, b: (a == a) & (b == b),  # noqa: PLR0124 (a NaN is not itself)
    "nan": lambda a, b: (a != a) | (b != b),  # noqa: PLR0124
}
"""Comparisons of values for which numpy has types; they are false for NaNs, except for `!=`."""


def _sort_key(fmt: Format, codes: Bits) -> Bits:
    """Returns integers in the order of the numbers, with both zeros equal: the magnitude, negated for a set sign."""
    magnitude = magnitudes(fmt, codes)
    width = np.dtype(magnitude.dtype).itemsize * 8
    middle = magnitude.dtype.type(1 << (width - 1))
    return cast(Bits, np.where(codes & magnitude.dtype.type(fmt.sign) != 0, middle - magnitude, middle + magnitude))


def min_max(fmt: Format, *, greatest: bool, nan: bool = False) -> Callable[[Bits, Bits], Bits]:
    """Returns the function for the smaller or greater code.

    A NaN is ignored, or, with `nan`, returned. Two NaNs yield the format's own NaN, or for f64 the second one, made
    quiet, as on hardware.
    """
    kind = fmt.dtype
    sign, quiet = kind(fmt.sign), kind(fmt.nan or 0)
    if fmt.name in ("f32", "f64"):
        return _native_min_max(fmt, greatest, nan)

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


def _native_min_max(fmt: Format, greatest: bool, nan: bool) -> Callable[[Bits, Bits], Bits]:
    """Returns the same function by numpy's, which does not specify the sign of zero."""
    kind, native, quiet = fmt.dtype, _NATIVE[fmt.name], fmt.dtype(fmt.nan or 0)
    functions = {(True, True): np.maximum, (True, False): np.fmax, (False, True): np.minimum, (False, False): np.fmin}
    best = functions[greatest, nan]
    either = np.bitwise_and if greatest else np.bitwise_or

    def choose(a: Bits, b: Bits) -> Bits:
        x, y = a.view(native), b.view(native)
        found = best(x, y)
        codes: Bits = found.view(kind)
        equal = x == y
        if equal.any():
            codes = np.where(equal, either(a, b), codes)
        wrong = np.isnan(found)
        if not wrong.any():
            return codes
        if nan:
            return np.where(wrong, quiet, codes)
        # A signaling NaN together with a number may have become quiet.
        a_wrong, b_wrong = np.isnan(x), np.isnan(y)
        neither = b | _QUIET if kind is np.uint64 else quiet
        return np.where(a_wrong, np.where(b_wrong, neither, b), np.where(b_wrong, a, codes))

    return choose
