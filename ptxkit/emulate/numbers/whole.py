"""Arithmetic in whole numbers for the few lanes where doubles would lose bits: near overflow and underflow of f64."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ptxkit.emulate.numbers.formats import F64, Reals
from ptxkit.emulate.numbers.rounding import pack

Scaled = tuple[int, int]
"""A number as m * 2**e."""

_WORD = 64
_ENOUGH = 140  # bits of a quotient or root, which are more than f64 keeps: the rest is sticky


def scaled(value: float) -> Scaled:
    """A finite double, exactly."""
    fraction, exponent = math.frexp(value)
    return int(fraction * 2**53), exponent - 53


def product_and_sum(a: float, b: float, c: float = 0.0) -> Scaled:
    """a * b + c, exactly."""
    (ma, ea), (mb, eb), (mc, ec) = scaled(a), scaled(b), scaled(c)
    lowest = min(ea + eb, ec)
    return (ma * mb << (ea + eb - lowest)) + (mc << (ec - lowest)), lowest


def quotient(a: float, b: float) -> Scaled:
    """a / b, its last bit sticky."""
    (ma, ea), (mb, eb) = scaled(a), scaled(b)
    found, rest = divmod(abs(ma) << _ENOUGH, abs(mb))
    sign = -1 if (ma < 0) != (mb < 0) else 1
    return sign * (found << 1 | (rest != 0)), ea - eb - _ENOUGH - 1


def root(a: float) -> Scaled:
    """The square root, its last bit sticky."""
    mantissa, exponent = scaled(a)
    shift = _ENOUGH + ((exponent - _ENOUGH) & 1)
    value = mantissa << shift
    found = math.isqrt(value)
    return found << 1 | (found * found != value), (exponent - shift) // 2 - 1


def rounded(operation: Callable[..., Scaled], rounding: str, *operands: Reals) -> Reals:
    """The operation's results in f64, by one rounding; all operands are finite."""
    triples = [_triple(operation(*map(float, lane)), rounding) for lane in zip(*operands, strict=True)]
    negative, exponent, significand = _columns(triples)
    return pack(F64, rounding, negative, exponent, significand).view(np.float64)


def _triple(value: Scaled, rounding: str) -> tuple[bool, int, int]:
    """Sign, exponent and significand as `pack` takes them; an exact zero is -0 where rounding goes down."""
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


def _columns(
    triples: Sequence[tuple[bool, int, int]],
) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.uint64]]:
    return (
        np.array([negative for negative, _, _ in triples], bool),
        np.array([exponent for _, exponent, _ in triples], np.int64),
        np.array([significand for _, _, significand in triples], np.uint64),
    )
