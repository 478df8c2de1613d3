"""Logic, shifts and byte selections: accepted operands, and rejected ones that are similar."""

from __future__ import annotations

from tests.isa.pairs import Gated, Pair

PAIRS = [
    Pair("bits are untyped", "and.b32 %u32_1, %f32_2, %s32_3;", "and.u32 %u32_1, %u32_2, %u32_3;"),
    Pair("of their width", "or.b16 %b16_1, %f16_2, 3;", "or.b16 %b16_1, %b32_2, 3;"),
    Pair("predicates are their own type", "xor.pred %pred_1, %pred_2, !%pred_3;", "xor.pred %pred_1, %pred_2, %b32_3;"),
    Pair("only predicates are negated", "and.pred %pred_1, !%pred_2, 1;", "and.b32 %b32_1, !%b32_2, 1;"),
    Pair("a predicate is no address", "and.pred %pred_1, %pred_2, 1;", "and.pred %pred_1, %pred_2, global_ + 4;"),
    Pair("any function of three has a table", "lop3.b32 %b32_1, %b32_2, 3, 4, 0x96;", "lop3.b32 %b32_1, %b32_2, 3, 4;"),
    Pair("the table is a constant", "lop3.b32 %b32_1, %b32_2, 3, 4, 0x96;", "lop3.b32 %b32_1, %b32_2, 3, 4, %b32_5;"),
    Pair("an integer one", "lop3.b32 %b32_1, %b32_2, 3, 4, 1 << 3;", "lop3.b32 %b32_1, %b32_2, 3, 4, 1.0;"),
    Pair(
        "a predicate requires an operation",
        "lop3.or.b32 _|%pred_1, %b32_2, 3, 4, 1, %pred_5;",
        "lop3.b32 _|%pred_1, %b32_2, 3, 4, 1;",
    ),
    Pair(
        "that is or or and",
        "lop3.and.b32 %b32_1|%pred_1, 2, 3, 4, 1, 1;",
        "lop3.xor.b32 %b32_1|%pred_1, 2, 3, 4, 1, 1;",
    ),
    Pair("a funnel has a direction", "shf.l.wrap.b32 %b32_1, %b32_2, 3, 4;", "shf.wrap.b32 %b32_1, %b32_2, 3, 4;"),
    Pair("which is part of its name", "shf.r.clamp.b32 %b32_1, %b32_2, 3, 4;", "shf.clamp.r.b32 %b32_1, %b32_2, 3, 4;"),
    Pair("an amount is of 32 bits", "shl.b64 %b64_1, %b64_2, %u32_3;", "shl.b64 %b64_1, %b64_2, %u64_3;"),
    Pair("and an integer", "shl.b32 %f32_1, %b32_2, %b32_3;", "shl.b32 %b32_1, %b32_2, %f32_3;"),
    Pair("a left shift knows no sign", "shr.s16 %s16_1, %s16_2, 3;", "shl.s16 %s16_1, %s16_2, 3;"),
    Pair("bytes are picked in six ways", "prmt.b32.rc16 %b32_1, %b32_2, 3, 4;", "prmt.b32.rc4 %b32_1, %b32_2, 3, 4;"),
    Pair("out of 32 bits", "prmt.b32 %b32_1, %b32_2, 3, 0x7531;", "prmt.b64 %b64_1, %b64_2, 3, 0x7531;"),
]

GATED = [Gated("lop3.or.b32 _|%pred_1, %b32_2, 3, 4, 1, %pred_5;", (8, 2), "sm_75", ((8, 1), "sm_75"))]

TOLERATED = [
    "lop3.b32 %b32_1, %b32_2, 3, 4, 300;",
    "and.pred %pred_1, %f16x2_2, %pred_3;",
    "and.b32 %b32_1, callee, 3;",
]
