"""Bytes that the generic proxy writes and the async proxy reads need a fence; barriers are not enough."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import pytest

from ptxkit.emulator import run
from tests.emulator.support import kernel

COPY = """
 .shared .align 16 .b8 tile[1024];
 ld.param.u64 %d1, [a]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, tile; add.u32 %r4, %r3, %r2;
 setp.eq.u32 %p1, %r1, {issuer};
 st.shared.u32 [%r4], %r1;
 {before}
 bar.sync 0;
 {after}
 @%p1 cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r3], 256;
 @%p1 cp.async.bulk.commit_group;
 @%p1 cp.async.bulk.wait_group.read 0;
 {end}
"""


def find_all(before: str = "", after: str = "", end: str = "", issuer: int = 0, **launch: Any) -> list[str]:
    text = kernel(COPY.format(before=before, after=after, end=end, issuer=issuer), ".param .u64 a")
    outcome = run(text, "k", block=64, arguments=[numpy.zeros(64, numpy.uint32)], **launch)
    assert not outcome.unsupported_reason, outcome.unsupported_reason
    if not outcome.findings:
        assert (outcome.outputs[0] == numpy.arange(64)).all()
    return [each.code for each in outcome.findings]


@pytest.mark.parametrize("policy", ["eager", "late", "torn", "random"])
@pytest.mark.parametrize(
    ("before", "after", "codes"),
    [
        ("", "", ["PTX401"]),
        ("fence.proxy.async;", "", []),
        ("fence.proxy.async.shared::cta;", "", []),
        ("fence.proxy.async.global;", "", ["PTX401"]),
        ("", "fence.proxy.async;", []),
        ("", "@%p1 fence.proxy.async;", []),
        ("", "@!%p1 fence.proxy.async;", ["PTX401"]),
        ("setp.lt.u32 %p2, %r1, 63; @%p2 fence.proxy.async;", "", ["PTX401"]),
        ("membar.sys;", "", ["PTX401"]),
    ],
)
def test_a_copy_of_bytes_that_threads_stored_needs_a_fence(
    before: str, after: str, codes: list[str], policy: str
) -> None:
    assert find_all(before, after, policy=policy) == codes


def test_a_fence_before_the_store_does_not_cover_it() -> None:
    text = COPY.replace(" st.shared.u32 [%r4], %r1;", " fence.proxy.async; st.shared.u32 [%r4], %r1;")
    text = kernel(text.format(before="", after="", end="", issuer=0), ".param .u64 a")
    outcome = run(text, "k", block=64, arguments=[numpy.zeros(64, numpy.uint32)])
    assert [each.code for each in outcome.findings] == ["PTX401"]


def test_a_copy_that_no_barrier_orders_after_the_stores_is_a_race() -> None:
    text = COPY.replace(" bar.sync 0;\n", "").format(before="fence.proxy.async;", after="", end="", issuer=0)
    outcome = run(kernel(text, ".param .u64 a"), "k", block=64, arguments=[numpy.zeros(64, numpy.uint32)])
    assert [each.code for each in outcome.findings] == ["PTX621"]


def test_others_may_store_again_only_after_they_observe_that_the_copy_has_read() -> None:
    fence = "fence.proxy.async;"
    assert find_all(fence, end="st.shared.u32 [%r4], %r2;") == ["PTX303"]
    assert find_all(fence, end="bar.sync 0; st.shared.u32 [%r4], %r2;") == []


def test_a_completed_mbarrier_phase_is_observed_by_the_threads_that_wait_for_it() -> None:
    load = """
 .shared .align 16 .b8 tile[256]; .shared .align 8 .b64 bar;
 ld.param.u64 %d1, [a]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, tile; add.u32 %r4, %r3, %r2;
 mov.u32 %r5, bar; setp.eq.u32 %p1, %r1, 0;
 @%p1 mbarrier.init.shared.b64 [%r5], 1;
 bar.sync 0;
 @%p1 mbarrier.arrive.expect_tx.shared.b64 %d5, [%r5], 256;
 @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%d1], 256, [%r5];
{wait}
 ld.shared.u32 %r6, [%r4]; mul.wide.u32 %d2, %r1, 4; add.u64 %d3, %d1, %d2; st.global.u32 [%d3+256], %r6;
"""
    wait = "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r5], 0; @!%p2 bra W;"
    for policy in ("eager", "late", "torn", "random"):
        given = [numpy.arange(128, dtype=numpy.uint32)]
        outcome = run(kernel(load.format(wait=wait), ".param .u64 a"), "k", block=64, arguments=given, policy=policy)
        assert outcome.is_clean, outcome
        assert (outcome.outputs[0][64:] == numpy.arange(64)).all()
    given = [numpy.arange(128, dtype=numpy.uint32)]
    only_one = wait.replace("W: ", "@!%p1 bra ON; W: ") + " ON:"
    outcome = run(kernel(load.format(wait=only_one), ".param .u64 a"), "k", block=64, arguments=given)
    assert outcome.findings
    assert {each.code for each in outcome.findings} <= {"PTX621", "PTX302"}


ONE_WAY = Path(__file__).resolve().parents[3] / "corpus" / "kernels" / "hand_one_way_fences.sm_90.ptx"


@pytest.mark.parametrize(
    ("arrival", "drop", "clean"),
    [("release", "", True), ("relaxed", "", True), ("relaxed", "::generic.release", False)],
)
def test_fences_of_one_direction_order_across_a_relaxed_barrier(arrival: str, drop: str, clean: bool) -> None:
    lines = ONE_WAY.read_text("utf-8").replace("arrive.release", f"arrive.{arrival}").splitlines()
    text = "\n".join(line for line in lines if not drop or drop not in line)
    outcome = run(text, "hand_one_way_fences", grid=2, arguments=[numpy.zeros(256, numpy.uint32)], policy="late")
    assert outcome.is_clean is clean
