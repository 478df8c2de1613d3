"""Integers to floats and back, compared with fractions and Python's integers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxkit.emulator.core.numbers.formats import BF16, DTYPES, F16, F32, F64, Format
from ptxkit.emulator.core.numbers.int_float_convert import from_integer, to_integer
from tests.emulator.core.numbers.oracle import nearest

EDGES = [0, 1, 2, 3, 127, 128, 255, 2**24 - 1, 2**24, 2**24 + 1, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64 - 2**10]


@pytest.mark.parametrize("rounding", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize("fmt", [F16, BF16, F32, F64], ids=lambda fmt: fmt.name)
@given(words=st.lists(st.sampled_from(EDGES) | st.integers(0, 2**64 - 1), min_size=1, max_size=8))
def test_an_integer_is_rounded_to_a_float_once(fmt: Format, rounding: str, words: list[int]) -> None:
    for width in (8, 16, 32, 64):
        patterns = [word & ((1 << width) - 1) for word in words]
        integers = np.array(patterns, DTYPES[width])
        for signed in (False, True):
            found = from_integer(fmt, integers, signed=signed, rounding=rounding).tolist()
            values = integers.view(f"i{width // 8}").tolist() if signed else patterns
            assert found == [nearest(fmt, Fraction(value), rounding) for value in values]


@given(
    values=st.lists(
        st.floats(allow_nan=False) | st.integers(-(2**66), 2**66).map(lambda n: n / 4), min_size=1, max_size=8
    )
)
def test_a_value_becomes_the_nearest_integer_in_range(values: list[float]) -> None:
    whole = {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}
    for width in (8, 16, 32, 64):
        for signed in (False, True):
            low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
            for rounding, function in whole.items():
                with np.errstate(all="ignore"):
                    found = to_integer(np.array(values), width, signed=signed, rounding=rounding, nan=0)
                for value, code in zip(values, found.tolist(), strict=True):
                    expected = (high if value > 0 else low) if math.isinf(value) else function(value)
                    assert code == min(max(expected, low), high) & ((1 << width) - 1)


def test_a_nan_becomes_the_requested_integer() -> None:
    found = to_integer(np.array([np.nan, 1.0]), 32, signed=True, rounding="rzi", nan=0x80000000)
    assert found.tolist() == [0x80000000, 1]
