"""Repeated fences and barriers."""

from __future__ import annotations

import pytest

from ptxkit.analysis.memory.redundant_sync import find_redundant_sync
from tests.analysis.support import kernel_of, module_of

START = ".shared .align 16 .b8 tile[1024]; mov.u32 %r1, tile; mov.u32 %r3, %tid.x; setp.ne.u32 %p1, %r3, 0;"
FENCE = "fence.proxy.async.shared::cta;"


def repeats(body: str) -> list[tuple[str, str, str]]:
    """Returns (kind, the redundant one, the other) by opcode, in the order of the text."""
    kernel = kernel_of(module_of(START + body, bounds=".reqntid 64"))
    return [
        (each.kind, each.redundant.instruction.opcode, "first" if each.other.index < each.redundant.index else "second")
        for each in find_redundant_sync(kernel)
    ]


@pytest.mark.parametrize(
    "body",
    [
        f"{FENCE} {FENCE}",
        "fence.acq_rel.gpu; add.u32 %r2, %r1, 4; fence.acq_rel.gpu;",
        "membar.gl; membar.gl;",
        "wgmma.fence.sync.aligned; wgmma.fence.sync.aligned;",
        "fence.proxy.async; fence.proxy.async.shared::cta;",
        f"@%p1 {FENCE} @%p1 {FENCE}",
    ],
)
def test_the_second_fence_is_redundant(body: str) -> None:
    assert [(what, where) for what, _, where in repeats(body)] == [("fence", "first")]


def test_a_narrow_fence_before_a_wide_one_is_redundant() -> None:
    assert repeats(f"{FENCE} fence.proxy.async;") == [("fence", "fence.proxy.async.shared::cta", "second")]


@pytest.mark.parametrize(
    "body",
    [
        f"{FENCE} st.shared.u32 [%r1], %r3; {FENCE}",
        f"{FENCE} fence.acq_rel.cta;",
        "fence.acq_rel.cta; fence.acq_rel.gpu;",
        "fence.proxy.async.global; fence.proxy.async.shared::cta;",
        f"@%p1 {FENCE} @!%p1 {FENCE}",
        f"@%p1 {FENCE} setp.eq.u32 %p1, %r3, 1; @%p1 {FENCE}",
        f"{FENCE} nanosleep.u32 10; {FENCE}",
        f"{FENCE} @%p1 bra on; on: {FENCE}",
    ],
)
def test_other_fences_or_accesses_between_them_make_both_necessary(body: str) -> None:
    assert repeats(body) == []


def test_a_repeated_barrier_of_all_threads_is_redundant() -> None:
    assert [what for what, *_ in repeats("bar.sync 0; mov.u32 %r2, 1; bar.sync 0;")] == ["barrier"]


@pytest.mark.parametrize(
    "body",
    [
        "bar.sync 0; bar.sync 1;",
        "bar.sync 1, 64; bar.sync 1, 64;",
        "bar.sync 0; st.shared.u32 [%r1], %r3; bar.sync 0;",
        "setp.lt.u32 %p2, %r3, 32; @%p2 bra one; bar.sync 0; bar.sync 0; bra on;"
        "one: bar.sync 0; st.shared.u32 [%r1], %r3; bar.sync 0; on:",
    ],
)
def test_other_barriers_or_accesses_between_them_make_both_necessary(body: str) -> None:
    assert repeats(body) == []
