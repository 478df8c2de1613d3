"""Staging by a copy that a barrier tracks: `cuda::memcpy_async` with a `cuda::barrier`.

Purpose. The copy is that of `group_copy`, but its completion is part of a phase of an mbarrier: the phase completes
when all threads have arrived *and* the copy is complete. One wait covers both, and the barrier may track other
operations, too.

Generated PTX. The instructions depend on the target, since an mbarrier can track the copy:

* for sm_90 and later, one `cp.async.bulk` of one thread, which first adds its bytes to those that the phase waits for
  (`mbarrier.expect_tx`); without this the phase may complete too early (PTX503);
* for sm_80, a `cp.async` of 16 bytes for each thread, and `cp.async.mbarrier.arrive`, which makes the phase wait for
  them.

The next copy to the same tile begins after a `bar.sync`, when all threads have read it.

The equivalent in CUDA C++: `corpus/seeds/src/barrier_copy.cu`.
"""

from __future__ import annotations

from ptxkit.build import Global, Kernel, f32, u32
from ptxkit.kernels.seeds.tile_folding import BYTES, THREADS, TILE, store_folded


def barrier_copy(*, target: str = "sm_90", debug: bool = False) -> Kernel:
    """Returns a kernel that folds tiles of TILE elements, which the CTAs share. `target` determines how tiles are
    copied.

    Parameters: source, target: f32 arrays, the source aligned to 16 bytes; tiles: u32. Block: THREADS; grid: any.
    """
    k = Kernel("barrier_copy", threads=THREADS, target=target, debug=debug)
    source, result = k.param(Global[f32], "source", align=16), k.param(Global[f32], "target")
    tiles = k.param(u32, "tiles")
    tile, there = k.shared(f32, TILE, align=128, name="tile"), k.mbarrier("there")
    with k.thread_is(0):
        there.init(THREADS)
    k.cta_sync()
    with k.for_range(k.ctaid.x, tiles, k.nctaid.x) as number:
        first = number * TILE
        k.memcpy_async(tile, source[first], BYTES, group=k.this_cta(), barrier=there)
        there.wait(token=there.arrive())
        store_folded(k, result[first], tile)
        k.cta_sync()
    return k
