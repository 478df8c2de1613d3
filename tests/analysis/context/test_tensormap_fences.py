"""Tensor maps that a kernel changes: the changes of the map of a copy, and the fences between them and the copy."""

from __future__ import annotations

from ptxkit.analysis.context.tensormap_fences import MapUse, MapWrite, ModifiedTensorMaps
from tests.analysis.support import kernel_of, module_of

START = (
    ".shared .align 128 .b8 tile[1024]; ld.param.u64 %rd1, [map]; ld.param.u64 %rd2, [other]; mov.u32 %r2, tile;"
    "mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r1, 32; mov.u32 %r3, 0;"
)
CHANGE = "@%p1 tensormap.replace.tile.global_address.global.b1024.b64 [%rd1], %rd2;"
COPY = "@{} cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1, {{%r3}}], [%r2];"
RELEASE = "@%p1 fence.proxy.tensormap::generic.release.gpu;"
ACQUIRE = "@%p1 fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;"
MEET = "bar.sync 0;"


def maps_of(*lines: str) -> ModifiedTensorMaps:
    module = module_of(START + "".join(lines), bounds=".reqntid 64", parameters=".param .u64 map, .param .u64 other")
    return ModifiedTensorMaps(kernel_of(module).scenarios[0])


def only(maps: ModifiedTensorMaps) -> tuple[MapWrite, MapUse]:
    (use,) = maps.uses
    (change,) = maps.writes_to(use)
    return change, use


def test_a_copy_uses_the_map_at_its_address() -> None:
    (use,) = maps_of(COPY.format("%p1")).uses
    assert use.thread.tid == 0
    assert use.is_global_pointer


def test_a_change_of_the_same_bytes_changes_the_map() -> None:
    change, use = only(maps_of(CHANGE, COPY.format("%p1")))
    assert change.is_map_update
    assert change.position < use.copy.position


def test_a_store_into_the_map_is_a_change_where_its_proxy_is_fenced() -> None:
    store = "@%p1 st.global.u32 [%rd1+124], %r3;"
    change, _ = only(maps_of(store, RELEASE, COPY.format("%p1")))
    assert not change.is_map_update
    maps = maps_of(store, COPY.format("%p1"))
    assert not list(maps.writes_to(maps.uses[0])), "nobody follows stores in other kernels"


def test_bytes_after_the_map_and_at_other_pointers_are_not_part_of_it() -> None:
    for place in ("%rd1+128", "%rd2"):
        maps = maps_of(CHANGE.replace("%rd1", place), COPY.format("%p1"))
        assert not list(maps.writes_to(maps.uses[0]))


def test_fences_are_found_by_direction_and_map() -> None:
    maps = maps_of(CHANGE, RELEASE, RELEASE, ACQUIRE, ACQUIRE, COPY.format("%p1"))
    change, use = only(maps)
    span = change.position, use.copy.position
    first, last = maps.first_release(use.thread, use.address, *span), maps.last_acquire(use.thread, use.address, *span)
    assert first is not None
    assert last is not None
    assert maps.first_release(use.thread, use.address, first + 1, last) is not None
    assert maps.last_acquire(use.thread, use.address, first, last) is not None
    assert maps.first_release(use.thread, use.address, change.position, first) is None
    assert maps.last_acquire(use.thread, use.address, last + 1, use.copy.position) is None
    assert maps.last_acquire(use.thread, use.address.plus(128), *span) is None
    assert maps.may_acquire(use)


def test_a_third_thread_may_acquire_between_two_barriers_and_not_before_them() -> None:
    third = "setp.eq.u32 %p3, %r1, 63;"
    acquire = ACQUIRE.replace("%p1", "%p3")
    between = maps_of(third, CHANGE, RELEASE, MEET, acquire, MEET, COPY.format("%p2"))
    assert between.may_fence_elsewhere("acquire", *only(between))
    before = maps_of(third, acquire, MEET, CHANGE, RELEASE, MEET, COPY.format("%p2"))
    assert not before.may_fence_elsewhere("acquire", *only(before))


def test_without_a_barrier_the_accesses_are_unordered() -> None:
    maps = maps_of(CHANGE, COPY.format("%p2"))
    assert maps.are_unordered(*only(maps))
    met = maps_of(CHANGE, MEET, COPY.format("%p2"))
    assert not met.are_unordered(*only(met))
    assert met.sync_edges(*only(met))
