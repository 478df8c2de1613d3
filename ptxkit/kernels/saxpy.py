"""`y = a * x + y` at the full memory bandwidth: cp.async in stages, so that each thread has many loads in flight.

Algorithm. A multiprocessor needs about 40 KB of loads in flight to use the memory bandwidth, which would take many
registers. `cp.async` loads to shared memory and needs none. Each thread starts the copies of the first pieces before it
processes one, and then starts another for each piece that it has processed:

    piece       0  1  2  3  4  5  6  7          of 16 bytes of x and of y, for each thread
    started     |<- STAGES ->|
    worked on   ^                               wait_group STAGES - 1: all but the newest STAGES - 1 are there
    next           |<- STAGES ->|

The stages form a ring in shared memory: piece p is in stage p mod STAGES.

    stage 0: x of piece 0, 4, ... | y of piece 0, 4, ...        TILE elements each: VECTOR for each thread
    stage 1: x of piece 1, 5, ... | y of piece 1, 5, ...

A CTA processes PIECES consecutive tiles and exits; the hardware starts the next one. See `bulk_copy` for the reason why
this is faster than CTAs that iterate over the whole array.

The rules that make the kernel correct, with the code that the verifier reports if one is violated:

* x and y of a piece are one group. No wait covers a copy that is not committed (PTX302).
* `wait_group` states the number of groups that may still be pending. So a group is committed for every piece, also an
  empty one if there is no copy left to start (otherwise the wait covers too few groups: PTX302).
* A stage is filled again by the thread that has read it, in program order, so no barrier is needed. Each thread reads
  only what it has copied itself, and the wait covers a thread's own copies, so no barrier is needed there either.

The end of the array. Beyond it, a predicate makes a copy ignore its source and write zeros: it is issued in any case,
without a branch. A vector is either inside or outside; the last one to three elements, which do not form a vector, are
processed with plain loads and stores. (A copy can also read fewer bytes than it writes, as in `async_copy`; if a
register states the number, its use adds instructions to each address computation.)

Source: PTX ISA, "Data Movement and Conversion Instructions: cp.async", "... cp.async.commit_group", "...
cp.async.wait_group / cp.async.wait_all"; "Floating Point Instructions: fma".
"""

from __future__ import annotations

from ptxkit.build import Global, Kernel, f32, s32, u32

THREADS = 128
VECTOR = 4
"""The elements that a thread copies with one instruction: 16 bytes, the largest size of cp.async."""
TILE = THREADS * VECTOR
"""The elements of a piece of the whole CTA."""
STAGES = 4
PIECES = 8
CHUNK = PIECES * TILE
"""The elements of a CTA."""


def saxpy(*, debug: bool = False) -> Kernel:
    """Returns a kernel that computes `y[i] = a * x[i] + y[i]` for i < count, rounded once. count is below 2**31 -
    CHUNK.

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
        """Starts the copies of a piece, or none after the last piece, and always commits a group."""
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
        values = zip(slot.load(4), slot[TILE].load(4), strict=True)
        sums = [k.fma(a, of_x, of_y) for of_x, of_y in values]
        with k.if_(left > piece * TILE):
            from_y[piece * TILE].store(sums)

    rest = whole + (k.ctaid.x * THREADS + k.tid.x)
    with k.if_(rest < count):
        y[rest].store(k.fma(a, x[rest].load(), y[rest].load()))
    return k


def ctas(count: int) -> int:
    """Returns the number of CTAs for `count` elements."""
    return -(-count // CHUNK)
