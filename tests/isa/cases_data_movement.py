"""Loads, stores, moves, addresses, cache policies and matrices: accepted operands, and rejected ones that are
similar."""

from __future__ import annotations

from tests.isa.pairs import Gated, Pair

PAIRS = [
    Pair(
        "a register may be wider than the loaded value",
        "ld.global.u8 %u64_1, [%b64_2];",
        "ld.global.u64 %u8_1, [%b64_2];",
    ),
    Pair("but not a floating-point one", "ld.global.f32 %b64_1, [%b64_2];", "ld.global.f32 %f64_1, [%b64_2];"),
    Pair("integers and floats do not mix", "ld.global.u32 %s32_1, [%b64_2];", "ld.global.u32 %f32_1, [%b64_2];"),
    Pair("untyped loads go to any register", "ld.global.b32 %f64_1, [%b64_2];", "ld.global.u32 %f64_1, [%b64_2];"),
    Pair(
        "a vector has one type",
        "ld.global.v2.b32 {%b32_1, %f32_2}, [%b64_3];",
        "ld.global.v2.b32 {%u32_1, %f32_2}, [%b64_3];",
    ),
    Pair(
        "and one width", "ld.global.v2.b16 {%b16_1, %b16_2}, [%b64_3];", "ld.global.v2.b16 {%b16_1, %b32_2}, [%b64_3];"
    ),
    Pair("a sink is an element, not a result", "ld.global.v2.b32 {_, %b32_2}, [%b64_3];", "ld.global.b32 _, [%b64_3];"),
    Pair("nor all elements", "ld.global.v2.b32 {_, %b32_2}, [%b64_3];", "ld.global.v2.b32 {_, _}, [%b64_3];"),
    Pair(
        "256 bits are loaded from global memory",
        "ld.global.v4.b64 {%b64_1, %b64_2, %b64_3, %b64_4}, [%b64_9];",
        "ld.shared.v4.b64 {%b64_1, %b64_2, %b64_3, %b64_4}, [%b64_9];",
    ),
    Pair(
        "an eviction priority of L2 is for 256 bits",
        "ld.global.L2::evict_last.v8.b32 {%b32_1, %b32_2, %b32_3, %b32_4, %b32_5, %b32_6, %b32_7, %b32_8}, [%b64_9];",
        "ld.global.L2::evict_last.v4.b32 {%b32_1, %b32_2, %b32_3, %b32_4}, [%b64_9];",
    ),
    Pair(
        "a cache hint requires a policy",
        "ld.global.L2::cache_hint.b32 %b32_1, [%b64_2], %b64_3;",
        "ld.global.L2::cache_hint.b32 %b32_1, [%b64_2];",
    ),
    Pair(
        "the policy is no float",
        "ld.global.L2::cache_hint.b32 %b32_1, [%b64_2], %b64_3;",
        "ld.global.L2::cache_hint.b32 %b32_1, [%b64_2], %f64_3;",
    ),
    Pair(
        "relaxed loads have a scope",
        "ld.relaxed.gpu.global.b32 %b32_1, [%b64_2];",
        "ld.relaxed.global.b32 %b32_1, [%b64_2];",
    ),
    Pair(
        "and no cache operation",
        "ld.relaxed.gpu.global.b32 %b32_1, [%b64_2];",
        "ld.relaxed.gpu.global.ca.b32 %b32_1, [%b64_2];",
    ),
    Pair(
        "device memory is for the system",
        "ld.relaxed.mmio.sys.global.b32 %b32_1, [%b64_2];",
        "ld.relaxed.mmio.gpu.global.b32 %b32_1, [%b64_2];",
    ),
    Pair(
        "constants are not volatile",
        "ld.volatile.global.b32 %b32_1, [%b64_2];",
        "ld.volatile.const.b32 %b32_1, [%b64_2];",
    ),
    Pair(
        "read-only loads are global",
        "ld.global.u32.proxy::readonly %u32_1, [%b64_2];",
        "ld.shared.u32.proxy::readonly %u32_1, [%b64_2];",
    ),
    Pair(
        "an unordered load has no scope",
        "ld.weak.global.b32 %b32_1, [%b64_2];",
        "ld.weak.gpu.global.b32 %b32_1, [%b64_2];",
    ),
    Pair(
        "stores have cache operations of their own",
        "st.global.wt.b32 [%b64_1], %b32_2;",
        "st.global.ca.b32 [%b64_1], %b32_2;",
    ),
    Pair(
        "an untyped store accepts a constant of its width",
        "st.global.b32 [%b64_1], 0f3F800000;",
        "st.global.b32 [%b64_1], 1.0;",
    ),
    Pair("a float is no integer", "st.global.f32 [%b64_1], 1.0;", "st.global.f32 [%b64_1], 1;"),
    Pair(
        "elements are left out of 256 bits only",
        "st.global.v8.b32 [%b64_9], {_, %b32_1, %b32_2, %b32_3, %b32_4, %b32_5, %b32_6, %b32_7};",
        "st.global.v4.b32 [%b64_9], {_, %b32_1, %b32_2, %b32_3};",
    ),
    Pair("memory is filled with zeros", "st.bulk.shared::cta [%b64_1], 64, 0;", "st.bulk.shared::cta [%b64_1], 64, 1;"),
    Pair("at a register's address", "st.bulk [%clock64], 64, 0;", "st.bulk.shared::cta [%clock64], 64, 0;"),
    Pair("eight bytes at a time", "st.bulk.shared::cta [%b64_1], 64, 0;", "st.bulk.shared::cta [%b64_1], 60, 0;"),
    Pair("special registers are moved", "mov.u32 %u32_1, %laneid;", "add.u32 %u32_1, %laneid, 1;"),
    Pair("at their width", "mov.u64 %u64_1, %clock64;", "mov.u32 %u32_1, %clock64;"),
    Pair("and are not written", "mov.u32 %u32_1, %laneid;", "mov.u32 %laneid, %u32_1;"),
    Pair("an address is an integer", "mov.u64 %u64_1, global_;", "mov.f64 %f64_1, global_;"),
    Pair(
        "four halves make 64 bits",
        "mov.b64 %b64_1, {%b16_1, %b16_2, %b16_3, %b16_4};",
        "mov.b64 %b64_1, {%b8_1, %b8_2, %b8_3, %b8_4};",
    ),
    Pair("lines are prefetched to a level", "prefetch.global.L1 [%b64_1];", "prefetch.shared.L1 [%b64_1];"),
    Pair(
        "32 bytes from a valid address",
        "prefetch.global.L1::32B.valid_addr [%b64_1];",
        "prefetch.global.L1::32B [%b64_1];",
    ),
    Pair("128 bytes are dropped", "discard.global.L2 [%b64_1], 128;", "discard.global.L2 [%b64_1], 64;"),
    Pair(
        "a fraction is not zero",
        "createpolicy.fractional.L2::evict_first.b64 %b64_1, 0.5;",
        "createpolicy.fractional.L2::evict_first.b64 %b64_1, 0.0;",
    ),
    Pair(
        "and at most one",
        "createpolicy.fractional.L2::evict_first.b64 %b64_1, 1.0;",
        "createpolicy.fractional.L2::evict_first.b64 %b64_1, 1.5;",
    ),
    Pair(
        "the rest is evicted or unchanged",
        "createpolicy.fractional.L2::evict_last.L2::evict_first.b64 %b64_1;",
        "createpolicy.fractional.L2::evict_last.L2::evict_normal.b64 %b64_1;",
    ),
    Pair("a space is tested for an address", "isspacep.shared %pred_1, %u64_2;", "isspacep.shared %pred_1, %u16_2;"),
    Pair("a variable is in its space", "cvta.global.u64 %u64_1, global_;", "cvta.shared.u64 %u64_1, global_;"),
    Pair("a rank is an integer", "mapa.u64 %u64_1, %u64_2, %u32_3;", "mapa.u64 %u64_1, %u64_2, %f32_3;"),
    Pair(
        "matrices are loaded in ones, twos and fours",
        "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%b32_1, %b32_2}, [%b64_3];",
        "ldmatrix.sync.aligned.m8n8.x3.shared.b16 {%b32_1, %b32_2, %b32_3}, [%b64_4];",
    ),
    Pair(
        "in braces",
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%b32_1}, [%b64_3];",
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 %b32_1, [%b64_3];",
    ),
    Pair(
        "bytes are transposed",
        "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%b32_1, %b32_2}, [%b64_3];",
        "ldmatrix.sync.aligned.m16n16.x1.shared.b8 {%b32_1, %b32_2}, [%b64_3];",
    ),
    Pair(
        "nibbles become bytes",
        "ldmatrix.sync.aligned.m8n16.x1.shared.s8.s4 {%b32_1}, [%b64_3];",
        "ldmatrix.sync.aligned.m8n16.x1.shared.u8.u4 {%b32_1}, [%b64_3];",
    ),
    Pair(
        "two of four elements are kept",
        "spcompress.b8.b2.sp::2:4.x1 {%b32_1}, {%b32_2}, {%b32_3, %b32_4}, %b32_5;",
        "spcompress.b8.b2.sp::1:2.x1 {%b32_1}, {%b32_2}, {%b32_3, %b32_4}, %b32_5;",
    ),
    Pair(
        "an index reaches its group",
        "spdecompress.b8.b4.sp::2:8.x2 {%b32_1, %b32_2, %b32_3, %b32_4}, {%b32_5}, {%b32_6};",
        "spdecompress.b8.b2.sp::2:8.x2 {%b32_1, %b32_2, %b32_3, %b32_4}, {%b32_5}, {%b32_6};",
    ),
]

GATED = [
    Gated(
        "ld.global.v8.b32 {%b32_1, %b32_2, %b32_3, %b32_4, %b32_5, %b32_6, %b32_7, %b32_8}, [%b64_9];",
        (8, 8),
        "sm_100",
        ((8, 8), "sm_90"),
    ),
    Gated("ld.volatile.local.b32 %b32_1, [%b64_2];", (9, 1), "sm_90", ((9, 0), "sm_90")),
    Gated("ld.global.u32.proxy::readonly %u32_1, [%b64_2];", (9, 4), "sm_90", ((9, 3), "sm_90")),
    Gated("ld.acquire.mmio.sys.global.b32 %b32_1, [%b64_2];", (9, 3), "sm_75", ((9, 2), "sm_75")),
    Gated("prefetch.global.L1::32B.valid_addr [%b64_1];", (9, 4), "sm_90", ((9, 4), "sm_89")),
    Gated("mov.b128 %b128_1, %b128_2;", (8, 3), "sm_75", ((8, 2), "sm_75")),
    Gated("ldmatrix.sync.aligned.m8n16.x1.shared.s8.s4 {%b32_1}, [%b64_3];", (9, 4), "sm_90a", ((9, 4), "sm_90")),
    Gated(
        "spcompress.b8.b2.sp::2:4.x1 {%b32_1}, {%b32_2}, {%b32_3, %b32_4}, %b32_5;",
        (9, 4),
        "sm_107a",
        ((9, 4), "sm_107f"),
    ),
]

TOLERATED = [
    "ld.global.v8.b16 {%b16_1, %b16_2, %b16_3, %b16_4, %b16_5, %b16_6, %b16_7, %b16_8}, [%b64_9];",
    "ld.global.v2.u32.proxy::readonly {%u32_1, %u32_2}, [%b64_3];",
    "ld.volatile.global.L2::evict_last.v4.b64 {%b64_1, %b64_2, %b64_3, %b64_4}, [%b64_9];",
    "prefetch.L2::evict_last [%b64_1];",
    "mov.v2.b32 {%b32_1, %b32_2}, 3;",
]
