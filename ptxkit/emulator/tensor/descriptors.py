"""The addresses of the elements of matrices in shared memory that a descriptor denotes.

Manual: Shared Memory Matrix Layout; Canonical Layouts; Matrix Descriptor Format (wgmma).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

UNIT_BYTES = 16
"""The bytes that a swizzle moves as a unit."""

_SWIZZLE_SPANS = {0: 1, 1: 8, 2: 8, 4: 4, 6: 2}
"""The number of units in a row of the pattern, by the swizzle in a descriptor."""
_PAIR_SWIZZLE = 1
"""The swizzle of 128 bytes that exchanges pairs of units, and repeats after four rows."""


@dataclass(frozen=True, slots=True)
class MatrixDescriptor:
    """The fields of a descriptor; `start`, `leading` and `stride` are in bytes.

    `span` is the number of units in a row of the pattern, 1 without a swizzle, and `base` its row. With
    `swizzles_pairs`, pairs of units are exchanged, and the pattern has four rows.
    """

    start: int
    leading: int
    stride: int
    base: int
    span: int
    swizzles_pairs: bool = False

    @property
    def height(self) -> int:
        """The number of rows of the pattern."""
        return 4 if self.swizzles_pairs else 8


def decode_matrix_descriptor(bits: int) -> MatrixDescriptor:
    """Decodes a descriptor of 64 bits. Raises ValueError if it has no valid swizzle."""
    start, leading, stride = ((bits >> at & 0x3FFF) << 4 for at in (0, 16, 32))
    swizzle = bits >> 61 & 7
    if swizzle not in _SWIZZLE_SPANS:
        raise ValueError(f"the matrix descriptor 0x{bits:016x} has the swizzle {swizzle}, which does not exist")
    return MatrixDescriptor(start, leading, stride, bits >> 49 & 7, _SWIZZLE_SPANS[swizzle], swizzle == _PAIR_SWIZZLE)


def element_addresses(
    matrix: MatrixDescriptor, rows: int, columns: int, size: int, *, transposed: bool = False
) -> NDArray[np.int64]:
    """Returns the addresses of the elements in shared memory, of the shape (rows, columns).

    `rows` are those of A, or the columns of B; `columns` are along k. `size` is the number of bytes of an element. With
    `transposed`, neighbors along the rows are neighbors in memory, else those along k.
    """
    row, column = np.arange(rows)[:, None], np.arange(columns)[None, :]
    each = UNIT_BYTES // size
    wide = matrix.span * UNIT_BYTES
    if transposed:
        row_unit, column_row = row // each, column % matrix.height
        across = row % each * size + row_unit % matrix.span * UNIT_BYTES
        if matrix.span == 1:
            across = across + row_unit * matrix.stride
            along = column_row * UNIT_BYTES + column // 8 * matrix.leading
        else:
            across = across + row_unit // matrix.span * matrix.leading
            along = column_row * wide + column // matrix.height * matrix.stride
    else:
        across = row % 8 * wide + row // 8 * matrix.stride
        unit = column // each
        # If k extends beyond a row of the pattern (B of a sparse product, with 32 bytes), it continues at `leading`.
        along = column % each * size + unit % matrix.span * UNIT_BYTES + unit // matrix.span * matrix.leading
    place = matrix.start + across + along
    return (
        swizzle_address_pairs(place, matrix.base)
        if matrix.swizzles_pairs
        else swizzle_address(place, matrix.span, matrix.base)
    )


def swizzle_address(address: NDArray[np.int64], span: int, base: int = 0) -> NDArray[np.int64]:
    """Returns addresses whose units are permuted by their row: bits from 4 on are combined with those from 7 on, 1 to 3
    of them.
    """
    row = ((address >> 7) - base) & (span - 1)
    return address ^ (row << 4)


def swizzle_address_pairs(address: NDArray[np.int64], base: int = 0) -> NDArray[np.int64]:
    """Returns addresses whose pairs of units are permuted by their row: bits 5 and 6 by bits 7 and 8."""
    return address ^ (((address >> 7) - base & 3) << 5)
