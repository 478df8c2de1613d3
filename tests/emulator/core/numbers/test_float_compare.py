"""Comparisons and selections, compared with Python's own comparisons of the values."""

from __future__ import annotations

import operator

import numpy as np
import pytest

from ptxkit.emulator.core.numbers.float_codec import widen
from ptxkit.emulator.core.numbers.float_compare import comparison, min_max
from ptxkit.emulator.core.numbers.formats import BF16, F16, F32, F64, FORMATS, Format
from tests.emulator.core.numbers.oracle import operands

ORDERED = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


@pytest.mark.parametrize("fmt", [F32, F64], ids=lambda fmt: fmt.name)
def test_comparisons_are_false_for_nans_unless_they_end_in_u(fmt: Format) -> None:
    a, b = operands(fmt, 3000, 1), operands(fmt, 3000, 2)
    with np.errstate(all="ignore"):
        x, y = widen(fmt, a), widen(fmt, b)
    unordered = np.isnan(x) | np.isnan(y)
    assert unordered.any()
    for name, test in ORDERED.items():
        assert (comparison(fmt, name)(a, b) == (test(x, y) & ~unordered)).all()
        assert (comparison(fmt, name + "u")(a, b) == (test(x, y) | unordered)).all()
    assert (comparison(fmt, "nan")(a, b) == unordered).all()
    assert (comparison(fmt, "num")(a, b) == ~unordered).all()


@pytest.mark.parametrize("fmt", [F16, BF16, FORMATS["e5m2"]], ids=lambda fmt: fmt.name)
def test_minimum_and_maximum_prefer_numbers_to_nans(fmt: Format) -> None:
    generator = np.random.default_rng(3)
    a, b = (generator.integers(0, 1 << fmt.width, 4000).astype(fmt.dtype) for _ in range(2))
    with np.errstate(all="ignore"):
        x, y = widen(fmt, a), widen(fmt, b)
    for greatest, choose in ((False, np.fmin), (True, np.fmax)):
        found = min_max(fmt, greatest=greatest)(a, b)
        with np.errstate(all="ignore"):
            assert np.array_equal(widen(fmt, found), choose(x, y), equal_nan=True)
        strict = min_max(fmt, greatest=greatest, nan=True)(a, b)
        wrong = np.isnan(x) | np.isnan(y)
        assert (strict[wrong] == fmt.nan).all()
        assert (strict[~wrong] == found[~wrong]).all()


def test_negative_zero_is_the_smaller_one() -> None:
    positive, negative = np.array([0], np.uint32), np.array([0x80000000], np.uint32)
    for a, b in ((positive, negative), (negative, positive)):
        assert min_max(F32, greatest=False)(a, b)[0] == 0x80000000
        assert min_max(F32, greatest=True)(a, b)[0] == 0
        assert comparison(F32, "eq")(a, b)[0]


def test_two_nans_give_the_canonical_nan() -> None:
    a, b = np.array([0x7F800001], np.uint32), np.array([0xFFC00000], np.uint32)
    assert min_max(F32, greatest=True)(a, b)[0] == 0x7FFFFFFF
    assert min_max(F32, greatest=True)(a, np.array([0x3F800000], np.uint32))[0] == 0x3F800000
