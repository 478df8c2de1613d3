"""Arithmetic on parts of registers: bytes and half words that selectors choose, separately or in parallel.

All operations are computed in numbers that hold the exact result, which is then saturated or truncated, as the manual
specifies. No GPU since Maxwell has the scalar instructions, and the code of ptxas 13 for an H200 differs for vmad, with
`.sat`, `.min` or `.max`, and for the part `.h1` of the result. Manual: Scalar Video Instructions; SIMD Video
Instructions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxkit.emulator.core.dtypes import is_signed
from ptxkit.emulator.core.numbers.formats import Bits
from ptxkit.emulator.core.semantics_registry import Function, value_semantics
from ptxkit.semantics.value_ops import COMPARISONS, WRAPPING

IntegerArray = Any
"""Arrays of int64, or of Python integers if 64 bits are not sufficient."""

_LOW = 0xFFFF_FFFF


def _average(a: IntegerArray, b: IntegerArray) -> IntegerArray:
    """Returns the average, rounded away from zero."""
    total = a + b
    return total + (total >= 0) >> 1


_OPERATIONS: dict[str, Callable[[IntegerArray, IntegerArray], IntegerArray]] = {
    "absdiff": lambda a, b: np.abs(a - b),
    "min": np.minimum,
    "max": np.maximum,
    "avrg": _average,
    "shl": lambda a, b: _to_python_ints(a) << _to_python_ints(b),
    "shr": lambda a, b: a >> b,
    **WRAPPING,
    **COMPARISONS,
}
"""The first operation of an instruction, or the second one, with the third operand."""


def _to_python_ints(values: IntegerArray) -> IntegerArray:
    return np.asarray(values, object)


def _extend(values: Bits, word: str, width: int = 32) -> IntegerArray:
    """Returns the low bits as numbers of a type."""
    low = values.astype(np.int64) & ((1 << width) - 1)
    return (low ^ 1 << width - 1) - (1 << width - 1) if is_signed(word) else low


def _extract(values: Bits, word: str, selector: str | None) -> IntegerArray:
    """Returns a byte or half word of registers, or the whole register, as numbers of a type."""
    if selector is None:
        return _extend(values, word)
    width, at = _selector_field(selector)
    return _extend(values >> np.uint32(at), word, width)


def _selector_field(selector: str) -> tuple[int, int]:
    """Returns the width and the position of a selector such as `b3` or `h1`."""
    width = 8 if selector[0] == "b" else 16
    return width, width * int(selector[1])


def _saturate(values: IntegerArray, word: str, width: int) -> IntegerArray:
    """Returns numbers saturated to a type of `width` bits."""
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if is_signed(word) else (0, (1 << width) - 1)
    return np.minimum(np.maximum(values, low), high)


def _to_register(values: IntegerArray) -> Bits:
    """Returns the low 32 bits."""
    return np.asarray(np.asarray(values) & _LOW).astype(np.uint32)


@value_semantics
def video(
    *,
    type: str,  # noqa: A002
    left: str,
    right: str,
    operation: str,
    saturate: bool = False,
    then: str | None = None,
    wrap: bool = False,
) -> Function:
    """Returns an operation on two parts, with a second one on a third operand or a part of the result's register.

    `left` and `right` are the types of the operands. With `wrap`, shift amounts are reduced to their low five bits,
    else they are at most 32.
    """
    compute = _OPERATIONS[operation]
    shifts = operation in ("shl", "shr")

    def function(
        a: Bits, b: Bits, a_part: str | None, b_part: str | None, d_part: str | None = None, c: Bits | None = None
    ) -> Bits:
        x, y = _extract(a, left, a_part), _extract(b, right, b_part)
        if shifts:
            y = y & 31 if wrap else np.minimum(y, 32)
        found = compute(x, y)
        if saturate:
            found = _saturate(found, type, 32 if d_part is None else _selector_field(d_part)[0])
        if c is None:
            return _to_register(found)
        if d_part is None:
            return _to_register(_OPERATIONS[str(then)](found, _extend(c, type)))
        width, at = _selector_field(d_part)
        mask = np.uint32((1 << width) - 1 << at)
        result: Bits = c & ~mask | _to_register(found) << np.uint32(at) & mask
        return result

    return function


@value_semantics
def video_mad(
    *,
    left: str,
    right: str,
    saturate: bool = False,
    scale: str | None = None,
    plus_one: bool = False,
) -> Function:
    """Returns the product of two parts plus a third number, of which one may be negated, shifted to the right.

    The sum is signed if an operand of the product is signed, or if one is negated.
    """
    by = int(scale.removeprefix("shr")) if scale else 0
    of_signed = is_signed(left) or is_signed(right)

    def function(
        a: Bits,
        b: Bits,
        c: Bits,
        a_part: str | None,
        b_part: str | None,
        product_is_negated: bool = False,
        c_is_negated: bool = False,
    ) -> Bits:
        final = "s32" if of_signed or product_is_negated or c_is_negated else "u32"
        product = _to_python_ints(_extract(a, left, a_part)) * _to_python_ints(_extract(b, right, b_part))
        third = _to_python_ints(_extend(c, final))
        total = (-product if product_is_negated else product) + (-third if c_is_negated else third) + int(plus_one)
        total = np.asarray(total, object) >> by
        return _to_register(_saturate(total, final, 32) if saturate else total)

    return function


@value_semantics
def video_vector(
    *,
    type: str,  # noqa: A002
    left: str,
    right: str,
    operation: str,
    elements: int,
    saturate: bool = False,
    add: bool = False,
) -> Function:
    """Computes on two or four pairs of parts of both registers. The results replace parts of a third one, or are all
    added to it.
    """
    compute, width = _OPERATIONS[operation], 32 // elements
    mask = np.uint32((1 << width) - 1)
    first = "h10" if elements == 2 else "b3210"
    second = "h32" if elements == 2 else "b7654"

    def function(a: Bits, b: Bits, c: Bits, a_part: str | None, b_part: str | None, d_part: str | None = None) -> Bits:
        def select(selector: str, place: int, word: str) -> IntegerArray:
            source, at = divmod(int(selector[::-1][place]), elements)
            return _extend((b if source else a) >> np.uint32(width * at), word, width)

        total = c
        for place in map(int, (d_part or first)[1:]):
            found = compute(select(a_part or first, place, left), select(b_part or second, place, right))
            if saturate:
                found = _saturate(found, type, width)
            at = np.uint32(width * place)
            total = total + _to_register(found) if add else total & ~(mask << at) | (_to_register(found) & mask) << at
        return total

    return function
