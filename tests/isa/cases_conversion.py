"""Conversions between types: roundings, saturation, packed and scaled formats."""

from __future__ import annotations

from tests.isa.pairs import Gated, Pair

PAIRS = [
    Pair("registers may be wider than integers", "cvt.u8.u32 %u64_1, %u64_2;", "cvt.u32.u8 %u16_1, %u8_2;"),
    Pair("floats of the very width", "cvt.rzi.s32.f32 %s32_1, %f32_2;", "cvt.rzi.s32.f32 %s32_1, %f64_2;"),
    Pair("an integer becomes a float by a rounding", "cvt.rn.f32.s32 %f32_1, %s32_2;", "cvt.f32.s32 %f32_1, %s32_2;"),
    Pair("a float becomes an integer by another", "cvt.rni.s32.f32 %s32_1, %f32_2;", "cvt.rn.s32.f32 %s32_1, %f32_2;"),
    Pair(
        "not wider than 64 bits where single precision is flushed for as many",
        "cvt.rni.ftz.s32.f32 %s32_1, %b128_2;",
        "cvt.rni.ftz.s64.f32 %s64_1, %b128_2;",
    ),
    Pair("widening needs none", "cvt.f64.f32 %f64_1, %f32_2;", "cvt.rn.f64.f32 %f64_1, %f32_2;"),
    Pair("narrowing does", "cvt.rn.f32.f64 %f32_1, %f64_2;", "cvt.f32.f64 %f32_1, %f64_2;"),
    Pair("single precision is flushed", "cvt.rn.ftz.f16.f32 %b16_1, %f32_2;", "cvt.rn.ftz.f16.f64 %b16_1, %f64_2;"),
    Pair("brain floats are in untyped registers", "cvt.rn.bf16.f32 %b16_1, %f32_2;", "cvt.rn.bf16.f32 %u16_1, %f32_2;"),
    Pair("two values are packed", "cvt.rn.f16x2.f32 %b32_1, %f32_2, %f32_3;", "cvt.rn.f16x2.f32 %b32_1, %f32_2;"),
    Pair(
        "random bits are the last operand",
        "cvt.rs.f16x2.f32 %b32_1, %f32_2, %f32_3, %b32_4;",
        "cvt.rs.f16x2.f32 %b32_1, %f32_2, %f32_3;",
        (9, 4),
        "sm_100a",
    ),
    Pair(
        "narrow floats saturate",
        "cvt.rn.satfinite.e4m3x2.f32 %b16_1, %f32_2, %f32_3;",
        "cvt.rn.e4m3x2.f32 %b16_1, %f32_2, %f32_3;",
    ),
    Pair(
        "a scale requires its modifier",
        "cvt.rn.scaled::n2::ue8m0.bf16x2.e4m3x2 %b32_1, %b16_2, %b16_3;",
        "cvt.rn.bf16x2.e4m3x2 %b32_1, %b16_2, %b16_3;",
    ),
    Pair(
        "exponents are rounded to zero or up",
        "cvt.rz.ue8m0x2.f32 %b16_1, %f32_2, %f32_3;",
        "cvt.rn.ue8m0x2.f32 %b16_1, %f32_2, %f32_3;",
    ),
    Pair(
        "packing saturates",
        "cvt.pack.sat.u8.s32.b32 %u32_1, %s32_2, %s32_3, %b32_4;",
        "cvt.pack.u8.s32.b32 %u32_1, %s32_2, %s32_3, %b32_4;",
    ),
    Pair(
        "halves need nothing below them",
        "cvt.pack.sat.u16.s32 %u32_1, %s32_2, %s32_3;",
        "cvt.pack.sat.u8.s32 %u32_1, %s32_2, %s32_3;",
    ),
    Pair("only integers read special registers", "cvt.u64.u32 %u64_1, %laneid;", "cvt.rn.f32.u32 %f32_1, %laneid;"),
]

GATED = [
    Gated("cvt.rn.bf16.f32 %b16_1, %f32_2;", (7, 0), "sm_80", ((7, 0), "sm_75")),
    Gated("cvt.rn.satfinite.e4m3x2.f32 %b16_1, %f32_2, %f32_3;", (8, 1), "sm_89", ((8, 1), "sm_80")),
    Gated("cvt.rn.satfinite.e2m1x2.f32 %b8_1, %f32_2, %f32_3;", (8, 6), "sm_100a", ((8, 6), "sm_100")),
    Gated("cvt.rn.pzo.f16.f32 %b16_1, %f32_2;", (9, 4), "sm_107f", ((9, 4), "sm_100f")),
]

TOLERATED = [
    "cvt.u32.u32 %u32_1, callee;",
]
