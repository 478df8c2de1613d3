"""`y = a * x + y` at the speed of memory: cp.async in stages, so that each thread has many loads in flight.

The idea. A multiprocessor has to have some 40 KB of loads in flight to keep memory busy. Registers are a poor place to
wait in: `cp.async` brings what is loaded to shared memory and needs none. Each thread starts the copies of the
first pieces before it touches one, and then, for each piece that it finishes, starts another:

    piece       0  1  2  3  4  5  6  7          of 16 bytes of x and of y, for each thread
    started     |<- STAGES ->|
    worked on   ^                               wait_group STAGES - 1: all but the newest STAGES - 1 are there
    next           |<- STAGES ->|

The stages lie in shared memory as a ring: piece p is in stage p mod STAGES.

    stage 0: x of piece 0, 4, ... | y of piece 0, 4, ...        TILE elements each: VECTOR for each thread
    stage 1: x of piece 1, 5, ... | y of piece 1, 5, ...

A CTA works on PIECES tiles in a row and ends; the hardware starts the next one. See `bulk_copy` for why that is faster
than CTAs that iterate over the whole array.

The rules that make it right, and what the verifier says where one is broken:

* x and y of a piece are one group: what is copied and never committed is seen by no wait (PTX302).
* `wait_group` counts the groups that may still be pending. So a group is closed for every piece, also an empty one
  where there is nothing left to start (PTX302 for the wait that then covers too little).
* A stage is filled again by the thread that has read it, in program order: no barrier. Each thread reads back only what
  it copied itself, and the wait covers a thread's own copies: no barrier there either.

The end of the array. After it a predicate makes a copy ignore its source and write zeros: it is issued nevertheless,
so no branch surrounds it. A vector is inside or not; the one to three elements that make no vector are
done with plain loads and stores. (A copy can also read fewer bytes than it writes, as in `async_copy`; where a register
says how many, the machine computes that into each address.)

Source: PTX ISA, "Data Movement and Conversion Instructions: cp.async", "... cp.async.commit_group", "...
cp.async.wait_group / cp.async.wait_all"; "Floating Point Instructions: fma".
"""

from __future__ import annotations

from ptxkit.build import Global, Kernel, f32, s32, u32

THREADS = 128
VECTOR = 4
"""Elements that a thread copies at once: 16 bytes, the most that cp.async takes."""
TILE = THREADS * VECTOR
"""Elements of a piece of the whole CTA."""
STAGES = 4
PIECES = 8
CHUNK = PIECES * TILE
"""Elements of a CTA."""


def saxpy(*, debug: bool = False) -> Kernel:
    """`y[i] = a * x[i] + y[i]` for i < count, rounded once; count is below 2**31 - CHUNK.

    Parameters: x, y: f32 arrays, aligned to 16 bytes; a: f32; count: u32. Block: THREADS; grid: `ctas(count)`.
    """
    k = Kernel("saxpy", threads=THREADS, debug=debug)
    x = k.param(Global[f32], "x", align=16)
    y = k.param(Global[f32], "y", align=16)
    a = k.param(f32, "a")
    count = k.param(u32, "count")

    mine = k.tid.x * VECTOR
    first = k.ctaid.x * CHUNK + mine
    whole = count & -VECTOR
    left = (whole - first).reinterpret(s32)
    from_x, from_y = x[first], y[first]
    stages = k.shared(f32, STAGES * 2 * TILE, align=16, name="stages")[mine]

    def start(piece: int) -> None:
        """Starts the copies of a piece, or of none after the last one; always closes a group."""
        if piece < PIECES:
            outside = left <= piece * TILE
            slot = stages[piece % STAGES * 2 * TILE]
            k.cp_async_cg(slot, from_x[piece * TILE], 16, outside)
            k.cp_async_cg(slot[TILE], from_y[piece * TILE], 16, outside)
        k.cp_async_commit_group()

    for piece in k.unroll(STAGES - 1):
        start(piece)
    for piece in k.unroll(PIECES):
        start(piece + STAGES - 1)
        k.cp_async_wait_group(STAGES - 1)
        slot = stages[piece % STAGES * 2 * TILE]
        values = zip(k.ld_v4(slot), k.ld_v4(slot[TILE]), strict=True)
        sums = [k.fma_rn(a, of_x, of_y) for of_x, of_y in values]
        with k.if_(left > piece * TILE):
            k.st_v4(from_y[piece * TILE], sums)

    rest = whole + (k.ctaid.x * THREADS + k.tid.x)
    with k.if_(rest < count):
        y[rest].store(k.fma_rn(a, x[rest].load(), y[rest].load()))
    return k


def ctas(count: int) -> int:
    """The grid for `count` elements."""
    return -(-count // CHUNK)
