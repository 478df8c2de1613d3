"""Bytes that cross from the generic proxy to the async proxy."""

from __future__ import annotations

import pytest

from ptxkit.analysis.memory.proxy_crossings import find_proxy_crossings
from tests.analysis.support import kernel_of, module_of

START = (
    ".shared .align 16 .b8 tile[1024]; ld.param.u64 %rd1, [p]; mov.u32 %r1, tile; mov.u32 %r3, %tid.x;"
    "shl.b32 %r4, %r3, 2; add.u32 %r2, %r1, %r4; setp.ne.u32 %p1, %r3, 0;"
)
STORE = "st.shared.u32 [%r2], %r3;"
FENCE = "fence.proxy.async.shared::cta;"
COPY = "@!%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 1024;"


def crossings(*lines: str) -> set[tuple[str, str, str | None]]:
    """(write, read, fence) by opcode."""
    module = module_of(START + "".join(lines), parameters=".param .u64 p", bounds=".reqntid 256")
    found = {each for facts in kernel_of(module).scenarios for each in find_proxy_crossings(facts)}
    return {
        (
            each.write.instruction.opcode.partition(".")[0],
            each.read.instruction.opcode.partition(".")[0],
            each.fence.instruction.opcode if each.fence is not None else None,
        )
        for each in found
    }


@pytest.mark.parametrize(
    ("lines", "fence"),
    [
        ((STORE, FENCE, "bar.sync 0;", COPY), FENCE),
        ((STORE, "bar.sync 0;", FENCE, COPY), FENCE),
        ((STORE, "bar.sync 0;", COPY), None),
        ((FENCE, STORE, "bar.sync 0;", COPY), None),
        ((STORE, "fence.proxy.async.global;", "bar.sync 0;", COPY), None),
        ((STORE, "fence.proxy.async;", "bar.sync 0;", COPY), "fence.proxy.async;"),
        ((STORE, "fence.acq_rel.cta;", "bar.sync 0;", COPY), None),
    ],
)
def test_a_crossing_has_the_fence_on_its_path(lines: tuple[str, ...], fence: str | None) -> None:
    assert crossings(*lines) == {("st", "cp", fence.rstrip(";") if fence else None)}


def test_an_asynchronous_store_to_shared_memory_crosses_at_its_completion() -> None:
    copy = "cp.async.ca.shared.global [%r2], [%rd1], 4; cp.async.wait_all;"
    assert crossings(copy, FENCE, "bar.sync 0;", COPY) == {("cp", "cp", FENCE.rstrip(";"))}


def test_other_bytes_do_not_cross() -> None:
    assert crossings("st.shared.u32 [%r2+1024], %r3;", "bar.sync 0;", COPY) == set()


def test_writes_of_other_threads_cross_where_a_barrier_orders_them() -> None:
    others = "@%p1 st.shared.u32 [%r2], %r3;"
    assert crossings(others, COPY) == set()
    assert crossings(others, "bar.sync 0;", COPY) == {("st", "cp", None)}
