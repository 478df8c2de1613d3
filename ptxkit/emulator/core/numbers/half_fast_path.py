"""Arithmetic of f16 and bf16 rounded to nearest, in numpy's wider formats, if rounding twice yields the same result.

A sum or product in f32 has more than twice the bits of either, so that rounding it again is equivalent to one rounding.
For a fused product and sum this holds unless the wider result is halfway between two numbers and was rounded itself.
The exact computation is necessary then, and for products of bf16 that are subnormal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptxkit.emulator.core.numbers.float_codec import two_sum
from ptxkit.emulator.core.numbers.formats import BF16, F16, Bits, Format

FastPath = Callable[..., Bits | None]
"""A function from codes to codes, with None for lanes where the fast path does not apply."""

_SIXTEEN = np.uint32(16)
_ROUND = np.uint32(0x7FFF)
_ONE = np.uint32(1)
_LOWER, _HALF_WAY = np.uint32(0xFFFF), np.uint32(0x8000)
_MAGNITUDE, _NORMAL = np.uint32(0x7FFF_FFFF), np.uint32(0x0080_0000)
_BELOW_F16, _MIDDLE_F16 = np.uint64((1 << 42) - 1), np.uint64(1 << 41)


def fast_path(operation: Callable[..., Any], fmt: Format, *, fused: bool) -> FastPath | None:
    """Returns an operation of numpy's (`np.add`) on codes of a format, or a fused product and sum; None for other
    formats.
    """
    if fmt is F16:
        return _fused_f16 if fused else _f16_path(operation)
    if fmt is BF16:
        return _fused_bf16 if fused else _bf16_path(operation, exact=operation is not np.multiply)
    return None


def _f16_path(operation: Callable[..., Any]) -> FastPath:
    def function(a: Bits, b: Bits) -> Bits:
        return _canonicalize(operation(a.view(np.float16), b.view(np.float16)))

    return function


def _fused_f16(a: Bits, b: Bits, c: Bits) -> Bits | None:
    x, y, z = (each.view(np.float16).astype(np.float64) for each in (a, b, c))
    product = x * y
    total = product + z
    middle = total.view(np.uint64) & _BELOW_F16 == _MIDDLE_F16
    if middle.any() and (middle & (two_sum(product, z)[1] != 0)).any():
        return None
    return _canonicalize(total.astype(np.float16))


def _canonicalize(found: NDArray[np.float16]) -> Bits:
    wrong = np.isnan(found)
    codes: Bits = found.view(np.uint16)
    return np.where(wrong, np.uint16(F16.nan or 0), codes) if wrong.any() else codes


def _widen(codes: Bits) -> NDArray[np.float32]:
    return (codes.astype(np.uint32) << _SIXTEEN).view(np.float32)


def _bf16_path(operation: Callable[..., Any], *, exact: bool) -> FastPath:
    def function(a: Bits, b: Bits) -> Bits | None:
        x, y = _widen(a), _widen(b)
        found = operation(x, y)
        bits = found.view(np.uint32)
        small = bits & _MAGNITUDE < _NORMAL  # or a zero that was rounded
        if not exact and small.any() and (small & (x != 0) & (y != 0)).any():
            return None
        return _narrow(found, bits)

    return function


def _fused_bf16(a: Bits, b: Bits, c: Bits) -> Bits | None:
    product, z = _widen(a).astype(np.float64) * _widen(b), _widen(c).astype(np.float64)
    total = product + z
    found = total.astype(np.float32)
    bits = found.view(np.uint32)
    open_ = (bits & _LOWER == _HALF_WAY) | (bits & _MAGNITUDE < _NORMAL)
    if open_.any() and (open_ & ((found != total) | (two_sum(product, z)[1] != 0))).any():
        return None
    return _narrow(found, bits)


def _narrow(found: NDArray[np.float32], bits: Bits) -> Bits:
    wrong = np.isnan(found)
    codes = ((bits + (_ROUND + (bits >> _SIXTEEN & _ONE))) >> _SIXTEEN).astype(np.uint16)
    return np.where(wrong, np.uint16(BF16.nan or 0), codes) if wrong.any() else codes
