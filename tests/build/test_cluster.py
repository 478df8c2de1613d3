"""Shared memory of other CTAs: ranks, asynchronous stores and reductions that an mbarrier there tracks."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.build import (
    Barrier,
    BuildTypeError,
    BuildValueError,
    Generic,
    Global,
    Kernel,
    RemoteBarrier,
    Shared,
    SharedCluster,
    f16,
    f32,
    s32,
    u32,
    u64,
)
from tests.build.support import assert_ptxas_accepts


@pytest.fixture
def k() -> Kernel:
    return Kernel("k", threads=32, cluster=2)


def last(k: Kernel) -> str:
    return str(k).splitlines()[-3].strip()


def test_an_address_is_mapped_to_another_rank_and_has_its_rank(k: Kernel, tmp_path: Path) -> None:
    tile, bar = k.shared(f32, 32, align=16, name="tile"), k.mbarrier("bar")
    there = k.map_shared_rank(tile, 1)
    assert (type(there), there.alignment) == (SharedCluster, 16)
    assert last(k) == "mapa.shared::cluster.u32 %r1, %r0, 1;"
    assert type(k.map_shared_rank(bar, k.cluster_ctarank ^ 1)) is RemoteBarrier
    assert k.query_shared_rank(there).type is u32
    assert last(k) == "getctarank.shared::cluster.u32 %r6, %r1;"
    k.query_shared_rank(tile)
    assert last(k) == "getctarank.shared::cluster.u32 %r7, %r0;"
    assert "cvta" not in str(k)
    assert k.verify().diagnostics == ()
    assert_ptxas_accepts(str(k), tmp_path)


def test_a_generic_address_is_mapped_and_remains_generic(k: Kernel, tmp_path: Path) -> None:
    place = k.shared(f32, 32).to_generic()
    there = k.map_shared_rank(place, 1)
    assert type(there) is Generic
    assert last(k).startswith("mapa.u64 ")
    k.query_shared_rank(there)
    assert last(k).startswith("getctarank.u64 ")
    assert_ptxas_accepts(str(k), tmp_path)


def test_only_shared_memory_has_ranks(k: Kernel) -> None:
    data = k.param(Global[f32], "data")
    with pytest.raises(BuildTypeError, match=r"shared memory is mapped, not .*Global"):
        k.map_shared_rank(data, 1)  # type: ignore[call-overload]
    with pytest.raises(BuildTypeError, match=r"has a rank, and not .*Global"):
        k.query_shared_rank(data)  # type: ignore[arg-type]


def exchange(k: Kernel) -> tuple[Shared[f32], SharedCluster[f32], Barrier, RemoteBarrier]:
    """A tile and a barrier, here and in the other CTA, which has started."""
    tile, bar = k.shared(f32, 32, align=16, name="tile"), k.mbarrier("bar")
    with k.thread_is(0):
        bar.init(1)
        bar.arrive_expect_tx(128)
        k.fence_barrier_init()
    k.cluster_sync(aligned=False)
    other = k.cluster_ctarank ^ 1
    return tile, tile.map_rank(other), bar, bar.map_rank(other)


def test_a_value_is_stored_asynchronously_and_its_barrier_waited_for(k: Kernel, tmp_path: Path) -> None:
    out = k.param(Global[f32], "out")
    tile, there, bar, done = exchange(k)
    there[k.tid.x].store_async(k.tid.x.convert(f32, "rn"), done)
    bar.wait(0, scope="cluster")
    out[k.ctaid.x * 32 + k.tid.x].store(tile[k.tid.x].load())
    k.cluster_sync()
    assert "st.async.shared::cluster.mbarrier::complete_tx::bytes.f32 [" in str(k)
    assert "cvta" not in str(k)
    assert k.verify().diagnostics == ()
    assert_ptxas_accepts(str(k), tmp_path)


def test_two_or_four_values_are_stored_at_once(k: Kernel, tmp_path: Path) -> None:
    _, there, _, done = exchange(k)
    x = k.tid.x.convert(f32, "rn")
    there.store_async([x, x], done)
    assert ".v2.f32 [" in last(k)
    there.store_async((x, x, x, x), done)
    assert ".v4.f32 [" in last(k)
    k.shared(u64, 2, name="wide").map_rank(1).store_async(7, done)
    assert last(k).startswith("st.async.shared::cluster.mbarrier::complete_tx::bytes.u64 [")
    assert_ptxas_accepts(str(k), tmp_path)
    with pytest.raises(BuildTypeError, match="aligned to 16 bytes"):
        there[1].store_async((x, x, x, x), done)
    with pytest.raises(BuildTypeError, match="st_async"):
        k.shared(f16, 32, name="halves").map_rank(1).store_async(k.register(f16), done)


REDUCTIONS = [
    (s32, "add", "add.s32"),
    (u32, "min", "min.u32"),
    (s32, "max", "max.s32"),
    (u32, "inc", "inc.u32"),
    (u32, "dec", "dec.u32"),
    (u32, "and", "and.b32"),
    (s32, "or", "or.b32"),
    (u32, "xor", "xor.b32"),
    (u64, "add", "add.u64"),
]


@pytest.mark.parametrize(("element", "operation", "word"), REDUCTIONS)
def test_reductions_in_another_cta_are_emitted(
    k: Kernel, element: type[u32] | type[s32] | type[u64], operation: str, word: str, tmp_path: Path
) -> None:
    bar, numbers = k.mbarrier("bar"), k.shared(element, 4)
    numbers.map_rank(1).reduce_async(operation, 1, bar.map_rank(1))
    assert last(k).startswith(f"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.{word} [")
    assert_ptxas_accepts(str(k), tmp_path)


def test_other_asynchronous_reductions_are_rejected(k: Kernel) -> None:
    bar, numbers = k.mbarrier("bar").map_rank(1), k.shared(u32, 4).map_rank(1)
    with pytest.raises(BuildValueError, match="one of add, min, max, inc, dec, and, or, xor, not 'exch'"):
        numbers.reduce_async("exch", 1, bar)
    with pytest.raises(BuildTypeError, match="red_async"):
        k.shared(f32, 4, name="floats").map_rank(1).reduce_async("add", k.register(f32), bar)


def test_the_barrier_is_in_the_same_cta(k: Kernel) -> None:
    bar, numbers = k.mbarrier("bar"), k.shared(u32, 4).map_rank(1)
    with pytest.raises(BuildTypeError, match=r"not .*Barrier.*; `.map_rank\(r\)` maps it"):
        numbers.store_async(1, bar)  # type: ignore[arg-type]
    with pytest.raises(BuildTypeError, match="the mbarrier is one of the CTA"):
        numbers.reduce_async("add", 1, numbers)  # type: ignore[arg-type]
    numbers.store_async(1, bar.map_rank(1))
