"""Staging by one copy of the whole group: `cooperative_groups::memcpy_async` and `wait`.

Purpose. All threads of the CTA call `memcpy_async` once for a whole tile, and each executes a share of the copy. The
data does not pass through registers, and a thread may execute other work before it waits.

Generated PTX. Alignment and size are multiples of 16 bytes here, so each thread executes one `cp.async.cg` of 16 bytes
for each tile. The completion is not reported to an mbarrier, which a bulk copy would need on any target. `wait()` has
two steps: `cp.async.wait_all` waits for the thread's own copies, and `bar.sync` for those of the others. Without the
first, the tile may be read before it has arrived (PTX302); the second allows threads to read each other's share.

The equivalent in CUDA C++: `corpus/seeds/src/group_copy.cu`.
"""

from __future__ import annotations

from ptxkit.build import Global, Kernel, f32, u32
from ptxkit.kernels.seeds.tile_folding import BYTES, THREADS, TILE, store_folded


def group_copy(*, debug: bool = False) -> Kernel:
    """Returns a kernel that folds tiles of TILE elements, which the CTAs share.

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
