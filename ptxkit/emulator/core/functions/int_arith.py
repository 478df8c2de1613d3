"""Integer arithmetic: saturation, 24-bit multiplication, carry-less multiplication, and bit searches.

Source: PTX ISA, "Integer Arithmetic Instructions".
"""

from __future__ import annotations

from typing import Any

import numpy

from ptxkit.emulator.core import integer_ops
from ptxkit.emulator.core.dtypes import is_signed, resize, unsigned_dtype, width_of
from ptxkit.emulator.core.semantics_registry import Function, value_semantics

_LOW24 = numpy.uint64(0xFF_FFFF)
_SIGN24 = numpy.uint64(0x80_0000)
_NOT_FOUND = numpy.uint32(0xFFFF_FFFF)


def clamp(values: Any, width: int, signed: bool) -> Any:
    """Returns signed 64-bit numbers saturated to a width."""
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if signed else (0, (1 << width) - 1)
    return (
        numpy.clip(values, low, high)
        .astype(f"i{width // 8}" if signed else f"u{width // 8}")
        .view(unsigned_dtype(width))
    )


def widen_to_int64(values: Any, signed: bool) -> Any:
    """Returns numbers of up to 32 bits as signed 64-bit numbers."""
    return resize(values, 64, signed=signed).view(numpy.int64)


@value_semantics
def add_saturated(*, type: str) -> Function:  # noqa: A002
    """Returns the saturated sum."""
    width, signed = width_of(type), is_signed(type)
    return lambda a, b: clamp(widen_to_int64(a, signed) + widen_to_int64(b, signed), width, signed)


@value_semantics
def sub_saturated(*, type: str) -> Function:  # noqa: A002
    """Returns the saturated difference."""
    width, signed = width_of(type), is_signed(type)
    return lambda a, b: clamp(widen_to_int64(a, signed) - widen_to_int64(b, signed), width, signed)


@value_semantics
def mad_hi_saturated(*, type: str) -> Function:  # noqa: A002
    """Returns the saturated sum of the high half of a product and a third number."""
    width, signed = width_of(type), is_signed(type)
    high = integer_ops.mul_hi(width, signed)
    return lambda a, b, c: clamp(widen_to_int64(high(a, b), signed) + widen_to_int64(c, signed), width, signed)


@value_semantics
def mul24(*, type: str, half: str, add: bool = False, saturate: bool = False) -> Function:  # noqa: A002
    """Returns the low or high 32 bits of the 48-bit product of two 24-bit numbers, plus a third number."""
    signed = is_signed(type)

    def narrow(a: Any) -> Any:
        low = a.astype(numpy.uint64) & _LOW24
        return (low ^ _SIGN24) - _SIGN24 if signed else low

    def product(a: Any, b: Any) -> Any:
        found = narrow(a) * narrow(b)
        return found.astype(numpy.uint32) if half == "lo" else (found >> numpy.uint64(16)).astype(numpy.uint32)

    if not add:
        return product
    if saturate:
        return lambda a, b, c: clamp(widen_to_int64(product(a, b), signed) + widen_to_int64(c, signed), 32, signed)
    return lambda a, b, c: product(a, b) + c


@value_semantics
def clmad(*, half: str) -> Function:
    """Returns the low or high half of a carry-less product, plus a third number without carries."""
    one = numpy.uint64(1)

    def function(a: Any, b: Any, c: Any) -> Any:
        found = c.copy()
        for at in range(64):
            chosen = numpy.where(b >> numpy.uint64(at) & one, a, numpy.uint64(0))
            if half == "lo":
                found ^= chosen << numpy.uint64(at)
            elif at:
                found ^= chosen >> numpy.uint64(64 - at)
        return found

    return function


@value_semantics
def bfind(*, type: str, shiftamt: bool = False) -> Function:  # noqa: A002
    """Returns the most significant bit that is not a sign bit, or the shift that moves it to the top, or all ones if
    none exists.
    """
    width, signed = width_of(type), is_signed(type)

    def function(a: Any) -> Any:
        if signed:
            a = numpy.where(integer_ops.signed_view(a) < 0, ~a, a)
        before = integer_ops.clz(a)
        found = before if shiftamt else numpy.uint32(width - 1) - before
        return numpy.where(a == 0, _NOT_FOUND, found)

    return function


@value_semantics
def fns() -> Function:
    """Returns the position of the n-th set bit of a mask from a base on, upward or downward, or all ones if none
    exists.

    A base beyond 31 finds nothing. The result for -2**31 bits downward, which is bit 0, is that of hardware; the manual
    does not define it.
    """

    def function(mask: Any, base: Any, offset: Any) -> Any:
        places = numpy.arange(32, dtype=numpy.uint32)
        there = (mask[:, None] >> places & numpy.uint32(1)).astype(bool)
        by = offset.view(numpy.int32).astype(numpy.int64)
        start = base.astype(numpy.int64)
        up = there & (places >= start[:, None])
        down = there & (places <= start[:, None]) & (start[:, None] < 32)
        rank_up = numpy.cumsum(up, axis=1)
        rank_down = numpy.cumsum(down[:, ::-1], axis=1)[:, ::-1]
        hit = numpy.where(
            (by > 0)[:, None],
            up & (rank_up == by[:, None]),
            numpy.where((by < 0)[:, None], down & (rank_down == -by[:, None]), there & (places == start[:, None])),
        )
        found = numpy.where(hit.any(axis=1), hit.argmax(axis=1).astype(numpy.uint32), _NOT_FOUND)
        return numpy.where(by == -(1 << 31), numpy.uint32(0), found)

    return function


@value_semantics
def brev(*, type: str) -> Function:  # noqa: A002
    """Returns the bits in reverse order."""
    width = width_of(type)
    kind = unsigned_dtype(width)

    def function(a: Any) -> Any:
        step = width // 2
        while step:
            mask = kind(sum(((1 << step) - 1) << at for at in range(0, width, 2 * step)))
            a = (a >> kind(step) & mask) | (a & mask) << kind(step)
            step //= 2
        return a

    return function


@value_semantics
def szext(*, type: str, mode: str) -> Function:  # noqa: A002
    """Returns the low bits, zero-extended or sign-extended."""
    signed = is_signed(type)

    def function(a: Any, b: Any) -> Any:
        count = _shift_amount(b, mode)
        mask = (numpy.uint64(1) << count) - numpy.uint64(1)
        low = a.astype(numpy.uint64) & mask
        if signed:
            top = low >> numpy.maximum(count, 1).astype(numpy.uint64) - numpy.uint64(1) & numpy.uint64(1)
            low = numpy.where((top != 0) & (count > 0), low | ~mask, low)
        return low.astype(numpy.uint32)

    return function


@value_semantics
def bmsk(*, mode: str) -> Function:
    """Returns a number of ones from a position on."""

    def function(a: Any, b: Any) -> Any:
        ones = (numpy.uint64(1) << _shift_amount(b, mode)) - numpy.uint64(1)
        return (ones << _shift_amount(a, mode)).astype(numpy.uint32)

    return function


def _shift_amount(values: Any, mode: str) -> Any:
    """Returns a shift amount: at most 32, or its low five bits."""
    found = numpy.minimum(values, numpy.uint32(32)) if mode == "clamp" else values & numpy.uint32(31)
    return found.astype(numpy.uint64)


@value_semantics
def dot(*, first: str, second: str, elements: int, half: str | None = None) -> Function:
    """Returns the sum of the products of four pairs of bytes, or of two half words with two bytes (low or high), and a
    third number.
    """
    width = 32 // elements
    start = 16 if half == "hi" else 0

    def part(values: Any, at: int, bits: int, word: str) -> Any:
        cut = (values >> numpy.uint32(at)).astype(f"u{bits // 8}")
        return resize(cut, 32, signed=is_signed(word))

    def function(a: Any, b: Any, c: Any) -> Any:
        found = c
        for number in range(elements):
            left = part(a, number * width, width, first)
            found = found + left * part(b, start + 8 * number, 8, second)
        return found

    return function
