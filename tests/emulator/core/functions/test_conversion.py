"""Conversions on registers."""

from __future__ import annotations

import numpy as np

from ptxkit.emulator.core.functions.conversion import (
    convert_elements,
    convert_float,
    convert_integer,
    convert_pair,
    convert_randomly,
    float_to_integer,
    integer_to_float,
    pack_integers,
    unpack_narrow,
)


def words(*values: int) -> np.ndarray:
    return np.array(values, np.uint32)


def floats(*values: float) -> np.ndarray:
    return np.array(values, np.float32).view(np.uint32)


def test_integers_are_truncated_extended_or_saturated() -> None:
    a = words(0xFFFFFF80, 300)
    assert convert_integer(type="u8", source="u32")(a).tolist() == [0x80, 44]
    assert convert_integer(type="s64", source="s32")(a).tolist() == [2**64 - 128, 300]
    assert convert_integer(type="u64", source="u32")(a).tolist() == [0xFFFFFF80, 300]
    assert convert_integer(type="s8", source="s32", saturate=True)(a).tolist() == [0x80, 127]
    assert convert_integer(type="u8", source="s32", saturate=True)(a).tolist() == [0, 255]
    assert convert_integer(type="s16", source="u32", saturate=True)(a).tolist() == [0x7FFF, 300]
    assert convert_integer(type="u64", source="s64", saturate=True)(np.array([2**63], np.uint64)).tolist() == [0]


def test_floats_are_rounded_and_saturated_and_nans_have_fixed_integers() -> None:
    a = floats(2.5, -3.7, 1e20, np.nan)
    assert float_to_integer(type="s32", source="f32", rounding="rni")(a).tolist() == [2, 2**32 - 4, 2**31 - 1, 0]
    assert float_to_integer(type="u32", source="f32", rounding="rpi")(a).tolist() == [3, 0, 2**32 - 1, 0]
    assert float_to_integer(type="s64", source="f32", rounding="rzi")(a).tolist()[3] == 1 << 63
    double = np.array([np.nan], np.float64).view(np.uint64)
    assert float_to_integer(type="s32", source="f64", rounding="rzi")(double).tolist() == [1 << 31]
    assert float_to_integer(type="u32", source="f32", rounding="rpi", ftz=True)(words(1)).tolist() == [0]
    assert float_to_integer(type="u32", source="f32", rounding="rpi")(words(1)).tolist() == [1]


def test_integers_are_converted_to_floats() -> None:
    assert integer_to_float(type="f32", source="u32", rounding="rz")(words(0xFFFFFFFF)).tolist() == [0x4F7FFFFF]
    assert integer_to_float(type="f32", source="u32", rounding="rn")(words(0xFFFFFFFF)).tolist() == [0x4F800000]
    assert integer_to_float(type="f16", source="s32", rounding="rn")(words(0xFFFFFFFF)).tolist() == [0xBC00]
    assert integer_to_float(type="f32", source="s32", rounding="rn", saturate=True)(words(7)).tolist() == [0x3F800000]


def test_floats_are_converted_between_formats() -> None:
    assert convert_float(type="f16", source="f32", rounding="rz")(floats(65535.0)).tolist() == [0x7BFF]
    assert convert_float(type="f16", source="f32", rounding="rn")(floats(65535.0)).tolist() == [0x7C00]
    limited = convert_float(type="f16", source="f32", rounding="rn", satfinite=True)
    assert limited(floats(-65535.0, np.inf)).tolist() == [0xFBFF, 0x7BFF]
    assert convert_float(type="bf16", source="f32", rounding="rn", relu=True)(floats(-1.0, 1.0)).tolist() == [0, 0x3F80]
    assert convert_float(type="tf32", source="f32", rounding="rna")(words(0x3F801000)).tolist() == [0x3F802000]
    assert convert_float(type="tf32", source="f32", rounding="rn")(words(0x3F801000)).tolist() == [0x3F800000]
    assert convert_float(type="f32", source="f32", rounding="rmi")(floats(-0.5)).tolist() == floats(-1.0).tolist()
    assert convert_float(type="f64", source="f32", ftz=True)(words(0x80000001)).tolist() == [1 << 63]
    assert convert_float(type="f16", source="f32", rounding="rn", pzo=True)(words(0x80000000)).tolist() == [0]


def test_the_first_of_two_is_in_the_upper_half() -> None:
    assert convert_pair(type="f16x2", source="f32", rounding="rn")(floats(1.0), floats(2.0)).tolist() == [0x3C004000]
    small = convert_pair(type="e4m3x2", source="f32", rounding="rn", satfinite=True)
    assert small(floats(1.0), floats(1e9)).tolist() == [0x387E]
    assert convert_pair(type="e2m1x2", source="f32", rounding="rn", satfinite=True)(
        floats(6.0), floats(-0.5)
    ).tolist() == [0x79]
    assert convert_elements(type="e5m2x2", source="f16x2", rounding="rn", satfinite=True)(
        words(0x3C004000)
    ).tolist() == [0x3C40]
    assert convert_pair(type="ue8m0x2", source="f32", rounding="rp")(floats(3.0), floats(1.0)).tolist() == [0x817F]


def test_scales_divide_before_and_multiply_after_the_rounding() -> None:
    half, both = (
        np.array([0x80], np.uint8),
        np.array([0x807F], np.uint16),
    )  # 2.0 for both; 2.0 in the upper half, 1.0 in the lower
    scaled = convert_pair(type="e4m3x2", source="f32", rounding="rn", satfinite=True)
    assert scaled(floats(2.0), floats(4.0), half).tolist() == [0x3840]
    fixed = convert_pair(type="s2f6x2", source="f32", rounding="rn", satfinite=True)
    assert fixed(floats(1.0), floats(-9.0), both).tolist() == [0x2080]
    assert unpack_narrow(type="bf16x2", source="e4m3x2")(np.array([0x3840], np.uint16), both).tolist() == [0x40004000]
    assert unpack_narrow(type="bf16x2", source="s2f6x2")(np.array([0x40C0], np.uint16)).tolist() == [0x3F80BF80]
    assert unpack_narrow(type="f16x2", source="e2m1x2", relu=True)(np.array([0x9F], np.uint8)).tolist() == [0]


def test_every_pair_of_narrow_floats_is_restored() -> None:
    for word, count in (("e4m3x2", 256), ("e5m2x2", 256), ("e2m3x2", 64), ("e3m2x2", 64)):
        low = np.arange(count, dtype=np.uint16)
        pairs = low | low[::-1] << np.uint16(8)
        halves = unpack_narrow(type="f16x2", source=word)(pairs)
        back = convert_elements(type=word, source="f16x2", rounding="rn", satfinite=True)(halves)
        is_number = ((halves & 0x7C00) != 0x7C00) & ((halves >> 16 & 0x7C00) != 0x7C00)
        assert (back[is_number] == pairs[is_number]).all()


def test_random_bits_come_from_the_half_of_their_element() -> None:
    value = floats(1.0 + 2.0**-9)
    function = convert_randomly(type="bf16x2")
    assert function(value, value, words(0xC0000000)).tolist() == [0x3F813F80]
    assert function(value, value, words(0x0000C000)).tolist() == [0x3F803F81]
    four = convert_randomly(type="e2m1x4", satfinite=True)
    quarter = floats(1.125)  # a quarter between 1.0 and 1.5
    assert four((quarter,) * 4, words(0x00FF00FF)).tolist() == [0x2233]
    assert four((quarter,) * 4, words(0xFF000000)).tolist() == [0x3222]


def test_integers_are_saturated_and_packed_above_the_bits_of_a_third() -> None:
    a, b, c = words(300), words(0xFFFFFF00), words(0xABCD)
    assert pack_integers(type="s16")(a, b).tolist() == [0x012CFF00]
    assert pack_integers(type="u8")(a, b, c).tolist() == [0xABCDFF00]
    assert pack_integers(type="s4")(a, b, c).tolist() == [0xABCD78]
