"""RMS normalization of each row of a matrix in bf16 at the full memory bandwidth, with or without a residual.

Algorithm. A row is read once and written once. Each thread loads vectors of 16 bytes, which stay in registers, and sums
their squares in fp32. The lanes of a warp merge their sums by shuffles, and the warps through shared memory, with one
barrier. Then each thread scales its elements, multiplies them by the weights and stores vectors.

    first vector of each thread    | 0..7       | 8..15      |  ...  | 2040..2047 |       of 256 threads
    second                         | 2048..2055 | 2056..2063 |  ...  | 4088..4095 |

The last vectors may be beyond the end of the row: a thread then has zeros, which add nothing to the sum, and stores
nothing. A short row has one warp and needs no barrier; a CTA then has several rows.

With a residual, the source is added to it first, and the sum is stored there, rounded to bf16. The rounded sum is
normalized, as a separate kernel would do.

There is one CTA for each row, or for several short ones, and no loop over rows: see `bulk_copy` for the reason. The
sums of the warps must be written before the barrier and read after it (PTX621 without it).

Source: PTX ISA, "Floating Point Instructions: rsqrt", "Data Movement and Conversion Instructions: ld, st, cvt";
B. Zhang and R. Sennrich, "Root Mean Square Layer Normalization".
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import TypeAlias

from ptxkit.build import BuildValueError, Global, Kernel, Register, bf16, bf16x2, f32, u32, u64
from ptxkit.fast_dataclasses import dataclass
from ptxkit.kernels.limits import MAX_ROW_ELEMENTS, WARP_SIZE

VECTOR = 8
"""The elements of one load of 16 bytes."""
PAIRS = VECTOR // 2
"""The pairs of elements of one load."""
_VECTORS, _MOST_VECTORS = 4, 8
"""The vectors of a thread, and those of a thread of a CTA of _WARPS warps, before the CTA has more warps."""
_WARPS, _MOST_WARPS = 16, 32
_SHORT_ROWS = 4
"""The rows of a CTA whose rows have one warp each."""

Pair: TypeAlias = Register[bf16x2]


def rms_norm(columns: int = 8192, epsilon: float = 1e-6, *, residual: bool = False, debug: bool = False) -> Kernel:
    """Returns a kernel that computes `target[row] = source[row] / sqrt(mean(source[row]**2) + epsilon) * weight`, or
    with `residual`, `residual[row] += source[row]` and the same of `residual[row]`.

    `columns` is a multiple of VECTOR up to MAX_ROW_ELEMENTS. Sums and products are fp32, and each result is rounded
    once. The order of the barrier is proven for rows of up to 32,768 elements, which have at most 512 threads.

    Parameters: source, target: bf16 arrays; weight: a bf16 array of `columns` elements; residual: a bf16 array, if it
    is wanted; all aligned to 16 bytes; rows: u32. Block: fixed by the kernel; grid: `rms_norm_ctas(columns, rows)`.
    """
    shape = _RowShape.of(columns)
    k = Kernel("add_rms_norm" if residual else "rms_norm", threads=shape.threads * shape.rows, debug=debug)
    source = k.param(Global[bf16], "source", align=16).cast(bf16x2)
    target = k.param(Global[bf16], "target", align=16).cast(bf16x2)
    weight = k.param(Global[bf16], "weight", align=16).cast(bf16x2)
    carried = k.param(Global[bf16], "residual", align=16).cast(bf16x2) if residual else None
    rows = k.param(u32, "rows")
    row = k.ctaid.x * shape.rows + k.warp if shape.rows > 1 else k.ctaid.x
    mine = (k.laneid if shape.rows > 1 else k.tid.x) * PAIRS
    first = row.convert(u64) * (columns // 2) + mine.convert(u64)

    with k.if_(row < rows):
        part = _RowPart(k, shape, mine)
        pairs = part.load(source[first])
        if carried is not None:
            pairs = part.add(pairs, part.load(carried[first]))
            part.store(carried[first], pairs)
        scale = part.compute_scale(pairs, epsilon)
        weights = part.load(weight[mine], is_common=True)
        part.store(target[first], part.normalize(pairs, weights, scale))
    return k


def rms_norm_ctas(columns: int, rows: int) -> int:
    """Returns the number of CTAs for a number of rows."""
    return -(-rows // _RowShape.of(columns).rows)


@dataclass(frozen=True, slots=True)
class _RowShape:
    """A row of `columns` elements has `threads` threads with `vectors` vectors each, and a CTA has `rows` rows."""

    columns: int
    threads: int
    vectors: int
    rows: int

    @staticmethod
    def of(columns: int) -> _RowShape:
        """Returns the shape for a length. Raises `BuildValueError` if the kernel cannot have it."""
        if columns % VECTOR or not VECTOR <= columns <= MAX_ROW_ELEMENTS:
            raise BuildValueError(
                f"a row has a multiple of {VECTOR} elements, up to {MAX_ROW_ELEMENTS}, not {columns}: pad it with zeros"
            )
        per_warp = VECTOR * WARP_SIZE
        warps = min(-(-columns // (per_warp * _VECTORS)), _WARPS)
        if columns > per_warp * _WARPS * _MOST_VECTORS:
            warps = _MOST_WARPS
        return _RowShape(
            columns, warps * WARP_SIZE, -(-columns // (per_warp * warps)), _SHORT_ROWS if warps == 1 else 1
        )


class _RowPart:
    """The elements of a thread, as pairs in 32 bits. `mine` is the index of its first pair in the row."""

    def __init__(self, k: Kernel, shape: _RowShape, mine: Register[u32]) -> None:
        self._k, self._shape = k, shape
        step = shape.threads * PAIRS
        self._starts = [number * step for number in range(shape.vectors)]
        rest = shape.columns // 2 - self._starts[-1]
        self._is_cut = rest < step
        self._has_last = mine < rest
        self._keep = k.createpolicy_fractional_L2_evict_last(1.0)

    def load(self, place: Global[bf16x2], *, is_common: bool = False) -> list[Pair]:
        """Returns the pairs from `place` on; those beyond the end of the row are zero. `is_common` states that all rows
        load the same ones, and that nothing writes them.
        """
        policy = None if is_common else self._keep
        found: list[Pair] = []
        for start in self._starts:
            if not self._is_last(start):
                found += place[start].load(PAIRS, read_only=is_common, policy=policy)
                continue
            last = [self._k.variable(bf16x2, 0) for _ in range(PAIRS)]
            with self._k.if_(self._has_last):
                for pair, value in zip(last, place[start].load(PAIRS, read_only=is_common, policy=policy), strict=True):
                    pair.set(value)
            found += last
        return found

    def store(self, place: Global[bf16x2], pairs: Sequence[Pair]) -> None:
        """Stores the pairs from `place` on."""
        for number, start in enumerate(self._starts):
            with self._k.if_(self._has_last) if self._is_last(start) else nullcontext():
                place[start].store(pairs[number * PAIRS : (number + 1) * PAIRS])

    def add(self, left: Sequence[Pair], right: Sequence[Pair]) -> list[Pair]:
        """Returns the sums of the elements, rounded once."""
        return self._pack([a + b for a, b in zip(self._unpack(left), self._unpack(right), strict=True)])

    def compute_scale(self, pairs: Sequence[Pair], epsilon: float) -> Register[f32]:
        """Returns the factor that normalizes the row. All threads of the row execute it together."""
        k, values = self._k, self._unpack(pairs)
        squares = values[0] * values[0]
        for value in values[1:]:
            squares = k.fma(value, value, squares)
        total = k.warp_reduce("add", squares) if self._shape.rows > 1 else k.block_reduce("add", squares)
        return k.rsqrt(k.fma(total, 1 / self._shape.columns, epsilon), ftz=True)

    def normalize(self, pairs: Sequence[Pair], weights: Sequence[Pair], scale: Register[f32]) -> list[Pair]:
        """Returns the elements times the scale and the weights, rounded once."""
        return self._pack([a * scale * b for a, b in zip(self._unpack(pairs), self._unpack(weights), strict=True)])

    def _is_last(self, start: int) -> bool:
        """Returns whether some threads have no vector there, because the row ends before it."""
        return self._is_cut and start == self._starts[-1]

    def _unpack(self, pairs: Sequence[Pair]) -> list[Register[f32]]:
        return [half.convert(f32) for pair in pairs for half in self._k.unpack(pair)]

    def _pack(self, values: Sequence[Register[f32]]) -> list[Pair]:
        return [self._k.pack_convert(bf16x2, *two) for two in zip(values[::2], values[1::2], strict=True)]
