"""Barriers and fences by their names in CUDA C++: the instruction of each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ptxkit.build import BuildValueError, Kernel
from tests.build.support import assert_ptxas_accepts, opcodes

EMITTED: list[tuple[Callable[[Kernel], object], list[str]]] = [
    (lambda k: k.cta_sync(), ["bar.sync"]),
    (lambda k: k.cta_sync(3, 64), ["bar.sync"]),
    (lambda k: k.cta_sync_count(k.tid.x > 3), ["bar.red.popc.u32"]),
    (lambda k: k.cta_sync_and(k.tid.x > 3), ["bar.red.and.pred"]),
    (lambda k: k.cta_sync_or(k.tid.x > 3), ["bar.red.or.pred"]),
    (lambda k: k.cta_sync_count(k.tid.x > 3, 1, 64), ["bar.red.popc.u32"]),
    (lambda k: k.cta_sync_and(k.tid.x > 3, 1, 64), ["bar.red.and.pred"]),
    (lambda k: k.cta_sync_or(k.tid.x > 3, 1, 64), ["bar.red.or.pred"]),
    (lambda k: k.cta_arrive(2, 64), ["bar.arrive"]),
    (lambda k: k.warp_sync(), ["bar.warp.sync"]),
    (lambda k: k.cluster_arrive(), ["barrier.cluster.arrive.release.aligned"]),
    (lambda k: k.cluster_arrive(order="relaxed", aligned=False), ["barrier.cluster.arrive.relaxed"]),
    (
        lambda k: k.cluster_sync(),
        ["barrier.cluster.arrive.release.aligned", "barrier.cluster.wait.acquire.aligned"],
    ),
    (lambda k: k.thread_fence("cta"), ["fence.acq_rel.cta"]),
    (lambda k: k.thread_fence("cluster"), ["fence.acq_rel.cluster"]),
    (lambda k: k.thread_fence(), ["fence.acq_rel.gpu"]),
    (lambda k: k.thread_fence("system"), ["fence.acq_rel.sys"]),
    (lambda k: k.fence_barrier_init(), ["fence.mbarrier_init.release.cluster"]),
    (lambda k: k.fence_proxy_async(), ["fence.proxy.async"]),
    (lambda k: k.fence_view_async(), ["fence.proxy.async.shared::cta"]),
    (lambda k: k.tma_store_arrive(), ["cp.async.bulk.commit_group"]),
    (lambda k: k.tma_store_wait(1), ["cp.async.bulk.wait_group.read"]),
    (lambda k: k.tma_store_wait(read=False), ["cp.async.bulk.wait_group"]),
]


@pytest.mark.parametrize(("call", "expected"), EMITTED)
def test_each_emits_the_instruction_of_its_docstring(
    call: Callable[[Kernel], object], expected: list[str], tmp_path: Path
) -> None:
    k = Kernel("k", threads=64)
    call(k)
    emitted = [opcode for opcode in opcodes(k.module()) if not opcode.startswith(("mov", "setp", "ret"))]
    assert emitted == expected
    assert_ptxas_accepts(str(k), tmp_path)


def test_a_reduction_at_a_barrier_names_it_and_its_threads() -> None:
    k = Kernel("k", threads=64)
    k.cta_sync_count(k.tid.x > 3, 1, 64)
    k.cta_sync_and(k.tid.x > 3)
    assert "bar.red.popc.u32 %r1, 1, 64, %p0;" in str(k)
    assert "bar.red.and.pred %p2, 0, %p1;" in str(k)


def test_a_name_that_does_not_exist_is_rejected() -> None:
    k = Kernel("k")
    with pytest.raises(BuildValueError, match="there is no barrier 16"):
        k.cta_sync(16, 32)
    with pytest.raises(BuildValueError, match="there is no barrier 16"):
        k.cta_sync_or(k.tid.x > 3, 16)
    with pytest.raises(BuildValueError, match="one of cta, cluster, gpu"):
        k.thread_fence("device")
    with pytest.raises(BuildValueError, match="release or relaxed"):
        k.cluster_arrive(order="seq")
