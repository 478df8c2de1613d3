"""f64 with one rounding in every direction: the errors of the operations are computed exactly and determine the last
bit.

Manual: Floating Point Instructions. NaNs are those of numpy; `nan_rules` converts them to those of PTX.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ptxkit.emulator.core.numbers import exact_bigint
from ptxkit.emulator.core.numbers.float_codec import fix_zero_sign, round_to_odd, two_sum
from ptxkit.emulator.core.numbers.formats import Reals

_SPLITTER = 2.0**27 + 1
_LARGE = 2.0**980
_SMALL = 2.0**-900


def add(a: Reals, b: Reals, rounding: str = "rn") -> Reals:
    """Returns a + b."""
    total = a + b
    if rounding == "rn":
        return total
    larger, smaller = _order_by_magnitude(a, b)
    lost = smaller - (total - larger)  # exact, and nothing in it overflows (Dekker)
    return fix_zero_sign(_apply_rounding(total, lost, rounding), a, b, rounding)


def multiply(a: Reals, b: Reals, rounding: str = "rn") -> Reals:
    """Returns a * b."""
    product = a * b
    if rounding == "rn":
        return product
    lost = _product_error(a, b, product)
    hard = ~_is_safe_range(product) | (np.abs(a) > _LARGE) | (np.abs(b) > _LARGE)
    hard &= np.isfinite(a) & np.isfinite(b) & (a != 0) & (b != 0)
    return _recompute_hard_lanes(
        _apply_rounding(product, lost, rounding), hard, exact_bigint.multiply_add, rounding, a, b
    )


def fused_multiply_add(a: Reals, b: Reals, c: Reals, rounding: str = "rn") -> Reals:
    """Returns a * b + c (Boldo and Melquiond: the error of two sums is rounded to odd)."""
    product = a * b
    if _is_ordinary(product, a, b, c):
        return fix_zero_sign(add(*_split_fused(product, a, b, c), rounding), product, c, rounding)
    finite = np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    product_is_zero = (a == 0) | (b == 0)
    hard = ~_is_safe_range(product) | (np.abs(a) > _LARGE) | (np.abs(b) > _LARGE) | (np.abs(c) > _LARGE)
    hard &= finite & ~product_is_zero
    total, small = _split_fused(product, a, b, c)
    easy = finite & ~product_is_zero & ~hard
    # Elsewhere the sum is exact or not a number; an infinite c with a finite product yields c, even if the product
    # overflows here.
    plain = np.where(np.isinf(c) & np.isfinite(a) & np.isfinite(b), c, product + c)
    result = np.where(easy, add(total, small, rounding), plain)
    result = fix_zero_sign(result, product, c, rounding)
    return _recompute_hard_lanes(result, hard, exact_bigint.multiply_add, rounding, a, b, c)


def _split_fused(product: Reals, a: Reals, b: Reals, c: Reals) -> tuple[Reals, Reals]:
    """Returns a * b + c as two numbers, of which the lesser one is rounded to odd."""
    high, low = two_sum(c, _product_error(a, b, product))
    total, rest = two_sum(product, high)
    return total, round_to_odd(*two_sum(rest, low))


def _is_ordinary(product: Reals, a: Reals, b: Reals, c: Reals) -> bool:
    """Returns whether all numbers are far from overflow, and no product is zero or near underflow; False for NaNs."""
    magnitude = np.abs(product)
    greatest = max(magnitude.max(), np.abs(a).max(), np.abs(b).max(), np.abs(c).max())
    return bool(magnitude.min() > _SMALL and greatest < _LARGE)


def divide(a: Reals, b: Reals, rounding: str = "rn") -> Reals:
    """Returns a / b."""
    result = a / b
    if rounding == "rn":
        return result
    back = result * b
    rest = (a - back) - _product_error(result, b, back)
    lost = np.where(np.signbit(b), -rest, rest)
    hard = (
        ~(_is_safe_range(result) & _is_safe_range(a) & _is_safe_range(b))
        & np.isfinite(a)
        & np.isfinite(b)
        & (a != 0)
        & (b != 0)
    )
    return _recompute_hard_lanes(_apply_rounding(result, lost, rounding), hard, exact_bigint.divide, rounding, a, b)


def sqrt(a: Reals, rounding: str = "rn") -> Reals:
    """Returns the square root."""
    result = np.sqrt(a)
    if rounding == "rn":
        return result
    square = result * result
    lost = (a - square) - _product_error(result, result, square)
    hard = ~_is_safe_range(a) & np.isfinite(a) & (a > 0)
    return _recompute_hard_lanes(_apply_rounding(result, lost, rounding), hard, exact_bigint.sqrt, rounding, a)


def _order_by_magnitude(a: Reals, b: Reals) -> tuple[Reals, Reals]:
    """Returns the number of greater magnitude first."""
    swap = np.abs(b) > np.abs(a)
    return np.where(swap, b, a), np.where(swap, a, b)


def _product_error(a: Reals, b: Reals, product: Reals) -> Reals:
    """Returns a * b - product, exactly, if nothing overflows or underflows (Dekker, Veltkamp)."""
    a_high, b_high = _veltkamp_high(a), _veltkamp_high(b)
    a_low, b_low = a - a_high, b - b_high
    return a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


def _veltkamp_high(value: Reals) -> Reals:
    wide = _SPLITTER * value
    return wide - (wide - value)


def _is_safe_range(value: Reals) -> NDArray[np.bool_]:
    """Returns whether numbers are far from overflow and underflow, so that errors of products are exact."""
    magnitude = np.abs(value)
    return (magnitude > _SMALL) & (magnitude < _LARGE)


def _apply_rounding(result: Reals, lost: Reals, rounding: str) -> Reals:
    """Returns a result, which is rounded to nearest, rounded as requested. `lost` has the sign of exact value - result.

    A sum that overflows has lost an infinity of the other sign, so it becomes the largest finite number again.
    """
    bits = np.asarray(result).view(np.uint64)
    inwards = (lost < 0) == (result > 0)
    moved = np.where(inwards, bits - np.uint64(1), bits + np.uint64(1))
    wanted = {"rz": (lost != 0) & inwards, "rm": lost < 0, "rp": lost > 0}[rounding]
    moves = wanted & ~np.isnan(lost) & (result != 0)
    return np.where(moves, moved, bits).view(np.float64)


def _recompute_hard_lanes(
    result: Reals,
    hard: NDArray[np.bool_],
    operation: Callable[..., exact_bigint.ScaledInteger],
    rounding: str,
    *operands: Reals,
) -> Reals:
    """Returns the result with the lanes that need more than doubles recomputed with integers."""
    if not hard.any():
        return result
    everywhere = np.broadcast_arrays(*operands)
    corrected = np.array(np.broadcast_to(result, hard.shape))
    corrected[hard] = exact_bigint.round_result(operation, rounding, *(operand[hard] for operand in everywhere))
    return corrected
