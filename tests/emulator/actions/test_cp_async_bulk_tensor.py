"""Boxes of tensors: the bytes of each, compared with a direct implementation of the manual."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
import pytest

from ptxkit.emulator import POLICIES, InvalidLaunchError, TensorMapArgument, run
from tests.emulator.support import HEAD, kernel

THREADS = 32
KIND = "mbarrier::complete_tx::bytes"


def load_tile(
    map_: TensorMapArgument,
    at: Sequence[int],
    count: int,
    *,
    mode: str = "tile",
    offsets: Sequence[int] = (),
    policy: str = "late",
    expected: int | None = None,
) -> Any:
    """Returns the bytes in shared memory after a load of `count` bytes."""
    rank = 2 if "gather" in mode else len(at)
    where = ", ".join(map(str, at))
    more = f", {{{', '.join(map(str, offsets))}}}" if offsets else ""
    text = f"""{HEAD}.visible .entry k(.param .align 64 .b8 m[128], .param .u64 b)
{{
 .shared .align 1024 .b8 box[{count}]; .shared .align 8 .b64 bar;
 .reg .pred %p<4>; .reg .b32 %r<32>; .reg .b64 %d<8>;
 mov.u32 %r31, %tid.x; setp.eq.u32 %p0, %r31, 0; ld.param.u64 %d1, [b];
 mov.b64 %d2, m; cvta.param.u64 %d2, %d2;
 @%p0 mbarrier.init.shared::cta.b64 [bar], 1;
 bar.sync 0;
 @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], {count if expected is None else expected};
 @%p0 cp.async.bulk.tensor.{rank}d.shared::cta.global.{mode}.{KIND} [box], [%d2, {{{where}}}], [bar]{more};
W: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
 @!%p1 bra W;
 mov.u32 %r1, box; mov.u32 %r2, 0; mul.wide.u32 %d3, %r31, 4; add.u64 %d1, %d1, %d3;
 shl.b32 %r3, %r31, 2; add.u32 %r1, %r1, %r3;
L: ld.shared.u32 %r4, [%r1]; st.global.u32 [%d1], %r4;
 add.u32 %r1, %r1, 128; add.u64 %d1, %d1, 128; add.u32 %r2, %r2, 128;
 setp.lt.u32 %p2, %r2, {count}; @%p2 bra L;
 ret;
}}
"""
    out = numpy.zeros(count, numpy.uint8)
    found = run(text, "k", block=THREADS, arguments=[map_, out], policy=policy)
    assert not found.unsupported_reason, found.unsupported_reason
    assert [(each.code, each.message) for each in found.findings] == []
    return found.outputs[1]


def store_tile(
    map_: TensorMapArgument, at: Sequence[int], box: Any, *, mode: str = "tile", how: str = "cp", policy: str = "late"
) -> Any:
    """Returns the tensor after a store of a box whose bytes are given, or a reduction (`how` has its operation)."""
    rank = 2 if "scatter" in mode else len(at)
    head = "cp.async.bulk.tensor" if how == "cp" else "cp.reduce.async.bulk.tensor"
    operation = "" if how == "cp" else f".{how}"
    text = f"""{HEAD}.visible .entry k(.param .align 64 .b8 m[128], .param .u64 b)
{{
 .shared .align 1024 .b8 box[{box.size}];
 .reg .pred %p<4>; .reg .b32 %r<32>; .reg .b64 %d<8>;
 mov.u32 %r31, %tid.x; setp.eq.u32 %p0, %r31, 0; ld.param.u64 %d1, [b];
 mov.b64 %d2, m; cvta.param.u64 %d2, %d2;
 mov.u32 %r1, box; mov.u32 %r2, 0; mul.wide.u32 %d3, %r31, 4; add.u64 %d1, %d1, %d3;
 shl.b32 %r3, %r31, 2; add.u32 %r1, %r1, %r3;
L: ld.global.u32 %r4, [%d1]; st.shared.u32 [%r1], %r4;
 add.u32 %r1, %r1, 128; add.u64 %d1, %d1, 128; add.u32 %r2, %r2, 128;
 setp.lt.u32 %p2, %r2, {box.size}; @%p2 bra L;
 fence.proxy.async.shared::cta;
 bar.sync 0;
 @%p0 {head}.{rank}d.global.shared::cta{operation}.{mode}.bulk_group [%d2, {{{", ".join(map(str, at))}}}], [box];
 @%p0 cp.async.bulk.commit_group;
 @%p0 cp.async.bulk.wait_group 0;
 ret;
}}
"""
    found = run(text, "k", block=THREADS, arguments=[map_, box], policy=policy)
    assert not found.unsupported_reason, found.unsupported_reason
    assert [(each.code, each.message) for each in found.findings] == []
    return found.outputs[0]


def cut_short(
    array: Any, at: Sequence[int], box: Sequence[int], steps: Sequence[int] | None = None, fill: Any = 0
) -> Any:
    """Returns a box of an array by plain loops over its coordinates, innermost first in `at` and `box`."""
    steps = steps or (1,) * len(box)
    counts = [-(-each // step) for each, step in zip(box, steps, strict=True)][::-1]
    found = numpy.full(counts, fill, array.dtype)
    for place in numpy.ndindex(*counts):
        where = tuple(
            start + number * step for start, number, step in zip(at[::-1], place, tuple(steps)[::-1], strict=True)
        )
        if all(0 <= each < extent for each, extent in zip(where, array.shape, strict=True)):
            found[place] = array[where]
    return found


def numbers(*shape: int, dtype: Any = numpy.float32) -> Any:
    return numpy.arange(1, numpy.prod(shape) + 1).reshape(shape).astype(dtype)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    ("shape", "box", "at"),
    [
        ((64,), (32,), (16,)),
        ((20, 32), (16, 8), (8, 4)),
        ((20, 32), (16, 8), (-4, 15)),
        ((4, 6, 8), (8, 4, 2), (4, -1, 3)),
        ((3, 4, 6, 8), (4, 4, 4, 2), (2, 3, 1, 2)),
        ((2, 3, 4, 6, 8), (4, 4, 2, 2, 2), (6, 3, 1, 2, 1)),
    ],
)
def test_a_box_is_loaded(shape: Any, box: Any, at: Any, policy: str) -> None:
    array = numbers(*shape)
    wanted = cut_short(array, at, box)
    found = load_tile(TensorMapArgument.tiled(array, box=box), at, wanted.nbytes, policy=policy)
    assert (found.view(numpy.float32).reshape(wanted.shape) == wanted).all()


def test_every_second_element_is_loaded() -> None:
    array = numbers(20, 32)
    wanted = cut_short(array, (8, 1), (16, 12), (1, 3))
    found = load_tile(TensorMapArgument.tiled(array, box=(16, 12), element_strides=(1, 3)), (8, 1), wanted.nbytes)
    assert (found.view(numpy.float32).reshape(wanted.shape) == wanted).all()


def test_elements_outside_may_be_nan() -> None:
    found = load_tile(TensorMapArgument.tiled(numbers(8, 32), box=(16, 8), oob_fill="nan"), (24, 4), 512)
    wanted = cut_short(numbers(8, 32), (24, 4), (16, 8), fill=numpy.nan)
    assert numpy.array_equal(found.view(numpy.float32).reshape(8, 16), wanted, equal_nan=True)


@pytest.mark.parametrize("swizzle", [32, 64, 128])
def test_a_swizzle_permutes_the_chunks_of_rows(swizzle: int) -> None:
    array = numbers(32, 64, dtype=numpy.uint16)
    width = swizzle // 2
    plain = cut_short(array, (0, 0), (width, 32)).ravel().view(numpy.uint8).reshape(-1, 16)
    found = load_tile(TensorMapArgument.tiled(array, box=(width, 32), swizzle=swizzle), (0, 0), plain.size).reshape(
        -1, 16
    )
    for piece in range(len(plain)):
        row = piece * 16 // 128
        place = piece ^ (row % (swizzle // 16))
        assert (found[place] == plain[piece]).all()


@pytest.mark.parametrize("policy", POLICIES)
def test_a_box_is_stored_where_it_is_within_bounds(policy: str) -> None:
    array = numbers(10, 32)
    box = numpy.random.default_rng(1).standard_normal((8, 16)).astype(numpy.float32)
    found = store_tile(
        TensorMapArgument.tiled(array, box=(16, 8)), (20, 6), box.view(numpy.uint8).ravel(), policy=policy
    )
    wanted = array.copy()
    wanted[6:, 20:] = box[:4, :12]
    assert (found == wanted).all()


def test_a_swizzled_box_is_restored_by_a_swizzled_store() -> None:
    array = numbers(32, 64, dtype=numpy.uint16)
    map_ = TensorMapArgument.tiled(array, box=(64, 32), swizzle=128)
    box = load_tile(map_, (0, 0), 4096)
    target = numpy.zeros_like(array)
    assert (store_tile(TensorMapArgument.tiled(target, box=(64, 32), swizzle=128), (0, 0), box) == array).all()


@pytest.mark.parametrize(("how", "combine"), [("add", numpy.add), ("min", numpy.minimum), ("xor", numpy.bitwise_xor)])
def test_a_reduction_combines_a_box_with_the_contents_of_memory(how: str, combine: Any) -> None:
    array = numbers(10, 32, dtype=numpy.uint32)
    box = numpy.arange(100, 228, dtype=numpy.uint32).reshape(8, 16)
    found = store_tile(TensorMapArgument.tiled(array, box=(16, 8)), (20, 6), box.view(numpy.uint8).ravel(), how=how)
    wanted = array.copy()
    wanted[6:, 20:] = combine(array[6:, 20:], box[:4, :12])
    assert (found == wanted).all()


def test_four_rows_are_gathered_and_scattered() -> None:
    array = numbers(16, 32)
    map_ = TensorMapArgument.tiled(array, box=(8, 1))
    found = load_tile(map_, (4, 3, 11, 0, 99), 128, mode="tile::gather4").view(numpy.float32).reshape(4, 8)
    assert (found[:3] == array[[3, 11, 0], 4:12]).all()
    assert not found[3].any()
    target = TensorMapArgument.tiled(numpy.zeros_like(array), box=(8, 1))
    back = store_tile(target, (4, 3, 11, 0, 99), found.view(numpy.uint8).ravel(), mode="tile::scatter4")
    assert (back[[3, 11, 0], 4:12] == found[:3]).all()
    assert numpy.count_nonzero(back) == 24


def test_pixels_are_traversed_in_order_through_images() -> None:
    images = numbers(2, 5, 6, 8)  # N, H, W, C
    lower, upper, at, offsets = (-1, -1), (-1, -1), (4, 3, 2, 0), (1, 2)
    map_ = TensorMapArgument.im2col(images, lower=lower, upper=upper, channels=4, pixels=16)
    found = load_tile(map_, at, 256, mode="im2col", offsets=offsets).view(numpy.float32).reshape(16, 4)
    wanted, w, h, n = [], at[1], at[2], at[3]
    for _ in range(16):
        x, y = w + offsets[0], h + offsets[1]
        inside = 0 <= x < 6 and 0 <= y < 5 and n < 2
        wanted.append(images[n, y, x, 4:8] if inside else numpy.zeros(4, numpy.float32))
        w += 1
        if w >= 6 + upper[0]:
            w, h = lower[0], h + 1
        if h >= 5 + upper[1]:
            h, n = lower[1], n + 1
    assert (found == numpy.array(wanted)).all()


def test_a_wrong_map_is_refused() -> None:
    array = numbers(8, 32)
    for wrong in ({"box": (3, 8)}, {"box": (16,)}, {"box": (16, 8), "swizzle": 32}, {"box": (16, 8), "element": "f64"}):
        with pytest.raises(InvalidLaunchError):
            TensorMapArgument.tiled(array, **wrong)
    with pytest.raises(InvalidLaunchError):
        TensorMapArgument.tiled(numbers(8, 3), box=(4, 8))
    with pytest.raises(InvalidLaunchError):
        TensorMapArgument.im2col(array, lower=(0,), upper=(0,), channels=4, pixels=4)


CHANGE = f"""{HEAD}.visible .entry k(.param .align 64 .b8 m[128], .param .u64 maps, .param .u64 other, .param .u64 b)
{{
 .shared .align 128 .b8 map[128]; .shared .align 128 .b8 box[512]; .shared .align 8 .b64 bar;
 .reg .pred %p<4>; .reg .b32 %r<32>; .reg .b64 %d<8>;
 mov.u32 %r31, %tid.x; setp.eq.u32 %p0, %r31, 0;
 ld.param.u64 %d1, [maps]; ld.param.u64 %d2, [other]; ld.param.u64 %d3, [b];
 mov.u32 %r1, map; shl.b32 %r2, %r31, 2; add.u32 %r1, %r1, %r2;
 mov.b64 %d4, m; cvt.u64.u32 %d5, %r2; add.u64 %d4, %d4, %d5;
 ld.param.u32 %r3, [%d4]; st.shared.u32 [%r1], %r3;
 bar.warp.sync 0xffffffff;
 @%p0 tensormap.replace.tile.global_address.shared::cta.b1024.b64 [map], %d2;
 @%p0 tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [map], 1, 6;
 @%p0 mbarrier.init.shared::cta.b64 [bar], 1;
 bar.warp.sync 0xffffffff;
 tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d1], [map], 128;
 fence.proxy.tensormap::generic.acquire.gpu [%d1], 128;
 @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 512;
 @%p0 cp.async.bulk.tensor.2d.shared::cta.global.tile.{KIND} [box], [%d1, {{16, 0}}], [bar];
W: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
 @!%p1 bra W;
 mov.u32 %r1, box; shl.b32 %r2, %r31, 4; add.u32 %r1, %r1, %r2; ld.shared.v4.u32 {{%r4, %r5, %r6, %r7}}, [%r1];
 cvt.u64.u32 %d6, %r2; add.u64 %d3, %d3, %d6; st.global.v4.u32 [%d3], {{%r4, %r5, %r6, %r7}};
 ret;
}}
"""


@pytest.mark.parametrize("policy", POLICIES)
def test_a_map_is_changed_between_copies(policy: str) -> None:
    first, second = numbers(8, 32), numbers(8, 32) + 1000
    maps = numpy.zeros(128, numpy.uint8)
    arguments = [TensorMapArgument.tiled(first, box=(16, 8)), maps, second, numpy.zeros(512, numpy.uint8)]
    found = run(CHANGE, "k", block=THREADS, arguments=arguments, policy=policy)
    assert not found.unsupported_reason, found.unsupported_reason
    assert [(each.code, each.message) for each in found.findings] == []
    wanted = second[:, 16:].copy()
    wanted[6:] = 0
    assert (found.outputs[3].view(numpy.float32).reshape(8, 16) == wanted).all()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (" fence.proxy.tensormap::generic.acquire.gpu [%d1], 128;\n", ""),
        ("acquire.gpu [%d1], 128", "acquire.gpu [%d2], 128"),
    ],
)
def test_a_map_that_is_not_acquired_is_found(old: str, new: str) -> None:
    assert old in CHANGE
    arguments = [
        TensorMapArgument.tiled(numbers(8, 32), box=(16, 8)),
        numpy.zeros(128, numpy.uint8),
        numbers(8, 32),
        numpy.zeros(512, numpy.uint8),
    ]
    found = run(CHANGE.replace(old, new), "k", block=THREADS, arguments=arguments)
    assert [each.code for each in found.findings] == ["PTX403"]
    assert [each.action.split(".")[0] for each in found.findings[0].witnesses] == ["cp", "tensormap"]


def test_a_map_that_is_stored_and_not_released_is_found() -> None:
    copy = (
        " tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d1], [map], 128;\n"
    )
    store = (
        " add.u64 %d7, %d1, %d5; ld.shared.u32 %r3, [%r1]; st.global.u32 [%d7], %r3;\n"
        "{release} bar.warp.sync 0xffffffff;\n"
    )
    assert copy in CHANGE
    arguments = [
        TensorMapArgument.tiled(numbers(8, 32), box=(16, 8)),
        numpy.zeros(128, numpy.uint8),
        numbers(8, 32),
        numpy.zeros(512, numpy.uint8),
    ]
    for release, codes in (("", ["PTX403"]), (" fence.proxy.tensormap::generic.release.gpu;\n", [])):
        text = CHANGE.replace(copy, store.replace("{release}", release))
        found = run(text, "k", block=THREADS, arguments=arguments)
        assert not found.unsupported_reason
        assert [each.code for each in found.findings] == codes


def test_a_copy_may_name_another_address_for_the_tensor() -> None:
    first, second = numbers(8, 32), numbers(8, 32) + 1000
    text = CHANGE.replace("[%d1, {16, 0}]", "[%d1, %d2, {16, 0}]").replace(
        f"tile.{KIND} [box]", f"tile.{KIND}.override::global_address [box]"
    )
    text = text.replace(" @%p0 tensormap.replace.tile.global_address.shared::cta.b1024.b64 [map], %d2;\n", "")
    text = text.replace(".version 8.6", ".version 9.4").replace("sm_100a", "sm_107a")
    arguments = [
        TensorMapArgument.tiled(first, box=(16, 8)),
        numpy.zeros(128, numpy.uint8),
        second,
        numpy.zeros(512, numpy.uint8),
    ]
    found = run(text, "k", block=THREADS, arguments=arguments)
    assert not found.unsupported_reason, found.unsupported_reason
    assert [(each.code, each.message) for each in found.findings] == []
    assert (found.outputs[3].view(numpy.float32).reshape(8, 16)[:6] == second[:6, 16:]).all()


def of_other_sizes(copy: str, map_: TensorMapArgument, source: Any, after: str = "") -> Any:
    """Returns the box of 512 bytes that one thread copies by a map whose sizes are ignored."""
    text = kernel(
        f"""
 .shared .align 128 .b8 box[512]; .shared .align 8 .b64 bar;
 mov.b64 %d1, map; ld.param.u64 %d2, [source]; ld.param.u64 %d3, [target];
 mbarrier.init.shared.b64 [bar], 1; mov.u16 %h1, 11; mov.u16 %h2, 6; mov.u32 %r2, 8; mov.u16 %h3, 0;
 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;
 {copy}
WAIT: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra WAIT;
 {after}
 cp.async.bulk.global.shared::cta.bulk_group [%d3], [box], 512;
 cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
""",
        ".param .align 128 .b8 map[128], .param .u64 source, .param .u64 target",
    )
    text = text.replace(".version 8.6", ".version 9.4").replace("sm_100a", "sm_107a")
    found = run(text, "k", block=1, arguments=[map_, source, numpy.zeros(128, numpy.float32)])
    assert not found.unsupported_reason, found.unsupported_reason
    assert [(each.code, each.message) for each in found.findings] == []
    return found.outputs


SIZES = "[%d1, %d2, {%h1, %h2}, {%r2}, %h3, {0, 0}]"
LOAD = f"shared::cta.global.tile.{KIND}.override::global_address.override"


def test_a_copy_may_name_other_sizes_and_strides_too() -> None:
    source = numbers(8, 32) + 1000
    copy = f"cp.async.bulk.tensor.2d.{LOAD}::global_dim_stride [box], {SIZES}, [bar];"
    made = of_other_sizes(copy, TensorMapArgument.tiled(numbers(8, 64), box=(16, 8)), source)[2].reshape(8, 16)
    assert (made[:6, :11] == source[:6, :11]).all()  # eight times 16 bytes from row to row, and not 256
    assert not made[6:].any()
    assert not made[:, 11:].any()


def test_a_one_dimensional_copy_has_another_length_and_no_stride() -> None:
    copy = f"cp.async.bulk.tensor.1d.{LOAD}::global_dim [box], [%d1, %d2, {{%h1}}, {{0}}], [bar];"
    made = of_other_sizes(copy, TensorMapArgument.tiled(numbers(1, 256).ravel(), box=(128,)), numbers(8, 32) + 1000)[2]
    assert made[:11].tolist() == [1001 + each for each in range(11)]
    assert not made[11:].any()


def test_a_store_and_a_reduction_may_name_them_as_well() -> None:
    where = f"override::global_address.override::global_dim_stride {SIZES}, [box];"
    load = f"cp.async.bulk.tensor.2d.shared::cta.global.tile.{KIND} [box], [%d1, {{0, 0}}], [bar];"
    ends = " cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
    map_ = TensorMapArgument.tiled(numbers(8, 64) + 7, box=(16, 8))
    source = numbers(8, 32) + 1000
    store = "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group." + where
    found = of_other_sizes(load, map_, source, after=store + ends)[1].reshape(8, 32)
    wanted = source.copy()
    wanted[:6, :11] = map_.array[:6, :11]
    assert (found == wanted).all()
    added = "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group." + where
    found = of_other_sizes(load, map_, source, after=added + ends)[1].reshape(8, 32)
    wanted = source.copy()
    wanted[:6, :11] += map_.array[:6, :11]
    assert (found == wanted).all()
