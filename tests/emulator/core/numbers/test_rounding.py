"""Every format by every rounding, compared with fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxkit.emulator.core.numbers.float_codec import add_round_to_odd, decompose, is_nan, narrow, widen
from ptxkit.emulator.core.numbers.formats import FORMATS, Format
from ptxkit.emulator.core.numbers.rounding import pack
from tests.emulator.core.numbers.oracle import fraction, nearest

ROUNDINGS = ["rn", "rna", "rz", "rm", "rp"]
SIGNED = [fmt for fmt in FORMATS.values() if fmt.signed]
SMALL = [fmt for fmt in FORMATS.values() if fmt.width <= 8]


def one(fmt: Format, value: float, rounding: str = "rn", **how: bool) -> int:
    with np.errstate(all="ignore"):
        return int(narrow(fmt, np.array([value]), rounding, **how)[0])


@pytest.mark.parametrize("fmt", [fmt for fmt in FORMATS.values() if fmt.width <= 16], ids=lambda fmt: fmt.name)
def test_every_code_of_16_bits_or_less_has_its_exact_value_and_is_restored(fmt: Format) -> None:
    codes = np.arange(1 << fmt.width).astype(fmt.dtype)
    with np.errstate(all="ignore"):
        values = widen(fmt, codes)
    for code, value in list(zip(codes.tolist(), values.tolist(), strict=True))[:: max(1, len(codes) // 4096)]:
        expected = fraction(fmt, code)
        assert Fraction(value) == expected if expected is not None else not np.isfinite(value)
    for rounding in ROUNDINGS:
        back = narrow(fmt, values, rounding)
        assert ((back == codes) | is_nan(fmt, codes)).all()


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("fmt", SIGNED, ids=lambda fmt: fmt.name)
@given(mantissa=st.integers(-(2**53), 2**53), exponent=st.integers(-40, 40), near=st.booleans())
def test_a_double_is_rounded_once(fmt: Format, rounding: str, mantissa: int, exponent: int, near: bool) -> None:
    center = (fmt.smallest_exponent - fmt.fraction_bits) if near else 0
    with np.errstate(all="ignore"):
        value = float(np.ldexp(float(mantissa), exponent + max(center - 53, -1000)))
    if not np.isfinite(value):
        return
    if fmt.infinity is None:  # larger values have separate tests
        value = min(max(value, -float(widen(fmt, np.array([fmt.maximum], fmt.dtype))[0])), 1.0)
    assert one(fmt, value, rounding) == nearest(fmt, Fraction(value), rounding, negative_zero=str(value)[0] == "-")


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_every_tie_between_two_small_floats_is_rounded_exactly(rounding: str) -> None:
    for fmt in SMALL:
        if not fmt.signed:
            continue
        values = np.sort(widen(fmt, np.arange(fmt.maximum + 1).astype(fmt.dtype)))
        for low, high in zip(values.tolist(), values.tolist()[1:], strict=False):
            for part in (0.25, 0.5, 0.75):
                for sign in (1, -1):
                    value = sign * (low + (high - low) * part)
                    assert one(fmt, value, rounding) == nearest(fmt, Fraction(value), rounding)


def test_overflow_becomes_the_value_that_the_format_specifies() -> None:
    e4m3, e5m2, e2m1, ue8m0 = (FORMATS[name] for name in ("e4m3", "e5m2", "e2m1", "ue8m0"))
    assert one(e5m2, 1e9) == 0x7C
    assert one(e5m2, 1e9, satfinite=True) == 0x7B
    assert one(e5m2, 1e9, "rz") == 0x7B
    assert one(e4m3, -1e9) == 0x7F | 0x80
    assert one(e4m3, -1e9, satfinite=True) == 0x7E | 0x80
    assert one(e4m3, 464.0) == 0x7E
    assert one(e2m1, 1e9) == 0x7
    assert one(e2m1, -np.inf) == 0xF
    assert one(ue8m0, 1e39) == 0xFF
    assert one(ue8m0, 1e39, satfinite=True) == 0xFE
    assert one(FORMATS["f16"], np.inf, satfinite=True) == 0x7BFF
    assert one(FORMATS["f16"], np.inf) == 0x7C00


def test_a_nan_becomes_the_canonical_nan_or_the_largest_number() -> None:
    names = {"f32": 0x7FFFFFFF, "f16": 0x7FFF, "bf16": 0x7FFF, "tf32": 0x7FFFE000, "e4m3": 0x7F, "e5m2": 0x7F}
    for name, code in (names | {"e2m1": 0x7, "e3m2": 0x1F, "e2m3": 0x1F, "ue8m0": 0xFF}).items():
        assert one(FORMATS[name], np.nan) == code
        assert one(FORMATS[name], np.nan, satfinite=True) == code


def test_tf32_reads_the_upper_bits_of_its_register() -> None:
    codes = np.array([0x3F801FFF, 0xC0000001, 0x7F800000, 0x7FC00000], np.uint32)
    with np.errstate(all="ignore"):
        assert widen(FORMATS["tf32"], codes)[:3].tolist() == [1.0, -2.0, np.inf]
        assert np.isnan(widen(FORMATS["tf32"], codes)[3])


def test_scale_factors_drop_the_sign_and_round_up_or_down_to_a_power_of_two() -> None:
    ue8m0 = FORMATS["ue8m0"]
    assert one(ue8m0, 1.5, "rz") == 127
    assert one(ue8m0, 1.5, "rp") == 128
    assert one(ue8m0, -1.5, "rp") == 128
    assert one(ue8m0, 0.0, "rp") == 0
    assert one(ue8m0, 2.0**-130, "rp") == 0
    assert one(ue8m0, 1.25 * 2.0**-127, "rp") == 1


def test_random_bits_round_up_where_their_sum_with_the_discarded_bits_carries() -> None:
    bf16 = FORMATS["bf16"]
    value = np.array([1.0 + 2.0**-9])  # a quarter of the distance to the next bf16
    for bits, code in ((0, 0x3F80), (0xBFFF, 0x3F80), (0xC000, 0x3F81), (0xFFFF, 0x3F81)):
        assert int(narrow(bf16, value, "rs", random=(np.array([bits], np.uint64), 16))[0]) == code


def test_a_sum_rounded_to_odd_keeps_the_discarded_bits_as_sticky() -> None:
    total = add_round_to_odd(np.array([1.0, 1.0, 1.0]), np.array([2.0**-80, -(2.0**-80), 2.0**-52]))
    assert total.tolist() == [1.0 + 2.0**-52, 1.0 - 2.0**-53, 1.0 + 2.0**-52]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_double_taken_apart_is_restored(value: float) -> None:
    assert pack(FORMATS["f64"], "rz", *decompose(np.array([value]))).view(np.float64)[0].hex() == value.hex()
