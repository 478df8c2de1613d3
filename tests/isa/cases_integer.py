"""Integer arithmetic: accepted operands, and rejected ones that are similar."""

from __future__ import annotations

from tests.isa.pairs import Gated, Pair

PAIRS = [
    Pair(
        "only signed words saturate in a difference", "sub.sat.s32 %s32_1, %s32_2, 3;", "sub.sat.u32 %u32_1, %u32_2, 3;"
    ),
    Pair("a carry is not saturated", "add.cc.s32 %s32_1, %s32_2, 3;", "add.cc.sat.s32 %s32_1, %s32_2, 3;"),
    Pair("a carry is of words and long words", "addc.cc.u64 %u64_1, %u64_2, 3;", "addc.cc.u16 %u16_1, %u16_2, 3;"),
    Pair("the half is part of the name", "mul.hi.s32 %s32_1, %s32_2, 3;", "mul.s32.hi %s32_1, %s32_2, 3;"),
    Pair(
        "so it is where a carry is kept", "mad.lo.cc.u32 %u32_1, 2, 3, %u32_2;", "mad.cc.lo.u32 %u32_1, 2, 3, %u32_2;"
    ),
    Pair("a product has a half", "mul24.lo.u32 %u32_1, %u32_2, 3;", "mul24.u32 %u32_1, %u32_2, 3;"),
    Pair("a wide product is twice as wide", "mul.wide.u32 %u64_1, %u32_2, 3;", "mul.wide.u32 %u32_1, %u32_2, 3;"),
    Pair("no product is wider than 64 bits", "mul.wide.u32 %u64_1, 2, 3;", "mul.wide.u64 %b128_1, %u64_2, 3;"),
    Pair("signs do not matter in registers", "add.u32 %s32_1, %b32_2, %u32_3;", "add.u32 %s32_1, %f32_2, %u32_3;"),
    Pair("widths do", "add.u32 %u32_1, %u32_2, 3;", "add.u32 %u32_1, %u16_2, 3;"),
    Pair(
        "packed integers are in untyped registers",
        "add.s16x2 %b32_1, %b32_2, %b32_3;",
        "add.s16x2 %u32_1, %b32_2, %b32_3;",
    ),
    Pair("and are no constants", "min.u16x2 %b32_1, %b32_2, %b32_3;", "min.u16x2 %b32_1, %b32_2, 3;"),
    Pair("a relu is of signed integers", "max.relu.s32 %s32_1, %s32_2, 3;", "max.relu.u32 %u32_1, %u32_2, 3;"),
    Pair("an integer is not written with a point", "add.u32 %u32_1, %u32_2, 3;", "add.u32 %u32_1, %u32_2, 3.0;"),
    Pair(
        "nor as the bits of one that is",
        "mul.lo.s32 %s32_1, %s32_2, 0x3F800000;",
        "mul.lo.s32 %s32_1, %s32_2, 0f3F800000;",
    ),
    Pair("constants may be computed", "add.u32 %u32_1, %u32_2, (3 << 2) | 1;", "add.u32 %u32_1, %u32_2, 3 << 2.0;"),
    Pair("packed integers are not divided", "add.u32 %u32_1, %u32_2, 8 / 2;", "add.u32 %u32_1, %u32_2, 8 / 0;"),
    Pair("abs requires a signed type", "abs.s64 %s64_1, %s64_2;", "abs.u64 %u64_1, %u64_2;"),
    Pair("ones are counted into 32 bits", "popc.b64 %u32_1, %b64_2;", "popc.b64 %u64_1, %b64_2;"),
    Pair("so are zeros", "clz.b64 %b32_1, %b64_2;", "clz.b64 %b64_1, %b64_2;"),
    Pair("a count is no floating-point number", "popc.b32 %b32_1, %f32_2;", "popc.b32 %f32_1, %b32_2;"),
    Pair("bits have no sign to be found", "bfind.s32 %u32_1, %s32_2;", "bfind.b32 %u32_1, %b32_2;"),
    Pair("a field begins below bit 256", "bfe.u32 %u32_1, %u32_2, 255, 1;", "bfe.u32 %u32_1, %u32_2, 256, 1;"),
    Pair("also where it is computed", "bfe.u32 %u32_1, %u32_2, 200 + 55, 1;", "bfe.u32 %u32_1, %u32_2, 200 + 56, 1;"),
    Pair(
        "a field has a position and a length",
        "bfi.b32 %b32_1, %b32_2, %b32_3, 8, 8;",
        "bfi.b32 %b32_1, %b32_2, %b32_3, 8;",
    ),
    Pair("a mask is an integer", "bmsk.clamp.b32 %u32_1, 3, 4;", "bmsk.clamp.b32 %f32_1, 3, 4;"),
    Pair(
        "four products have two types", "dp4a.u32.s32 %s32_1, %u32_2, %s32_3, 0;", "dp4a.u32 %s32_1, %u32_2, %s32_3, 0;"
    ),
    Pair("two products have a half", "dp2a.lo.u32.u32 %u32_1, 1, 2, 0;", "dp2a.u32.u32.lo %u32_1, 1, 2, 0;"),
]

GATED = [
    Gated("add.u16x2 %b32_1, %b32_2, %b32_3;", (8, 0), "sm_90", ((8, 0), "sm_89")),
    Gated("add.s8x4 %b32_1, %b32_2, %b32_3;", (9, 2), "sm_120f", ((9, 1), "sm_120f")),
    Gated("add.sat.u32 %u32_1, %u32_2, %u32_3;", (9, 2), "sm_121a", ((9, 2), "sm_121")),
    Gated("min.relu.s32 %s32_1, %s32_2, 3;", (8, 0), "sm_90", ((7, 8), "sm_90")),
    Gated("clmad.hi.u64 %u64_1, %u64_2, %u64_3, 0;", (9, 3), "sm_80", ((9, 3), "sm_75")),
    Gated("szext.wrap.u32 %u32_1, %u32_2, 3;", (7, 6), "sm_75", ((7, 5), "sm_75")),
    Gated("bmsk.wrap.b32 %b32_1, 3, 4;", (7, 6), "sm_80", ((7, 5), "sm_80")),
]

TOLERATED = [
    "addc.sat.s32 %s32_1, %s32_2, 3;",
    "subc.u16 %u16_1, %u16_2, 3;",
    "madc.hi.sat.s32 %s32_1, %s32_2, 3, 4;",
    "clmad.lo.s64 %s64_1, %s64_2, %s64_3, 0;",
    "max.relu.relu.s32 %s32_1, %s32_2, 3;",
    "bfind.u32.shiftamt.shiftamt %u32_1, %u32_2;",
    "add.u32 %u32_1, %u32_2, callee;",
]
