"""Kernels of the builder on the reference machine, called in the same way as launches."""

from __future__ import annotations

import numpy as np
import pytest

from ptxkit.build import (
    BuildTypeError,
    BuildValueError,
    EmulationError,
    Global,
    Kernel,
    Shared,
    UnfinishedError,
    f32,
    u32,
)
from ptxkit.emulator import InvalidLaunchError, TensorMapArgument
from ptxkit.emulator.driver.uninitialized_dependence import UninitializedDependence
from ptxkit.kernels.seeds.tensor_tile import tensor_tile


def scale() -> Kernel:
    k = Kernel("scale", threads=64)
    data = k.param(Global[f32], "data")
    count = k.param(u32, "count")
    i = k.ctaid.x * 64 + k.tid.x
    with k.if_(i < count):
        data[i].store(data[i].load() * 2.0)
    return k


def build_turn(*, meet: bool) -> Kernel:
    k = Kernel("turned", threads=64)
    data = k.param(Global[f32], "data")
    tile: Shared[f32] = k.shared(f32, 64)
    tile[k.tid.x].store(data[k.tid.x].load())
    if meet:
        k.cta_sync()
    data[k.tid.x].store(tile[63 - k.tid.x].load())
    return k


def test_arrays_are_changed_in_place_as_by_a_launch() -> None:
    data = np.arange(100, dtype=np.float32)
    outcome = scale().emulate(2)(data, np.uint32(99))
    assert data[:99].tolist() == (2 * np.arange(99)).tolist()
    assert data[99] == 99
    assert outcome.is_clean


@pytest.mark.parametrize("policy", ["eager", "late", "torn", "random"])
def test_a_correct_kernel_passes_under_every_policy(policy: str) -> None:
    data = np.arange(64, dtype=np.float32)
    build_turn(meet=True).emulate(1, policy=policy, seed=3)(data)
    assert data.tolist() == list(range(63, -1, -1))


def test_a_finding_of_a_run_is_an_error_at_the_users_lines_with_both_accesses() -> None:
    with pytest.raises(EmulationError) as caught:
        build_turn(meet=False).emulate(1)(np.zeros(64, np.float32))
    (found, *_) = caught.value.diagnostics
    assert found.code == "PTX621"
    assert [blame.location.file for blame in caught.value.blames if blame.location] == [__file__]
    text = str(caught.value)
    assert "a run on the reference machine shows it" in text
    assert "thread (" in text
    assert "policy late, seed 0" in text


def test_an_endless_run_is_not_a_finding() -> None:
    k = Kernel("endless", threads=1)
    data = k.param(Global[u32], "data")
    with k.loop():
        data[1].store(data[1].load() + 1)
    with pytest.raises(UnfinishedError, match="used up its s"):
        k.emulate(1, seconds=0.02)(np.zeros(2, np.uint32))


def test_arguments_are_compared_with_the_parameters() -> None:
    with pytest.raises(BuildTypeError, match="takes 2 arguments"):
        scale().emulate(1)(np.zeros(4, np.float32))
    with pytest.raises(BuildTypeError, match="does not fit in parameter 'count'"):
        scale().emulate(1)(np.zeros(4, np.float32), 1 << 40)
    with pytest.raises(InvalidLaunchError, match="threads"):
        scale().emulate(1, 32)(np.zeros(4, np.float32), 4)


def test_a_read_only_array_may_be_read_and_not_written() -> None:
    data = np.arange(64, dtype=np.float32)
    data.flags.writeable = False
    scale().emulate(1)(data, 0)
    with pytest.raises(BuildValueError, match="wrote to data, which is read-only"):
        scale().emulate(1)(data, 64)


def test_an_array_for_a_tensor_map_is_mapped_as_the_kernel_specifies() -> None:
    source = np.arange(32 * 32, dtype=np.float32).reshape(32, 32)
    target = np.zeros_like(source)
    tensor_tile().emulate((1, 1))(source, target)
    assert (target == 2 * source).all()
    tensor_tile().emulate((1, 1))(TensorMapArgument.tiled(target, box=(32, 32)), source)
    assert (source == 2 * target).all()


def test_launch_sized_shared_memory_is_the_kernels_request() -> None:
    k = Kernel("sized", threads=32)
    out = k.param(Global[u32], "out")
    tile = k.dynamic_shared(u32, 32)
    tile[k.tid.x].store(k.tid.x)
    out[k.tid.x].store(tile[k.tid.x].load() + k.dynamic_smem_size)
    found = np.zeros(32, np.uint32)
    k.emulate(1)(found)
    assert found.tolist() == [128 + i for i in range(32)]
    k.emulate(1, shared=256)(found)
    assert found.tolist() == [256 + i for i in range(32)]


def handed_back() -> Kernel:
    """One warp reads bytes that another one copied, and releases them by an arrival that formally orders nothing."""
    k = Kernel("k", threads=64, target="sm_90a")
    source, tile = k.param(Global[f32], "source", align=16), k.shared(f32, 4, align=16)
    full, free = k.mbarrier("full"), k.mbarrier("free")
    with k.thread_is(0):
        full.init(1)
        free.init(1)
    k.cta_sync()
    with k.thread_is(0):
        for turn in k.unroll(2):
            if turn:
                free.wait(0)
            full.arrive_expect_tx(16)
            k.cp_async_bulk_shared_cta_global(tile, source[4 * turn], 16, full)
    with k.thread_is(32):
        full.wait(0)
        free.arrive(order="relaxed")
        full.wait(1)
    return k


def test_behavior_that_the_isa_leaves_open_is_found_on_request() -> None:
    data = np.zeros(8, np.float32)
    assert handed_back().emulate(1)(data).is_clean
    with pytest.raises(EmulationError, match="PTX303"):
        handed_back().emulate(1, strict=True)(data)


def test_a_truncated_comparison_is_among_the_unchecked_items(monkeypatch: pytest.MonkeyPatch) -> None:
    def cut_short(*_: object, **__: object) -> UninitializedDependence:
        return UninitializedDependence(incomplete_reason="the run took too long")

    data = np.arange(64, dtype=np.float32)
    assert scale().emulate(1)(data, np.uint32(64)).unchecked_reasons == ()
    monkeypatch.setattr("ptxkit.build.emulation.find_significant_reads", cut_short)
    outcome = scale().emulate(1)(data, np.uint32(64))
    assert outcome.is_clean
    assert outcome.unchecked_reasons == (
        "whether results depend on uninitialized registers is unknown: the run took too long",
    )


def test_an_unset_value_of_a_loop_is_an_error_where_it_matters() -> None:
    k = Kernel("k", threads=32)
    data, out, count = k.param(Global[f32], "data"), k.param(Global[f32], "out"), k.param(u32, "count")
    with k.for_range(0, count) as index:
        value = data[index].load()
    out[k.tid.x].store(value * 2.0)
    source, result = np.ones(32, np.float32), np.zeros(32, np.float32)
    assert k.emulate(1)(source, result, 3).is_clean
    with pytest.raises(EmulationError, match="PTX651") as caught:
        k.emulate(1)(source, result, 0)
    (blame,) = caught.value.blames
    assert blame.location is not None
    assert "value * 2.0" in blame.location.text
