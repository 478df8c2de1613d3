"""Two-dimensional tensor copies: a box of a matrix in and out, with tensor maps.

Purpose. A tensor map, made on the host, describes a matrix: its address, its rows and columns, the bytes from row to
row, and the box that one copy transfers. The device specifies the box by the coordinates of its corner and computes no
address. A box may extend beyond the edge: elements outside are read as zeros and not written.

Generated PTX. `cp.async.bulk.tensor.2d` with `{x, y}`, the innermost dimension first. The phase waits for the bytes of
the *whole* box, also at the edge: zeros are counted like elements (PTX503 if the number differs). The copy out is that
of `bulk_both_ways`: fence, barrier, copy, group. The map is a parameter of the kernel, which nothing writes, so it
needs no separate fence.

The equivalent in CUDA C++: `corpus/seeds/src/tensor_tile.cu`.
"""

from __future__ import annotations

from ptxkit.build import Kernel, f32
from ptxkit.kernels.seeds.tile_folding import THREADS

WIDTH, HEIGHT = 32, 32


def tensor_tile(*, debug: bool = False) -> Kernel:
    """Returns a kernel that computes `target = 2 * source`, a box of WIDTH columns and HEIGHT rows for each CTA.

    Parameters: source, target: f32 matrices, or their maps, with rows of a multiple of 16 bytes. Block: THREADS; grid:
    `boxes(rows, columns)`.
    """
    k = Kernel("tensor_tile", threads=THREADS, debug=debug)
    source = k.tensor_map("source", f32, box=(WIDTH, HEIGHT))
    target = k.tensor_map("target", f32, box=(WIDTH, HEIGHT))
    box, there = k.shared(f32, WIDTH * HEIGHT, align=128, name="box"), k.mbarrier("there")
    corner = k.ctaid.x * WIDTH, k.ctaid.y * HEIGHT
    with k.thread_is(0):
        there.init(1)
        there.arrive_expect_tx(source.bytes)
        source.load(box, corner, there)
    k.cta_sync()
    there.wait(parity=0)

    for part in range(0, WIDTH * HEIGHT, THREADS):
        place = box[k.tid.x + part]
        place.store(place.load() * 2.0)
    k.fence_view_async()
    k.cta_sync()

    with k.thread_is(0):
        target.store(corner, box)
        k.tma_store_arrive()
        k.tma_store_wait()
    return k


def boxes(rows: int, columns: int) -> tuple[int, int]:
    """Returns the grid for a matrix of this shape."""
    return -(-columns // WIDTH), -(-rows // HEIGHT)
