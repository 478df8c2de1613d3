"""One-dimensional bulk copies in and out: one instruction moves a whole tile.

Purpose. One thread starts the copy of a whole tile; no other thread takes part in it. For the copy in, the completion
is part of a phase of an mbarrier. The copy out has no mbarrier: copies are committed in a *group*, which their thread
waits for.

Generated PTX. In: `mbarrier.expect_tx` for the bytes, and `cp.async.bulk` to shared memory. Out:
`cp.async.bulk.global.shared::cta`, `commit_group`, and `wait_group.read`, which returns when the tile has been read;
then the CTA may exit. Between them are generic stores, which bulk copies do not observe without a proxy fence: each
thread executes `fence.proxy.async`, and then a barrier follows (PTX401 without the fence, PTX301 and PTX303 without
commit and wait).

The equivalent in CUDA C++: `corpus/seeds/src/bulk_both_ways.cu`. `ptxkit.kernels.bulk_add_one` also handles arrays
whose size is not a multiple of 16 bytes, and gives all reasons.
"""

from __future__ import annotations

from ptxkit.build import Global, Kernel, f32
from ptxkit.kernels.seeds.tile_folding import BYTES, THREADS, TILE


def bulk_both_ways(*, debug: bool = False) -> Kernel:
    """Returns a kernel that computes `target[i] = 2 * source[i]`, a tile of TILE elements for each CTA.

    Parameters: source, target: f32 arrays, aligned to 16 bytes. Block: THREADS; grid: tiles.
    """
    k = Kernel("bulk_both_ways", threads=THREADS, target="sm_90", debug=debug)
    source, target = k.param(Global[f32], "source", align=16), k.param(Global[f32], "target", align=16)
    tile, there = k.shared(f32, TILE, align=128, name="tile"), k.mbarrier("there")
    first = k.ctaid.x * TILE
    with k.thread_is(0):
        there.init(THREADS)
    k.cta_sync()
    k.memcpy_async(tile, source[first], BYTES, group=k.this_cta(), barrier=there)
    there.wait(token=there.arrive())

    for part in range(0, TILE, THREADS):
        place = tile[k.tid.x + part]
        place.store(place.load() * 2.0)
    k.fence_view_async()
    k.cta_sync()

    with k.thread_is(0):
        k.cp_async_bulk(target[first], tile, BYTES)
        k.tma_store_arrive()
        k.tma_store_wait()
    return k
