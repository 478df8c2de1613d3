"""Synchronization of the CTAs of a cluster by mbarriers with the required scopes, and fences of one direction."""

from __future__ import annotations

import numpy
import pytest

from ptxkit.emulator import run
from tests.emulator.support import kernel

KERNEL = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry k()
.reqntid 32
.reqnctapercluster 2, 1, 1
{{
 .shared .align 16 .b32 tile[32]; .shared .align 8 .b64 bar;
 .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %d<8>;
 mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; mov.u32 %r2, tile; mov.u32 %r3, bar;
 mov.u32 %r4, %cluster_ctarank; xor.b32 %r4, %r4, 1; shl.b32 %r5, %r1, 2; add.u32 %r5, %r5, %r2;
 mapa.shared::cluster.u32 %r6, %r5, %r4; mapa.shared::cluster.u32 %r7, %r3, %r4;
 @%p1 mbarrier.init.shared::cta.b64 [%r3], 32;
 @%p1 fence.mbarrier_init.release.cluster;
 barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.acquire.aligned;
 st.shared::cluster.u32 [%r6], %r1;
 {arrive} _, [%r7];
WAIT:
 {wait} %p2, [%r3], 0;
 @!%p2 bra WAIT;
 {then}
 ld.shared.u32 %r9, [%r5];
 barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;
 ret;
}}
"""
ARRIVE, TRY = "mbarrier.arrive{}.shared::cluster.b64", "mbarrier.try_wait.parity{}.shared::cta.b64"


def codes(arrive: str, wait: str, then: str = "") -> set[str]:
    text = KERNEL.format(arrive=ARRIVE.format(arrive), wait=TRY.format(wait), then=then)
    found = run(text, "k", grid=2, block=32, cluster=2)
    assert not found.unsupported_reason
    assert not found.incomplete_reason
    return {each.code for each in found.findings}


@pytest.mark.parametrize(
    ("arrive", "wait", "wanted"),
    [
        (".release.cluster", ".acquire.cluster", set()),
        ("", ".acquire.cluster", {"PTX506"}),
        (".release.cluster", "", {"PTX506"}),
        (".relaxed.cluster", ".acquire.cluster", {"PTX506"}),
    ],
)
def test_an_arrival_and_a_wait_must_both_have_cluster_scope(arrive: str, wait: str, wanted: set[str]) -> None:
    assert codes(arrive, wait) == wanted


@pytest.mark.parametrize(("scope", "wanted"), [("cluster", set()), ("cta", {"PTX506"})])
def test_a_fence_after_a_relaxed_wait_must_have_cluster_scope_too(scope: str, wanted: set[str]) -> None:
    assert codes(".release.cluster", ".relaxed.cluster", f"fence.acq_rel.{scope};") == wanted


COMPLETED = """ .shared .align 16 .b8 tile[256]; .shared .align 8 .b64 bar;
 ld.param.u64 %d1, [a]; mov.u32 %r1, %tid.x; mov.u32 %r3, tile; mov.u32 %r4, bar; mov.u32 %r8, 7;
 setp.ne.u32 %p1, %r1, 0; @!%p1 mbarrier.init.shared.b64 [bar], 1;
 bar.sync 0;
 setp.eq.u32 %p2, %r1, 32; @%p2 bra TAKE;
 @%p1 bra END;
 {before}
 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%d1], 16, [%r4];
 {after}
 bra END;
TAKE:
L: mbarrier.try_wait.parity.shared.b64 %p3, [bar], 0; @!%p3 bra L;
 ld.shared.u32 %r6, [%r3+{read}];
END:
"""
EXPECT, STORE = "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;", "st.shared.u32 [%r3+128], %r8;"


@pytest.mark.parametrize("policy", ["eager", "late", "random"])
@pytest.mark.parametrize(
    ("before", "after", "read", "races"),
    [
        (EXPECT, "", 0, False),
        (STORE + EXPECT, "", 128, False),
        (EXPECT + STORE, "", 128, True),
        (STORE, EXPECT, 128, False),
    ],
)
def test_the_bytes_of_a_copy_publish_the_copy_and_not_earlier_accesses_of_its_thread(
    before: str, after: str, read: int, races: bool, policy: str
) -> None:
    text = kernel(COMPLETED.format(before=before, after=after, read=read), ".param .u64 a")
    found = run(text, "k", block=64, arguments=[numpy.zeros(64, numpy.uint32)], policy=policy)
    assert not found.unsupported_reason
    assert {each.code for each in found.findings} == ({"PTX621"} if races else set())
