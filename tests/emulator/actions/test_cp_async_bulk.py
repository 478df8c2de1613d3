"""Copies and reductions of ranges of bytes: correct under every policy, and each missing step is found."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from ptxkit.emulator import POLICIES, run
from tests.emulator.support import HEAD

THREADS = 64
BYTES = 1024
SOURCE = numpy.arange(1, BYTES // 4 + 1, dtype=numpy.uint32)

STEPS = {
    "init": "@%p0 mbarrier.init.shared::cta.b64 [bar], 1;",
    "ready": "bar.sync 0;",
    "expect": "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 1024;",
    "load": "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%d0], 1024, [bar];",
    "wait": "W: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;\n @!%p1 bra W;",
    "change": """ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%r30];
 add.u32 %r1, %r1, 1; add.u32 %r2, %r2, 1; add.u32 %r3, %r3, 1; add.u32 %r4, %r4, 1;
 st.shared.v4.u32 [%r30], {%r1, %r2, %r3, %r4};""",
    "fence": "fence.proxy.async.shared::cta;",
    "meet": "bar.sync 0;",
    "store": "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%d1], [tile], 1024;",
    "commit": "@%p0 cp.async.bulk.commit_group;",
    "end": "@%p0 cp.async.bulk.wait_group.read 0;",
}
"""Copies a tile in, adds one to each word, and copies it out again."""


def ran(policy: str = "late", seed: int = 0, /, **changed: str) -> Any:
    """Runs the kernel with some steps replaced; an empty one is omitted."""
    body = "\n ".join((STEPS | changed).values())
    text = f"""{HEAD}.visible .entry k(.param .u64 a, .param .u64 b)
{{
 .shared .align 128 .b8 tile[2048]; .shared .align 8 .b64 bar;
 .reg .pred %p<4>; .reg .b32 %r<32>; .reg .b64 %d<8>;
 mov.u32 %r31, %tid.x; setp.eq.u32 %p0, %r31, 0;
 ld.param.u64 %d0, [a]; ld.param.u64 %d1, [b];
 mov.u32 %r30, tile; shl.b32 %r29, %r31, 4; add.u32 %r30, %r30, %r29;
 {body}
 ret;
}}
"""
    out = numpy.zeros_like(SOURCE)
    found = run(text, "k", block=THREADS, arguments=[SOURCE, out], policy=policy, seed=seed)
    assert not found.unsupported_reason, found.unsupported_reason
    return found


@pytest.mark.parametrize("policy", POLICIES)
def test_a_tile_is_copied_in_and_out(policy: str) -> None:
    for seed in range(4):
        found = ran(policy, seed)
        assert not found.findings
        assert (found.outputs[1] == SOURCE + 1).all()


@pytest.mark.parametrize(
    ("step", "instead", "code"),
    [
        ("init", "", "PTX501"),
        ("expect", "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 1040;", "PTX503"),
        ("expect", "@%p0 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 1024;", "PTX504"),
        ("load", "", "PTX503"),
        ("wait", "mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;", "PTX302"),
        ("wait", "", "PTX302"),
        ("wait", "W: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 1;\n @!%p1 bra W;", "PTX302"),
        ("fence", "", "PTX401"),
        ("fence", "fence.proxy.async.global;", "PTX401"),
        ("meet", "", "PTX621"),
        ("commit", "", "PTX301"),
        ("commit", "@%p0 cp.async.commit_group;", "PTX301"),
        ("end", "", "PTX303"),
        ("end", "@%p0 cp.async.bulk.wait_group.read 1;", "PTX303"),
        ("end", "@%p0 cp.async.wait_group 0;", "PTX303"),
        ("load", STEPS["load"].replace("1024", "1000"), "PTX206"),
        ("store", STEPS["store"].replace("[tile]", "[tile+8]"), "PTX205"),
        ("store", STEPS["store"].replace("1024", "2048"), "PTX207"),
    ],
)
def test_a_wrong_step_is_found(step: str, instead: str, code: str) -> None:
    found = {each.code for policy in POLICIES for each in ran(policy, **{step: instead}).findings}
    assert code in found


def test_a_source_that_is_written_before_it_was_read_is_found() -> None:
    again = "@%p0 st.shared.u32 [tile], 0;\n "
    assert "PTX303" in {each.code for each in ran(end=again + STEPS["end"]).findings}
    assert not ran(end=STEPS["end"] + "\n " + again).findings


def test_a_wait_for_reads_does_not_cover_writes() -> None:
    back = "@%p0 ld.global.u32 %r5, [%d1];"
    read, whole = STEPS["end"], "@%p0 cp.async.bulk.wait_group 0;"
    assert "PTX302" in {each.code for each in ran(end=f"{read}\n {back}").findings}
    assert not ran(end=f"{whole}\n {back}").findings


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    ("how", "combine"),
    [
        ("add.u32", lambda old, new: old + new),
        ("max.u32", numpy.maximum),
        ("min.s32", lambda old, new: numpy.minimum(old.view("i4"), new.view("i4")).view("u4")),
        ("and.b32", numpy.bitwise_and),
        ("xor.b64", numpy.bitwise_xor),
        ("inc.u32", lambda old, new: numpy.where(old >= new, 0, old + 1).astype("u4")),
        ("add.f32", lambda old, _: numpy.zeros_like(old)),  # the words are subnormal numbers, which are flushed
        ("add.noftz.f16", lambda old, new: (old.view("f2") + new.view("f2")).view("u4")),
    ],
)
def test_a_reduction_combines_with_the_contents_of_memory(policy: str, how: str, combine: Any) -> None:
    store = f"@%p0 cp.reduce.async.bulk.global.shared::cta.bulk_group.{how} [%d1], [tile], 1024;"
    double = f"{store}\n {store}"
    with numpy.errstate(all="ignore"):
        once = combine(numpy.zeros_like(SOURCE), SOURCE + 1)
        wanted = combine(once, SOURCE + 1)
    found = ran(policy, store=double)
    assert not found.findings
    assert (found.outputs[1] == wanted).all()


def test_only_selected_bytes_are_stored() -> None:
    store = "mov.b16 %h1, 0x00f0;\n @%p0 cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%d1], [tile], 1024, %h1;"
    found = ran(store=".reg .b16 %h<2>;\n " + store)
    assert not found.findings
    wanted = numpy.zeros_like(SOURCE)
    wanted[1::4] = SOURCE[1::4] + 1
    assert (found.outputs[1] == wanted).all()


def test_a_range_beyond_its_buffer_is_found() -> None:
    load = STEPS["load"].replace("[%d0]", "[%d0+16]")
    (finding,) = ran(load=load).findings
    assert finding.code == "PTX207"


def test_a_prefetch_needs_no_wait() -> None:
    more = "@%p0 cp.async.bulk.prefetch.L2.global [%d0], 1024;\n " + STEPS["load"]
    assert not ran(load=more).findings
