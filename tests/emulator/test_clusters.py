"""Shared memory of the CTAs of a cluster: the kinds of addresses, and its end with the CTA."""

from __future__ import annotations

import numpy
import pytest

from ptxkit.emulator import RunResult, run
from tests.emulator.support import kernel

START = """
 .shared .align 16 .b8 word[16];
 mov.u32 %r1, %cluster_ctarank; xor.b32 %r2, %r1, 1; mov.u32 %r3, word;
 st.shared.u32 [%r3], %r1;
 barrier.cluster.arrive; barrier.cluster.wait;
"""
STORE = """
 ld.param.u64 %d1, [a]; mul.wide.u32 %d2, %r1, 8; add.u64 %d1, %d1, %d2; st.global.v2.u32 [%d1], {%r5, %r6};
"""
MEET = " barrier.cluster.arrive; barrier.cluster.wait;\n"
OFFSET = """mapa.shared::cluster.u32 %r4, %r3, %r2; ld.shared::cluster.u32 %r5, [%r4];
 getctarank.shared::cluster.u32 %r6, %r4;"""
GENERIC = """cvt.u64.u32 %d3, %r3; cvta.shared.u64 %d3, %d3; mapa.u64 %d4, %d3, %r2; ld.u32 %r5, [%d4];
 getctarank.u64 %r6, %d4;"""


def launch_kernel(body: str, policy: str = "eager") -> RunResult:
    text = kernel(START + body, ".param .u64 a")
    return run(text, "k", grid=2, block=1, cluster=2, arguments=[numpy.zeros((2, 2), numpy.uint32)], policy=policy)


@pytest.mark.parametrize("addressing", [OFFSET, GENERIC])
def test_a_cta_reads_bytes_that_another_one_wrote_and_its_address_contains_the_rank(addressing: str) -> None:
    outcome = launch_kernel(addressing + STORE + MEET)
    assert outcome.is_clean
    assert outcome.outputs[0].tolist() == [[1, 1], [0, 0]]


@pytest.mark.parametrize("addressing", [OFFSET, GENERIC])
def test_shared_memory_ends_with_its_cta(addressing: str) -> None:
    assert [each.code for each in launch_kernel(addressing + STORE).findings] == ["PTX612"]


COPY = """
 .shared .align 16 .b8 there[16]; .shared .align 8 .b64 bar;
 mov.u32 %r8, bar; mov.u32 %r9, there;
 mbarrier.init.shared.b64 [%r8], 1; fence.mbarrier_init.release.cluster;
 mbarrier.arrive.expect_tx.shared.b64 _, [%r8], 16;
 fence.proxy.async; barrier.cluster.arrive; barrier.cluster.wait;
 mapa.shared::cluster.u32 %r10, %r9, %r2; mapa.shared::cluster.u32 %r11, %r8, %r2;
 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r10], [%r3], 16, [%r11];
wait:
 mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r8], 0;
 @!%p1 bra wait;
"""


@pytest.mark.parametrize("policy", ["late", "torn"])
def test_a_copy_from_a_cta_that_exits_is_found_even_if_its_bytes_arrive(policy: str) -> None:
    assert "PTX612" in {each.code for each in launch_kernel(COPY, policy).findings}
    assert launch_kernel(COPY + MEET, policy).is_clean
