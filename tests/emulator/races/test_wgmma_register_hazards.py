"""Registers of asynchronous multiplications, and instructions that all threads of a warpgroup execute together."""

from __future__ import annotations

import pytest

from ptxkit.emulator import run

KERNEL = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry k()
.reqntid 128
.minnctapersm 1
{{
 .shared .align 128 .b8 tile[4096];
 .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %d<8>; .reg .f32 %f<16>;
 mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; setp.lt.u32 %p2, %r1, 64;
 mov.u32 %r2, tile; shl.b32 %r3, %r1, 4; add.u32 %r3, %r3, %r2;
 st.shared.v4.b32 [%r3], {{0, 0, 0, 0}}; st.shared.v4.b32 [%r3+2048], {{0, 0, 0, 0}};
 fence.proxy.async.shared::cta; bar.sync 0;
 and.b32 %r4, %r2, 262143; shr.u32 %r4, %r4, 4; cvt.u64.u32 %d1, %r4; or.b64 %d1, %d1, 68719542272;
 mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1;
 {body}
 ret;
}}
"""
FENCE = "wgmma.fence.sync.aligned; "
ISSUE = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %d1, %d1, 1, 1, 1, 0, 0; "
COMMIT, WAIT = "wgmma.commit_group.sync.aligned; ", "wgmma.wait_group.sync.aligned 0; "
MEET = "bar.sync 0; "
FEWER, MORE = "setmaxnreg.dec.sync.aligned.u32 40; ", "setmaxnreg.inc.sync.aligned.u32 96; "


def codes(body: str, *, races: bool = True) -> set[str]:
    found = run(KERNEL.format(body=body), "k", block=128, policy="late", races=races)
    assert not found.unsupported_reason
    assert not found.incomplete_reason
    return {each.code for each in found.findings}


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (FENCE + ISSUE + COMMIT + WAIT + "add.f32 %f5, %f1, %f2;", set()),
        (FENCE + ISSUE + COMMIT + "add.f32 %f5, %f1, %f2; " + WAIT, {"PTX311"}),
        (FENCE + ISSUE + COMMIT + "mov.f32 %f6, %f1; add.f32 %f5, %f6, %f6; " + WAIT, {"PTX311"}),
        (FENCE + ISSUE + COMMIT + "mov.f32 %f6, %f1; " + WAIT + "add.f32 %f5, %f6, %f6;", set()),
        (FENCE + ISSUE + COMMIT + "add.f32 %f5, %f7, %f7; " + WAIT, set()),
    ],
)
def test_registers_in_flight_are_not_accessed_under_any_name(body: str, wanted: set[str]) -> None:
    assert codes(body) == wanted


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (ISSUE + COMMIT + WAIT, {"PTX312"}),
        (FENCE + "add.f32 %f1, %f1, %f7; " + ISSUE + COMMIT + WAIT, {"PTX312"}),
        (FENCE + "add.f32 %f9, %f1, %f7; mov.f32 %f1, %f9; " + ISSUE + COMMIT + WAIT, {"PTX312"}),
        ("add.f32 %f9, %f1, %f7; " + FENCE + "mov.f32 %f1, %f9; " + ISSUE + COMMIT + WAIT, set()),
        (FENCE + ISSUE + ISSUE + COMMIT + WAIT + ISSUE + COMMIT + WAIT, set()),
    ],
)
def test_a_fence_follows_the_last_access_to_registers(body: str, wanted: set[str]) -> None:
    assert codes(body) == wanted


def test_a_part_of_a_warpgroup_is_found_at_the_end() -> None:
    assert codes(f"@%p2 {FENCE}") == {"PTX315"}
    assert codes(FENCE) == set()


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (FEWER + MEET + MORE, set()),
        (FEWER + MORE, {"PTX605"}),
        (FEWER + MEET + "setmaxnreg.dec.sync.aligned.u32 64; ", {"PTX605"}),
        (f"@%p2 {FEWER}", {"PTX605"}),
        (f"@%p1 {FEWER}", {"PTX605"}),
    ],
)
def test_register_counts_are_set_by_all_warps_and_in_sequence(body: str, wanted: set[str]) -> None:
    assert codes(body) == wanted


TAKE = "@!%p2 setmaxnreg.inc.sync.aligned.u32 240; "
GIVE = "@%p2 setmaxnreg.dec.sync.aligned.u32 40; "
GIVE_BACK = "@!%p2 setmaxnreg.dec.sync.aligned.u32 120; "


@pytest.mark.parametrize(
    ("between", "wanted"),
    [("bar.sync 0; ", {"PTX605"}), ("bar.sync %r5, 128; ", set())],
    ids=["all three warpgroups meet", "each for itself"],
)
def test_all_warps_have_at_once_the_registers_that_they_set_before_a_barrier(between: str, wanted: set[str]) -> None:
    larger = KERNEL.replace(".reqntid 128", ".reqntid 384").replace("tile[4096]", "tile[16384]")
    groups = "setp.lt.u32 %p2, %r1, 128; shr.u32 %r5, %r1, 7; add.u32 %r5, %r5, 1; "
    body = groups + GIVE + TAKE + between + GIVE_BACK
    assert {each.code for each in run(larger.format(body=body), "k").findings} == wanted


def test_the_last_warps_of_a_cta_may_be_less_than_a_warpgroup() -> None:
    larger = KERNEL.replace(".reqntid 128", ".reqntid 160").replace("tile[4096]", "tile[8192]")
    assert not run(larger.format(body=FEWER), "k").findings
    assert {each.code for each in run(larger.format(body=FENCE), "k").findings} == {"PTX315"}


HALF = "and.b32 %r5, %r1, 31; setp.lt.u32 %p3, %r5, 16; "
MULTIPLY = FENCE + ISSUE + COMMIT + WAIT


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (HALF + "@!%p3 bra skip; " + MULTIPLY + "skip: bar.warp.sync -1;", {"PTX315"}),
        (HALF + "@!%p3 bra skip; " + MULTIPLY + "skip: ret;", {"PTX315"}),
        (HALF + "@!%p3 bra other; " + MULTIPLY + "bra.uni over; other: " + MULTIPLY + "over: ", {"PTX315"}),
        (HALF + "@!%p3 bra joined; mov.b32 %r6, 1; joined: bar.warp.sync -1; " + MULTIPLY, set()),
    ],
    ids=["others wait behind it", "others have ended", "others execute its twin", "all have come back"],
)
def test_a_diverged_warp_cannot_multiply(body: str, wanted: set[str]) -> None:
    found = codes(body)
    assert found >= wanted
    assert bool(found) == bool(wanted)


def test_without_race_detection_nothing_is_checked() -> None:
    assert not codes(ISSUE + COMMIT + WAIT, races=False)
