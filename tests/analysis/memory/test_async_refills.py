"""Bytes that the generic proxy used and that a copy fills again."""

from __future__ import annotations

import pytest

from ptxkit.analysis.memory.async_refills import find_refills
from tests.analysis.support import kernel_of, module_of

START = (
    ".shared .align 16 .b8 tile[1024]; .shared .align 8 .b64 bar; ld.param.u64 %rd1, [p]; mov.u32 %r1, tile;"
    "mov.u32 %r3, %tid.x; shl.b32 %r4, %r3, 2; add.u32 %r2, %r1, %r4; setp.ne.u32 %p1, %r3, 0;"
    "@!%p1 mbarrier.init.shared.b64 [bar], 1; bar.sync 0;"
)
FENCE = "fence.proxy.async.shared::cta;"
READ, WRITE = "ld.shared.u32 %r9, [%r2];", "st.shared.u32 [%r2], %r3;"
FILL = "@!%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 1024, [bar];"


def refills(*lines: str) -> set[tuple[str, bool]]:
    """Returns (what used the bytes, whether a fence is between)."""
    module = module_of(START + "".join(lines), parameters=".param .u64 p", bounds=".reqntid 256")
    found = {each for facts in kernel_of(module).scenarios for each in find_refills(facts)}
    return {(each.use.step.instruction.opcode.partition(".")[0], each.is_fenced) for each in found}


@pytest.mark.parametrize(("use", "name"), [(READ, "ld"), (WRITE, "st")])
def test_a_barrier_orders_a_use_before_a_copy_and_a_fence_orders_their_proxies(use: str, name: str) -> None:
    assert refills(use, "bar.sync 0;", FILL) == {(name, False)}
    assert refills(use, FENCE, "bar.sync 0;", FILL) == {(name, True)}
    assert refills(use, "bar.sync 0;", FENCE, FILL) == {(name, True)}
    assert refills(FENCE, use, "bar.sync 0;", FILL) == {(name, False)}
    assert refills(use, "fence.proxy.async.global;", "bar.sync 0;", FILL) == {(name, False)}


def test_a_use_by_others_that_is_not_ordered_before_a_copy_is_not_a_refill() -> None:
    assert refills("@%p1 " + READ, FILL) == set()


def test_a_copy_of_other_bytes_is_not_a_refill() -> None:
    assert refills("ld.shared.u32 %r9, [%r2+1024];", "bar.sync 0;", FILL) == set()


def test_a_use_after_the_copy_is_not_a_refill() -> None:
    assert refills(FILL, "bar.sync 0;", READ) == set()


def test_the_wait_for_a_bulk_copy_is_a_fence() -> None:
    out = "@!%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 16; @!%p1 cp.async.bulk.commit_group;"
    wait = "@!%p1 cp.async.bulk.wait_group.read 0;"
    assert refills(READ, "bar.sync 0;", out, wait, FILL) == {("ld", True)}
