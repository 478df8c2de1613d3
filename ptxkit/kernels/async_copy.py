"""A copy through shared memory that hides the latency of global memory: cp.async in two stages.

Algorithm. A thread that alternates loads and stores waits for every load. This kernel starts the copy of the *next*
piece before it reads the current one, so that one copy is always in flight. It uses two buffers ("stages") in turn.

The rules that make the kernel correct, with the code that the verifier reports if one is violated:

* `cp.async` returns immediately. Until a wait covers the copy, its destination must not be read (PTX302).
* Copies are waited for in groups. `commit_group` closes the group of the copies since the last one. A copy that is
  never committed belongs to no group, and no `wait_group` waits for it (PTX301).
* `wait_group 1` returns when all groups but the newest are complete. The newest group is the next piece, so the current
  piece has arrived. After the last piece, an empty group is committed, so that the count remains correct and no
  additional wait is needed at the end of the kernel.
* A wait covers only the thread's own copies. Every thread reads only what it has copied itself, so no `bar.sync` is
  needed. If threads read each other's copies, a `bar.sync` would have to follow the wait.

The end of the array. A copy writes 16 bytes but reads only as many as its last operand states, and fills the rest with
zeros, so the last piece needs no other copy instruction. Its elements are stored one by one, under a predicate.

Source: PTX ISA, "Data Movement and Conversion Instructions: cp.async", "... cp.async.commit_group", "...
cp.async.wait_group / cp.async.wait_all".
"""

from __future__ import annotations

from ptxkit.build import Global, Kernel, Register, Shared, f32, u32

THREADS = 128
VECTOR = 4
"""The elements that a thread copies with one instruction: 16 bytes, the largest size of cp.async."""
TILE = THREADS * VECTOR
"""The elements that a CTA copies at once, which is the size of a stage; a power of two."""


def async_copy(*, debug: bool = False) -> Kernel:
    """Returns a kernel that computes `target[i] = source[i]` for i < count, for any number of CTAs.

    count and the elements of one pass of the grid (CTAs x TILE) are below 2**31.

    Parameters: source, target: f32 arrays, aligned to 16 bytes; count: u32. Block: THREADS.
    """
    k = Kernel("async_copy", threads=THREADS, debug=debug)
    source = k.param(Global[f32], "source", align=16)
    target = k.param(Global[f32], "target", align=16)
    count = k.param(u32, "count")

    # Each thread has four elements of each stage; `slot` is the location of the current ones.
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
    """Starts the copy of four elements from `index` on, or of those that are in the array, and always commits a
    group.
    """
    with k.if_(index < count):
        size = k.min(count - index, VECTOR) * f32.size()
        k.cp_async_cg(stage, source[index], 16, size)
    k.cp_async_commit_group()


def _finish_copy(
    k: Kernel, target: Global[f32], stage: Shared[f32], index: Register[u32], count: Register[u32]
) -> None:
    """Stores the four elements that have arrived, as a vector, or one by one at the end of the array."""
    values = stage.load(4)
    place = target[index]
    left = count - index
    with k.if_(left >= VECTOR):
        place.store(values)
    with k.else_():
        for offset in range(VECTOR - 1):
            with k.if_(left > offset):
                place[offset].store(values[offset])
