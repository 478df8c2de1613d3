"""Special registers: the instructions that read them, their types, and their versions."""

from __future__ import annotations

import pytest

from ptxkit.testing.differential.campaign import ptxkit_refusal
from ptxkit.testing.oracles.ptxas import installed_ptxas
from tests.isa.pairs import Gated, Pair, holds, opens

PAIRS = [
    Pair("a special register is moved first", "mov.u32 %u32_1, %laneid;", "add.u32 %u32_1, %u32_2, %laneid;"),
    Pair("a conversion reads one too", "cvt.u64.u32 %u64_1, %tid.x;", "mul.wide.u32 %u64_1, %tid.x, 4;"),
    Pair("nobody writes one", "mov.u32 %u32_1, %smid;", "mov.u32 %smid, %u32_1;"),
    Pair("it has its width", "mov.u64 %u64_1, %clock64;", "mov.u32 %u32_1, %clock64;"),
    Pair("a clock has two halves", "mov.u32 %u32_1, %clock_hi;", "mov.u64 %u64_1, %clock;"),
    Pair("an index may be read as half a word", "mov.u16 %u16_1, %ctaid.y;", "mov.u16 %u16_1, %laneid;"),
    Pair("a grid's number as any", "mov.u16 %u16_1, %gridid;", "mov.f32 %f32_1, %gridid;"),
    Pair("a vector has components", "mov.u32 %u32_1, %nctaid.z;", "mov.u32 %u32_1, %nctaid;"),
    Pair("four of them", "mov.v4.u32 %v4u32_1, %tid;", "mov.v2.u32 %v2u32_1, %tid;"),
    Pair("other registers have none", "mov.u32 %u32_1, %warpid;", "mov.u32 %u32_1, %warpid.x;"),
    Pair("numbered ones have an end", "mov.u32 %u32_1, %pm7;", "mov.u32 %u32_1, %pm8;"),
    Pair("so have those of the environment", "mov.b32 %b32_1, %envreg31;", "mov.b32 %b32_1, %envreg32;"),
    Pair("which are integers", "mov.b32 %b32_1, %envreg0;", "mov.f32 %f32_1, %envreg0;"),
    Pair("a predicate is one", "mov.pred %pred_1, %is_explicit_cluster;", "mov.u32 %u32_1, %is_explicit_cluster;"),
    Pair("an address may begin with one", "ld.global.u32 %u32_1, [%clock64];", "ld.global.u32 %clock, [%b64_1];"),
    Pair("the size of a warp is a constant", "add.u32 %u32_1, %u32_2, WARP_SZ;", "add.f32 %f32_1, %f32_2, WARP_SZ;"),
]

GATED = [
    Gated("mov.u32 %u32_1, %aggr_smem_size;", (8, 1), "sm_90", ((8, 0), "sm_90")),
    Gated("mov.b32 %b32_1, %reserved_smem_offset_0;", (7, 6), "sm_80", ((7, 6), "sm_75")),
    Gated("mov.u64 %u64_1, %current_graph_exec;", (8, 0), "sm_75", ((7, 8), "sm_75")),
    Gated("mov.u32 %u32_1, %cluster_ctaid.x;", (7, 8), "sm_90", ((7, 8), "sm_89")),
    Gated("mov.u32 %u32_1, %cluster_nctarank;", (7, 8), "sm_90", ((7, 8), "sm_80")),
    Gated("mov.u32 %u32_1, %locality_domain_id;", (9, 5), "sm_100", ((9, 4), "sm_100")),
    Gated("mov.u32 %u32_1, %locality_domain_supplemental_sm;", (9, 5), "sm_100", ((9, 5), "sm_90")),
]


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_a_special_register_is_read_with_its_type_only(pair: Pair) -> None:
    holds(pair)


@pytest.mark.parametrize("gated", GATED, ids=str)
def test_a_special_register_exists_from_its_version_and_target_on(gated: Gated) -> None:
    opens(gated)


HEAD = ".version 9.4 .target sm_80 .address_size 64\n"
BODY = (
    "{ .reg .b64 %rd<2>; .reg .b32 %r<2>; mov.u64 %rd1, %perctamemoryoffset; mov.u32 %r1, %perctamemorysize; ret; }\n"
)


@pytest.mark.parametrize(
    ("heading", "accepted"),
    [(".entry k() .minperctamemory 1024 ", True), (".entry k() ", False), (".func f() ", True)],
)
def test_a_kernel_reads_its_memory_per_cta_only_where_it_requests_some(heading: str, accepted: bool) -> None:
    text = HEAD + heading + BODY
    newest, *_ = installed_ptxas()
    assert (newest.refusal(text, "sm_80") is None) == accepted
    assert (ptxkit_refusal(text) is None) == accepted
