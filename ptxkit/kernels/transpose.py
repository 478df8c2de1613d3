"""A transpose at nearly the speed of a copy: tensor maps copy boxes, and threads transpose 4 x 4 elements at a time.

Algorithm. Tensor maps read and write boxes of 32 columns (128 bytes, whole cache lines) at any position, so the kernel
needs no code for the edges of the matrix: elements outside are not written. The swizzle of the map distributes the rows
of a box over the banks of shared memory, so that reading 16-byte pieces down the rows and writing them along the rows
causes no bank conflicts. Each thread reads four pieces and writes four: it transposes 4 x 4 elements in registers.

Each CTA transposes one tile and exits; see `bulk_copy` for the reason why this is faster than a loop. The tiles follow
the columns of the source, so that the rows of the target are written one after another, and lines that are read are
kept in the cache (`evict_last`) until their neighbors have been read, too.

The rules that make the kernel correct, with the code that the verifier reports if one is violated:

* A tile may be read when its phase is complete (PTX302); the expected bytes are those of its two boxes (PTX503).
* The threads store through the generic proxy, and the copy out reads through the async proxy: each thread executes a
  proxy fence after its stores, a barrier follows, and then one thread issues the copy (PTX401).
* The CTA may exit only after its shared memory has been read: the thread that issued the copy waits for its group
  (PTX303).

Source: PTX ISA, "Tensors: Swizzling Modes", "Data Movement and Conversion Instructions: cp.async.bulk.tensor", "Async
Proxy".
"""

from __future__ import annotations

from ptxkit.build import Kernel, Register, Shared, f32, u32

TILE = 64
"""The rows and columns of a tile."""
COLUMNS = 32
"""The columns of a box: 128 bytes, the width of the swizzle."""
THREADS = 256
_BOX = COLUMNS * TILE
_ELEMENTS = TILE * TILE
_BLOCK = 32
"""The rows and columns that 64 threads transpose."""


def transpose(*, debug: bool = False) -> Kernel:
    """Returns a kernel that computes `target[c, r] = source[r, c]` for f32 matrices of up to 2**22 rows and columns.

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
    """Returns the number of CTAs for a matrix of this shape."""
    return -(-rows // TILE) * -(-columns // TILE)


def _transpose_blocks(k: Kernel, incoming: Shared[f32], outgoing: Shared[f32]) -> None:
    """Emits code with which 64 threads transpose a 32 x 32 block: each reads four pieces of four rows and writes
    columns.
    """
    thread = k.tid.x
    group = thread >> 6
    down, across = group % (TILE // _BLOCK), group // (TILE // _BLOCK)
    of = across * _BOX + down * (_BLOCK * COLUMNS)
    to = down * _BOX + across * (_BLOCK * COLUMNS)
    quad = thread & 7
    piece = quad ^ ((thread >> 3) & 7)
    read = [incoming[of + _swizzled_offset(quad * 4 + i, piece)].aligned(16).load(4) for i in range(4)]
    for j in range(4):
        outgoing[to + _swizzled_offset(piece * 4 + j, quad)].aligned(16).store([row[j] for row in read])


def _swizzled_offset(row: Register[u32], piece: Register[u32]) -> Register[u32]:
    """Returns the offset at which the swizzle places a piece of four elements of a row of 32."""
    return row * COLUMNS + ((row & 7) ^ piece) * 4
