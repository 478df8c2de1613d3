"""A transpose at nearly the speed of a copy: tensor maps bring and take boxes, threads turn 4 x 4 elements at a time.

The idea. Tensor maps read and write boxes of 32 columns (128 bytes, whole lines of memory) at any place, so nothing in
the kernel deals with the matrix' edges: what lies outside is not written. In shared memory the map's swizzle spreads
the rows of a box over the banks; a thread that reads a 16-byte piece down the rows, and writes one along them, meets no
conflict. Each thread reads four pieces and writes four: 4 x 4 elements turned in registers.

Each CTA turns one tile and ends; see `bulk_copy` for why that is faster than a loop. The tiles go down the columns of
the source, so that the rows of the target are written one after another, and what is read is kept in the cache
(`evict_last`) until its neighbours are, too.

The rules that make it right, and what the verifier says where one is broken:

* A tile is there when its phase is complete (PTX302); the bytes announced are those of its two boxes (PTX503).
* The threads' stores go through the generic proxy, and the copy out reads through the async proxy: each thread fences
  its stores, then all meet, then one issues the copy (PTX401).
* The CTA may end only when its shared memory was read: the thread that issued the copy waits for its group (PTX303).

Source: PTX ISA, "Tensors: Swizzling Modes", "Data Movement and Conversion Instructions: cp.async.bulk.tensor",
"Async Proxy".
"""

from __future__ import annotations

from ptxkit.build import Kernel, Register, Shared, f32, u32

TILE = 64
"""Rows and columns of a tile."""
COLUMNS = 32
"""Of a box: 128 bytes, as much as the swizzle spans."""
THREADS = 256
_BOX = COLUMNS * TILE
_ELEMENTS = TILE * TILE
_BLOCK = 32
"""Rows and columns that 64 threads turn."""


def transpose(*, debug: bool = False) -> Kernel:
    """`target[c, r] = source[r, c]` for a matrix of f32 with up to 2**22 rows and columns.

    Parameters: source, target: matrices (or tensor maps of boxes of 32 columns and 64 rows, swizzle 128) with rows of a
    multiple of 16 bytes; rows of the source: u32. Block: THREADS; grid: `tiles(rows, columns)`.
    """
    k = Kernel("transpose", threads=THREADS, debug=debug)
    source = k.tensor_map("source", f32, box=(COLUMNS, TILE), swizzle=128)
    target = k.tensor_map("target", f32, box=(COLUMNS, TILE), swizzle=128)
    rows = k.param(u32, "rows")
    incoming = k.shared(f32, _ELEMENTS, align=1024, name="incoming")
    outgoing = k.shared(f32, _ELEMENTS, align=1024, name="outgoing")
    full = k.mbarrier("full")

    down = (rows + (TILE - 1)) // TILE
    row, column = k.ctaid.x % down * TILE, k.ctaid.x // down * TILE
    with k.thread_is(0):
        keep = k.createpolicy_fractional_L2_evict_last(1.0)
        full.init(1)
        full.arrive_expect_tx(2 * source.bytes)
        for half in range(2):
            source.load(incoming[half * _BOX :].aligned(1024), (column + half * COLUMNS, row), full, policy=keep)
    k.cta_sync()
    full.wait(0)
    _transpose_blocks(k, incoming, outgoing)
    k.fence_view_async()
    k.cta_sync()
    with k.thread_is(0):
        for half in range(2):
            target.store((row + half * COLUMNS, column), outgoing[half * _BOX :].aligned(1024))
        k.tma_store_arrive()
        k.tma_store_wait()
    return k


def tiles(rows: int, columns: int) -> int:
    """The CTAs that a matrix of this shape takes."""
    return -(-rows // TILE) * -(-columns // TILE)


def _transpose_blocks(k: Kernel, incoming: Shared[f32], outgoing: Shared[f32]) -> None:
    """64 threads turn a block of 32 x 32: each reads four pieces of four rows and writes them as columns."""
    thread = k.tid.x
    group = thread >> 6
    down, across = group % (TILE // _BLOCK), group // (TILE // _BLOCK)
    of = across * _BOX + down * (_BLOCK * COLUMNS)
    to = down * _BOX + across * (_BLOCK * COLUMNS)
    quad = thread & 7
    piece = quad ^ ((thread >> 3) & 7)
    read = [k.ld_v4(incoming[of + _swizzled_offset(quad * 4 + i, piece)].aligned(16)) for i in range(4)]
    for j in range(4):
        k.st_v4(outgoing[to + _swizzled_offset(piece * 4 + j, quad)].aligned(16), [row[j] for row in read])


def _swizzled_offset(row: Register[u32], piece: Register[u32]) -> Register[u32]:
    """Where the swizzle puts a piece of four elements of a row of 32."""
    return row * COLUMNS + ((row & 7) ^ piece) * 4
