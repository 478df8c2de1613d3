"""Approximate instructions. Their results are rounded once, within `numbers.error_bounds`, but not bit for bit those of
a GPU.

The cases that the manual specifies are exact: infinities, zeros and their signs, NaNs, flushed subnormal numbers.

Manual: div, rcp, sqrt, rsqrt, sin, cos, lg2, ex2, tanh.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ptxkit.emulator.core.numbers.float_codec import widen
from ptxkit.emulator.core.numbers.formats import F32, F64, Bits, Reals
from ptxkit.emulator.core.numbers.nan_rules import flush_subnormals, propagate_payload
from ptxkit.emulator.core.numbers.packing import elementwise, packing_of
from ptxkit.emulator.core.numbers.result_modifiers import ResultModifiers
from ptxkit.emulator.core.semantics_registry import Function, value_semantics

_UPPER = np.uint64(0xFFFF_FFFF_0000_0000)
_CANONICAL_UPPER = np.uint64(0x7FFF_FFFF_0000_0000)


def _reciprocal(values: Reals) -> Reals:
    return 1.0 / values


def _reciprocal_sqrt(values: Reals) -> Reals:
    return 1.0 / np.sqrt(values)


_FUNCTIONS: dict[str, Callable[[Reals], Reals]] = {
    "rcp": _reciprocal,
    "sqrt": np.sqrt,
    "rsqrt": _reciprocal_sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "lg2": np.log2,
    "ex2": np.exp2,
    "tanh": np.tanh,
}


@value_semantics
def approximately(*, type: str, function: str, ftz: bool = False) -> Function:  # noqa: A002
    """Returns a function of one value."""
    compute, fmt = _FUNCTIONS[function], packing_of(type).format
    if fmt is F64:
        return _upper_half_function(compute) if ftz else _f64_function(compute)
    finish = ResultModifiers(ftz=ftz)

    def of_codes(codes: Bits) -> Bits:
        with np.errstate(all="ignore"):
            return finish.encode(fmt, compute(widen(fmt, flush_subnormals(fmt, codes) if ftz else codes)))

    return elementwise(of_codes, type, type)


def _f64_function(compute: Callable[[Reals], Reals]) -> Function:
    def function(a: Bits) -> Bits:
        with np.errstate(all="ignore"):
            found = compute(a.view(np.float64))
        return propagate_payload(found.view(np.uint64), a)

    return function


def _upper_half_function(compute: Callable[[Reals], Reals]) -> Function:
    """Returns the function of `.approx.ftz.f64`, which reads and writes the upper 32 bits only."""

    def function(a: Bits) -> Bits:
        with np.errstate(all="ignore"):
            found = compute(flush_subnormals(F64, a & _UPPER).view(np.float64))
        codes = flush_subnormals(F64, found.view(np.uint64)) & _UPPER
        return np.where(np.isnan(found), _CANONICAL_UPPER, codes)

    return function


@value_semantics
def divide_approximately(*, full: bool = False, ftz: bool = False) -> Function:
    """Returns a / b in f32. Unless it is `.full`, the reciprocal of a divisor beyond 2**126 is flushed to zero."""
    finish = ResultModifiers(ftz=ftz)

    def function(a: Bits, b: Bits) -> Bits:
        if ftz:
            a, b = flush_subnormals(F32, a), flush_subnormals(F32, b)
        with np.errstate(all="ignore"):
            x, y = widen(F32, a), widen(F32, b)
            quotient = x / y
            if not full:
                large = (np.abs(y) > 2.0**126) & np.isfinite(y)
                quotient = np.where(large, x * np.copysign(0.0, y), quotient)
            return finish.encode(F32, quotient)

    return function
