"""The numpy types of bit patterns, by the type words of PTX."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy

from ptxkit.emulator.core.semantics_registry import Bits
from ptxkit.isa.functions import bits, kind

_UNSIGNED: dict[int, Any] = {
    1: numpy.bool_,
    8: numpy.uint8,
    16: numpy.uint16,
    32: numpy.uint32,
    64: numpy.uint64,
}

WIDE = 128
"""The width in bits of values that are two columns of uint64, low half first."""


def unsigned_dtype(width: int) -> Any:
    """Returns the array type of values of `width` bits, for 128 bits that of the two halves."""
    if width == WIDE:
        return numpy.uint64
    return _UNSIGNED.get(width) or _UNSIGNED[max(8, 1 << (width - 1).bit_length())]


@cache
def width_of(word: str) -> int:
    """Returns the bits of a type's values: 32 for `u32`, 1 for `pred`, 8 for `e2m1x2`."""
    found = bits(word)
    return found if found == 1 else max(found, 8)


@cache
def is_signed(word: str) -> bool:
    """Returns whether values of a type are sign-extended in a wider register."""
    return kind(word) == "s"


def resize(values: Bits, width: int, *, signed: bool = False) -> Bits:
    """Returns values truncated or extended to a width."""
    here = 1 if values.dtype == numpy.bool_ else WIDE if values.ndim == 2 else values.dtype.itemsize * 8
    if here == width:
        return values
    if here == WIDE:
        return resize(values[:, 0], width)
    if width == 1:
        held: Bits = values != 0
        return held
    if width == WIDE:
        low = resize(values, 64, signed=signed)
        high = (low.view(numpy.int64) >> 63).view(numpy.uint64) if signed else numpy.zeros_like(low)
        return numpy.stack([low, high], axis=1)
    wanted = unsigned_dtype(width)
    if signed and width > here > 1:
        extended: Bits = values.view(f"i{here // 8}").astype(f"i{width // 8}").view(wanted)
        return extended
    made: Bits = values.astype(wanted)
    return made


def constant_bits(value: int, width: int) -> Bits:
    """Returns a constant's low bits as an array without dimensions; for 128 bits, its two halves."""
    if width == 1:
        return numpy.array(bool(value))
    if width == WIDE:
        return numpy.array([value & _MASK_64, value >> 64 & _MASK_64], numpy.uint64)
    return numpy.array(value & ((1 << width) - 1), unsigned_dtype(width))


_MASK_64 = (1 << 64) - 1
