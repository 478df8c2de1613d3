"""f64 in every rounding, compared with fractions; operands near overflow and underflow are included."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from ptxkit.emulator.core.numbers import f64_exact
from ptxkit.emulator.core.numbers.formats import F64
from tests.emulator.core.numbers.oracle import nearest, operands

ROUNDINGS = ["rn", "rz", "rm", "rp"]
COUNT = 700


def reals(seed: int) -> NDArray[np.float64]:
    generator = np.random.default_rng(seed)
    codes = operands(F64, COUNT, seed)
    scale = generator.choice([-1070, -1022, -540, -480, 0, 0, 0, 500, 1000], COUNT)
    near = np.ldexp(generator.standard_normal(COUNT), scale)
    return np.where(generator.integers(0, 2, COUNT) == 0, codes.view(np.float64), near)


def check(
    rounding: str, found: NDArray[np.float64], exact: Callable[..., Fraction | None], *operands: NDArray[np.float64]
) -> None:
    """Checks every result where the operands are finite and `exact` returns a value that is not zero."""
    checked = 0
    for code, lane in zip(found.view(np.uint64).tolist(), zip(*operands, strict=True), strict=True):
        if not all(map(math.isfinite, lane)):
            continue
        value = exact(*(Fraction(float(each)) for each in lane))
        if value is not None and value != 0:
            assert code == nearest(F64, value, rounding), [float(each).hex() for each in lane]
            checked += 1
    assert checked > COUNT // 4


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_sums_and_products_are_rounded_once(rounding: str) -> None:
    a, b = reals(1), reals(2)
    with np.errstate(all="ignore"):
        check(rounding, f64_exact.add(a, b, rounding), lambda a, b: a + b, a, b)
        check(rounding, f64_exact.multiply(a, b, rounding), lambda a, b: a * b, a, b)


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_quotients_are_rounded_once(rounding: str) -> None:
    a, b = reals(3), reals(4)
    with np.errstate(all="ignore"):
        check(rounding, f64_exact.divide(a, b, rounding), lambda a, b: a / b if b else None, a, b)


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_fused_products_and_sums_are_rounded_once(rounding: str) -> None:
    a, b, c = reals(5), reals(6), reals(7)
    with np.errstate(all="ignore"):
        canceling = -(a * b) * np.where(np.arange(COUNT) % 3 == 0, 1.0 + 2.0**-52, 1.0)
        for third in (c, canceling):
            check(rounding, f64_exact.fused_multiply_add(a, b, third, rounding), lambda a, b, c: a * b + c, a, b, third)


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_roots_enclose_the_exact_one(rounding: str) -> None:
    a = np.abs(reals(8))
    with np.errstate(all="ignore"):
        found = f64_exact.sqrt(a, rounding)
    for value, result in zip(a.tolist(), found.tolist(), strict=True):
        if not math.isfinite(value) or value == 0:
            continue
        square, exact = Fraction(result) ** 2, Fraction(value)
        up, down = Fraction(math.nextafter(result, math.inf)) ** 2, Fraction(math.nextafter(result, 0.0)) ** 2
        if rounding == "rp":
            assert down < exact <= square
        elif rounding != "rn":
            assert square <= exact < up
        else:
            assert down < exact < up


def test_zeros_have_the_sign_of_the_rounding() -> None:
    one, zero, negative_zero = np.array([1.0]), np.array([0.0]), np.array([-0.0])
    for rounding in ROUNDINGS:
        expected = math.copysign(1, -1 if rounding == "rm" else 1)
        assert math.copysign(1, f64_exact.add(one, -one, rounding)[0]) == expected
        assert math.copysign(1, f64_exact.add(zero, negative_zero, rounding)[0]) == expected
        assert math.copysign(1, f64_exact.fused_multiply_add(one, one, -one, rounding)[0]) == expected
        assert math.copysign(1, f64_exact.fused_multiply_add(one, zero, negative_zero, rounding)[0]) == expected
        assert math.copysign(1, f64_exact.add(zero, zero, rounding)[0]) == 1
        assert math.copysign(1, f64_exact.add(negative_zero, negative_zero, rounding)[0]) == -1


def test_infinities_and_overflow_follow_the_rounding() -> None:
    large, infinite = np.array([1.7e308]), np.array([np.inf])
    with np.errstate(all="ignore"):
        assert f64_exact.add(large, large, "rn")[0] == np.inf
        assert f64_exact.add(large, large, "rz")[0] == np.finfo(float).max
        assert f64_exact.add(-large, -large, "rp")[0] == -np.finfo(float).max
        assert f64_exact.add(-large, -large, "rm")[0] == -np.inf
        for rounding in ROUNDINGS:
            assert f64_exact.add(infinite, large, rounding)[0] == np.inf
            assert f64_exact.divide(large, np.array([0.0]), rounding)[0] == np.inf
            assert f64_exact.fused_multiply_add(large, large, -infinite, rounding)[0] == -np.inf
            assert np.isnan(f64_exact.add(infinite, -infinite, rounding)[0])
