"""A copy through shared memory that hides the latency of global memory: cp.async in two stages.

The idea. A thread that loads and stores in turn waits for every load. Here it starts the copy of the *next* piece
before it touches the current piece, so that one copy is always in flight. There are two buffers ("stages"), used in
turn.

The rules that make it right, and what the verifier says where one is broken:

* `cp.async` returns at once. Until a wait covers it, the destination holds nothing that may be read (PTX302).
* Copies are waited for in groups. `commit_group` closes the group of the copies since the last one; a copy that is
  never committed is in no group, and no `wait_group` sees it (PTX301).
* `wait_group 1` returns when all groups but the newest are complete. The newest is the next piece, so the current
  piece has arrived. After the last piece there is no next one; its group is committed nevertheless, empty, and the
  count holds. So no wait is left over for the end of the kernel.
* A wait covers only the thread's own copies. Every thread reads back what it copied itself, so no `bar.sync` is
  needed; if threads read each other's copies, one would have to follow the wait.

The end of the array. A copy moves 16 bytes, but reads only as many as its last operand says and fills the rest with
zeros; so the last piece needs no other instruction. Its stores do: they are written one by one, under a predicate.

Source: PTX ISA, "Data Movement and Conversion Instructions: cp.async", "... cp.async.commit_group", "...
cp.async.wait_group / cp.async.wait_all".
"""

from __future__ import annotations

from ptxkit.build import Global, Kernel, Register, Shared, f32, u32

THREADS = 128
VECTOR = 4
"""Elements that a thread copies at once: 16 bytes, the most that cp.async takes."""
TILE = THREADS * VECTOR
"""Elements that a CTA copies at once, and those of a stage; a power of two."""


def async_copy(*, debug: bool = False) -> Kernel:
    """`target[i] = source[i]` for i < count, for any number of CTAs.

    count and the elements of one pass of the grid (CTAs x TILE) are below 2**31.

    Parameters: source, target: f32 arrays, aligned to 16 bytes; count: u32. Block: THREADS.
    """
    k = Kernel("async_copy", threads=THREADS, debug=debug)
    source = k.param(Global[f32], "source", align=16)
    target = k.param(Global[f32], "target", align=16)
    count = k.param(u32, "count")

    # Each thread has four elements of each stage; `slot` is the place of those it works on.
    mine = k.tid.x * VECTOR
    stages = k.shared(f32, 2 * TILE, align=16, name="stages")
    slot = k.variable(u32, mine, multiple=VECTOR)
    index = k.variable(u32, k.ctaid.x * TILE + mine, multiple=VECTOR)
    stride = k.nctaid.x * TILE

    _start_copy(k, stages[slot], source, index, count)
    with k.while_(lambda: index < count):
        other = slot ^ TILE
        following = index + stride
        _start_copy(k, stages[other], source, following, count)
        k.cp_async_wait_group(1)
        _finish_copy(k, target, stages[slot], index, count)
        index.set(following)
        slot.set(other)
    return k


def _start_copy(k: Kernel, stage: Shared[f32], source: Global[f32], index: Register[u32], count: Register[u32]) -> None:
    """Starts the copy of four elements from `index` on, as many as there are; always closes a group."""
    with k.if_(index < count):
        size = k.min(count - index, VECTOR) * f32.size()
        k.cp_async_cg(stage, source[index], 16, size)
    k.cp_async_commit_group()


def _finish_copy(
    k: Kernel, target: Global[f32], stage: Shared[f32], index: Register[u32], count: Register[u32]
) -> None:
    """Writes the four elements that have arrived: at once, or one by one at the end of the array."""
    values = k.ld_v4(stage)
    place = target[index]
    left = count - index
    with k.if_(left >= VECTOR):
        k.st_v4(place, values)
    with k.else_():
        for offset in range(VECTOR - 1):
            with k.if_(left > offset):
                place[offset].store(values[offset])
