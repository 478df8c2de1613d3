"""Staging by one copy of the whole group: `cooperative_groups::memcpy_async` and `wait`.

What it shows. All threads of the CTA call `memcpy_async` once for a whole tile, and each is given its share of the
work. Nothing goes through registers, and a thread may do something else before it waits.

What it becomes. Alignment and size are multiples of 16 bytes here, so each thread has one `cp.async.cg` of 16 bytes a
tile. The end is reported to no mbarrier, which a copy by the bulk engine would need, on any target. `wait()` is two
steps: `cp.async.wait_all` waits for the thread's own copies, and a `bar.sync` for those of the others. Without the
first the tile may be read before it is there (PTX302); the second is what lets threads read each other's share.

The twin in CUDA C++: `corpus/seeds/src/group_copy.cu`.
"""

from __future__ import annotations

from ptxkit.build import Global, Kernel, f32, u32
from ptxkit.kernels.seeds.tile_folding import BYTES, THREADS, TILE, store_folded


def group_copy(*, debug: bool = False) -> Kernel:
    """Folds tiles of TILE elements; the CTAs share them.

    Parameters: source, target: f32 arrays, the source aligned to 16 bytes; tiles: u32. Block: THREADS; grid: any.
    """
    k = Kernel("group_copy", threads=THREADS, debug=debug)
    source, target = k.param(Global[f32], "source", align=16), k.param(Global[f32], "target")
    tiles = k.param(u32, "tiles")
    tile = k.shared(f32, TILE, align=16, name="tile")
    with k.for_range(k.ctaid.x, tiles, k.nctaid.x) as number:
        first = number * TILE
        copy = k.memcpy_async(tile, source[first], BYTES, group=k.this_cta())
        copy.wait()
        store_folded(k, target[first], tile)
        k.cta_sync()
    return k
