"""Layer normalization of each row of a matrix at the full memory bandwidth: the row stays in registers.

The algorithm is that of `row_softmax`: one CTA for each row, one pass, one exchange. The threads merge the mean and the
sum of squared differences from it. Two parts of n elements each, with means a and b, have the mean (a + b) / 2, and a
sum of squares of both sums plus (a - b)^2 * n / 2. This avoids the cancellation in the mean of squares minus the square
of the mean. Since each merge joins equal parts, n is a constant in each step.

Source: PTX ISA, "Floating Point Instructions: rsqrt, fma"; Chan, Golub and LeVeque, "Updating Formulae and a Pairwise
Algorithm for Computing Sample Variances".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ptxkit.build import BuildValueError, Global, Kernel, Register, f32, u64

THREADS = 512
VECTOR = 4
"""The elements of one load of 16 bytes."""


def layer_norm(columns: int = 8192, epsilon: float = 1e-5, *, debug: bool = False) -> Kernel:
    """Returns a kernel that computes `target[row] = (source[row] - mean) / sqrt(variance + epsilon) * gain + bias` for
    each row.

    `columns` is THREADS x VECTOR times a power of two.

    Parameters: source, target: f32 arrays; gain, bias: f32 arrays of `columns` elements; all aligned to 16 bytes.
    Block: THREADS; grid: one CTA for each row.
    """
    step = THREADS * VECTOR
    parts = columns // step
    if columns != parts * step or parts < 1 or parts & (parts - 1):
        raise BuildValueError(f"a row has {step} elements times a power of two, not {columns}")
    k = Kernel("layer_norm", threads=THREADS, debug=debug)
    source = k.param(Global[f32], "source", align=16)
    target = k.param(Global[f32], "target", align=16)
    gain = k.param(Global[f32], "gain", align=16)
    bias = k.param(Global[f32], "bias", align=16)
    keep = k.createpolicy_fractional_L2_evict_last(1.0)
    mine = k.tid.x * VECTOR
    first = k.ctaid.x.convert(u64) * columns + mine.convert(u64)

    # 1. Compute the mean and the sum of squares of the thread's part of the row.
    row: list[Register[f32]] = []
    for start in range(0, columns, step):
        row += source[first][start].load(VECTOR, policy=keep)
    mean = _sum(row) * (1 / len(row))
    differences = [value - mean for value in row]
    squares = _sum([each * each for each in differences])

    # 2. Merge those of all threads: in each step both parts have the same number of elements.
    counts = _MomentMerger(len(row))
    middle, spread = k.block_reduce(partial(counts.merge, k), (mean, squares), neutral=(0.0, 0.0))

    # 3. Normalize the row.
    scale = k.rsqrt(k.fma(spread, 1 / columns, epsilon), ftz=True)
    for number, start in enumerate(range(0, columns, step)):
        weights, offsets = gain[mine][start].load(VECTOR), bias[mine][start].load(VECTOR)
        values = row[number * VECTOR : (number + 1) * VECTOR]
        normal = [
            k.fma((value - middle) * scale, weight, offset)
            for value, weight, offset in zip(values, weights, offsets, strict=True)
        ]
        target[first][start].store(normal)
    return k


class _MomentMerger:
    """Merges parts whose size doubles in each step, from `count` elements on."""

    def __init__(self, count: int) -> None:
        self._count = count

    def merge(
        self, k: Kernel, a: Sequence[Register[f32]], b: Sequence[Register[f32]]
    ) -> tuple[Register[f32], Register[f32]]:
        """Merges two pairs of mean and sum of squared differences."""
        apart, squares = a[0] - b[0], a[1] + b[1]
        found = (a[0] + b[0]) * 0.5, k.fma(apart * apart, self._count / 2, squares)
        self._count *= 2
        return found


def _sum(values: Sequence[Register[f32]]) -> Register[f32]:
    """Returns a pairwise sum, which keeps rounding errors small."""
    while len(values) > 1:
        pairs = [a + b for a, b in zip(values[::2], values[1::2], strict=False)]
        values = [*pairs, *([values[-1]] if len(values) % 2 else [])]
    return values[0]
