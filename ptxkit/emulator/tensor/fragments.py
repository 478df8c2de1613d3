"""The element of a matrix that each register of each lane holds.

All shapes of mma but one share a rule. Lane l is thread t = l % 4 of group g = l / 4. A block of A is 8 rows, one for
each group, and as many columns as 4 adjacent registers hold, one register for each thread; B is the same with rows and
columns exchanged; a block of C or D is 8 rows and 8 columns, two for each thread. Blocks are ordered down the rows
first.

Manual: Matrix Fragments for mma.m8n8k4 with .f16, .m8n8k16, ..., .m16n8k256; Register Fragments (wgmma).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ptxkit.emulator.core.numbers.formats import DTYPES, Bits

LANES = 32
_GROUP = np.arange(LANES) // 4
_THREAD = np.arange(LANES) % 4

IndexArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class FragmentLayout:
    """The row and column of each element, as arrays of the shape (registers, lanes, elements in a register)."""

    row: IndexArray
    column: IndexArray
    rows: int
    columns: int
    width: int

    @property
    def registers(self) -> int:
        return len(self.row)


@cache
def multiplicand_layout(rows: int, columns: int, width: int) -> FragmentLayout:
    """Returns the layout of A with `rows` rows, and columns of `width` bits.

    B is the transpose of an A with as many rows as B has columns.
    """
    each = elements_per_register(width)
    found = [
        (
            8 * down + _GROUP[:, None] + 0 * _element_index(each),
            4 * each * across + each * _THREAD[:, None] + _element_index(each),
        )
        for across in range(columns // (4 * each))
        for down in range(rows // 8)
    ]
    return _make_layout(found, rows, columns, width)


@cache
def accumulator_layout(rows: int, columns: int, width: int) -> FragmentLayout:
    """Returns the layout of C or D."""
    pairs = [
        (8 * down + _GROUP[:, None] + 0 * _element_index(2), 8 * across + 2 * _THREAD[:, None] + _element_index(2))
        for across in range(columns // 8)
        for down in range(rows // 8)
    ]
    if width == 16:
        return _make_layout(pairs, rows, columns, width)
    single = [(row[:, at : at + 1], column[:, at : at + 1]) for row, column in pairs for at in range(2)]
    return _make_layout(single, rows, columns, width)


def _element_index(count: int) -> IndexArray:
    return np.arange(count)[None, :]


def _make_layout(found: Sequence[tuple[IndexArray, IndexArray]], rows: int, columns: int, width: int) -> FragmentLayout:
    return FragmentLayout(
        np.stack([row for row, _ in found]), np.stack([column for _, column in found]), rows, columns, width
    )


def elements_per_register(width: int) -> int:
    """Returns the number of elements of `width` bits in a register of 32 bits; f64 has 64-bit registers."""
    return max(1, 32 // width)


def gather_matrix(registers: Sequence[Bits], layout: FragmentLayout) -> Bits:
    """Returns the codes of the elements, (..., rows, columns), of registers of shape (..., lanes)."""
    parts = unpack_elements(np.stack(registers, axis=-2), layout.width)
    codes = np.zeros((*parts.shape[:-3], layout.rows, layout.columns), parts.dtype)
    codes[..., layout.row, layout.column] = parts
    return codes


def scatter_registers(codes: Bits, layout: FragmentLayout) -> list[Bits]:
    """Returns the registers of the codes of a matrix, the inverse of `gather_matrix`."""
    packed = pack_elements(codes[..., layout.row, layout.column], layout.width)
    return [packed[..., at, :] for at in range(layout.registers)]


def unpack_elements(values: Bits, width: int) -> Bits:
    """Returns the elements of registers, the lowest first, in a new last dimension."""
    if width in (8, 16, 32, 64):
        return np.ascontiguousarray(values)[..., None].view(DTYPES[width])
    shifts = np.arange(0, 32, width, dtype=np.uint32)
    found: Bits = ((values[..., None] >> shifts) & np.uint32((1 << width) - 1)).astype(np.uint8)
    return found


def pack_elements(parts: Bits, width: int) -> Bits:
    """Packs elements to registers of 32 or 64 bits."""
    if width in (8, 16, 32, 64):
        wanted = np.uint64 if width == 64 else np.uint32
        whole: Bits = np.ascontiguousarray(parts.astype(DTYPES[width], copy=False)).view(wanted)[..., 0]
        return whole
    shifts = np.arange(0, 32, width, dtype=np.uint32)
    joined: Bits = np.bitwise_or.reduce(parts.astype(np.uint32) << shifts, axis=-1)
    return joined
