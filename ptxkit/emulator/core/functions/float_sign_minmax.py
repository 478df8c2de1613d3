"""Signs, properties, and minima and maxima of floating-point values, which need only the codes.

Manual: testp; copysign; abs; neg; min; max, for single, double and half precision.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ptxkit.emulator.core.numbers.float_codec import is_nan, magnitudes
from ptxkit.emulator.core.numbers.float_compare import min_max
from ptxkit.emulator.core.numbers.formats import F64, Bits, Format
from ptxkit.emulator.core.numbers.nan_rules import canonicalize, flush_subnormals, is_subnormal, propagate_payload
from ptxkit.emulator.core.numbers.packing import elementwise, packing_of
from ptxkit.emulator.core.semantics_registry import Function, value_semantics


@value_semantics
def fabs(*, type: str, ftz: bool = False) -> Function:  # noqa: A002
    """Returns the absolute value. A NaN of f64 keeps its sign and payload, and is made quiet."""
    fmt = packing_of(type).format
    return _sign_function(type, ftz, lambda codes: magnitudes(fmt, codes))


@value_semantics
def fneg(*, type: str, ftz: bool = False) -> Function:  # noqa: A002
    """Returns the negative value. A NaN of f64 keeps its sign and payload, and is made quiet."""
    fmt = packing_of(type).format
    return _sign_function(type, ftz, lambda codes: codes ^ fmt.dtype(fmt.sign))


def _sign_function(word: str, ftz: bool, change: Callable[[Bits], Bits]) -> Function:
    fmt = packing_of(word).format

    def function(codes: Bits) -> Bits:
        if ftz:
            codes = flush_subnormals(fmt, codes)
        changed = change(codes)
        return (
            propagate_payload(np.where(is_nan(fmt, codes), codes, changed), codes)
            if fmt is F64
            else canonicalize(fmt, changed)
        )

    return elementwise(function, word, word)


@value_semantics
def copysign(*, type: str) -> Function:  # noqa: A002
    """Returns the second value with the sign of the first."""
    fmt = packing_of(type).format
    sign = fmt.dtype(fmt.sign)
    return lambda a, b: (a & sign) | (b & ~sign)


_PROPERTIES: dict[str, Callable[[Format, Bits], Bits]] = {
    "notanumber": is_nan,
    "number": lambda fmt, codes: ~is_nan(fmt, codes),
    "finite": lambda fmt, codes: magnitudes(fmt, codes) < fmt.dtype(fmt.infinity or 0),
    "infinite": lambda fmt, codes: magnitudes(fmt, codes) == fmt.dtype(fmt.infinity or 0),
    "subnormal": is_subnormal,
    "normal": lambda fmt, codes: ~is_subnormal(fmt, codes) & (magnitudes(fmt, codes) < fmt.dtype(fmt.infinity or 0)),
}
"""The results of `testp`; zeros are normal."""


@value_semantics
def has_property(*, type: str, property: str) -> Function:  # noqa: A002
    """Returns whether a value has a property."""
    fmt, test = packing_of(type).format, _PROPERTIES[property]
    return lambda codes: test(fmt, codes)


@value_semantics
def fmin(*, type: str, ftz: bool = False, nan: bool = False, xorsign: bool = False, abs: bool = False) -> Function:  # noqa: A002
    """Returns the smallest of two or three values."""
    return _min_max(type, False, ftz, nan, xorsign, abs)


@value_semantics
def fmax(*, type: str, ftz: bool = False, nan: bool = False, xorsign: bool = False, abs: bool = False) -> Function:  # noqa: A002
    """Returns the greatest of two or three values."""
    return _min_max(type, True, ftz, nan, xorsign, abs)


def _min_max(word: str, greatest: bool, ftz: bool, nan: bool, xorsign: bool, absolute: bool) -> Function:
    """Returns a function for the minimum or maximum.

    With `nan`, a NaN among the operands is the result. With `xorsign`, the sign of the result states whether those of
    the first two operands differ.
    """
    fmt = packing_of(word).format
    choose = min_max(fmt, greatest=greatest, nan=nan)
    sign = fmt.dtype(fmt.sign)

    def function(a: Bits, b: Bits, c: Bits | None = None) -> Bits:
        given = [a, b] if c is None else [a, b, c]
        if ftz:
            given = [flush_subnormals(fmt, codes) for codes in given]
        signs = (given[0] ^ given[1]) & sign
        if absolute or xorsign:
            given = [magnitudes(fmt, codes) for codes in given]
        found = choose(given[0], given[1])
        if c is not None:
            found = choose(found, given[2])
        return np.where(is_nan(fmt, found), found, found | signs) if xorsign else found

    return elementwise(function, word, word, word, word)
