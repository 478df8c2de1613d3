"""Video instructions: parts of registers, their selectors, and the third operand."""

from __future__ import annotations

from tests.isa.pairs import Gated, Pair

PAIRS = [
    Pair(
        "a part of a word is added",
        "vadd.u32.u32.u32 %u32_1, %u32_2.b3, %u32_3.h1;",
        "vadd.u32.u32.u32 %u32_1, %u32_2.b4, %u32_3.h1;",
    ),
    Pair("of one", "vadd.u32.u32.u32 %u32_1, %u32_2.b3, %u32_3;", "vadd.u32.u32.u32 %u32_1, %u32_2.b32, %u32_3;"),
    Pair(
        "a result is put into a part of the third",
        "vadd.u32.u32.u32 %u32_1.b0, %u32_2, %u32_3, %u32_4;",
        "vadd.u32.u32.u32 %u32_1.b0, %u32_2, %u32_3;",
    ),
    Pair(
        "or added to it",
        "vadd.u32.u32.u32.add %u32_1, %u32_2, %u32_3, %u32_4;",
        "vadd.u32.u32.u32.add %u32_1.b0, %u32_2, %u32_3, %u32_4;",
    ),
    Pair(
        "which is whole",
        "vadd.u32.u32.u32.add %u32_1, %u32_2, %u32_3, %u32_4;",
        "vadd.u32.u32.u32.add %u32_1, %u32_2, %u32_3, %u32_4.b0;",
    ),
    Pair("types are of words", "vadd.s32.u32.s32 %s32_1, %u32_2, %s32_3;", "vadd.s16.u32.s32 %s16_1, %u32_2, %s32_3;"),
    Pair("constants are words too", "vmin.u32.u32.u32 %u32_1, %u32_2, 3;", "vmin.u32.u32.u32 %u32_1, %u32_2, 3.0;"),
    Pair(
        "an element of a vector is rejected",
        "vmin.u32.u32.u32 %u32_1, %u32_2, %u32_3;",
        "vmin.u32.u32.u32 %u32_1, %v2u32_2.x, %u32_3;",
    ),
    Pair(
        "a shift is clamped or wrapped",
        "vshl.u32.u32.u32.wrap %u32_1, %u32_2, %u32_3;",
        "vshl.u32.u32.u32 %u32_1, %u32_2, %u32_3;",
    ),
    Pair(
        "its amount has no sign",
        "vshr.s32.s32.u32.clamp %s32_1, %s32_2, %u32_3;",
        "vshr.s32.s32.s32.clamp %s32_1, %s32_2, %s32_3;",
    ),
    Pair(
        "a product is negated",
        "vmad.s32.s32.s32 %s32_1, -%s32_2, %s32_3, %s32_4;",
        "vadd.s32.s32.s32 %s32_1, -%s32_2, %s32_3;",
    ),
    Pair(
        "or the addend, not both",
        "vmad.s32.s32.s32 %s32_1, %s32_2, %s32_3, -%s32_4;",
        "vmad.s32.s32.s32 %s32_1, -%s32_2, %s32_3, -%s32_4;",
    ),
    Pair(
        "but no pair of halves is",
        "vmad.s32.s32.s32 %s32_1, %f16x2_1, %s32_2, %s32_3;",
        "vmad.s32.s32.s32 %s32_1, -%f16x2_1, %s32_2, %s32_3;",
    ),
    Pair(
        "two signs of a product are none",
        "vmad.s32.s32.s32 %s32_1, -%s32_2, -%s32_3, -%s32_4;",
        "vmad.s32.s32.s32 %s32_1, %s32_2, -%s32_3, -%s32_4;",
    ),
    Pair(
        "so that one may be added",
        "vmad.s32.s32.s32.po %s32_1, -%s32_2, -%s32_3, %s32_4;",
        "vmad.s32.s32.s32.po %s32_1, -%s32_2, %s32_3, %s32_4;",
    ),
    Pair(
        "and not where one is added",
        "vmad.s32.s32.s32.po %s32_1, %s32_2, %s32_3, %s32_4;",
        "vmad.s32.s32.s32.po %s32_1, %s32_2, %s32_3, -%s32_4;",
    ),
    Pair(
        "a comparison has no result type",
        "vset.u32.s32.lt %u32_1, %u32_2, %s32_3;",
        "vset.u32.u32.s32.lt %u32_1, %u32_2, %s32_3;",
    ),
    Pair(
        "pairs are chosen from four halves",
        "vadd2.s32.s32.s32 %s32_1.h10, %s32_2.h32, %s32_3.h01, %s32_4;",
        "vadd2.s32.s32.s32 %s32_1.h10, %s32_2.h4, %s32_3.h01, %s32_4;",
    ),
    Pair(
        "quads from eight bytes",
        "vadd4.s32.s32.s32 %s32_1.b210, %s32_2.b7654, %s32_3.b0123, %s32_4;",
        "vadd4.s32.s32.s32 %s32_1.b210, %s32_2.b765, %s32_3.b0123, %s32_4;",
    ),
    Pair(
        "a mask falls",
        "vmax4.u32.u32.u32 %u32_1.b31, %u32_2, %u32_3, %u32_4;",
        "vmax4.u32.u32.u32 %u32_1.b13, %u32_2, %u32_3, %u32_4;",
    ),
    Pair(
        "sums are not saturated",
        "vadd4.u32.u32.u32.add %u32_1, %u32_2, %u32_3, %u32_4;",
        "vadd4.u32.u32.u32.sat.add %u32_1, %u32_2, %u32_3, %u32_4;",
    ),
    Pair(
        "all operands are registers",
        "vset4.u32.u32.ne %u32_1, %u32_2, %u32_3, %u32_4;",
        "vset4.u32.u32.ne %u32_1, %u32_2, %u32_3, 0;",
    ),
]

GATED: list[Gated] = []

TOLERATED = [
    "vadd.u32.u32.u32 %u32_1, %u32_2, %u32_3, %u32_4;",
]
