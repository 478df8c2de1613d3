"""Copies that an mbarrier tracks and that their threads also wait for: each of the two proves their completion."""

from __future__ import annotations

import numpy
import pytest

from ptxkit.emulator import run
from tests.emulator.support import kernel

HAND_OVER = """ .shared .align 16 .b8 tile[1024]; .shared .align 8 .b64 bar;
 ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b]; mov.u32 %r31, %tid.x; mov.u32 %r3, tile; shl.b32 %r2, %r31, 2;
 setp.eq.u32 %p1, %r31, 0; @%p1 mbarrier.init.shared.b64 [bar], 32;
 bar.sync 0;
 cvt.u64.u32 %d3, %r2; add.u64 %d4, %d1, %d3; add.u64 %d5, %d2, %d3; add.u32 %r4, %r3, %r2; xor.b32 %r7, %r4, 4;
 setp.ge.u32 %p2, %r31, 32; @%p2 bra CONSUME;
 cp.async.ca.shared.global [%r4], [%d4], 4;
 cp.async.mbarrier.arrive.noinc.shared.b64 [bar];
 {then}
 bra END;
CONSUME:
L: mbarrier.try_wait.parity.shared.b64 %p3, [bar], 0; @!%p3 bra L;
 ld.shared.u32 %r5, [%r4+{read}-128]; st.global.u32 [%d5], %r5;
END:
"""
OWN, OTHER = "ld.shared.u32 %r6, [%r4];", "ld.shared.u32 %r6, [%r7];"
COPY = "cp.async.ca.shared.global [%r4+512], [%d4], 4;"
ORDERED = [
    ("only the mbarrier", ""),
    ("a wait for all", "cp.async.wait_all;"),
    ("a wait for a group", "cp.async.commit_group; cp.async.wait_group 0;"),
    ("the thread reads its own copy", f"cp.async.wait_all; {OWN}"),
    ("it writes the source again", "cp.async.wait_all; st.global.u32 [%d4], %r2;"),
    ("a neighbor is told of the wait", f"cp.async.wait_all; bar.warp.sync -1; {OTHER}"),
    ("two waits", f"{COPY} cp.async.wait_all; cp.async.wait_all; bar.warp.sync -1; {OTHER}"),
]
RACING = [
    ("a copy behind the arrival", f"{COPY} cp.async.wait_all;", 512, "PTX302"),
    ("a store behind the arrival", "st.shared.u32 [%r4+512], %r2; cp.async.wait_all;", 512, "PTX621"),
    ("a neighbor that is not told of the wait", f"cp.async.wait_all; {OTHER}", 0, "PTX302"),
    ("a neighbor that is told before the wait", f"bar.warp.sync -1; cp.async.wait_all; {OTHER}", 0, "PTX302"),
    ("a store over what the consumers read", "cp.async.wait_all; st.shared.u32 [%r4], %r2;", 0, "PTX621"),
]


def codes(then: str, read: int, policy: str) -> set[str]:
    text = kernel(HAND_OVER.format(then=then, read=read), ".param .u64 a, .param .u64 b")
    found: set[str] = set()
    for seed in range(8 if policy == "random" else 1):
        arguments = [numpy.arange(64, dtype=numpy.uint32), numpy.zeros(64, numpy.uint32)]
        outcome = run(text, "k", block=64, arguments=arguments, policy=policy, seed=seed)
        assert not outcome.unsupported_reason
        assert not outcome.incomplete_reason
        found |= {each.code for each in outcome.findings}
    return found


@pytest.mark.parametrize("policy", ["eager", "late", "torn", "random"])
@pytest.mark.parametrize("then", [row[1] for row in ORDERED], ids=[row[0] for row in ORDERED])
def test_threads_that_observed_the_mbarrier_or_the_wait_observe_the_copies(then: str, policy: str) -> None:
    assert codes(then, 0, policy) == set()


@pytest.mark.parametrize("policy", ["eager", "late", "torn", "random"])
@pytest.mark.parametrize(("then", "read", "code"), [row[1:] for row in RACING], ids=[row[0] for row in RACING])
def test_a_copy_that_neither_orders_is_a_race(then: str, read: int, code: str, policy: str) -> None:
    assert codes(then, read, policy) == {code}
