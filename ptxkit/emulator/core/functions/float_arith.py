"""Arithmetic with one rounding, on every format, and on several elements in a register.

Manual: Floating Point Instructions; Half Precision, Mixed Precision and Alternate Floating Point Instructions. Without
a rounding modifier the result is rounded to nearest even. Assemblers may fuse a product with a sum then; the reference
machine does not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxkit.emulator.core.numbers import f64_exact, half_fast_path, narrow_float
from ptxkit.emulator.core.numbers.float_codec import magnitudes, widen
from ptxkit.emulator.core.numbers.formats import F32, F64, Bits, Format, Reals
from ptxkit.emulator.core.numbers.nan_rules import flush_subnormals, propagate_payload
from ptxkit.emulator.core.numbers.packing import elementwise, packing_of
from ptxkit.emulator.core.numbers.result_modifiers import ResultModifiers
from ptxkit.emulator.core.semantics_registry import Function, value_semantics

Operation = Callable[..., Reals]
"""A function of values and of the rounding, whose results `float_codec.narrow` rounds."""


@value_semantics
def fadd(*, type: str, a: str | None = None, b: str | None = None, **how: Any) -> Function:  # noqa: A002
    """Returns a + b. `type` is that of the result; `a` and `b` are the types of the operands if they differ."""
    return _make_arithmetic(f64_exact.add, narrow_float.add, np.add, (type, a, b), ResultModifiers(**how))


@value_semantics
def fsub(*, type: str, a: str | None = None, b: str | None = None, **how: Any) -> Function:  # noqa: A002
    """Returns a - b."""

    def double(a: Reals, b: Reals, rounding: str) -> Reals:
        return f64_exact.add(a, -b, rounding)

    def single(a: Reals, b: Reals, rounding: str) -> Reals:
        return narrow_float.add(a, -b, rounding)

    return _make_arithmetic(double, single, np.subtract, (type, a, b), ResultModifiers(**how))


@value_semantics
def fmul(*, type: str, a: str | None = None, b: str | None = None, **how: Any) -> Function:  # noqa: A002
    """Returns a * b."""

    def single(a: Reals, b: Reals, rounding: str) -> Reals:  # noqa: ARG001
        return narrow_float.multiply(a, b)

    return _make_arithmetic(f64_exact.multiply, single, np.multiply, (type, a, b), ResultModifiers(**how))


@value_semantics
def ffma(
    *,
    type: str,  # noqa: A002
    a: str | None = None,
    b: str | None = None,
    c: str | None = None,
    oob: bool = False,
    **how: Any,
) -> Function:
    """Returns a * b + c. With `oob`, the result is +0.0 if a factor is the NaN of elements outside a tensor, of either
    sign.
    """
    function = _make_arithmetic(
        f64_exact.fused_multiply_add,
        narrow_float.fused_multiply_add,
        narrow_float.fused_multiply_add_f32,
        (type, a, b, c),
        ResultModifiers(**how),
    )
    if packing_of(type).format is F64:
        return lambda a, b, c: propagate_payload(function(a, b, c), a, c, b)
    if not oob:
        return function

    fmt = packing_of(type).format

    def outside(a: Bits, b: Bits, d: Bits) -> Bits:
        wrong = (magnitudes(fmt, a) == OUT_OF_BOUNDS) | (magnitudes(fmt, b) == OUT_OF_BOUNDS)
        return np.where(wrong, d.dtype.type(0), d)

    zeroed = elementwise(outside, type, type, type, type)
    return lambda a, b, c: zeroed(a, b, function(a, b, c))


OUT_OF_BOUNDS = 0x7FF7
"""The NaN of f16 and bf16 that represents elements outside a tensor."""


@value_semantics
def fdiv(*, type: str, **how: Any) -> Function:  # noqa: A002
    """Returns a / b. Of two NaNs of f64 the first determines the result, because ptxas implements division that way."""

    def single(a: Reals, b: Reals, rounding: str) -> Reals:  # noqa: ARG001
        return narrow_float.divide(a, b)

    function = _make_arithmetic(f64_exact.divide, single, np.divide, (type, None, None), ResultModifiers(**how))
    if packing_of(type).format is not F64:
        return function
    return lambda a, b: propagate_payload(function(a, b), b, a)


@value_semantics
def frcp(*, type: str, **how: Any) -> Function:  # noqa: A002
    """Returns 1 / a."""

    def double(a: Reals, rounding: str) -> Reals:
        return f64_exact.divide(np.ones_like(a), a, rounding)

    def single(a: Reals, rounding: str) -> Reals:  # noqa: ARG001
        return narrow_float.divide(np.ones_like(a), a)

    return _make_arithmetic(double, single, None, (type, None), ResultModifiers(**how))


@value_semantics
def fsqrt(*, type: str, **how: Any) -> Function:  # noqa: A002
    """Returns the square root of a."""

    def single(a: Reals, rounding: str) -> Reals:  # noqa: ARG001
        return narrow_float.sqrt(a)

    return _make_arithmetic(f64_exact.sqrt, single, np.sqrt, (type, None), ResultModifiers(**how))


def _make_arithmetic(
    double: Operation,
    single: Operation,
    native: Callable[..., Any] | None,
    types: tuple[str | None, ...],
    how: ResultModifiers,
) -> Function:
    """Returns an operation on registers. `types` are the operand types, None for that of the result."""
    result = str(types[0])
    operands = [word or result for word in types[1:]]
    formats = [packing_of(word).format for word in operands]
    if packing_of(result).format is F64:
        return _f64_function(double, how)
    function: Function
    if native is not None and how.rounding in (None, "rn") and set(formats) == {F32} == {packing_of(result).format}:
        function = _f32_function(native, how, _f64_carried_function(single, F32, formats, how))
    else:
        function = _f64_carried_function(single, packing_of(result).format, formats, how)
        if native is not None and how.rounding in (None, "rn") and not how.ftz and len(set(formats)) == 1:
            function = _half_function(native, packing_of(result).format, formats[0], function, how)
    return elementwise(function, result, *operands)


def _f64_function(operation: Operation, how: ResultModifiers) -> Function:
    rounding = how.rounding or "rn"

    def function(*operands: Bits) -> Bits:
        with np.errstate(all="ignore"):
            found = operation(*(operand.view(np.float64) for operand in operands), rounding)
            codes: Bits = found.view(np.uint64)
            return how.clamp(F64, propagate_payload(codes, *operands) if np.isnan(found).any() else codes)

    return function


def _f32_function(operation: Callable[..., Any], how: ResultModifiers, exact: Function) -> Function:
    """Returns an operation of f32 rounded to nearest, which numpy provides.

    `exact` is the same operation in f64, for results that `.ftz` may flush although they round to the smallest normal
    number.
    """

    def function(*operands: Bits) -> Bits:
        if how.ftz:
            operands = tuple(flush_subnormals(F32, operand) for operand in operands)
        with np.errstate(all="ignore"):
            found = operation(*(operand.view(np.float32) for operand in operands))
        codes: Bits = found.view(np.uint32)
        if how.ftz and (codes & _MAGNITUDE == _LEAST_NORMAL).any():
            exactly: Bits = exact(*operands)
            return exactly
        wrong = np.isnan(found)
        if wrong.any():
            codes = np.where(wrong, np.uint32(F32.nan or 0), codes)
        return how.clamp(F32, codes)

    return function


def _half_function(
    native: Callable[..., Any], result: Format, operands: Format, exact: Function, how: ResultModifiers
) -> Function:
    """Returns an operation of f16 and bf16 in a wider format, if rounding twice yields the same result."""
    quick = (
        half_fast_path.fast_path(native, result, fused=native is narrow_float.fused_multiply_add_f32)
        if result is operands
        else None
    )
    if quick is None or native is np.divide:
        return exact

    def function(*operands: Bits) -> Bits:
        with np.errstate(all="ignore"):
            found = quick(*operands)
        codes: Bits = exact(*operands) if found is None else how.clamp(result, found)
        return codes

    return function


_MAGNITUDE, _LEAST_NORMAL = np.uint32(0x7FFF_FFFF), np.uint32(0x0080_0000)


def _f64_carried_function(
    operation: Operation, result: Format, formats: list[Format], how: ResultModifiers
) -> Function:
    """Returns an operation of any format that fits in f64."""
    rounding = how.rounding or "rn"

    def function(*operands: Bits) -> Bits:
        with np.errstate(all="ignore"):
            if how.ftz:
                operands = tuple(flush_subnormals(fmt, operand) for fmt, operand in zip(formats, operands, strict=True))
            values = [widen(fmt, operand) for fmt, operand in zip(formats, operands, strict=True)]
            return how.encode(result, operation(*values, rounding))

    return function
