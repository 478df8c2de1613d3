"""A transpose at nearly the speed of a copy: tensor maps bring and take boxes, threads turn 4 x 4 elements at a time.

The idea. Tensor maps read and write boxes of 32 columns (128 bytes, whole lines of memory) at any place, so nothing in
the kernel deals with the matrix' edges: what lies outside is not written. In shared memory the map's swizzle spreads
the rows of a box over the banks; a thread that reads a 16-byte piece down the rows, and writes one along them, meets no
conflict. Each thread reads four pieces and writes four: 4 x 4 elements turned in registers.

CTAs are persistent here: three tiles are under way into each, and two out of it. The tiles go down the columns of the
source, so that the rows of the target are written one after another.

The rules that make it right, and what the verifier says where one is broken:

* A tile is there when its phase is complete (PTX302); the bytes announced are those of its two boxes (PTX503).
* The threads' stores go through the generic proxy, and the copy out reads through the async proxy: each thread fences
  its stores, then all meet, then one issues the copy (PTX401).
* The place of a tile that goes out is written again only when the engine has read it: one thread waits for its groups,
  and all meet (PTX303). The place of a tile that came in is filled again when all have read it: they met.

Source: PTX ISA, "Tensors: Swizzling Modes", "Data Movement and Conversion Instructions: cp.async.bulk.tensor",
"Async Proxy".
"""

from __future__ import annotations

from ptxkit.build import Kernel, Register, Shared, f32, u32

TILE = 64
"""Rows and columns of a tile."""
COLUMNS = 32
"""Of a box: 128 bytes, as much as the swizzle spans."""
INCOMING, OUTGOING = 3, 2
"""Tiles under way to a CTA, and from it."""
THREADS = 256
CTAS_PER_MULTIPROCESSOR = 2
_BOX = COLUMNS * TILE
_ELEMENTS = TILE * TILE
_BLOCK = 32
"""Rows and columns that 64 threads turn."""


def transpose(*, debug: bool = False) -> Kernel:
    """`target[c, r] = source[r, c]` for a matrix of f32 with up to 2**22 rows and columns.

    Parameters: source, target: matrices (or tensor maps of boxes of 32 columns and 64 rows, swizzle 128) with rows of a
    multiple of 16 bytes; rows, columns of the source: u32. Block: THREADS; grid: any, best CTAS_PER_MULTIPROCESSOR for
    each multiprocessor.
    """
    k = Kernel("transpose", threads=THREADS, debug=debug)
    source = k.tensor_map("source", f32, box=(COLUMNS, TILE), swizzle=128)
    target = k.tensor_map("target", f32, box=(COLUMNS, TILE), swizzle=128)
    rows, columns = k.param(u32, "rows"), k.param(u32, "columns")
    memory = k.dynamic_shared(f32, (INCOMING + OUTGOING) * _ELEMENTS, align=1024)
    full = k.mbarrier("full", INCOMING)

    down = (rows + (TILE - 1)) // TILE
    tiles = down * ((columns + (TILE - 1)) // TILE)
    ahead = k.variable(u32, k.ctaid.x)

    def fetch(slot: Register[u32] | int) -> None:
        """Thread 0 starts the copy of the next tile ahead into a slot, if there is one."""
        with k.if_(ahead < tiles):
            there, tile = full[slot], memory[slot * _ELEMENTS]
            there.arrive_expect_tx(2 * source.bytes)
            for half in range(2):
                place = (ahead // down * TILE + half * COLUMNS, ahead % down * TILE)
                source.load(tile[half * _BOX].aligned(1024), place, there)
            ahead.set(ahead + k.nctaid.x)

    with k.thread_is(0):
        full.init(1)
        source.prefetch_map()
        target.prefetch_map()
        for slot in range(INCOMING):
            fetch(slot)
    k.cta_sync()

    coming, parity, going = k.variable(u32, 0), k.variable(u32, 0), k.variable(u32, 0)
    with k.for_range(k.ctaid.x, tiles, k.nctaid.x) as tile:
        full[coming].wait(parity)
        with k.thread_is(0):
            k.tma_store_wait(OUTGOING - 1)
        k.cta_sync()
        outgoing = memory[INCOMING * _ELEMENTS :][going * _ELEMENTS]
        _turn(k, memory[coming * _ELEMENTS], outgoing)
        k.fence_view_async()
        k.cta_sync()
        with k.thread_is(0):
            for half in range(2):
                place = (tile % down * TILE + half * COLUMNS, tile // down * TILE)
                target.store(place, outgoing[half * _BOX].aligned(1024))
            k.tma_store_arrive()
            fetch(coming)
        following = coming + 1
        last = following == INCOMING
        coming.set(k.selected(0, following, last))
        parity.set(k.selected(parity ^ 1, parity, last))
        going.set(going ^ 1)
    with k.thread_is(0):
        k.tma_store_wait(read=False)
    return k


def _turn(k: Kernel, incoming: Shared[f32], outgoing: Shared[f32]) -> None:
    """64 threads turn a block of 32 x 32: each reads four pieces of four rows and writes them as columns."""
    thread = k.tid.x
    group = thread >> 6
    down, across = group % (TILE // _BLOCK), group // (TILE // _BLOCK)
    of = across * _BOX + down * (_BLOCK * COLUMNS)
    to = down * _BOX + across * (_BLOCK * COLUMNS)
    quad = thread & 7
    piece = quad ^ ((thread >> 3) & 7)
    read = [k.ld_v4(incoming[of + _place(quad * 4 + i, piece)].aligned(16)) for i in range(4)]
    for j in range(4):
        k.st_v4(outgoing[to + _place(piece * 4 + j, quad)].aligned(16), [row[j] for row in read])


def _place(row: Register[u32], piece: Register[u32]) -> Register[u32]:
    """Where the swizzle puts a piece of four elements of a row of 32."""
    return row * COLUMNS + ((row & 7) ^ piece) * 4
