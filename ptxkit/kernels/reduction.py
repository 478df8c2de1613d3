"""The sum of an array at the speed at which memory is read, in one launch, with the same bits each time.

The idea. Each CTA sums a stretch of the array: threads read vectors of 16 bytes, many before the first is used, and
sum in registers; the lanes of a warp merge their sums by shuffles, and the warps theirs through shared memory. So far
there is one sum for each CTA, in global memory:

    source   |  CHUNK  |  CHUNK  |  CHUNK  | ... |  rest |
    parts        [0]       [1]       [2]      ...   [n-1]        each CTA writes its own
    arrived   1 ... 2 ... 0                                      and counts itself; the last one sums the parts

Who sums the sums? A second launch would cost microseconds, and `red.add` to one place would add in another order
each time, with other bits. Here each CTA counts itself when its part is written, and the one that comes last sums all
parts. It does not matter which one that is: the parts and their order are always the same.

`atom.inc` with the limit n - 1 gives the old number, and 0 follows n - 1: after the last CTA the counter is as it was,
ready for the next launch.

The rules that make it right:

* Shared memory is written before a barrier and read after it (PTX621): the warps' sums.
* The part is written, then the counter is changed with a release: who reads the counter with an acquire and finds that
  CTA counted sees its part. One `atom.acq_rel.gpu` is both: the last one acquires what all others have released. Only
  one thread executes it; the barrier that follows orders the other threads of the CTA after it. That is global memory,
  of which the verifier proves nothing: such rules are the author's.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: atom", "... bar.red", "Memory Consistency
Model: Release and Acquire Patterns".
"""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.build import Global, Kernel, Register, f32, u32
from ptxkit.build.reductions import reduce_over_cta

THREADS = 512
VECTOR = 4
"""Elements of one load: 16 bytes."""
LOADS = 8
"""Vectors that a thread reads."""
STEP = THREADS * VECTOR
CHUNK = STEP * LOADS
"""Elements of a CTA."""


def reduction(*, debug: bool = False) -> Kernel:
    """`total[0]` is the sum of source[i] for i < count; count is below 2**32 - CHUNK.

    Where sums are added, both have about as many elements, but for LOADS vectors one after another, and for the parts
    that a thread of the last CTA adds: the error is some units in the last place for positive elements.

    Parameters: source, total: f32 arrays, source aligned to 16 bytes; parts: f32 array of `ctas(count)` elements, at
    least, rounded up to a multiple of VECTOR, and aligned to 16 bytes; arrived: u32 array of one element, zero at first
    and left zero; count: u32. Block: THREADS; grid: `ctas(count)`.
    """
    k = Kernel("reduction", threads=THREADS, debug=debug)
    source = k.param(Global[f32], "source", align=16)
    total = k.param(Global[f32], "total")
    parts = k.param(Global[f32], "parts", align=16)
    arrived = k.param(Global[u32], "arrived")
    count = k.param(u32, "count")

    # 1. The sum of the CTA's stretch.
    begin = k.ctaid.x * CHUNK
    left = count - begin
    own = k.variable(f32, 0.0)
    with k.if_(left >= CHUNK):
        mine = source[begin][k.tid.x * VECTOR]
        own.set(_sum([k.ld_nc_L1_no_allocate_v4(mine[load * STEP]) for load in k.unroll(LOADS)]))
    with k.else_(), k.for_range(k.tid.x, left, THREADS) as index:
        k.add(own, source[begin][index].load(), into=own)
    (part,) = reduce_over_cta(k, (own,), _add_partial_sums, (0.0,))

    # 2. It is written, and the CTA counted; the last one continues.
    last = k.nctaid.x - 1
    before = k.variable(u32, 0)
    with k.thread_is(0):
        parts[k.ctaid.x].store(part)
        k.atom_acq_rel_gpu_inc(arrived, last, into=before)
    is_last = k.cta_sync_or((k.tid.x == 0) & (before == last))

    # 3. The last one sums the parts.
    with k.if_(is_last):
        own.set(0.0)
        with k.for_range(k.tid.x * VECTOR, k.nctaid.x, STEP) as index:
            values = k.ld_v4(parts[index])
            there = [
                value if not at else k.selected(value, 0, index + at < k.nctaid.x) for at, value in enumerate(values)
            ]
            k.add(own, (there[0] + there[1]) + (there[2] + there[3]), into=own)
        (whole,) = reduce_over_cta(k, (own,), _add_partial_sums, (0.0,))
        with k.thread_is(0):
            total.store(whole)
    return k


def ctas(count: int) -> int:
    """The grid for `count` elements; one CTA sums none."""
    return max(-(-count // CHUNK), 1)


def _sum(vectors: list[Sequence[Register[f32]]]) -> Register[f32]:
    """One sum for each place in the vectors, so that four chains of additions run side by side; then of those four."""
    sums = vectors[0]
    for vector in vectors[1:]:
        sums = [a + b for a, b in zip(sums, vector, strict=True)]
    return (sums[0] + sums[1]) + (sums[2] + sums[3])


def _add_partial_sums(a: Sequence[Register[f32]], b: Sequence[Register[f32]]) -> tuple[Register[f32]]:
    return (a[0] + b[0],)
