"""Flags in global memory that a thread polls before a copy: the strict policy requires a fence between."""

from __future__ import annotations

import numpy as np
import pytest

from ptxkit.emulator import Violation, run
from tests.emulator.support import kernel

COPY = """
 .shared .align 16 .b8 tile[512]; .shared .align 8 .b64 bar;
 ld.param.u64 %d1, [a]; ld.param.u64 %d2, [flag]; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0;
 @%p1 mbarrier.init.shared.b64 [bar], 1; bar.sync 0;
 @!%p1 bra.uni OUT;
 {wait}
 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;
 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%d1], 256, [bar];
OUT: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra OUT;
"""
LOOP = "POLL: ld.acquire.gpu.global.u32 %r2, [%d2]; setp.eq.u32 %p2, %r2, 0; @%p2 bra POLL;"


def find_violations(wait: str, *, strict: bool = True) -> list[Violation]:
    text = kernel(COPY.format(wait=wait), ".param .u64 a, .param .u64 flag")
    outcome = run(text, "k", block=64, arguments=[np.zeros(64, np.uint32), np.ones(1, np.uint32)], strict=strict)
    assert not outcome.unsupported_reason, outcome.unsupported_reason
    assert not outcome.incomplete_reason, outcome.incomplete_reason
    return list(outcome.findings)


@pytest.mark.parametrize(
    "wait",
    [
        LOOP,
        LOOP.replace("acquire.gpu", "acquire.sys"),
        LOOP + " fence.proxy.async.shared::cta;",
        LOOP.replace("acquire.gpu", "relaxed.gpu") + " fence.acq_rel.gpu;",
        LOOP.replace("acquire.gpu", "volatile") + " membar.gl;",
        LOOP.replace("@%p2 bra POLL;", "@!%p2 bra CAME; nanosleep.u32 20; bra POLL; CAME:"),
        LOOP.replace("ld.acquire.gpu.global.u32 %r2, [%d2];", "ld.acquire.gpu.u32 %r2, [%d2];"),
    ],
)
def test_a_copy_after_the_wait_is_reported_with_both_places(wait: str) -> None:
    (finding,) = find_violations(wait)
    assert (finding.code, finding.severity) == ("PTX406", "warning")
    copy, flag = finding.witnesses
    assert "cp.async.bulk" in copy.action
    assert flag.action.startswith("ld.")
    assert f"line {flag.line}" in finding.message
    assert copy.size == 256


@pytest.mark.parametrize(
    "wait",
    [
        "",
        LOOP + " fence.proxy.async.global;",
        LOOP + " fence.proxy.async;",
        LOOP.replace("acquire.gpu", "relaxed.gpu"),  # nothing is acquired
        LOOP.replace("acquire.gpu", "relaxed.gpu") + " fence.acq_rel.cta;",
        LOOP.replace("acquire.gpu", "acquire.cluster"),  # only threads of the cluster
        "ld.acquire.gpu.global.u32 %r2, [%d2];",  # no thread waits
        LOOP.replace("@%p2", "atom.global.inc.u32 %r3, [%d2], %r2; @%p2"),  # the loop does more than wait
    ],
)
def test_fenced_copies_and_loops_that_are_not_waits_are_not_reported(wait: str) -> None:
    assert find_violations(wait) == []


def test_only_the_strict_policy_requires_the_fence() -> None:
    assert find_violations(LOOP, strict=False) == []
