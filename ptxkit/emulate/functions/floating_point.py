"""Arithmetic with one rounding, on every format and on several of them in a register.

Manual: Floating Point Instructions; Half Precision, Mixed Precision and Alternate Floating Point Instructions. Without
a rounding modifier the result is rounded to nearest even; assemblers may fuse a product with a sum there, the
reference machine does not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxkit.emulate.numbers import doubles, halves, singles
from ptxkit.emulate.numbers.carriers import magnitudes, widen
from ptxkit.emulate.numbers.finishing import Finish
from ptxkit.emulate.numbers.formats import F32, F64, Bits, Format, Reals
from ptxkit.emulate.numbers.nans import flushed, payloads
from ptxkit.emulate.numbers.packing import elementwise, packing
from ptxkit.emulate.registry import Function, pure

Operation = Callable[..., Reals]
"""Takes values, and the rounding behind them; gives results that `carriers.narrow` rounds."""


@pure
def fadd(*, type: str, a: str | None = None, b: str | None = None, **how: Any) -> Function:  # noqa: A002
    """a + b. type: of the result; a, b: of the operands where they are others."""
    return _arithmetic(doubles.add, singles.add, np.add, (type, a, b), Finish(**how))


@pure
def fsub(*, type: str, a: str | None = None, b: str | None = None, **how: Any) -> Function:  # noqa: A002
    """a - b."""

    def double(a: Reals, b: Reals, rounding: str) -> Reals:
        return doubles.add(a, -b, rounding)

    def single(a: Reals, b: Reals, rounding: str) -> Reals:
        return singles.add(a, -b, rounding)

    return _arithmetic(double, single, np.subtract, (type, a, b), Finish(**how))


@pure
def fmul(*, type: str, a: str | None = None, b: str | None = None, **how: Any) -> Function:  # noqa: A002
    """a * b."""

    def single(a: Reals, b: Reals, rounding: str) -> Reals:  # noqa: ARG001
        return singles.multiply(a, b)

    return _arithmetic(doubles.multiply, single, np.multiply, (type, a, b), Finish(**how))


@pure
def ffma(
    *,
    type: str,  # noqa: A002
    a: str | None = None,
    b: str | None = None,
    c: str | None = None,
    oob: bool = False,
    **how: Any,
) -> Function:
    """a * b + c. oob: +0.0 where a factor is the NaN that fills what lies outside of a tensor, of either sign."""
    function = _arithmetic(doubles.fused, singles.fused, singles.fused_floats, (type, a, b, c), Finish(**how))
    if packing(type).format is F64:
        return lambda a, b, c: payloads(function(a, b, c), a, c, b)
    if not oob:
        return function

    fmt = packing(type).format

    def outside(a: Bits, b: Bits, d: Bits) -> Bits:
        wrong = (magnitudes(fmt, a) == OUT_OF_BOUNDS) | (magnitudes(fmt, b) == OUT_OF_BOUNDS)
        return np.where(wrong, d.dtype.type(0), d)

    zeroed = elementwise(outside, type, type, type, type)
    return lambda a, b, c: zeroed(a, b, function(a, b, c))


OUT_OF_BOUNDS = 0x7FF7
"""The NaN in f16 and bf16 that stands for elements outside of a tensor."""


@pure
def fdiv(*, type: str, **how: Any) -> Function:  # noqa: A002
    """a / b. Of two NaNs of f64 the first counts: that is how ptxas divides them."""

    def single(a: Reals, b: Reals, rounding: str) -> Reals:  # noqa: ARG001
        return singles.divide(a, b)

    function = _arithmetic(doubles.divide, single, np.divide, (type, None, None), Finish(**how))
    if packing(type).format is not F64:
        return function
    return lambda a, b: payloads(function(a, b), b, a)


@pure
def frcp(*, type: str, **how: Any) -> Function:  # noqa: A002
    """1 / a."""

    def double(a: Reals, rounding: str) -> Reals:
        return doubles.divide(np.ones_like(a), a, rounding)

    def single(a: Reals, rounding: str) -> Reals:  # noqa: ARG001
        return singles.divide(np.ones_like(a), a)

    return _arithmetic(double, single, None, (type, None), Finish(**how))


@pure
def fsqrt(*, type: str, **how: Any) -> Function:  # noqa: A002
    """The square root of a."""

    def single(a: Reals, rounding: str) -> Reals:  # noqa: ARG001
        return singles.root(a)

    return _arithmetic(doubles.root, single, np.sqrt, (type, None), Finish(**how))


def _arithmetic(
    double: Operation,
    single: Operation,
    native: Callable[..., Any] | None,
    types: tuple[str | None, ...],
    how: Finish,
) -> Function:
    """An operation on registers. types: of the result and the operands, None where it is the result's."""
    result = str(types[0])
    operands = [word or result for word in types[1:]]
    formats = [packing(word).format for word in operands]
    if packing(result).format is F64:
        return _of_doubles(double, how)
    function: Function
    if native is not None and how.rounding in (None, "rn") and set(formats) == {F32} == {packing(result).format}:
        function = _of_floats(native, how, _of_values(single, F32, formats, how))
    else:
        function = _of_values(single, packing(result).format, formats, how)
        if native is not None and how.rounding in (None, "rn") and not how.ftz and len(set(formats)) == 1:
            function = _quickest(native, packing(result).format, formats[0], function, how)
    return elementwise(function, result, *operands)


def _of_doubles(operation: Operation, how: Finish) -> Function:
    rounding = how.rounding or "rn"

    def function(*operands: Bits) -> Bits:
        with np.errstate(all="ignore"):
            found = operation(*(operand.view(np.float64) for operand in operands), rounding)
            codes: Bits = found.view(np.uint64)
            return how.limited(F64, payloads(codes, *operands) if np.isnan(found).any() else codes)

    return function


def _of_floats(operation: Callable[..., Any], how: Finish, exact: Function) -> Function:
    """f32 rounded to nearest, which numpy does itself.

    exact: the same by way of f64, for what `.ftz` may make zero though it is rounded to the smallest normal number.
    """

    def function(*operands: Bits) -> Bits:
        if how.ftz:
            operands = tuple(flushed(F32, operand) for operand in operands)
        with np.errstate(all="ignore"):
            found = operation(*(operand.view(np.float32) for operand in operands))
        codes: Bits = found.view(np.uint32)
        if how.ftz and (codes & _MAGNITUDE == _LEAST_NORMAL).any():
            exactly: Bits = exact(*operands)
            return exactly
        wrong = np.isnan(found)
        if wrong.any():
            codes = np.where(wrong, np.uint32(F32.nan or 0), codes)
        return how.limited(F32, codes)

    return function


def _quickest(native: Callable[..., Any], result: Format, operands: Format, exact: Function, how: Finish) -> Function:
    """f16 and bf16 by a wider format, where that is known to do no harm."""
    quick = halves.quick(native, result, fused=native is singles.fused_floats) if result is operands else None
    if quick is None or native is np.divide:
        return exact

    def function(*operands: Bits) -> Bits:
        with np.errstate(all="ignore"):
            found = quick(*operands)
        codes: Bits = exact(*operands) if found is None else how.limited(result, found)
        return codes

    return function


_MAGNITUDE, _LEAST_NORMAL = np.uint32(0x7FFF_FFFF), np.uint32(0x0080_0000)


def _of_values(operation: Operation, result: Format, formats: list[Format], how: Finish) -> Function:
    """Any format that fits in f64."""
    rounding = how.rounding or "rn"

    def function(*operands: Bits) -> Bits:
        with np.errstate(all="ignore"):
            if how.ftz:
                operands = tuple(flushed(fmt, operand) for fmt, operand in zip(formats, operands, strict=True))
            values = [widen(fmt, operand) for fmt, operand in zip(formats, operands, strict=True)]
            return how.narrowed(result, operation(*values, rounding))

    return function
