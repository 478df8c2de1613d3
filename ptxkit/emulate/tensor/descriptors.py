"""Matrices in shared memory that a descriptor names: where each element lies.

Manual: Shared Memory Matrix Layout; Canonical Layouts; Matrix Descriptor Format (wgmma).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

UNIT = 16
"""Bytes that are never torn by a swizzle."""

_SPANS = {0: 1, 1: 8, 2: 8, 4: 4, 6: 2}
"""The swizzle in a descriptor -> units in a row of its pattern."""
_IN_PAIRS = 1
"""The swizzle of 128 bytes that exchanges pairs of units, and repeats after four rows."""


@dataclass(frozen=True, slots=True)
class Descriptor:
    """start, leading, stride: bytes. span: units that a row of the pattern has, 1 without a swizzle; base: its row.

    in_pairs: pairs of units are exchanged, and the pattern has four rows.
    """

    start: int
    leading: int
    stride: int
    base: int
    span: int
    in_pairs: bool = False

    @property
    def height(self) -> int:
        """Rows of the pattern."""
        return 4 if self.in_pairs else 8


def decode(bits: int) -> Descriptor:
    """A descriptor of 64 bits. Raises ValueError where its swizzle is none."""
    start, leading, stride = ((bits >> at & 0x3FFF) << 4 for at in (0, 16, 32))
    swizzle = bits >> 61 & 7
    if swizzle not in _SPANS:
        raise ValueError(f"the matrix descriptor 0x{bits:016x} has the swizzle {swizzle}, which is none")
    return Descriptor(start, leading, stride, bits >> 49 & 7, _SPANS[swizzle], swizzle == _IN_PAIRS)


def addresses(matrix: Descriptor, rows: int, columns: int, size: int, *, transposed: bool = False) -> NDArray[np.int64]:
    """Where the elements lie in shared memory, (rows, columns). rows: of A, or columns of B; columns: along k.

    size: bytes of an element. transposed: neighbours along the rows are neighbours in memory, else those along k.
    """
    row, column = np.arange(rows)[:, None], np.arange(columns)[None, :]
    each = UNIT // size
    wide = matrix.span * UNIT
    if transposed:
        row_unit, column_row = row // each, column % matrix.height
        across = row % each * size + row_unit % matrix.span * UNIT
        if matrix.span == 1:
            across = across + row_unit * matrix.stride
            along = column_row * UNIT + column // 8 * matrix.leading
        else:
            across = across + row_unit // matrix.span * matrix.leading
            along = column_row * wide + column // matrix.height * matrix.stride
    else:
        across = row % 8 * wide + row // 8 * matrix.stride
        unit = column // each
        # Where k goes on beyond a row of the pattern (B of a sparse product, with 32 bytes), it does so at `leading`.
        along = column % each * size + unit % matrix.span * UNIT + unit // matrix.span * matrix.leading
    place = matrix.start + across + along
    return in_pairs(place, matrix.base) if matrix.in_pairs else swizzled(place, matrix.span, matrix.base)


def swizzled(address: NDArray[np.int64], span: int, base: int = 0) -> NDArray[np.int64]:
    """Addresses with their unit exchanged by their row: bits from 4 on by those from 7 on, 1 to 3 of them."""
    row = ((address >> 7) - base) & (span - 1)
    return address ^ (row << 4)


def in_pairs(address: NDArray[np.int64], base: int = 0) -> NDArray[np.int64]:
    """Addresses with their pair of units exchanged by their row: bits 5 and 6 by bits 7 and 8."""
    return address ^ (((address >> 7) - base & 3) << 5)
