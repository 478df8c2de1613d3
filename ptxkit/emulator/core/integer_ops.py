"""Integer operations on arrays of bit patterns in two's complement.

Source: PTX ISA, "Integer Arithmetic Instructions", "Logic and Shift Instructions". Results that the manual does not
specify are those of hardware: a division by zero returns all ones, and so does its remainder.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ptxkit.emulator.core.dtypes import resize, unsigned_dtype
from ptxkit.semantics.value_ops import COMPARISONS, PRMT_SELECTORS

BinaryFunction = Callable[[Any, Any], Any]


def signed_view(values: Any) -> Any:
    """Returns the same bits as signed numbers."""
    return values.view(f"i{values.dtype.itemsize}")


def mul_wide(width: int, signed: bool) -> BinaryFunction:
    """Returns the full product, which has twice the width."""

    def product(a: Any, b: Any) -> Any:
        return resize(a, 2 * width, signed=signed) * resize(b, 2 * width, signed=signed)

    return product


def mul_hi(width: int, signed: bool) -> BinaryFunction:
    """Returns the high half of the product."""
    if width < 64:
        whole = mul_wide(width, signed)
        return lambda a, b: resize(whole(a, b) >> unsigned_dtype(2 * width)(width), width)
    return _signed_high if signed else high_product


def high_product(a: Any, b: Any) -> Any:
    """Returns the high 64 bits of a product of two unsigned numbers of 64 bits."""
    low, half = numpy.uint64(0xFFFF_FFFF), numpy.uint64(32)
    a0, a1, b0, b1 = a & low, a >> half, b & low, b >> half
    middle = a1 * b0 + (a0 * b0 >> half)
    other = a0 * b1 + (middle & low)
    return a1 * b1 + (middle >> half) + (other >> half)


def _signed_high(a: Any, b: Any) -> Any:
    zero = numpy.uint64(0)
    negative_a, negative_b = signed_view(a) < 0, signed_view(b) < 0
    return high_product(a, b) - numpy.where(negative_a, b, zero) - numpy.where(negative_b, a, zero)


def div(width: int, signed: bool) -> BinaryFunction:
    """Returns the quotient, rounded toward zero."""

    def quotient(a: Any, b: Any) -> Any:
        ones = ~unsigned_dtype(width)(0)
        by_zero = b == 0
        divisor = numpy.where(by_zero, unsigned_dtype(width)(1), b)
        if signed:
            found, below = absolute(a) // absolute(divisor), signed_view(a ^ divisor) < 0
            found = numpy.where(below, -found, found)
        else:
            found = a // divisor
        return numpy.where(by_zero, ones, found)

    return quotient


def rem(width: int, signed: bool) -> BinaryFunction:
    """Returns the remainder, with the sign of the dividend."""

    def remainder(a: Any, b: Any) -> Any:
        ones = ~unsigned_dtype(width)(0)
        by_zero = b == 0
        divisor = numpy.where(by_zero, unsigned_dtype(width)(1), b)
        if signed:
            found = absolute(a) % absolute(divisor)
            found = numpy.where(signed_view(a) < 0, -found, found)
        else:
            found = a % divisor
        return numpy.where(by_zero, ones, found)

    return remainder


def absolute(a: Any) -> Any:
    """Returns the absolute value; that of the smallest number is the number itself."""
    return numpy.where(signed_view(a) < 0, -a, a)


def minimum(signed: bool) -> BinaryFunction:
    """Returns the smaller of two numbers."""
    if signed:
        return lambda a, b: numpy.minimum(signed_view(a), signed_view(b)).view(a.dtype)
    return numpy.minimum


def maximum(signed: bool) -> BinaryFunction:
    """Returns the greater of two numbers."""
    if signed:
        return lambda a, b: numpy.maximum(signed_view(a), signed_view(b)).view(a.dtype)
    return numpy.maximum


def shl(width: int) -> BinaryFunction:
    """Returns bits shifted left, or 0 for shifts by the width or more."""
    return lambda a, n: numpy.left_shift(a, _clamped_shift(n, width))


def shr(width: int, signed: bool) -> BinaryFunction:
    """Returns bits shifted right, filled with zeros or the sign."""
    if signed:
        return lambda a, n: numpy.right_shift(signed_view(a), signed_view(_clamped_shift(n, width))).view(a.dtype)
    return lambda a, n: numpy.right_shift(a, _clamped_shift(n, width))


def _clamped_shift(n: Any, width: int) -> Any:
    """Returns a shift amount of 32 bits in a type of the width: at most the width, where no bits of the operand
    remain.
    """
    return numpy.minimum(n, numpy.uint32(width)).astype(unsigned_dtype(width))


def prmt(mode: str | None) -> Callable[[Any, Any, Any], Any]:
    """Returns four of eight bytes: each nibble of c selects one; its top bit selects copies of that byte's sign."""
    selectors = None if mode is None else numpy.array(PRMT_SELECTORS[mode], numpy.uint32)

    def pick(a: Any, b: Any, c: Any) -> Any:
        both = a.astype(numpy.uint64) | b.astype(numpy.uint64) << numpy.uint64(32)
        chosen = c if selectors is None else selectors[c & numpy.uint32(3)]
        found = numpy.zeros_like(both)
        for i in range(4):
            nibble = chosen >> numpy.uint32(4 * i)
            byte = both >> (nibble & numpy.uint32(7)).astype(numpy.uint64) * numpy.uint64(8) & numpy.uint64(255)
            sign = numpy.where(byte & numpy.uint64(128), numpy.uint64(255), numpy.uint64(0))
            byte = numpy.where(nibble & numpy.uint32(8), sign, byte)
            found |= byte << numpy.uint64(8 * i)
        return found.astype(numpy.uint32)

    return pick


def funnel(direction: str, mode: str) -> Callable[[Any, Any, Any], Any]:
    """Returns half of the 64 bits b:a after a shift: the high half for a left shift, the low half for a right shift."""

    def funnel_shift(a: Any, b: Any, c: Any) -> Any:
        both = a.astype(numpy.uint64) | b.astype(numpy.uint64) << numpy.uint64(32)
        by = numpy.minimum(c, numpy.uint32(32)) if mode == "clamp" else c & numpy.uint32(31)
        by = by.astype(numpy.uint64)
        moved = both << by >> numpy.uint64(32) if direction == "l" else both >> by
        return moved.astype(numpy.uint32)

    return funnel_shift


def bfe(width: int, signed: bool) -> Callable[[Any, Any, Any], Any]:
    """Returns a field of bits, zero-extended or sign-extended (from the topmost bit if the field extends beyond it)."""

    def field(a: Any, position: Any, length: Any) -> Any:
        pos, count = _field_operands(position, width), _field_operands(length, width)
        wide = a.astype(numpy.uint64)
        moved = numpy.where(pos < width, wide >> numpy.minimum(pos, 63).astype(numpy.uint64), numpy.uint64(0))
        mask = _mask(count)
        found = moved & mask
        if signed:
            top = numpy.minimum(pos + count - 1, width - 1).clip(0)
            is_negative = (wide >> top.astype(numpy.uint64) & numpy.uint64(1) != 0) & (count > 0)
            # Bits beyond the number are sign bits, too.
            found = numpy.where(is_negative, found | ~(mask & _mask(width - pos)), found)
        return resize(found, width)

    return field


def bfi(width: int) -> Callable[[Any, Any, Any, Any], Any]:
    """Returns b with a field replaced by the low bits of a."""

    def insert(a: Any, b: Any, position: Any, length: Any) -> Any:
        pos, count = _field_operands(position, width), _field_operands(length, width)
        by = numpy.minimum(pos, 63).astype(numpy.uint64)
        mask = numpy.where(pos < width, _mask(count) << by, numpy.uint64(0))
        found = b.astype(numpy.uint64) & ~mask | a.astype(numpy.uint64) << by & mask
        return resize(found, width)

    return insert


def _field_operands(values: Any, width: int) -> Any:
    """Returns positions and lengths of fields. The manual uses their low 8 bits; for 64 bits, ptxas uses all."""
    counted = values & numpy.uint32(255) if width == 32 else numpy.minimum(values, numpy.uint32(255))
    return counted.astype(numpy.int64)


def _mask(count: Any) -> Any:
    """Returns a mask of `count` ones, 0 to 64."""
    whole = ~numpy.uint64(0)
    at = numpy.clip(count, 0, 63).astype(numpy.uint64)
    return numpy.where(count >= 64, whole, (numpy.uint64(1) << at) - numpy.uint64(1))


def popc(a: Any) -> Any:
    """Returns the number of ones."""
    octets = numpy.ascontiguousarray(a).reshape(-1, 1).view(numpy.uint8)
    return _ONES[octets].sum(axis=1, dtype=numpy.uint32).reshape(a.shape)


_ONES = numpy.array([bin(octet).count("1") for octet in range(256)], numpy.uint8)


def clz(a: Any) -> Any:
    """Returns the number of leading zeros."""
    width = a.dtype.itemsize * 8
    found = numpy.zeros(a.shape, numpy.uint32)
    left = a
    step = width // 2
    while step:
        upper = left >> a.dtype.type(step)
        is_empty = upper == 0
        found += numpy.where(is_empty, numpy.uint32(step), numpy.uint32(0))
        left = numpy.where(is_empty, left, upper)
        step //= 2
    return found + (left == 0).astype(numpy.uint32)


def comparison(operator: str, signed: bool) -> BinaryFunction:
    """Returns whether a comparison of integers holds."""
    function = COMPARISONS[operator]
    if signed and operator not in ("eq", "ne"):
        return lambda a, b: function(signed_view(a), signed_view(b))
    return function
