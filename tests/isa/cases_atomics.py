"""Atomic operations, reductions and multimem: operations, types, vectors and orders."""

from __future__ import annotations

from tests.isa.pairs import Gated, Pair

PAIRS = [
    Pair(
        "sums are of integers and floats",
        "atom.global.add.u32 %u32_1, [%b64_2], %u32_3;",
        "atom.global.add.b32 %b32_1, [%b64_2], %b32_3;",
    ),
    Pair(
        "signed ones of 32 bits",
        "atom.global.add.s32 %s32_1, [%b64_2], %s32_3;",
        "atom.global.add.s64 %s64_1, [%b64_2], %s64_3;",
    ),
    Pair(
        "bits are untyped",
        "atom.global.and.b32 %b32_1, [%b64_2], %b32_3;",
        "atom.global.and.u32 %u32_1, [%b64_2], %u32_3;",
    ),
    Pair(
        "extremes are not",
        "atom.global.min.s64 %s64_1, [%b64_2], %s64_3;",
        "atom.global.min.b64 %b64_1, [%b64_2], %b64_3;",
    ),
    Pair(
        "counters are unsigned", "atom.global.inc.u32 %u32_1, [%b64_2], 7;", "atom.global.inc.s32 %s32_1, [%b64_2], 7;"
    ),
    Pair(
        "a comparison has three sources",
        "atom.global.cas.b32 %b32_1, [%b64_2], 3, 4;",
        "atom.global.cas.b32 %b32_1, [%b64_2], 3;",
    ),
    Pair(
        "halves are not flushed",
        "atom.global.add.noftz.f16x2 %b32_1, [%b64_2], %b32_3;",
        "atom.global.add.f16x2 %b32_1, [%b64_2], %b32_3;",
    ),
    Pair(
        "brain floats are in untyped registers",
        "atom.global.add.noftz.v2.bf16 {%b16_1, %b16_2}, [%b64_3], {%b16_4, %b16_5};",
        "atom.global.add.noftz.v2.bf16 {%u16_1, %u16_2}, [%b64_3], {%b16_4, %b16_5};",
    ),
    Pair(
        "vectors are in global memory",
        "atom.global.add.v2.f32 {%f32_1, %f32_2}, [%b64_3], {%f32_4, %f32_5};",
        "atom.shared.add.v2.f32 {%f32_1, %f32_2}, [%b64_3], {%f32_4, %f32_5};",
    ),
    Pair(
        "a load acquires, a reduction cannot",
        "atom.acquire.gpu.global.add.u32 %u32_1, [%b64_2], 3;",
        "red.acquire.gpu.global.add.u32 [%b64_2], 3;",
    ),
    Pair(
        "nothing is exchanged without a result",
        "atom.global.exch.b32 %b32_1, [%b64_2], 3;",
        "red.global.exch.b32 [%b64_2], 3;",
    ),
    Pair(
        "all copies are added up",
        "multimem.ld_reduce.global.add.f32 %f32_1, [%b64_2];",
        "multimem.ld_reduce.global.max.f32 %f32_1, [%b64_2];",
    ),
    Pair(
        "halves in single precision",
        "multimem.ld_reduce.global.add.acc::f32.f16x2 %b32_1, [%b64_2];",
        "multimem.ld_reduce.global.max.acc::f32.f16x2 %b32_1, [%b64_2];",
    ),
    Pair(
        "an order has a scope",
        "multimem.st.release.sys.global.u32 [%b64_1], 2;",
        "multimem.st.release.global.u32 [%b64_1], 2;",
    ),
    Pair(
        "narrow values fill a word",
        "multimem.st.global.v4.e4m3 [%b64_1], {%b8_1, %b8_2, %b8_3, %b8_4};",
        "multimem.st.global.v2.e4m3 [%b64_1], {%b8_1, %b8_2};",
    ),
    Pair(
        "a reduction wants 64 bits of address",
        "multimem.red.global.add.u32 [%b64_1], 2;",
        "multimem.red.global.add.u32 [%b32_1], 2;",
    ),
    Pair(
        "an asynchronous one releases",
        "multimem.red.async.release.sys.global.add.u32 [%b64_1], 2;",
        "multimem.red.async.relaxed.sys.global.add.u32 [%b64_1], 2;",
    ),
]

GATED = [
    Gated("atom.global.add.noftz.f32 %f32_1, [%b64_2], %f32_3;", (9, 4), "sm_90", ((9, 3), "sm_90")),
    Gated("atom.global.exch.b128 %b128_1, [%b64_2], %b128_3;", (8, 3), "sm_90", ((8, 3), "sm_89")),
    Gated("multimem.ld_reduce.global.add.acc::f32.f16x2 %b32_1, [%b64_2];", (8, 2), "sm_90", ((8, 1), "sm_90")),
    Gated("multimem.st.global.e4m3x4 [%b64_1], %b32_2;", (8, 8), "sm_100f", ((8, 8), "sm_120f")),
    Gated("multimem.st.async.release.sys.global.u32 [%b64_1], 2;", (9, 3), "sm_100", ((9, 3), "sm_90")),
]

TOLERATED = [
    "atom.global.add.u32 %u32_1, [%b64_2], callee;",
]
