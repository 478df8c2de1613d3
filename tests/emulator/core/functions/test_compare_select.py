"""Comparisons and selections on registers."""

from __future__ import annotations

import numpy as np

from ptxkit.emulator.core.functions.compare_select import set_, setp, slct
from ptxkit.emulator.core.functions.float_sign_minmax import copysign, fabs, fmax, fmin, fneg, has_property

NAN = 0x7FC00000
ONE = 0x3F800000


def words(*values: int) -> np.ndarray:
    return np.array(values, np.uint32)


def test_a_second_predicate_has_the_complement_and_both_are_combined() -> None:
    a, b, c = words(ONE, ONE, NAN), words(ONE, 0, ONE), np.array([True, True, False])
    p, q = setp(type="f32", test="eq")(a, b)
    assert (p.tolist(), q.tolist()) == ([True, False, False], [False, True, True])
    p, q = setp(type="f32", test="neu", combine="and")(a, b, c)
    assert (p.tolist(), q.tolist()) == ([False, True, False], [True, False, False])
    assert setp(type="f32", test="nan", single=True)(a, b).tolist() == [False, False, True]


def test_signedness_decides_how_integers_compare() -> None:
    a, b = words(0xFFFFFFFF), words(1)
    assert setp(type="s32", test="lt", single=True)(a, b).tolist() == [True]
    assert setp(type="u32", test="lt", single=True)(a, b).tolist() == [False]
    assert setp(type="u32", test="hi", single=True)(a, b).tolist() == [True]


def test_subnormal_numbers_are_zeros_where_they_are_flushed() -> None:
    a, b = words(1), words(0x80000000)
    assert setp(type="f32", test="eq", single=True)(a, b).tolist() == [False]
    assert setp(type="f32", test="eq", ftz=True, single=True)(a, b).tolist() == [True]


def test_pairs_have_two_comparisons() -> None:
    a, b = words(0x3C000000), words(0x3C003C00)
    p, q = setp(type="f16x2", test="eq")(a, b)
    assert (p.tolist(), q.tolist()) == ([False], [True])
    assert set_(type="f16x2", source="f16x2", test="eq")(a, b).tolist() == [0x3C000000]
    assert set_(type="u32", source="f16x2", test="eq")(a, b).tolist() == [0xFFFF0000]
    assert set_(type="u32", source="f16x2", test="eq", combine="and")(a, b, np.array([False])).tolist() == [0]


def test_truth_values_are_ones_of_the_type() -> None:
    a, b = words(5, 6), words(5, 5)
    assert set_(type="u32", source="u32", test="eq")(a, b).tolist() == [0xFFFFFFFF, 0]
    assert set_(type="f32", source="s32", test="gt")(a, b).tolist() == [0, ONE]
    assert set_(type="f16", source="u32", test="ge")(a, b).tolist() == [0x3C00, 0x3C00]
    assert set_(type="bf16", source="u32", test="ge")(a, b).dtype == np.uint16


def test_a_selection_by_sign_takes_the_first_for_negative_zero_and_the_second_for_nan() -> None:
    a, b = words(1, 1, 1, 1), words(2, 2, 2, 2)
    assert slct()(a, b, words(0x80000000, NAN, ONE, 0x80000001)).tolist() == [1, 2, 1, 2]
    assert slct(ftz=True)(a, b, words(0x80000000, NAN, ONE, 0x80000001)).tolist() == [1, 2, 1, 1]


def test_the_minimum_of_three_and_of_magnitudes_is_computed() -> None:
    a, b, c = words(ONE), words(0xC0000000), words(NAN)
    assert fmin(type="f32")(a, b, c).tolist() == [0xC0000000]
    assert fmin(type="f32", nan=True)(a, b, c).tolist() == [0x7FFFFFFF]
    assert fmin(type="f32", abs=True)(a, b, c).tolist() == [ONE]
    assert fmax(type="f32", xorsign=True)(a, b).tolist() == [0xC0000000]
    assert fmin(type="f32", xorsign=True)(a, b).tolist() == [0xBF800000]
    assert fmax(type="f32", ftz=True)(words(1), words(0)).tolist() == [0]


def test_signs_change_and_nans_of_narrow_formats_are_canonical() -> None:
    assert fneg(type="f32")(words(ONE, NAN)).tolist() == [0xBF800000, 0x7FFFFFFF]
    assert fabs(type="bf16x2")(words(0xBF80C000)).tolist() == [0x3F804000]
    assert fabs(type="f32", ftz=True)(words(0x80000001)).tolist() == [0]
    wrong = np.array([0xFFF8000000000123], np.uint64)
    assert fabs(type="f64")(wrong).tolist() == [0xFFF8000000000123]
    assert copysign(type="f32")(words(0x80000000), words(ONE)).tolist() == [0xBF800000]


def test_properties_count_zeros_as_normal() -> None:
    codes = words(0, 1, ONE, 0x7F800000, 0xFFC00000)
    found = {
        name: has_property(type="f32", property=name)(codes).tolist() for name in ("normal", "subnormal", "finite")
    }
    assert found["normal"] == [True, False, True, False, False]
    assert found["subnormal"] == [False, True, False, False, False]
    assert found["finite"] == [True, True, True, False, False]
    assert has_property(type="f32", property="infinite")(codes).tolist() == [False, False, False, True, False]
    assert has_property(type="f32", property="notanumber")(codes).tolist() == [False] * 4 + [True]
    assert has_property(type="f32", property="number")(codes).tolist() == [True] * 4 + [False]
