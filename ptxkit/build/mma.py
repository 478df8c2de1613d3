"""Tiles of a warp for `mma.sync`: `ldmatrix` loads the fragments, and registers hold the results.

    left, right = k.rows(a, 64, swizzle=128), k.rows(b, 64, swizzle=128)     # A is M x K and B is N x K
    acc = k.mma_tile(32, 64)                             # 32 x 64 results of type f32, 64 in each thread
    for step in k.unroll(4):                             # 64 of K, 16 at a time
        acc.multiply(k.mma_a(left, 0, 16 * step, count=32), k.mma_b(right, 0, 16 * step, count=64), bf16)
    acc.store(out, pitch)                                # or acc.stmatrix(rows, 0, 0, bf16)

A step multiplies 32 bytes of K: 16 elements of f16 or bf16, 8 of tf32, or 32 of e4m3, e5m2, s8 or u8. A matrix whose
rows in memory are along M or N instead of K is `transposed`; its elements must have 16 bits.

Source: PTX ISA, "Matrix multiply-accumulate operation using mma instruction", "Matrix Fragments for mma.m16n8k16 with
floating point type".
"""

from __future__ import annotations

from typing import Any

from ptxkit.build.addresses import Address
from ptxkit.build.control_flow import variable
from ptxkit.build.errors import BuildTypeError, BuildValueError
from ptxkit.build.instructions import InstructionBuilder
from ptxkit.build.packing import pack_convert
from ptxkit.build.registers import Register, Variable
from ptxkit.build.shared_matrix import Rows
from ptxkit.build.special_registers import read_special
from ptxkit.fast_dataclasses import dataclass
from ptxkit.kernel_model.scalar_types import SCALARS, Scalar, b32, bf16, f16, f32, s32, u32

ROWS, COLUMNS = 16, 8
"""The rows and columns of the results of one instruction."""
_ELEMENTS_PER_STEP = {"f16": 16, "bf16": 16, "tf32": 8, "e4m3": 32, "e5m2": 32, "s8": 32, "u8": 32}
"""The number of elements of K that one instruction multiplies, by their type."""
_INTEGER_TYPES = ("s8", "u8")


@dataclass(frozen=True, slots=True)
class Fragment:
    """The part of A or B that a warp multiplies in one step.

    `pieces` holds the registers of each group of 16 rows of A, or of each group of 8 columns of B.
    """

    side: str
    pieces: tuple[tuple[Register[Any], ...], ...]


def mma_a(
    builder: InstructionBuilder,  # noqa: ARG001
    rows: Rows[Any],
    row: int | Register[u32],
    k: int | Register[u32],
    *,
    count: int = 16,
    transposed: bool = False,
) -> Fragment:
    """Loads `count` rows of A from `row` on, and 32 bytes of K from element `k` on: `ldmatrix`.

    All threads of the warp must execute it. With `transposed`, the rows in memory are along M instead of K.
    """
    _check_fragment(rows, count, ROWS, "rows", transposed)
    pieces = []
    for start in range(0, count, ROWS):
        if transposed:
            pieces.append(rows.ldmatrix(k, row + start, 4, transposed=True, across=True))
        else:
            pieces.append(rows.ldmatrix(row + start, k, 4))
    return Fragment("a", tuple(pieces))


def mma_b(
    builder: InstructionBuilder,  # noqa: ARG001
    rows: Rows[Any],
    column: int | Register[u32],
    k: int | Register[u32],
    *,
    count: int = 8,
    transposed: bool = False,
) -> Fragment:
    """Loads `count` columns of B from `column` on, and 32 bytes of K from element `k` on: `ldmatrix`.

    All threads of the warp must execute it. The rows in memory are along K, one for each column of B; with
    `transposed`, they are along N. Each instruction loads two groups of eight columns.
    """
    _check_fragment(rows, count, COLUMNS, "columns", transposed)
    pieces: list[tuple[Register[Any], ...]] = []
    for start in range(0, count, 2 * COLUMNS):
        number = min(count - start, 2 * COLUMNS) // COLUMNS * 2
        if transposed:
            found = rows.ldmatrix(k, column + start, number, transposed=True)
        else:
            found = rows.ldmatrix(column + start, k, number, across=True)
        pieces += [found[at : at + 2] for at in range(0, number, 2)]
    return Fragment("b", tuple(pieces))


def _check_fragment(rows: Rows[Any], count: int, unit: int, what: str, transposed: bool) -> None:
    if not isinstance(rows, Rows):
        raise BuildTypeError(f"a fragment is loaded from rows in shared memory, `k.rows(...)`, not from {rows!r}")
    if isinstance(count, bool) or not isinstance(count, int) or count < unit or count % unit:
        raise BuildValueError(f"a fragment has a multiple of {unit} {what}, not {count!r}")
    if transposed and rows.place.type.bits != 16:
        raise BuildTypeError(f"only elements of 16 bits are transposed as they are loaded, not .{rows.place.type.word}")


class Tile:
    """`rows` x `columns` results of a warp, initially zero. `registers` holds those of each 16 x 8 block, rows
    first.
    """

    def __init__(self, flow: InstructionBuilder, rows: int, columns: int, scalar: type[Scalar]) -> None:
        if scalar not in (f32, s32):
            raise BuildTypeError(f"results are f32 or s32, not {scalar!r}")
        for extent, unit in ((rows, ROWS), (columns, COLUMNS)):
            if isinstance(extent, bool) or not isinstance(extent, int) or extent < unit or extent % unit:
                raise BuildValueError(f"a tile has a multiple of {ROWS} rows and of {COLUMNS} columns, not {extent!r}")
        self._flow = flow
        self.rows, self.columns, self.type = rows, columns, scalar
        pieces = rows // ROWS * (columns // COLUMNS)
        self.registers: tuple[tuple[Variable[Any], ...], ...] = tuple(
            tuple(variable(flow, scalar, 0) for _ in range(4)) for _ in range(pieces)
        )

    def piece(self, row: int, column: int) -> tuple[Variable[Any], ...]:
        """Returns this thread's four results of the 16 x 8 block that begins at that row and column."""
        return self.registers[row // ROWS * (self.columns // COLUMNS) + column // COLUMNS]

    def multiply(
        self, a: Fragment, b: Fragment, element: type[Scalar] | str, *, b_element: type[Scalar] | str | None = None
    ) -> None:
        """Computes `self += a * b` for one step of K: `mma.sync`. All threads of the warp must execute it.

        `element` and `b_element` are the types of A and B, by default the same; types without a class have names, such
        as `e4m3` or `tf32`.
        """
        words = [_element_word(element), _element_word(element if b_element is None else b_element)]
        if len(set(map(_ELEMENTS_PER_STEP.get, words))) > 1 or (
            set(words) & {"f16", "bf16", "tf32"} and words[0] != words[1]
        ):
            raise BuildTypeError(f"no instruction multiplies {words[0]} by {words[1]}")
        if (self.type is s32) is not (words[0] in _INTEGER_TYPES):
            raise BuildTypeError(
                f"products of {words[0]} are added up as {'s32' if words[0] in _INTEGER_TYPES else 'f32'}"
            )
        for fragment, side, extent, unit in ((a, "a", self.rows, ROWS), (b, "b", self.columns, COLUMNS)):
            if not isinstance(fragment, Fragment) or fragment.side != side or len(fragment.pieces) * unit != extent:
                what = f"k.mma_{side}(...) of {extent} {'rows' if side == 'a' else 'columns'}"
                raise BuildTypeError(f"the tile needs {what}, not {_describe_fragment(fragment)}")
        word = self.type.word
        opcode = f"mma.sync.aligned.m16n8k{_ELEMENTS_PER_STEP[words[0]]}.row.col.{word}.{words[0]}.{words[1]}.{word}"
        for i, left in enumerate(a.pieces):
            for j, right in enumerate(b.pieces):
                results = self.piece(i * ROWS, j * COLUMNS)
                self._flow.emit(opcode, results, left, right, results)

    # ------------------------------------------------------------------------------------------- results

    def row(self) -> Register[u32]:
        """Returns the row of this thread's first two results in each 16 x 8 block; the other two are 8 rows below."""
        return read_special(self._flow, "%laneid") >> 2

    def column(self) -> Register[u32]:
        """Returns the column of this thread's first and third results in each 16 x 8 block; the other two are in the
        next column.
        """
        return (read_special(self._flow, "%laneid") & 3) * 2

    def store(self, place: Address[Any], pitch: int | Register[u32]) -> None:
        """Stores the results to a matrix with `pitch` elements from one row to the next, two results at a time.

        The rows must be aligned to 8 bytes, so `pitch` is even.
        """
        if place.type is not self.type:
            raise BuildTypeError(f"the results are .{self.type.word}, and the matrix is {place!r}")
        if (pitch if isinstance(pitch, int) else pitch.multiple) % 2:
            raise BuildValueError("two results are stored at once: the pitch is even")
        first = place[self.row() * pitch + self.column()].aligned(2 * self.type.size())
        for i in range(0, self.rows, COLUMNS):
            below = first[pitch * i] if i else first
            for j in range(0, self.columns, COLUMNS):
                results = self.piece(i, j)
                below[j].aligned(first.alignment).store(results[2:] if i % ROWS else results[:2])

    def packed(self, row: int, column: int, scalar: type[Scalar]) -> tuple[Register[b32], Register[b32]]:
        """Returns the results of a 16 x 8 block as pairs of halves: `cvt.rn.bf16x2.f32`. The even column is the low
        half.
        """
        if scalar not in (bf16, f16) or self.type is not f32:
            raise BuildTypeError(f"results of f32 are packed as pairs of f16 or bf16, not of {scalar!r}")
        results = self.piece(row, column)
        pair = SCALARS[f"{scalar.word}x2"]
        found = [pack_convert(self._flow, pair, results[at], results[at + 1]) for at in (0, 2)]
        low, high = (Register(self._flow, b32, each.name) for each in found)
        return low, high

    def stmatrix(self, rows: Rows[Any], row: int | Register[u32], column: int | Register[u32]) -> None:
        """Stores the results to shared memory as halves of the matrix's element type: `stmatrix`, which needs sm_90."""
        for i in range(0, self.rows, ROWS):
            for j in range(0, self.columns, 2 * COLUMNS):
                halves = self.packed(i, j, rows.place.type)
                if j + COLUMNS < self.columns:
                    rows.stmatrix(row + i, column + j, (*halves, *self.packed(i, j + COLUMNS, rows.place.type)))
                else:
                    rows.stmatrix(row + i, column + j, halves)


def mma_tile(k: InstructionBuilder, rows: int, columns: int, scalar: type[Scalar] = f32) -> Tile:
    """Returns `rows` x `columns` results of a warp, initialized with zero: see `ptxkit.build.mma`.

    `rows` is a multiple of 16 and `columns` of 8.
    """
    return Tile(k, rows, columns, scalar)


def _describe_fragment(fragment: object) -> str:
    if not isinstance(fragment, Fragment):
        return repr(fragment)
    unit = ROWS if fragment.side == "a" else COLUMNS
    return f"k.mma_{fragment.side}(...) of {len(fragment.pieces) * unit}"


def _element_word(element: type[Scalar] | str) -> str:
    word = element if isinstance(element, str) else element.word
    if word not in _ELEMENTS_PER_STEP:
        raise BuildTypeError(f"mma multiplies {', '.join(_ELEMENTS_PER_STEP)}, not {word}")
    return word
