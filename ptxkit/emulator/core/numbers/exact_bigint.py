"""Arithmetic on integers for the few lanes where doubles would lose bits, near overflow and underflow of f64."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ptxkit.emulator.core.numbers.formats import F64, Reals
from ptxkit.emulator.core.numbers.rounding import pack

ScaledInteger = tuple[int, int]
"""A number as m * 2**e."""

_WORD = 64
_QUOTIENT_BITS = 140  # bits of a quotient or root, which are more than f64 has: the rest is sticky


def to_scaled(value: float) -> ScaledInteger:
    """Returns a finite double, exactly."""
    fraction, exponent = math.frexp(value)
    return int(fraction * 2**53), exponent - 53


def multiply_add(a: float, b: float, c: float = 0.0) -> ScaledInteger:
    """Returns a * b + c, exactly."""
    (ma, ea), (mb, eb), (mc, ec) = to_scaled(a), to_scaled(b), to_scaled(c)
    lowest = min(ea + eb, ec)
    return (ma * mb << (ea + eb - lowest)) + (mc << (ec - lowest)), lowest


def divide(a: float, b: float) -> ScaledInteger:
    """Returns a / b, its last bit sticky."""
    (ma, ea), (mb, eb) = to_scaled(a), to_scaled(b)
    found, rest = divmod(abs(ma) << _QUOTIENT_BITS, abs(mb))
    sign = -1 if (ma < 0) != (mb < 0) else 1
    return sign * (found << 1 | (rest != 0)), ea - eb - _QUOTIENT_BITS - 1


def sqrt(a: float) -> ScaledInteger:
    """Returns the square root, its last bit sticky."""
    mantissa, exponent = to_scaled(a)
    shift = _QUOTIENT_BITS + ((exponent - _QUOTIENT_BITS) & 1)
    value = mantissa << shift
    found = math.isqrt(value)
    return found << 1 | (found * found != value), (exponent - shift) // 2 - 1


def round_result(operation: Callable[..., ScaledInteger], rounding: str, *operands: Reals) -> Reals:
    """Returns the operation's results in f64, with one rounding; all operands are finite."""
    triples = [_to_triple(operation(*map(float, lane)), rounding) for lane in zip(*operands, strict=True)]
    negative, exponent, significand = _to_columns(triples)
    return pack(F64, rounding, negative, exponent, significand).view(np.float64)


def _to_triple(value: ScaledInteger, rounding: str) -> tuple[bool, int, int]:
    """Returns sign, exponent and significand for `pack`. An exact zero is -0 if rounding is downward."""
    number, exponent = value
    if number == 0:
        return rounding == "rm", 0, 0
    magnitude = abs(number)
    length = magnitude.bit_length()
    if length <= _WORD:
        significand = magnitude << (_WORD - length)
    else:
        cut = length - _WORD
        significand = magnitude >> cut
        significand |= magnitude != significand << cut
    return number < 0, exponent + length - 1, significand


def _to_columns(
    triples: Sequence[tuple[bool, int, int]],
) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.uint64]]:
    return (
        np.array([negative for negative, _, _ in triples], bool),
        np.array([exponent for _, exponent, _ in triples], np.int64),
        np.array([significand for _, _, significand in triples], np.uint64),
    )
