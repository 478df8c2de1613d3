"""Whole kernels that use the builder's helpers, their arguments, and NumPy's results.

They run on a GPU (`tests/device/test_built.py`) and on the reference machine (`tests/build/test_meaning.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ptxkit.build import (
    Function,
    Generic,
    Global,
    Kernel,
    Rows,
    Scalar,
    b8,
    b16,
    b32,
    bf16,
    f16,
    f32,
    s16,
    s32,
    u8,
    u32,
)
from ptxkit.fast_dataclasses import dataclass

RANDOM = np.random.default_rng(20)


@dataclass(frozen=True, slots=True)
class Program:
    """A kernel and one launch of it. expected: the final contents of arguments, by their numbers."""

    kernel: Kernel
    arguments: tuple[np.ndarray[Any, Any], ...]
    expected: dict[int, np.ndarray[Any, Any]]
    grid: int = 1
    cluster: int | None = None


# --------------------------------------------------------------------------------------------- functions


def narrow() -> Function[tuple[object, ...]]:
    """Receives and returns values in unusual ways."""
    function = Function("narrow", results=(s16, u8, Generic[f32]), visible=True)
    number, byte = function.param(s16, "number"), function.param(u8, "byte")
    half, place = function.param(f16, "half"), function.param(Generic[f32], "place")
    place.store(half.convert(f32))
    function.return_(number - 5, byte, place[32])
    return function


def calling(function: object) -> Kernel:
    k = Kernel("calling", threads=32)
    out, numbers = k.param(Global[f32], "out"), k.param(Global[s32], "numbers")
    lane = k.tid.x
    number, byte, place = function(  # type: ignore[operator]
        k, lane.reinterpret(s32).convert(s16), lane.convert(u8), lane.convert(f16, "rn"), out[lane].to_generic()
    )
    place.store(2.5)
    numbers[lane].store(number.convert(s32) * 1000 + byte.convert(s32))
    return k


def all_widths() -> Program:
    """A function receives and returns values of all widths."""
    lane = np.arange(32)
    expected = {0: np.concatenate([lane, np.full(32, 2.5)]), 1: (lane - 5) * 1000 + lane}
    return Program(calling(narrow()), (np.zeros(64, np.float32), np.zeros(32, np.int32)), expected)


def recursion() -> Program:
    """A function calls itself."""
    factorial = Function("factorial", results=u32)
    n = factorial.param(u32, "n")
    with factorial.if_(n == 0):
        factorial.return_(1)
    factorial.return_(n * factorial(factorial, n - 1))
    k = Kernel("factorials", threads=32)
    out = k.param(Global[u32], "out")
    out[k.tid.x].store(factorial(k, k.tid.x & 7))
    return Program(k, (np.zeros(32, np.uint32),), {0: np.tile([1, 1, 2, 6, 24, 120, 720, 5040], 4)})


# --------------------------------------------------------------------------------------------- fragments


def as_bits(values: np.ndarray, element: str) -> np.ndarray:
    """Numbers of few bits in the format of an element."""
    if element == "f16":
        return values.astype(np.float16).view(np.uint16)
    if element == "bf16":
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    if element == "tf32":
        return values.astype(np.float32).view(np.uint32)
    if element in ("e4m3", "e5m2"):
        shift, bias = (3, 7) if element == "e4m3" else (2, 15)
        exponent = np.floor(np.log2(np.maximum(np.abs(values), 1))).astype(int)
        mantissa = ((np.abs(values) / 2.0**exponent - 1) * 2**shift).astype(int)
        bits = (exponent + bias << shift) + mantissa
        return (np.where(values == 0, 0, bits) | (values < 0) << 7).astype(np.uint8)
    return values.astype(np.int8).view(np.uint8)


FORMATS: list[tuple[str, type[Scalar], type[Scalar]]] = [
    ("f16", b16, f32),
    ("bf16", b16, f32),
    ("tf32", b32, f32),
    ("e4m3", b8, f32),
    ("e5m2", b8, f32),
    ("s8", b8, s32),
]


def fill_cache(k: Kernel, source: Global[Scalar], count: int, columns: int, swizzle: int, name: str) -> Rows[Scalar]:
    """The source's rows in shared memory, element by element, at the positions of the swizzle."""
    place = k.shared(source.type, count * columns, align=1024, name=name)
    rows = k.rows(place, columns, swizzle=swizzle)
    with k.for_range(k.tid.x, count * columns, 32) as i:
        rows.at(i // columns, i % columns).store(source[i].load())
    return rows


def product(
    element: str, stored: type[Scalar], result: type[Scalar], *, transposed: bool = False, swizzle: int = 0
) -> Program:
    """32 x 24 results of `mma.sync`, of half of each row in shared memory."""
    columns = 128 // stored.size()
    m, n, depth = 32, 24, columns // 2
    k = Kernel("product", threads=32, target="sm_90a")
    a, b = k.param(Global[stored], "a"), k.param(Global[stored], "b")  # type: ignore[valid-type]
    out = k.param(Global[result], "out", align=8)  # type: ignore[valid-type]
    left = fill_cache(k, a, 64 if transposed else m, columns, swizzle, "left")
    right = fill_cache(k, b, 64 if transposed else n, columns, swizzle, "right")
    k.cta_sync()
    acc, step = k.mma_tile(m, n, result), 32 // stored.size()
    for at in k.unroll(0, depth, step):
        acc.multiply(
            k.mma_a(left, 0, at, count=m, transposed=transposed),
            k.mma_b(right, 0, at, count=n, transposed=transposed),
            element,
        )
    acc.store(out, n)
    shape_a, shape_b = ((64, columns), (64, columns)) if transposed else ((m, columns), (n, columns))
    values_a, values_b = RANDOM.integers(-7, 8, shape_a), RANDOM.integers(-7, 8, shape_b)
    if transposed:
        expected = values_a[:depth, :m].T @ values_b[:depth, :n]
    else:
        expected = values_a[:, :depth] @ values_b[:, :depth].T
    found = np.zeros((m, n), np.int32 if result is s32 else np.float32)
    return Program(k, (as_bits(values_a, element), as_bits(values_b, element), found), {2: expected})


def halves() -> Program:
    """A warpgroup stores its results as halves by `stmatrix`."""
    k = Kernel("halves", threads=128, target="sm_90a")
    out = k.param(Global[b16], "out")
    rows = k.rows(k.shared(bf16, 64 * 64, align=1024), 64, swizzle=128)
    acc = k.accumulator(64)
    for number, register in enumerate(acc.registers):
        value = acc.row(number) * 64 + acc.column(number)
        k.instruction("mov_f32", ((value & 255).convert(f32, "rn"),), into=register)
    acc.stmatrix(rows, 0, 0)
    k.cta_sync()
    with k.for_range(k.tid.x, 64 * 64, 128) as i:
        out[i].store(k.mov_b16(rows.at(i // 64, i % 64).cast(b16).load()))
    expected = (np.arange(64 * 64) & 255).astype(np.float32).view(np.uint32) >> 16
    return Program(k, (np.zeros(64 * 64, np.uint16),), {0: expected})


# ------------------------------------------------------------------------------------- copies, clusters


def zero_filling() -> Program:
    """Copies write zeros for the bytes that they do not read."""
    k = Kernel("zeros", threads=32)
    source, out = k.param(Global[u32], "source", align=16), k.param(Global[u32], "out", align=16)
    tile, lane = k.shared(u32, 4 * 128, align=16), k.tid.x
    for number, how in enumerate(
        ({"when": lane < 20}, {"src_size": lane & 15}, {"ignore_src": lane < 20}, {"prefetch": 128})
    ):
        k.copy_async(tile[lane * 4 + 128 * number], source[lane * 4], **how)  # type: ignore[arg-type]
    k.cp_async_wait_all()
    for number in range(4):
        k.st_v4(out[lane * 4 + 128 * number], k.ld_v4(tile[lane * 4 + 128 * number]))
    data = RANDOM.integers(0, 2**32, 128, np.uint32)
    whole = data.view(np.uint8)
    lanes, byte = np.divmod(np.arange(512), 16)
    kept = (lanes < 20, byte < (lanes & 15), lanes >= 20, lanes >= 0)
    expected = np.concatenate([np.where(each, whole, 0) for each in kept]).astype(np.uint8).view(np.uint32)
    return Program(k, (data, np.zeros(512, np.uint32)), {1: expected})


def exchange() -> Program:
    """Values are stored and added asynchronously in another CTA."""
    k = Kernel("exchange", threads=32, cluster=2)
    out = k.param(Global[u32], "out")
    numbers, total, bar = k.shared(u32, 128, align=16), k.shared(u32, 1, name="total"), k.mbarrier("bar")
    lane = k.tid.x
    with k.thread_is(0):
        total.store(5)
        bar.init(1)
        bar.arrive_expect_tx(32 * 16 + 32 * 4)
        k.fence_barrier_init()
    k.cluster_sync(aligned=False)
    other = k.cluster_ctarank ^ 1
    there, done = k.map_shared_rank(numbers, other), k.map_shared_rank(bar, other)
    value = lane + k.cluster_ctarank * 1000
    there[lane * 4].store_async([value, value + 1, value + 2, value + 3], done)
    total.map_rank(other).reduce_async("add", lane, done)
    bar.wait(0, scope="cluster")
    for number in range(4):
        out[k.cluster_ctarank * 128 + lane * 4 + number].store(numbers[lane * 4 + number].load())
    with k.thread_is(1):
        out[k.cluster_ctarank + 256].store(total.load() + k.query_shared_rank(there) * 10000)
    k.cluster_sync(aligned=False)
    block = (np.arange(32)[:, None] + np.arange(4)).ravel()
    expected = np.concatenate([block + 1000, block, [5 + 496 + 10000, 5 + 496]])
    return Program(k, (np.zeros(258, np.uint32),), {0: expected}, 2, 2)


def warpgroup(*, transposed: tuple[bool, bool] = (False, False)) -> Program:
    """64 x 64 results of `wgmma`, of matrices in shared memory whose rows are along K or not."""
    k = Kernel("warpgroup", threads=128, target="sm_90a")
    a, b = k.param(Global[b16], "a"), k.param(Global[b16], "b")
    out = k.param(Global[b16], "out")
    left, right, halves_of = (k.rows(k.shared(bf16, 64 * 64, align=1024), 64, swizzle=128) for _ in range(3))
    for rows, given in ((left, a), (right, b)):
        with k.for_range(k.tid.x, 64 * 64, 128) as i:
            k.st(rows.at(i // 64, i % 64).cast(b16), given[i].load())
    k.fence_view_async()
    k.cta_sync()
    acc = k.accumulator(64)
    one, other = (k.matrix(r.place, transposed=t) for r, t in zip((left, right), transposed, strict=True))
    k.wgmma_fence()
    for step in k.unroll(4):
        apart = [16 * 128 * step if each else 32 * step for each in transposed]
        acc.multiply(one.moved(apart[0]), other.moved(apart[1]), bf16, accumulate=step > 0)
    k.wgmma_commit_group()
    k.wgmma_wait_group(0)
    acc.stmatrix(halves_of, 0, 0)
    k.cta_sync()
    with k.for_range(k.tid.x, 64 * 64, 128) as i:
        out[i].store(halves_of.at(i // 64, i % 64).cast(b16).load())
    values = RANDOM.integers(-3, 4, (2, 64, 64))
    product_of = (values[0].T if transposed[0] else values[0]) @ (values[1] if transposed[1] else values[1].T)
    arguments = (as_bits(values[0], "bf16"), as_bits(values[1], "bf16"), np.zeros((64, 64), np.uint16))
    return Program(k, arguments, {2: as_bits(product_of, "bf16")})


def multicast_ring() -> Program:
    """Two CTAs load half of every tile each, and multicast it to both, which release it to both."""
    box, tiles = 64 * 32, 4
    k = Kernel("multicast_ring", threads=160, target="sm_90a", cluster=2)
    source = k.tensor_map("source", bf16, box=(64, 32), swizzle=128)
    out, rank = k.param(Global[b16], "out"), k.cluster_ctarank
    boxes = k.shared(bf16, 2 * 2 * box, align=1024)
    pipe = k.pipeline(2, producers=1, consumers=2 * 128)
    pipe.init(cluster=True)
    with k.role(warps=0), k.elect_one():
        producer = pipe.producer()
        with k.for_range(0, tiles) as tile, producer.stage(bytes=2 * source.bytes) as stage:
            half = boxes[stage.index * (2 * box)][rank * box]
            source.load(half, (tile * 64, rank * 32), stage.full, multicast=3)
    with k.role(warps=range(1, 5)):
        consumer = pipe.consumer()
        with k.for_range(0, tiles) as tile, consumer.stage(ranks=(0, 1)) as stage:
            rows = k.rows(boxes[stage.index * (2 * box)], 64, swizzle=128)
            with k.for_range(k.tid.x - 32, 64 * 64, 128) as i:
                value = rows.at(i // 64, i % 64).load().reinterpret(b16)
                out[(rank * tiles + tile) * (64 * 64) + i].store(value)
    k.cluster_sync(aligned=False)
    matrix = RANDOM.integers(0, 2**16, (64, 64 * tiles), np.uint16)
    expected = np.tile(matrix.reshape(64, tiles, 64).transpose(1, 0, 2).ravel(), 2)
    return Program(k, (matrix, np.zeros_like(expected)), {1: expected}, 2, 2)


def multicast_copy() -> Program:
    """Two of three CTAs receive the same tile by one copy, and each copies it out again."""
    k = Kernel("multicast_copy", threads=64, target="sm_90a", cluster=3)
    source, out = k.param(Global[f32], "source", align=16), k.param(Global[f32], "out", align=16)
    tile, there = k.shared(f32, 128, align=128, name="tile"), k.mbarrier("there")
    with k.thread_is(0):
        there.init(64)
        k.fence_barrier_init()
    k.cluster_sync(aligned=False)
    rank = k.cluster_ctarank
    with k.if_(rank > 0):
        k.memcpy_async(tile, source, 512, group=k.this_cta(), barrier=there, multicast=0b110)
        there.wait(token=there.arrive())
        k.memcpy_async(out[(rank - 1) * 128], tile, 512, group=k.this_cta()).wait()
    k.cluster_sync(aligned=False)
    values = RANDOM.random(128).astype(np.float32)
    return Program(k, (values, np.zeros(256, np.float32)), {1: np.tile(values, 2)}, 3, 3)


def even_threads() -> Program:
    """Even threads copy for all."""
    k = Kernel("even_threads", threads=64, target="sm_80")
    source, out = k.param(Global[u32], "source", align=16), k.param(Global[u32], "out")
    tile, there = k.shared(u32, 256, align=16), k.mbarrier("there")
    with k.thread_is(0):
        there.init(64)
    k.cta_sync()
    evens = k.these_threads(32, k.tid.x // 2)
    with k.if_(k.tid.x % 2 == 0):
        k.memcpy_async(tile, source, 1024, group=evens, barrier=there)
    there.wait(token=there.arrive())
    with k.for_range(k.tid.x, 256, 64) as i:
        out[i].store(tile[i ^ 255].load() // 16 + tile[i].load() % 16)
    values = RANDOM.integers(0, 2**32, 256, np.uint32)
    return Program(k, (values, np.zeros(256, np.uint32)), {1: values[::-1] // 16 + values % 16})


PROGRAMS: dict[str, Callable[[], Program]] = {
    "all_widths": all_widths,
    "recursion": recursion,
    "halves": halves,
    "zero_filling": zero_filling,
    "exchange": exchange,
    "multicast_ring": multicast_ring,
    "multicast_copy": multicast_copy,
    "even_threads": even_threads,
    "warpgroup": warpgroup,
    "warpgroup_transposed_a": partial(warpgroup, transposed=(True, False)),
    "warpgroup_transposed": partial(warpgroup, transposed=(True, True)),
} | {
    f"product_{element}{'_transposed' * transposed}{f'_{swizzle}' * (swizzle > 0)}": partial(
        product, element, stored, result, transposed=transposed, swizzle=swizzle
    )
    for element, stored, result in FORMATS
    for transposed in ((False, True) if stored is b16 else (False,))
    for swizzle in (0, 128)
}
