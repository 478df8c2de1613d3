"""NaNs, flushed subnormal numbers, saturation."""

from __future__ import annotations

import numpy as np

from ptxkit.emulator.core.numbers import nan_rules
from ptxkit.emulator.core.numbers.formats import F16, F32, F64, FORMATS


def test_narrow_formats_have_one_nan() -> None:
    codes = np.array([0x7F800001, 0xFFC12345, 0x7F800000, 0x3F800000], np.uint32)
    assert nan_rules.canonicalize(F32, codes).tolist() == [0x7FFFFFFF, 0x7FFFFFFF, 0x7F800000, 0x3F800000]


def test_f64_propagates_the_payload_of_the_last_nan_made_quiet() -> None:
    wrong, other, number = 0x7FF0000000000001, 0xFFF8000000000ABC, 0x3FF0000000000000
    a = np.array([wrong, number, number], np.uint64)
    b = np.array([other, other, number], np.uint64)
    result = np.array([wrong, wrong, wrong], np.uint64)
    assert nan_rules.propagate_payload(result, a, b).tolist() == [other, other, 0xFFF8000000000000]
    assert nan_rules.propagate_payload(result, b, a).tolist() == [wrong | 1 << 51, other, 0xFFF8000000000000]
    assert nan_rules.propagate_payload(a[1:], b[1:]).tolist() == [number, number]


def test_subnormal_numbers_become_zeros_of_their_sign() -> None:
    codes = np.array([0x007FFFFF, 0x80000001, 0x00800000, 0x80000000, 0x7F800001], np.uint32)
    assert nan_rules.flush_subnormals(F32, codes).tolist() == [0, 0x80000000, 0x00800000, 0x80000000, 0x7F800001]


def test_saturation_clamps_to_zero_and_one() -> None:
    codes = np.array([0x3F000000, 0x40000000, 0xBF800000, 0x80000000, 0x7FC00000, 0xFFC00000, 0x7F800000], np.uint32)
    one = 0x3F800000
    assert nan_rules.saturate_codes(F32, codes).tolist() == [0x3F000000, one, 0, 0, 0, 0, one]
    assert nan_rules.saturate_codes(F64, np.array([0x7FEFFFFFFFFFFFFF], np.uint64)).tolist() == [0x3FF0000000000000]


def test_negative_numbers_are_rectified_and_nans_remain() -> None:
    codes = np.array([0x8000, 0xBC00, 0x3C00, 0x7FFF, 0xFE00], np.uint16)
    assert nan_rules.apply_relu(F16, codes).tolist() == [0, 0, 0x3C00, 0x7FFF, 0xFE00]
    assert nan_rules.apply_relu(FORMATS["e2m1"], np.array([0xF], np.uint8)).tolist() == [0]
