"""Floating-point arithmetic of every precision: accepted operands, and rejected ones that are similar."""

from __future__ import annotations

from tests.isa.pairs import Gated, Pair

SM_100A = ((9, 5), "sm_100a")

PAIRS = [
    Pair("a constant has a point", "add.f32 %f32_1, %f32_2, 1.0;", "add.f32 %f32_1, %f32_2, 1;"),
    Pair(
        "or is given by its bits",
        "mul.f64 %f64_1, %f64_2, 0d3FF0000000000000;",
        "mul.f64 %f64_1, %f64_2, 0x3FF0000000000000;",
    ),
    Pair("bits of either width will do", "add.f64 %f64_1, %f64_2, 0f3F800000;", "add.f64 %f64_1, %f64_2, 3;"),
    Pair(
        "a number too small for a double is rejected",
        "add.f64 %f64_1, %f64_2, 1e-307;",
        "add.f64 %f64_1, %f64_2, 1e-320;",
    ),
    Pair("constants are not mixed", "add.f32 %f32_1, %f32_2, 1.0 + 2.0;", "add.f32 %f32_1, %f32_2, 1.0 + 2;"),
    Pair("registers are of the type, or untyped", "add.f32 %b32_1, %f32_2, 1.0;", "add.f32 %u32_1, %f32_2, 1.0;"),
    Pair("double precision flushes nothing", "add.ftz.f32 %f32_1, %f32_2, 1.0;", "add.ftz.f64 %f64_1, %f64_2, 1.0;"),
    Pair("a fused product is rounded", "fma.rn.f32 %f32_1, %f32_2, 1.0, 2.0;", "fma.f32 %f32_1, %f32_2, 1.0, 2.0;"),
    Pair("so is a quotient", "div.rn.f64 %f64_1, %f64_2, 3.0;", "div.f64 %f64_1, %f64_2, 3.0;"),
    Pair(
        "the full range is part of the name",
        "div.full.ftz.f32 %f32_1, %f32_2, 3.0;",
        "div.ftz.full.f32 %f32_1, %f32_2, 3.0;",
    ),
    Pair("approximate results are not rounded", "sin.approx.f32 %f32_1, %f32_2;", "sin.rn.f32 %f32_1, %f32_2;"),
    Pair("no sine of double precision", "cos.approx.f32 %f32_1, %f32_2;", "cos.approx.f64 %f64_1, %f64_2;"),
    Pair(
        "signs are joined together with .abs",
        "min.xorsign.abs.f32 %f32_1, %f32_2, 1.0;",
        "min.xorsign.f32 %f32_1, %f32_2, 1.0;",
    ),
    Pair(
        "three values have no joined signs",
        "max.NaN.abs.f32 %f32_1, 1.0, 2.0, 3.0;",
        "max.xorsign.abs.f32 %f32_1, 1.0, 2.0, 3.0;",
    ),
    Pair(
        "the fast reciprocal of a double flushes",
        "rcp.approx.ftz.f64 %f64_1, %f64_2;",
        "rcp.approx.f64 %f64_1, %f64_2;",
    ),
    Pair("pairs are 64 bits without a type", "add.f32x2 %b64_1, %b64_2, %b64_3;", "add.f32x2 %f64_1, %b64_2, %b64_3;"),
    Pair("a property is a predicate", "testp.finite.f32 %pred_1, %f32_2;", "testp.finite.f32 %b32_1, %f32_2;"),
    Pair("halves are in their own registers", "add.f16 %f16_1, %b16_2, %f16_3;", "add.f16 %u16_1, %b16_2, %f16_3;"),
    Pair("brain halves in untyped ones", "add.bf16 %b16_1, %b16_2, %b16_3;", "add.bf16 %f16_1, %b16_2, %b16_3;"),
    Pair("pairs of them too", "mul.bf16x2 %b32_1, %b32_2, %b32_3;", "mul.bf16x2 %b32_1, %f16x2_2, %b32_3;"),
    Pair("no half is a constant", "mul.f16 %f16_1, %f16_2, %f16_3;", "mul.f16 %f16_1, %f16_2, 1.0;"),
    Pair(
        "halves round to nearest",
        "fma.rn.f16 %f16_1, %f16_2, %f16_3, %f16_4;",
        "fma.rz.f16 %f16_1, %f16_2, %f16_3, %f16_4;",
    ),
    Pair(
        "rectified results are not saturated",
        "fma.rn.relu.f16 %b16_1, %b16_2, %b16_3, %b16_4;",
        "fma.rn.sat.relu.f16 %b16_1, %b16_2, %b16_3, %b16_4;",
    ),
    Pair("brain halves do not saturate", "add.sat.f16 %b16_1, %b16_2, %b16_3;", "add.sat.bf16 %b16_1, %b16_2, %b16_3;"),
    Pair("the power of brain halves flushes", "ex2.approx.ftz.bf16 %b16_1, %b16_2;", "ex2.approx.bf16 %b16_1, %b16_2;"),
    Pair("a half is added to a single", "add.f32.f16 %f32_1, %f16_2, 1.0;", "add.f16.f32 %f16_1, %f32_2, %f16_3;"),
    Pair("the half precedes", "add.f32.bf16 %f32_1, %b16_2, %f32_3;", "add.f32.bf16 %f32_1, %f32_2, %b16_3;"),
    Pair(
        "converting down cuts off",
        "mul.rz.bf16x2.f32x2.f32x2 %b32_1, %b64_2, %b64_3;",
        "mul.rn.bf16x2.f32x2.f32x2 %b32_1, %b64_2, %b64_3;",
    ),
    Pair(
        "to halves it flushes",
        "add.rz.ftz.f16x2.f32x2.f32x2 %b32_1, %b64_2, %b64_3;",
        "add.rz.f16x2.f32x2.f32x2 %b32_1, %b64_2, %b64_3;",
    ),
    Pair(
        "four narrow floats are untyped",
        "add.e4m3x4.e5m2x4 %b32_1, %b32_2, %b32_3;",
        "add.e4m3x4.e5m2x4 %u32_1, %b32_2, %b32_3;",
        *SM_100A,
    ),
    Pair(
        "four of 4 bits fill 16",
        "add.e4m3x4.e2m1x4 %b32_1, %b16_2, %b32_3;",
        "add.e4m3x4.e2m1x4 %b32_1, %b32_2, %b32_3;",
        *SM_100A,
    ),
    Pair(
        "the sum is of 8 bits",
        "sub.rn.e5m2x4.ue8m0x4 %b32_1, %b32_2, %b32_3;",
        "sub.rn.ue8m0x4.e5m2x4 %b32_1, %b32_2, %b32_3;",
        *SM_100A,
    ),
]

GATED = [
    Gated("add.f32x2 %b64_1, %b64_2, %b64_3;", (8, 6), "sm_100", ((8, 6), "sm_90")),
    Gated("max.f32 %f32_1, %f32_2, 1.0, 2.0;", (8, 8), "sm_100", ((8, 7), "sm_100")),
    Gated("min.NaN.f32 %f32_1, %f32_2, 1.0;", (7, 0), "sm_80", ((7, 0), "sm_75")),
    Gated("max.xorsign.abs.f32 %f32_1, %f32_2, 1.0;", (7, 2), "sm_86", ((7, 2), "sm_80")),
    Gated("tanh.approx.f32 %f32_1, %f32_2;", (7, 0), "sm_75", ((6, 5), "sm_75")),
    Gated("add.bf16 %b16_1, %b16_2, %b16_3;", (7, 8), "sm_90", ((7, 8), "sm_89")),
    Gated("fma.rn.oob.f16 %b16_1, %b16_2, %b16_3, %b16_4;", (8, 1), "sm_90", ((8, 0), "sm_90")),
    Gated("fma.rn.f32.f16 %f32_1, %f16_2, %f16_3, 1.0;", (8, 6), "sm_100", ((8, 6), "sm_90")),
    Gated("fma.rn.f32x2.f16x2.f32x2.f32x2 %b64_1, %b32_2, %b64_3, %b64_4;", (9, 4), "sm_107f", ((9, 4), "sm_107")),
    Gated("fma.e4m3x4.e4m3x4.e4m3x4 %b32_1, %b32_2, %b32_3, %b32_4;", (9, 4), "sm_103a", ((9, 4), "sm_103f")),
]

TOLERATED = [
    "rcp.rn.ftz.f64 %f64_1, %f64_2;",
    "testp.f32 %pred_1, %f32_2;",
    "fma.rn.sat.oob.f16 %b16_1, %b16_2, %b16_3, %b16_4;",
    "add.bf16x2.f32x2.f32x2 %b32_1, %b64_2, %b64_3;",
    "fma.rn.relu.relu.bf16 %b16_1, %b16_2, %b16_3, %b16_4;",
]
