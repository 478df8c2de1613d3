"""Staging through shared memory with ordinary loads and stores, which the other programs replace by copies.

Purpose. The threads of a CTA load a tile to shared memory, and then process it together. Each element passes through a
register: `ld.global`, `st.shared`. A thread waits for its load before it can store, so nothing overlaps.

Generated PTX. Two barriers for each tile (`bar.sync`): one between the stores and the loads of other threads, and one
before the next tile overwrites this one. Without either, a thread may read an element that is not yet, or no longer,
the right one (PTX621).

The equivalent in CUDA C++: `corpus/seeds/src/plain_staging.cu`, with `cooperative_groups::thread_block::sync`.
"""

from __future__ import annotations

from ptxkit.build import Global, Kernel, f32, u32
from ptxkit.kernels.seeds.tile_folding import THREADS, TILE, store_folded


def plain_staging(*, debug: bool = False) -> Kernel:
    """Returns a kernel that folds tiles of TILE elements, which the CTAs share.

    Parameters: source, target: f32 arrays; tiles: u32. Block: THREADS; grid: any.
    """
    k = Kernel("plain_staging", threads=THREADS, debug=debug)
    source, target = k.param(Global[f32], "source"), k.param(Global[f32], "target")
    tiles = k.param(u32, "tiles")
    tile = k.shared(f32, TILE, name="tile")
    with k.for_range(k.ctaid.x, tiles, k.nctaid.x) as number:
        first = number * TILE
        for part in range(0, TILE, THREADS):
            mine = k.tid.x + part
            tile[mine].store(source[first + mine].load())
        k.cta_sync()
        store_folded(k, target[first], tile)
        k.cta_sync()
    return k
