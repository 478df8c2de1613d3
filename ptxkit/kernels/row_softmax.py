"""Softmax of each row of a matrix at the full memory bandwidth: the row stays in registers.

Algorithm. A row is read once and written once, and everything between happens in registers, with one exchange through
shared memory. Each thread loads its part of the row as vectors and computes its own maximum and the sum of exp(x -
maximum). Two such pairs are merged to the larger maximum and the sum of both sums scaled to it. The threads of a warp
merge their pairs by shuffles, and the warps through shared memory, so the CTA needs only one barrier.

The kernel has one CTA for each row and no loop over rows: see `bulk_copy` for the reason why this is faster than
persistent CTAs.

The pairs of the warps must be written before the barrier and read after it (PTX621 without it).

Source: PTX ISA, "Floating Point Instructions: ex2", "Data Movement and Conversion Instructions: shfl.sync, ld, st".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from ptxkit.build import BuildValueError, Global, Kernel, Register, f32, u64

THREADS = 512
VECTOR = 4
"""The elements of one load of 16 bytes."""


def row_softmax(columns: int = 8192, *, debug: bool = False) -> Kernel:
    """Returns a kernel that computes `target[row] = exp(source[row] - max) / sum(exp(source[row] - max))` for each row.

    `columns` is a multiple of THREADS x VECTOR. exp is `ex2.approx` of the scaled argument, with an error of 2 units in
    the last place.

    Parameters: source, target: f32 arrays, aligned to 16 bytes. Block: THREADS; grid: one CTA for each row.
    """
    step = THREADS * VECTOR
    if columns < step or columns % step:
        raise BuildValueError(f"a row has a multiple of {step} elements, not {columns}")
    k = Kernel("row_softmax", threads=THREADS, debug=debug)
    source = k.param(Global[f32], "source", align=16)
    target = k.param(Global[f32], "target", align=16)
    keep = k.createpolicy_fractional_L2_evict_last(1.0)
    first = k.ctaid.x.convert(u64) * columns + (k.tid.x * VECTOR).convert(u64)

    # 1. Load the thread's part of the row, scaled so that exp is a power of two.
    row: list[Register[f32]] = []
    for start in range(0, columns, step):
        row += [value * math.log2(math.e) for value in source[first][start].load(VECTOR, policy=keep)]

    # 2. Compute its maximum and its sum, and merge those of all threads.
    largest = row[0]
    for value in row[1:]:
        largest = k.max(largest, value)
    powers = [k.exp2(value - largest, ftz=True) for value in row]
    total = powers[0]
    for power in powers[1:]:
        total = total + power
    merge = partial(_merge_partials, k)
    top, whole = k.block_reduce(merge, (largest, total), neutral=(-math.inf, 0.0))

    # 3. Rescale: each power of two is relative to the thread's own maximum.
    scale = k.exp2(largest - top, ftz=True) / whole
    for number, start in enumerate(range(0, columns, step)):
        part = powers[number * VECTOR : (number + 1) * VECTOR]
        target[first][start].store([power * scale for power in part])
    return k


def _merge_partials(
    k: Kernel, a: Sequence[Register[f32]], b: Sequence[Register[f32]]
) -> tuple[Register[f32], Register[f32]]:
    """Merges two pairs of maximum and sum. A part without elements has the maximum -inf and the sum 0."""
    top = k.max(a[0], b[0])
    return top, k.fma(a[1], k.exp2(a[0] - top, ftz=True), b[1] * k.exp2(b[0] - top, ftz=True))
