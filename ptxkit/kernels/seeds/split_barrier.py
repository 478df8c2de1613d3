"""A barrier in two halves: `cuda::barrier::arrive` and `wait`, with work between them.

What it shows. At a `bar.sync` a thread stops until the last one has come. An mbarrier lets it report that its part is
done (arrive), continue with work that needs no other thread, and stop only when it needs what others did (wait).

What it becomes. `mbarrier.arrive` gives a token that names the phase; `mbarrier.test_wait`, in a loop, waits for the
phase of the token (in a kernel for sm_90 `try_wait`, which suspends the thread meanwhile). The arrival releases what
the thread wrote, and the wait acquires what the others wrote. Reading before the wait would be a race (PTX621).

Two buffers in turn make one wait a tile enough: who writes a buffer again has waited since for a phase in which every
thread arrived *after* its reading of it.

The twin in CUDA C++: `corpus/seeds/src/split_barrier.cu`.
"""

from __future__ import annotations

import numpy as np

from ptxkit.build import Global, Kernel, f32, u32
from ptxkit.kernels.seeds.tile_folding import FloatArray

THREADS = TILE = 256


def split_barrier(*, debug: bool = False) -> Kernel:
    """`target[i] = source[i]**2 + source[the opposite in its tile]`, without a fused multiply-add.

    Parameters: source, target: f32 arrays; tiles: u32. Block: THREADS; grid: any.
    """
    k = Kernel("split_barrier", threads=THREADS, debug=debug)
    source, target = k.param(Global[f32], "source"), k.param(Global[f32], "target")
    tiles = k.param(u32, "tiles")
    buffers, written = k.shared(f32, 2 * TILE, name="buffers"), k.mbarrier("written")
    thread = k.tid.x
    with k.thread_is(0):
        written.init(THREADS)
    k.cta_sync()
    buffer = k.variable(u32, 0, multiple=TILE)
    with k.for_range(k.ctaid.x, tiles, k.nctaid.x) as number:
        first = number * TILE
        mine = source[first + thread].load()
        buffers[buffer + thread].store(mine)
        token = written.arrive()
        own = k.mul_rn_f32(mine, mine)  # needs no other thread
        written.wait(token=token)
        opposite = buffers[buffer + (TILE - 1) - thread].load()
        target[first + thread].store(k.add_rn_f32(own, opposite))
        buffer.set(buffer ^ TILE)
    return k


def expected_sums(source: FloatArray) -> FloatArray:
    """The same of whole tiles."""
    tiles = source.reshape(-1, TILE)
    with np.errstate(over="ignore", under="ignore"):
        return (tiles * tiles + tiles[:, ::-1]).ravel()
