"""The sum of an array at the full memory bandwidth, in one launch, with bitwise reproducible results.

Algorithm. Each CTA sums a section of the array: threads load vectors of 16 bytes, many before the first is used, and
add them in registers; the lanes of a warp merge their sums by shuffles, and the warps through shared memory. The result
is one sum for each CTA, in global memory:

    source   |  CHUNK  |  CHUNK  |  CHUNK  | ... |  rest |
    parts        [0]       [1]       [2]      ...   [n-1]        each CTA writes its own
    arrived   1 ... 2 ... 0                                      and counts itself; the last one sums the parts

A second launch to add these sums would take microseconds, and `red.add` to one location would add them in a different
order each time, with different rounding. Instead, each CTA increments a counter after its part is written, and the last
CTA adds all parts. It does not matter which CTA is the last, because the parts and their order are always the same.

`atom.inc` with the limit n - 1 returns the old value, and n - 1 is followed by 0: after the last CTA the counter has
its initial value again, for the next launch.

The rules that make the kernel correct:

* Shared memory is written before a barrier and read after it (PTX621): the warps' sums.
* The part is written, then the counter is incremented with a release: a thread that reads the counter with an acquire
  and observes this CTA's increment can read its part. `atom.acq_rel.gpu` is both: the last CTA acquires what all others
  have released. Only one thread executes it; the barrier that follows orders the other threads of the CTA after it. The
  verifier does not prove such orders in global memory; the author is responsible for them.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: atom", "... bar.red", "Memory Consistency
Model: Release and Acquire Patterns".
"""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.build import Global, Kernel, Register, f32, u32

THREADS = 512
VECTOR = 4
"""The elements of one load of 16 bytes."""
LOADS = 8
"""The vectors that a thread loads."""
STEP = THREADS * VECTOR
CHUNK = STEP * LOADS
"""The elements of a CTA."""


def reduction(*, debug: bool = False) -> Kernel:
    """Returns a kernel that computes `total[0]`, the sum of source[i] for i < count. count is below 2**32 - CHUNK.

    Except for the LOADS vectors of a thread and the parts that a thread of the last CTA adds, sums of similar size are
    added pairwise: for positive elements, the error is some units in the last place.

    Parameters: source, total: f32 arrays, source aligned to 16 bytes; parts: f32 array of at least `ctas(count)`
    elements, rounded up to a multiple of VECTOR, and aligned to 16 bytes; arrived: u32 array of one element, which is
    zero before and after a launch; count: u32. Block: THREADS; grid: `ctas(count)`.
    """
    k = Kernel("reduction", threads=THREADS, debug=debug)
    source = k.param(Global[f32], "source", align=16)
    total = k.param(Global[f32], "total")
    parts = k.param(Global[f32], "parts", align=16)
    arrived = k.param(Global[u32], "arrived")
    count = k.param(u32, "count")

    # 1. Compute the sum of the CTA's section.
    begin = k.ctaid.x * CHUNK
    left = count - begin
    own = k.variable(f32, 0.0)
    with k.if_(left >= CHUNK):
        mine = source[begin][k.tid.x * VECTOR]
        own.set(_sum([mine[load * STEP].load(VECTOR, read_only=True, l1="no_allocate") for load in k.unroll(LOADS)]))
    with k.else_(), k.for_range(k.tid.x, left, THREADS) as index:
        k.add(own, source[begin][index].load(), into=own)
    part = k.block_reduce("add", own)

    # 2. Write it and increment the counter; only the last CTA continues.
    last = k.nctaid.x - 1
    before = k.variable(u32, 0)
    with k.thread_is(0):
        parts[k.ctaid.x].store(part)
        k.atom_inc(arrived, last, sem="acq_rel", sc="gpu", into=before)
    is_last = k.cta_sync_or((k.tid.x == 0) & (before == last))

    # 3. The last CTA adds the parts.
    with k.if_(is_last):
        own.set(0.0)
        with k.for_range(k.tid.x * VECTOR, k.nctaid.x, STEP) as index:
            values = parts[index].load(VECTOR)
            there = [value if not at else k.where(index + at < k.nctaid.x, value, 0) for at, value in enumerate(values)]
            k.add(own, (there[0] + there[1]) + (there[2] + there[3]), into=own)
        whole = k.block_reduce("add", own)
        with k.thread_is(0):
            total.store(whole)
    return k


def ctas(count: int) -> int:
    """Returns the number of CTAs for `count` elements, at least one."""
    return max(-(-count // CHUNK), 1)


def _sum(vectors: list[Sequence[Register[f32]]]) -> Register[f32]:
    """Adds the vectors element by element, so that four chains of additions run in parallel, then the four sums."""
    sums = vectors[0]
    for vector in vectors[1:]:
        sums = [a + b for a, b in zip(sums, vector, strict=True)]
    return (sums[0] + sums[1]) + (sums[2] + sums[3])
