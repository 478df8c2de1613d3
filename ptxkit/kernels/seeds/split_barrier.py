"""A split barrier: `cuda::barrier::arrive` and `wait`, with independent work between them.

Purpose. At a `bar.sync` a thread stops until the last thread has arrived. With an mbarrier, a thread reports that its
part is done (arrive), continues with work that depends on no other thread, and stops only when it needs the results of
others (wait).

Generated PTX. `mbarrier.arrive` returns a token that identifies the phase; a loop with `mbarrier.test_wait` waits for
the phase of the token (in a kernel for sm_90 `try_wait`, which suspends the thread). The arrival releases the thread's
writes, and the wait acquires those of the others. A read before the wait would be a race (PTX621).

With two buffers in turn, one wait for each tile suffices: before a thread writes a buffer again, it has waited for a
phase in which every thread arrived *after* it had read the buffer.

The equivalent in CUDA C++: `corpus/seeds/src/split_barrier.cu`.
"""

from __future__ import annotations

import numpy as np

from ptxkit.build import Global, Kernel, f32, u32
from ptxkit.kernels.seeds.tile_folding import FloatArray

THREADS = TILE = 256


def split_barrier(*, debug: bool = False) -> Kernel:
    """Returns a kernel that computes `target[i] = source[i]**2 + source[opposite of i in its tile]`, without a fused
    multiply-add.

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
        own = k.mul_rn_f32(mine, mine)  # independent of other threads
        written.wait(token=token)
        opposite = buffers[buffer + (TILE - 1) - thread].load()
        target[first + thread].store(k.add_rn_f32(own, opposite))
        buffer.set(buffer ^ TILE)
    return k


def expected_sums(source: FloatArray) -> FloatArray:
    """Returns the expected elements for whole tiles."""
    tiles = source.reshape(-1, TILE)
    with np.errstate(over="ignore", under="ignore"):
        return (tiles * tiles + tiles[:, ::-1]).ravel()
