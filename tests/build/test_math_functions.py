"""Functions of numbers have the type of their operand, and the error that their docstrings state."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ptxkit.build import BuildTypeError, Kernel, Register, Scalar, bf16, bf16x2, f16, f16x2, f32, f64, s32, u32
from tests.build.running import run_lanes
from tests.build.support import opcodes

Function = Callable[[Kernel, Register[Any]], Register[Any]]


@pytest.fixture
def k() -> Kernel:
    return Kernel("k")


@pytest.mark.parametrize(
    ("function", "exact", "error"),
    [
        (lambda k, x: k.exp2(x), np.exp2, 2**-22),
        (lambda k, x: k.exp2(x, ftz=True), np.exp2, 2**-22),
        (lambda k, x: k.exp(x), np.exp, 2**-22 + 4 * 2**-23),
        (lambda k, x: k.log2(x + 2.0), lambda x: np.log2(x + 2), 2**-22),
        (lambda k, x: k.log(x + 2.0), lambda x: np.log(x + 2), 2**-21),
        (lambda k, x: k.sqrt(x), np.sqrt, 2**-24),
        (lambda k, x: k.sqrt(x, approx=True), np.sqrt, 2**-23),
        (lambda k, x: k.rsqrt(x), lambda x: x**-0.5, 2**-22.9),
        (lambda k, x: k.tanh(x), np.tanh, 2**-11),
        (lambda k, x: k.fma(x, x, 1), lambda x: x * x + 1, 2**-24),
        (lambda k, x: k.clamp(x, 1.0, 2.0), lambda x: np.clip(x, 1, 2), 0),
        (lambda k, x: k.abs(-x), np.abs, 0),
        (lambda _, x: abs(-x), np.abs, 0),
        (lambda k, x: k.max(x, 2.5), lambda x: np.maximum(x, 2.5), 0),
        (lambda k, x: k.min(x, 2.5), lambda x: np.minimum(x, 2.5), 0),
        (lambda _, x: 1.0 / x, lambda x: 1 / x, 2**-24),
        (lambda _, x: 3.0 / x, lambda x: 3 / x, 2**-24),
        (lambda _, x: x**2, lambda x: x**2, 2**-24),
        (lambda _, x: x**5, lambda x: x**5, 3 * 2**-24),
        (lambda k, x: k.where(x < 1.0, x, 7), lambda x: np.where(x < 1, x, 7), 0),
    ],
)
def test_the_error_is_within_the_stated_bound(
    function: Function, exact: Callable[[NDArray[Any]], NDArray[Any]], error: float, tmp_path: Path
) -> None:
    values = np.linspace(0.01, 4, 32, dtype=np.float32)
    found = run_lanes(f32, values, f32, function, tmp_path).astype(np.float64)
    expected = exact(values.astype(np.float64))
    assert (np.abs(found - expected) <= np.abs(expected) * error).all()


@pytest.mark.parametrize(
    ("function", "scalar", "opcode"),
    [
        (lambda k, x: k.exp2(x), f16, "ex2.approx.f16"),
        (lambda k, x: k.exp2(x), f16x2, "ex2.approx.f16x2"),
        (lambda k, x: k.exp2(x), bf16, "ex2.approx.ftz.bf16"),
        (lambda k, x: k.exp2(x), bf16x2, "ex2.approx.ftz.bf16x2"),
        (lambda k, x: k.exp2(x), f32, "ex2.approx.f32"),
        (lambda k, x: k.sqrt(x), f64, "sqrt.rn.f64"),
        (lambda k, x: k.sqrt(x, ftz=True), f32, "sqrt.rn.ftz.f32"),
        (lambda k, x: k.rsqrt(x), f64, "rsqrt.approx.f64"),
        (lambda k, x: k.tanh(x), bf16x2, "tanh.approx.bf16x2"),
        (lambda k, x: k.fma(x, x, x), bf16, "fma.rn.bf16"),
        (lambda k, x: k.fma(x, x, x, ftz=True), f32, "fma.rn.ftz.f32"),
        (lambda k, x: k.max(x, x), s32, "max.s32"),
        (lambda _, x: 1 / x, f64, "rcp.rn.f64"),
        (lambda _, x: x**2, u32, "mul.lo.u32"),
        (lambda _, x: abs(x), bf16, "abs.bf16"),
    ],
)
def test_the_instruction_is_that_of_the_type(k: Kernel, function: Function, scalar: type[Scalar], opcode: str) -> None:
    assert function(k, k.register(scalar)).type is scalar
    assert opcodes(k.module()) == [opcode, "ret"]


def test_other_types_are_errors_with_the_remedy(k: Kernel) -> None:
    half, number = k.register(f16), k.register(u32)
    with pytest.raises(BuildTypeError, match=r"exp is for f32, not .*\.convert\(f32\); k\.exp2 is for f16"):
        k.exp(half)  # type: ignore[arg-type]
    with pytest.raises(BuildTypeError, match="log is for f32"):
        k.log(half)  # type: ignore[arg-type]
    with pytest.raises(BuildTypeError, match=r"use k\.mad_lo"):
        k.fma(number, number, 1)
    with pytest.raises(BuildTypeError, match="fma takes registers of one type and numbers"):
        k.fma(half, k.register(f32), 1)  # type: ignore[misc]
    for divide in (lambda: half / 2, lambda: 1 / half):
        with pytest.raises(BuildTypeError, match=r"PTX divides f32 and f64, .*\.convert\(f32\), or multiply"):
            divide()
    for name in ("sqrt", "rsqrt"):
        with pytest.raises(BuildTypeError, match=f"{name} is for f32 and f64"):
            getattr(k, name)(half)
    with pytest.raises(BuildTypeError, match="tanh is for f32 and f16 and"):
        k.tanh(k.register(f64))
    with pytest.raises(BuildTypeError, match="use `//`"):
        1 / number
    for exponent in (0, -1, 0.5, True):
        with pytest.raises(BuildTypeError, match=r"constant integer of at least 1, .* see k\.sqrt"):
            half**exponent  # type: ignore[operator]
    assert (number**1).name == number.name


def test_numbers_on_the_left_are_operands(k: Kernel) -> None:
    lane = k.laneid
    assert (7 // lane).type is (7 % lane).type is u32
    assert opcodes(k.module()) == ["mov.u32", "div.u32", "rem.u32", "ret"]
    assert (1 << lane).type is (0xFF & lane).type is (1 | lane).type is (3 ^ lane).type is u32
    assert (8 << lane).multiple == 8
    assert opcodes(k.module())[3:] == ["shl.b32", "and.b32", "or.b32", "xor.b32", "shl.b32", "ret"]
