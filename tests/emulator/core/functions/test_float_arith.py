"""Arithmetic on registers: f16 and f32 compared with numpy, packed numbers, and modifiers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from ptxkit.emulator.core.functions.float_arith import OUT_OF_BOUNDS, fadd, fdiv, ffma, fmul, frcp, fsqrt, fsub
from ptxkit.emulator.core.numbers.formats import F32, FORMATS
from tests.emulator.core.numbers.oracle import fraction, nearest, operands


def words(*values: int) -> NDArray[np.uint32]:
    return np.array(values, np.uint32)


def floats(*values: float) -> NDArray[np.uint32]:
    return np.array(values, np.float32).view(np.uint32)


def test_f16_to_nearest_is_the_result_of_numpy() -> None:
    generator = np.random.default_rng(1)
    a, b = (generator.integers(0, 1 << 16, 20_000).astype(np.uint16) for _ in range(2))
    with np.errstate(all="ignore"):
        x, y = a.view(np.float16), b.view(np.float16)
        for maker, expected in ((fadd, x + y), (fsub, x - y), (fmul, x * y)):
            found = maker(type="f16", rounding="rn")(a, b)
            assert (np.isnan(expected) | (found == expected.view(np.uint16))).all()
            assert (found[np.isnan(expected)] == 0x7FFF).all()


@pytest.mark.parametrize("rounding", ["rn", "rz", "rm", "rp"])
def test_f32_is_rounded_once(rounding: str) -> None:
    a, b, c = (operands(F32, 500, seed) for seed in range(3))
    sums, products = fadd(type="f32", rounding=rounding)(a, b), fmul(type="f32", rounding=rounding)(a, b)
    fused = ffma(type="f32", rounding=rounding)(a, b, c)
    quotients, inverses = fdiv(type="f32", rounding=rounding)(a, b), frcp(type="f32", rounding=rounding)(b)
    checked = 0
    for at in range(len(a)):
        x, y, z = (fraction(F32, int(each[at])) for each in (a, b, c))
        if x is None or y is None or z is None or 0 in (x, y, x + y, x * y + z):
            continue
        checked += 1
        assert int(sums[at]) == nearest(F32, x + y, rounding)
        assert int(products[at]) == nearest(F32, x * y, rounding)
        assert int(fused[at]) == nearest(F32, x * y + z, rounding)
        assert int(quotients[at]) == nearest(F32, x / y, rounding)
        assert int(inverses[at]) == nearest(F32, 1 / y, rounding)
    assert checked > 100


def test_a_fused_sum_at_a_tie_depends_on_low_bits() -> None:
    one, small, tiny = floats(1.0), floats(2.0**-24), floats(2.0**-100)
    fused = ffma(type="f32", rounding="rn")
    assert fused(floats(1.0 + 2.0**-12), floats(1.0 + 2.0**-12), tiny)[0] == floats(1.0 + 2.0**-11 + 2.0**-23)[0]
    assert fused(one, small, one)[0] == one[0]
    half = ffma(type="bf16", rounding="rn")
    codes = [np.array([code], np.uint16) for code in (0x3F81, 0x3F84, 0x0080)]  # the product is a tie
    exact = fraction(FORMATS["bf16"], 0x3F81) * fraction(FORMATS["bf16"], 0x3F84) + Fraction(2) ** -126
    assert int(half(*codes)[0]) == nearest(FORMATS["bf16"], exact, "rn")


def test_roots_are_those_of_numpy_and_the_directed_ones_enclose_it() -> None:
    a = np.abs(operands(F32, 2000, 4).view(np.float32)).view(np.uint32)
    with np.errstate(all="ignore"):
        expected = np.sqrt(a.view(np.float32))
    number = ~np.isnan(expected)
    assert (fsqrt(type="f32", rounding="rn")(a)[number] == expected.view(np.uint32)[number]).all()
    down, up = (fsqrt(type="f32", rounding=each)(a)[number] for each in ("rm", "rp"))
    assert ((up == down) | (up == down + 1)).all()
    assert fsqrt(type="f32", rounding="rn")(floats(-1.0))[0] == 0x7FFFFFFF


def test_pairs_are_two_numbers_each() -> None:
    a, b = words(0x3C004000), words(0x40003C00)  # 1.0 in the upper half, 2.0 in the lower, and the reverse
    assert fadd(type="f16x2")(a, b).tolist() == [0x42004200]
    assert fsub(type="f16x2")(a, b).tolist() == [0xBC003C00]
    assert fmul(type="bf16x2")(words(0x3F804000), words(0x40404040)).tolist() == [0x404040C0]
    pair = np.array([1.5, -2.0], np.float32).view(np.uint64)
    assert fadd(type="f32x2", rounding="rn")(pair, pair).view(np.float32).tolist() == [3.0, -4.0]


def test_modifiers_flush_saturate_and_rectify() -> None:
    small, one = words(0x00400000), floats(1.0)
    assert fadd(type="f32", ftz=True)(small, floats(0.0)).tolist() == [0]
    assert fadd(type="f32")(small, floats(0.0)).tolist() == [0x00400000]
    assert fmul(type="f32", ftz=True)(words(0x80800000), floats(0.5)).tolist() == [0x80000000]
    assert fadd(type="f32", saturate=True)(one, one).tolist() == floats(1.0).tolist()
    assert fsub(type="f32", saturate=True)(words(0x7F800000), words(0x7F800000)).tolist() == [0]
    minus = np.array([0xBC00], np.uint16)
    zero = np.array([0], np.uint16)
    assert ffma(type="f16", rounding="rn", relu=True)(minus, np.array([0x3C00], np.uint16), zero).tolist() == [0]
    nothing = np.array([OUT_OF_BOUNDS], np.uint16)
    for at in range(2):
        given = [np.array([0x3C00], np.uint16)] * 3
        given[at] = nothing
        assert ffma(type="f16", rounding="rn", oob=True)(*given).tolist() == [0]
        assert ffma(type="f16", rounding="rn")(*given).tolist() == [0x7FFF]
    assert ffma(type="f16", rounding="rn", oob=True)(minus, minus, nothing).tolist() == [0x7FFF]


def test_results_below_the_smallest_normal_number_after_full_rounding_are_flushed() -> None:
    least, below, next_to = words(0x00800000), words(0x3F7FFFFF), words(0x3F7FFFFE)
    assert fmul(type="f32")(least, below).tolist() == [0x00800000]
    assert fmul(type="f32", ftz=True)(least, below).tolist() == [0]  # 24 bits hold it
    assert fmul(type="f32", ftz=True)(words(0x00800001), next_to).tolist() == [0x00800000]  # they do not
    assert fmul(type="f32", ftz=True, rounding="rz")(words(0x00800001), next_to).tolist() == [0]
    assert fmul(type="f32", ftz=True, rounding="rp")(words(0x00800001), next_to).tolist() == [0x00800000]
    assert fmul(type="f32", ftz=True, rounding="rm")(words(0x00800001), next_to).tolist() == [0]


def test_operands_of_other_formats_are_converted_first() -> None:
    half = np.array([0x3C01], np.uint16)  # 1 + 2**-10
    assert fadd(type="f32", a="f16", rounding="rn")(half, floats(2.0)).tolist() == floats(3.0 + 2.0**-10).tolist()
    fused = ffma(type="f32", a="f16", b="f16", rounding="rn")(half, half, floats(0.0))
    assert fused.tolist() == floats((1 + 2.0**-10) ** 2).tolist()
    four = fadd(type="e4m3x4", a="e2m1x4", satfinite=True)(np.array([0x7654], np.uint16), words(0x7E383800))
    codes = four.view(np.uint8).tolist()
    assert codes == [0x40, 0x48, 0x4A, 0x7E]  # 2 + 0, 3 + 1, 4 + 1, 6 + 448


def test_f64_propagates_payloads() -> None:
    a, b = np.array([0x7FF0_0000_0000_0123], np.uint64), np.array([0x3FF0_0000_0000_0000], np.uint64)
    assert fadd(type="f64", rounding="rn")(a, b).tolist() == [0x7FF8_0000_0000_0123]
    infinite = np.array([0x7FF0_0000_0000_0000], np.uint64)
    assert fsub(type="f64", rounding="rn")(infinite, infinite).tolist() == [0xFFF8_0000_0000_0000]
    assert fdiv(type="f64", rounding="rz")(b, np.array([0x4008_0000_0000_0000], np.uint64)).tolist() == [
        0x3FD5_5555_5555_5555
    ]


def test_constants_have_no_dimension_and_are_combined_with_registers() -> None:
    one = np.array(0x3C003C00, np.uint32)
    assert fadd(type="f16x2")(words(0x3C003C00, 0), one).tolist() == [0x40004000, 0x3C003C00]
    assert (
        fadd(type="f32", rounding="rz")(floats(1.0, 2.0), np.array(0x3F800000, np.uint32)).tolist()
        == floats(2.0, 3.0).tolist()
    )
