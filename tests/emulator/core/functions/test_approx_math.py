"""Approximate instructions: the values that the manual fixes, and the error bounds."""

from __future__ import annotations

import numpy as np

from ptxkit.emulator.core.functions.approx_math import approximately, divide_approximately
from ptxkit.emulator.core.numbers.error_bounds import BOUNDS, ErrorBound
from ptxkit.emulator.core.numbers.formats import F32
from tests.emulator.core.numbers.oracle import operands

NAN, INFINITE, MINUS = 0x7FFFFFFF, 0x7F800000, 0x80000000


def words(*values: int) -> np.ndarray:
    return np.array(values, np.uint32)


def test_corner_cases_are_those_of_the_manual() -> None:
    corners = words(INFINITE | MINUS, MINUS, 0, INFINITE, 0x7FC00000)
    expected = {
        "rcp": [MINUS, INFINITE | MINUS, INFINITE, 0, NAN],
        "sqrt": [NAN, MINUS, 0, INFINITE, NAN],
        "rsqrt": [NAN, INFINITE | MINUS, INFINITE, 0, NAN],
        "sin": [NAN, MINUS, 0, NAN, NAN],
        "cos": [NAN, 0x3F800000, 0x3F800000, NAN, NAN],
        "lg2": [NAN, INFINITE | MINUS, INFINITE | MINUS, INFINITE, NAN],
        "ex2": [0, 0x3F800000, 0x3F800000, INFINITE, NAN],
        "tanh": [0xBF800000, MINUS, 0, 0x3F800000, NAN],
    }
    for name, results in expected.items():
        assert approximately(type="f32", function=name)(corners).tolist() == results, name


def test_every_function_observes_its_error_bound() -> None:
    codes = operands(F32, 4000, 9)
    with np.errstate(all="ignore"):
        values = codes.view(np.float32).astype(np.float64)
    exact = {"sqrt": np.sqrt, "sin": np.sin, "cos": np.cos, "lg2": np.log2, "ex2": np.exp2, "tanh": np.tanh}
    with np.errstate(all="ignore"):
        for name, function in exact.items():
            found = approximately(type="f32", function=name)(codes).view(np.float32).astype(np.float64)
            wanted = function(values).astype(np.float32).astype(np.float64)
            for bound in BOUNDS[f"{name}.approx", "f32"]:
                assert bound.is_within(found, wanted, values).all(), name


def test_a_result_beyond_the_bound_is_detected() -> None:
    bound = ErrorBound(ulps=2, least=1.0)
    exact, operand = np.array([1.0, 1.0, 1.0, np.nan]), np.array([2.0, 2.0, 0.5, 2.0])
    found = np.array([1.0 + 2.0**-22, 1.0 + 2.0**-20, 9.0, np.nan])
    assert bound.is_within(found, exact, operand).tolist() == [True, False, True, True]


def test_halves_of_doubles_read_and_write_the_upper_bits() -> None:
    a = np.array([0x4000_0000_FFFF_FFFF, 0x0000_0000_0000_0001, 0x7FF0_0000_0000_0001 | 1 << 40], np.uint64)
    found = approximately(type="f64", function="rcp", ftz=True)(a).tolist()
    assert found == [0x3FE0_0000_0000_0000, 0x7FF0_0000_0000_0000, 0x7FFF_FFFF_0000_0000]


def test_quotients_by_large_numbers_are_zero_unless_the_range_is_full() -> None:
    large, one = words(0x7F000000), words(0x7E800000)
    assert divide_approximately()(one, large).tolist() == [0]
    assert divide_approximately(full=True)(one, large).tolist() == [0x3F000000]
    assert divide_approximately()(words(INFINITE), words(0x7F000001)).tolist() == [NAN]
    assert divide_approximately(ftz=True)(words(1), words(0x3F800000)).tolist() == [0]
