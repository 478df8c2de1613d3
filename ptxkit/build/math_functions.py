"""Functions of numbers: powers, logarithms, roots, `fma`, `where` and `clamp`, typed as their operands.

`k.abs`, `k.min` and `k.max` are instructions, and `a / b`, `1.0 / x`, `x ** 2` and `abs(x)` are operators. Where PTX
has only an approximation, the docstring gives the bound of its error; where it also has a correctly rounded
instruction, that is the default and `approx=True` chooses the approximation.

Source: PTX ISA, "Floating Point Instructions: ex2, lg2, sqrt, rsqrt, tanh, fma", "Half Precision Floating Point
Instructions: ex2, tanh, fma", "Comparison and Selection Instructions: selp".
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast, overload

from ptxkit.build.errors import BuildTypeError
from ptxkit.build.registers import Number, Register, as_constant, check_predicate, known_multiple
from ptxkit.kernel_model.scalar_types import (
    FloatScalar,
    Scalar,
    ScalarT,
    bf16,
    bf16x2,
    f16,
    f16x2,
    f32,
    f64,
    memory_word,
    pred,
)

if TYPE_CHECKING:
    from ptxkit.build.instructions import InstructionBuilder


_HALVES = (f16, bf16, f16x2, bf16x2)


def exp2(k: InstructionBuilder, x: Register[ScalarT], *, ftz: bool = False) -> Register[ScalarT]:
    """Returns an approximation of 2 to the power of x: `ex2.approx`.

    The error is at most 2 units in the last place for f32, and relatively 2^-9.9 for f16 and 2^-7 for bf16. `ftz`
    flushes subnormal inputs and results to zero, which saves two multiplications for f32; for bf16 it is always so.
    Also for f16x2 and bf16x2.
    """
    _check_type(x, "exp2", (f32, *_HALVES))
    return _approximate(k, "ex2", x, ftz=ftz or x.type in (bf16, bf16x2))


def exp(k: InstructionBuilder, x: Register[f32], *, ftz: bool = False) -> Register[f32]:
    """Returns an approximation of the exponential function: `ex2.approx` of x * log2(e), as `__expf` of CUDA C++.

    The product is rounded, so the relative error is about 2^-22 + |x| * 2^-23. Where many values are scaled
    before, include log2(e) in the scale and use `exp2`.
    """
    return exp2(k, _check_type(x, "exp", (f32,), "; k.exp2 is for f16 and bf16, too") * math.log2(math.e), ftz=ftz)


def log2(k: InstructionBuilder, x: Register[f32], *, ftz: bool = False) -> Register[f32]:
    """Returns an approximation of the logarithm to base 2: `lg2.approx`.

    The absolute error is at most 2^-22 for x in (0.5, 2), and the relative error 2^-22 elsewhere. `ftz` flushes
    subnormal inputs to zero.
    """
    return _approximate(k, "lg2", _check_type(x, "log2", (f32,)), ftz=ftz)


def log(k: InstructionBuilder, x: Register[f32], *, ftz: bool = False) -> Register[f32]:
    """Returns an approximation of the natural logarithm: `lg2.approx` times ln(2), as `__logf` of CUDA C++.

    The error is that of `log2` and of the rounding of the product.
    """
    return log2(k, _check_type(x, "log", (f32,)), ftz=ftz) * math.log(2)


def sqrt(k: InstructionBuilder, x: Register[ScalarT], *, approx: bool = False, ftz: bool = False) -> Register[ScalarT]:
    """Returns the square root of an f32 or f64, rounded to the nearest: `sqrt.rn`.

    With `approx`, `sqrt.approx.f32`, whose relative error is at most 2^-23. `ftz` flushes subnormal inputs and results
    to zero (f32 only).
    """
    _check_type(x, "sqrt", (f32,) if approx else (f32, f64))
    return _approximate(k, "sqrt", x, ftz=ftz) if approx else _unary(k, f"sqrt_rn{'_ftz' * ftz}", x)


def rsqrt(k: InstructionBuilder, x: Register[ScalarT], *, ftz: bool = False) -> Register[ScalarT]:
    """Returns an approximation of 1 / sqrt(x) for f32 or f64: `rsqrt.approx`.

    The relative error is at most 2^-22.9 for f32. `ftz` flushes subnormal inputs to zero. `1.0 / k.sqrt(x)` rounds
    twice, and takes several times as long.
    """
    _check_type(x, "rsqrt", (f32, f64))
    return _approximate(k, "rsqrt", x, ftz=ftz)


def tanh(k: InstructionBuilder, x: Register[ScalarT]) -> Register[ScalarT]:
    """Returns an approximation of the hyperbolic tangent: `tanh.approx`.

    The relative error is at most 2^-11 for f32; the absolute error is at most 2^-10.987 for f16 and 2^-8 for bf16. Also
    for f16x2 and bf16x2.
    """
    _check_type(x, "tanh", (f32, *_HALVES))
    return _approximate(k, "tanh", x, ftz=False)


def fma(
    k: InstructionBuilder,
    a: Register[ScalarT] | Number,
    b: Register[ScalarT] | Number,
    c: Register[ScalarT] | Number,
    *,
    ftz: bool = False,
) -> Register[ScalarT]:
    """Returns a * b + c, rounded once to the nearest: `fma.rn`, for floating-point values of one type.

    Integers have `k.mad_lo(a, b, c)`. Raises `BuildTypeError` for operands of other or of different types.
    """
    scalar = _common_type("fma", (a, b, c))
    if not issubclass(scalar, FloatScalar):
        raise BuildTypeError(f"fma is for floating-point values, not .{scalar.word}; use k.mad_lo(a, b, c)")
    return cast("Register[ScalarT]", k.instruction(f"fma_rn{'_ftz' * ftz}_{scalar.word}", (a, b, c)))


def clamp(
    k: InstructionBuilder, x: Register[ScalarT], low: Register[ScalarT] | Number, high: Register[ScalarT] | Number
) -> Register[ScalarT]:
    """Returns x, but at least `low` and at most `high`: `max`, then `min`. A NaN becomes `low`."""
    _common_type("clamp", (x, low, high))
    return cast("Register[ScalarT]", k.instruction("min", (k.instruction("max", (x, low)), high)))


@overload
def where(
    k: InstructionBuilder, predicate: Register[pred], yes: Number, no: Number, scalar: type[ScalarT]
) -> Register[ScalarT]: ...


@overload
def where(
    k: InstructionBuilder, predicate: Register[pred], yes: Register[ScalarT] | Number, no: Register[ScalarT] | Number
) -> Register[ScalarT]: ...


def where(
    k: InstructionBuilder,
    predicate: Register[pred],
    yes: Register[Any] | Number,
    no: Register[Any] | Number,
    scalar: type[Any] | None = None,
) -> Register[Any]:
    """Returns `yes` where the predicate holds, else `no`: `selp`. Both are computed in all threads.

    Two constants have no type, so `scalar` must give it: `k.where(p, 1, 0, u32)`. Raises `BuildTypeError` if the types
    differ or none is known.
    """
    types = {each.type for each in (yes, no) if isinstance(each, Register)} | ({scalar} if scalar else set())
    if not types:
        raise BuildTypeError("two constants have no type: give it, `k.where(p, 1, 0, u32)`")
    if len(types) > 1:
        raise BuildTypeError(f"one of two values is taken, so they have one type: {yes!r}, {no!r}")
    (of_type,) = types
    operands = (as_constant(yes, of_type), as_constant(no, of_type), check_predicate(predicate))
    found = cast("Register[Any]", k.instruction(f"selp_{memory_word(of_type)}", operands))
    return Register(k, of_type, found.name, min(known_multiple(yes), known_multiple(no)))


def _common_type(name: str, values: tuple[object, ...]) -> type[Scalar]:
    types = {each.type for each in values if isinstance(each, Register)}
    if len(types) != 1:
        raise BuildTypeError(f"{name} takes registers of one type and numbers, not {', '.join(map(repr, values))}")
    return types.pop()


def _check_type(
    x: Register[ScalarT], name: str, types: tuple[type[Scalar], ...], remedy: str = ""
) -> Register[ScalarT]:
    """Returns the value. Raises `BuildTypeError` if it has none of the types."""
    if not isinstance(x, Register) or x.type not in types:
        words = " and ".join(each.word for each in types)
        raise BuildTypeError(f"{name} is for {words}, not {x!r}: use .convert(f32){remedy}")
    return x


def _approximate(k: InstructionBuilder, name: str, x: Register[ScalarT], *, ftz: bool) -> Register[ScalarT]:
    return _unary(k, f"{name}_approx{'_ftz' * ftz}", x)


def _unary(k: InstructionBuilder, name: str, x: Register[ScalarT]) -> Register[ScalarT]:
    return cast("Register[ScalarT]", k.instruction(name, (x,)))
