"""Operands of multiplications that any thread of the warpgroup releases after the wait."""

from __future__ import annotations

import numpy
import pytest

from ptxkit import lint
from ptxkit.build import Global, Kernel, b16, bf16, f32
from ptxkit.emulator import POLICIES, run

WARPGROUP = 128


def text(*, waits: bool, order: str = "release") -> str:
    """A warpgroup multiplies, one thread of its third warp signals the completion, and another warp overwrites A."""
    k = Kernel("k", threads=WARPGROUP + 32, target="sm_90a")
    out = k.param(Global[f32], "out")
    a, b = (k.shared(bf16, 64 * 64, align=1024, name=name) for name in "ab")
    free = k.mbarrier("free")
    with k.thread_is(0):
        free.init(1)
    with k.for_range(k.tid.x, 64 * 64, WARPGROUP + 32) as i:
        for each in (a, b):
            k.st(each[i].cast(b16), 0)
    k.fence_view_async()
    k.cta_sync()
    with k.role(warps=range(4)):
        acc = k.accumulator(64)
        k.wgmma_fence()
        acc.multiply(k.matrix(a), k.matrix(b), bf16, accumulate=False)
        k.wgmma_commit_group()
        if waits:
            k.wgmma_wait_group(0)
        with k.thread_is(70):
            free.arrive(order=order)
        k.wgmma_wait_group(0)
        for number, each in enumerate(acc.registers):
            out[acc.row(number) * 64 + acc.column(number)].store(each)
    with k.role(warps=4):
        free.wait(0)
        k.st(a[k.laneid].cast(b16), 1)
    return str(k)


def codes(policy: str, *, waits: bool, order: str = "release", strict: bool = False) -> set[str]:
    lines, result = text(waits=waits, order=order), numpy.ones((64, 64), numpy.float32)
    found = run(lines, "k", arguments=[result], policy=policy, seed=3, strict=strict)
    assert not found.unsupported_reason
    assert not found.incomplete_reason
    assert found.findings or not found.outputs[0].any()
    return {each.code for each in found.findings}


@pytest.mark.parametrize("policy", POLICIES)
def test_one_thread_releases_operands_for_its_warpgroup(policy: str) -> None:
    assert codes(policy, waits=True) == set()


@pytest.mark.parametrize("policy", POLICIES)
def test_a_thread_that_has_not_waited_releases_nothing(policy: str) -> None:
    assert codes(policy, waits=False) == {"PTX314"}


@pytest.mark.parametrize("policy", POLICIES)
def test_a_relaxed_arrival_releases_read_operands_unless_the_policy_is_strict(policy: str) -> None:
    assert codes(policy, waits=True, order="relaxed") == set()
    assert "PTX314" in codes(policy, waits=True, order="relaxed", strict=True)
    assert codes(policy, waits=True, strict=True) <= {"PTX402"}


@pytest.mark.parametrize("policy", POLICIES)
def test_a_relaxed_arrival_before_the_wait_releases_nothing(policy: str) -> None:
    assert codes(policy, waits=False, order="relaxed") == {"PTX314"}


def test_the_rules_leave_the_machines_cases_undecided() -> None:
    for order in ("release", "relaxed"):
        assert not lint(text(waits=True, order=order)).diagnostics


def test_a_warp_that_commits_nothing_blocks_the_others() -> None:
    lines = text(waits=True).replace(
        "wgmma.commit_group.sync.aligned;", "setp.lt.u32 %pc, %rc, 96;\n@%pc wgmma.commit_group.sync.aligned;", 1
    )
    lines = lines.replace("{\n", "{\n.reg .pred %pc; .reg .b32 %rc; mov.u32 %rc, %tid.x;\n", 1)
    found = run(lines, "k", arguments=[numpy.ones((64, 64), numpy.float32)])
    (message,) = (each.message for each in found.findings if each.code == "PTX315")
    assert "32 threads of its warpgroup (thread 96 among them)" in message
