"""Comparisons and selections: accepted operands, and rejected ones that are similar."""

from __future__ import annotations

from tests.isa.pairs import Gated, Pair

PAIRS = [
    Pair("bits are equal or not", "setp.ne.b32 %pred_1, %b32_2, 3;", "setp.lt.b32 %pred_1, %b32_2, 3;"),
    Pair("lower is of unsigned integers", "setp.lo.u32 %pred_1, %u32_2, 3;", "setp.lo.s32 %pred_1, %s32_2, 3;"),
    Pair(
        "unordered is of floating-point numbers",
        "setp.ltu.f32 %pred_1, %f32_2, 3.0;",
        "setp.ltu.s32 %pred_1, %s32_2, 3;",
    ),
    Pair("so is a test for numbers", "setp.num.f64 %pred_1, %f64_2, %f64_3;", "setp.num.u64 %pred_1, %u64_2, %u64_3;"),
    Pair(
        "a third predicate needs an operation",
        "setp.eq.and.s32 %pred_1, %s32_2, 3, %pred_4;",
        "setp.eq.s32 %pred_1, %s32_2, 3, %pred_4;",
    ),
    Pair(
        "and an operation a third predicate",
        "setp.eq.xor.s32 %pred_1, %s32_2, 3, !%pred_4;",
        "setp.eq.xor.s32 %pred_1, %s32_2, 3;",
    ),
    Pair(
        "it is a predicate", "setp.eq.or.s32 %pred_1, %s32_2, 3, %pred_4;", "setp.eq.or.s32 %pred_1, %s32_2, 3, %b32_4;"
    ),
    Pair("so are the results", "setp.eq.s32 %pred_1|%pred_2, %s32_2, 3;", "setp.eq.s32 %pred_1|%b32_2, %s32_2, 3;"),
    Pair("a result is not negated", "setp.eq.s32 _|%pred_2, %s32_2, 3;", "setp.eq.s32 !%pred_1, %s32_2, 3;"),
    Pair("only singles flush", "setp.gt.ftz.f32 %pred_1, %f32_2, 3.0;", "setp.gt.ftz.f64 %pred_1, %f64_2, 3.0;"),
    Pair(
        "a set result is a word or a single",
        "set.gt.u32.f64 %u32_1, %f64_2, 3.0;",
        "set.gt.u64.f64 %u64_1, %f64_2, 3.0;",
    ),
    Pair("a selection is by a predicate", "selp.b64 %b64_1, 1, 2, %pred_3;", "selp.b64 %b64_1, 1, 2, %u32_3;"),
    Pair("a float is selected among floats", "selp.f32 %f32_1, 1.0, 2.0, %pred_3;", "selp.f32 %f32_1, 1, 2, %pred_3;"),
    Pair(
        "untyped single bits are given as such",
        "selp.b32 %b32_1, 0f3F800000, 2, %pred_3;",
        "selp.b32 %b32_1, 1.0, 2, %pred_3;",
    ),
    Pair(
        "a sign is that of a word or a single",
        "slct.u64.s32 %u64_1, 1, 2, %s32_3;",
        "slct.u64.s64 %u64_1, 1, 2, %s64_3;",
    ),
    Pair(
        "only the sign of a single is flushed",
        "slct.ftz.u32.f32 %u32_1, 1, 2, %f32_3;",
        "slct.ftz.u32.s32 %u32_1, 1, 2, %s32_3;",
    ),
    Pair("a half is compared with a half", "setp.lt.f16 %pred_1, %f16_2, %b16_3;", "setp.lt.f16 %pred_1, %f16_2, 1.0;"),
    Pair(
        "a constant third predicate requires halves",
        "setp.lt.and.f16 %pred_1, %b16_2, %b16_3, 1;",
        "setp.lt.and.bf16 %pred_1, %b16_2, %b16_3, 1;",
    ),
    Pair(
        "brain halves do not flush",
        "setp.lt.ftz.f16 %pred_1, %b16_2, %b16_3;",
        "setp.lt.ftz.bf16 %pred_1, %b16_2, %b16_3;",
    ),
    Pair("packed integers are untyped", "set.lt.s16x2 %b32_1, %b32_2, %b32_3;", "set.lt.s16x2 %s32_1, %b32_2, %b32_3;"),
]

GATED = [
    Gated("setp.lt.bf16 %pred_1, %b16_2, %b16_3;", (7, 8), "sm_90", ((7, 8), "sm_89")),
    Gated("set.lt.u32.bf16x2 %u32_1, %b32_2, %b32_3;", (7, 8), "sm_90", ((7, 8), "sm_80")),
    Gated("set.eq.u8x4 %b32_1, %b32_2, %b32_3;", (9, 4), "sm_107f", ((9, 4), "sm_107")),
]

TOLERATED = [
    "setp.lt.f16x2 %pred_1, %b32_2, %b32_3;",
    "setp.lt.and.bf16x2 _, %b32_2, %b32_3, %pred_4;",
]
