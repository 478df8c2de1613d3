"""Barriers of a CTA and of a cluster, and threads that wait at them without an end."""

from __future__ import annotations

import numpy
import pytest

from ptxkit.emulator import run
from tests.emulator.support import compute_line, kernel, outcome


def codes(body: str, threads: int = 64, **launch: object) -> list[str]:
    return [each.code for each in outcome(body, threads, **launch).findings]  # type: ignore[arg-type]


def test_a_barrier_reduces_a_predicate() -> None:
    body = """
 setp.lt.u32 %p1, %r31, 10;
 bar.red.popc.u32 %r0, 0, %p1; bar.red.and.pred %p2, 0, %p1; bar.red.or.pred %p3, 0, !%p1;
 selp.u32 %r1, 1, 0, %p2; selp.u32 %r2, 1, 0, %p3;
"""
    assert (compute_line(body, 64, words=3) == [10, 0, 1]).all()


def test_exited_threads_are_not_waited_for() -> None:
    assert codes(" mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, 32; @%p1 exit; bar.sync 0;") == []


def test_an_aligned_barrier_requires_the_exited_threads_of_a_warp_too() -> None:
    body = " mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, 40; @%p1 exit; {} 0;"
    assert codes(body.format("bar.sync")) == ["PTX603"]
    assert codes(body.format("barrier.sync")) == []


def test_a_barrier_that_some_threads_never_reach_is_a_deadlock() -> None:
    body = " mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, 32; @%p1 bar.sync 1, 64; @!%p1 bar.sync 2, 64;"
    found = outcome(body, 64).findings
    assert [each.code for each in found] == ["PTX601", "PTX601"]
    assert "32 threads from 0 of CTA (0, 0, 0) wait for barrier 2, at which 32 of 64 threads have arrived" in " ".join(
        each.message for each in found
    )


def test_a_part_of_a_warp_at_an_aligned_barrier_is_an_error() -> None:
    body = " mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 bar.sync 1, 64; bar.sync 0;"
    assert set(codes(body)) <= {"PTX603", "PTX601"}
    assert "PTX603" in codes(body)
    other = " mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 barrier.sync 1, 64; @!%p1 barrier.sync 1, 64;"
    assert codes(other) == []


def test_threads_of_a_warp_at_two_barrier_instructions_are_an_error() -> None:
    body = " mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 bra OTHER; bar.sync 0; ret; OTHER: bar.sync 0;"
    assert codes(body) == ["PTX603"]


def test_a_warp_may_arrive_at_one_barrier_instruction_in_parts() -> None:
    body = " mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 bra ON; add.u32 %r2, %r1, 1; ON: bar.sync 0;"
    for seed in range(5):
        assert codes(body, policy="random", seed=seed) == []


def test_the_thread_count_must_be_a_multiple_of_the_warp_size() -> None:
    assert codes(" mov.u32 %r1, 40; bar.sync 1, %r1;") == ["PTX206"]
    assert codes(" mov.u32 %r1, 64; bar.sync 1, %r1;") == []


EXITED_LANES = """
 mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31; setp.ge.u32 %p1, %r2, {first};
 {before} @%p1 exit; {after}
"""


@pytest.mark.parametrize("policy", ["eager", "random"])
@pytest.mark.parametrize(("first", "threads"), [(1, 64), (7, 96), (31, 64), (1, 40)])
def test_a_warp_whose_other_lanes_have_exited_counts_as_a_whole_warp(first: int, threads: int, policy: str) -> None:
    whole = -(-threads // 32) * 32
    for before, after in (("", f"barrier.sync 1, {whole};"), (f"@!%p1 barrier.sync 1, {whole};", "")):
        assert codes(EXITED_LANES.format(first=first, before=before, after=after), threads, policy=policy) == []


def test_a_warp_with_exited_lanes_does_not_count_for_another_warp() -> None:
    assert codes(EXITED_LANES.format(first=1, before="", after="barrier.sync 1, 96;")) == ["PTX601"]


def test_two_uses_of_a_barrier_with_different_counts_are_an_error() -> None:
    body = " mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; @%p1 bar.sync 1, 64; @!%p1 bar.sync 1, 96;"
    assert codes(body, 96) == ["PTX602"]


CLUSTER = """
 .shared .align 4 .u32 word;
 ld.param.u64 %d1, [a]; mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, word;
 add.u32 %r3, %r1, 100; st.shared.u32 [%r2], %r3;
 {arrive} {wait}
 xor.b32 %r4, %r1, 1; mapa.shared::cluster.u32 %r5, %r2, %r4; ld.shared::cluster.u32 %r6, [%r5];
 barrier.cluster.arrive; barrier.cluster.wait;
 mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2; st.global.u32 [%d1], %r6;
"""


@pytest.mark.parametrize(
    ("arrive", "wait", "found"),
    [
        ("barrier.cluster.arrive;", "barrier.cluster.wait;", []),
        ("barrier.cluster.arrive.relaxed;", "barrier.cluster.wait;", ["PTX621"]),
        ("fence.acq_rel.cluster; barrier.cluster.arrive.relaxed;", "barrier.cluster.wait;", []),
        ("", "", ["PTX611", "PTX621"]),
        ("", "barrier.cluster.wait;", ["PTX613"]),
        ("barrier.cluster.arrive;", "", ["PTX611", "PTX613"]),
    ],
)
def test_the_cluster_barrier_orders_remote_accesses(arrive: str, wait: str, found: list[str]) -> None:
    text = kernel(CLUSTER.format(arrive=arrive, wait=wait), ".param .u64 a")
    outcome = run(text, "k", grid=2, cluster=2, block=1, arguments=[numpy.zeros(2, numpy.uint32)])
    assert not outcome.unsupported_reason
    assert list(dict.fromkeys(each.code for each in outcome.findings)) == found
    if not found:
        assert list(outcome.outputs[0]) == [101, 100]


ENDS = """
 .shared .align 4 .u32 word[2];
 mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, word; xor.b32 %r4, %r1, 1; mapa.shared::cluster.u32 %r5, %r2, %r4;
 barrier.cluster.arrive; barrier.cluster.wait;
 st.shared::cluster.u32 [%r5], %r1;
 {end}
"""


@pytest.mark.parametrize("policy", ["eager", "random"])
@pytest.mark.parametrize(
    ("end", "found"),
    [
        ("", {"PTX612"}),
        ("barrier.cluster.arrive; barrier.cluster.wait;", set()),
        ("barrier.cluster.arrive;", {"PTX612"}),
    ],
)
def test_a_cta_exits_only_when_all_remote_accesses_are_complete(end: str, found: set[str], policy: str) -> None:
    outcome = run(kernel(ENDS.format(end=end)), "k", grid=2, cluster=2, block=1, policy=policy)
    assert {each.code for each in outcome.findings} == found
