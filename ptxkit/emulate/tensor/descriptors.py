"""Matrices in shared memory that a descriptor names: where each element lies.

Manual: Shared Memory Matrix Layout; Canonical Layouts; Matrix Descriptor Format (wgmma).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

UNIT = 16
"""Bytes that are never torn by a swizzle."""

_SPANS = {0: 1, 1: 8, 2: 4, 3: 2}
"""The swizzle in a descriptor -> units in a row of its pattern."""


@dataclass(frozen=True, slots=True)
class Descriptor:
    """start, leading, stride: bytes. span: units that a row of the pattern has, 1 without a swizzle; base: its row."""

    start: int
    leading: int
    stride: int
    base: int
    span: int


def decode(bits: int) -> Descriptor:
    """A descriptor of 64 bits."""
    start, leading, stride = ((bits >> at & 0x3FFF) << 4 for at in (0, 16, 32))
    return Descriptor(start, leading, stride, bits >> 49 & 7, _SPANS[bits >> 62 & 3])


def addresses(matrix: Descriptor, rows: int, columns: int, size: int, *, transposed: bool = False) -> NDArray[np.int64]:
    """Where the elements lie in shared memory, (rows, columns). rows: of A, or columns of B; columns: along k.

    size: bytes of an element. transposed: neighbours along the rows are neighbours in memory, else those along k.
    """
    row, column = np.arange(rows)[:, None], np.arange(columns)[None, :]
    each = UNIT // size
    wide = matrix.span * UNIT
    if transposed:
        row_unit, column_row = row // each, column % 8
        across = row % each * size + row_unit % matrix.span * UNIT
        if matrix.span == 1:
            across = across + row_unit * matrix.stride
            along = column_row * UNIT + column // 8 * matrix.leading
        else:
            across = across + row_unit // matrix.span * matrix.leading
            along = column_row * wide + column // 8 * matrix.stride
    else:
        across = row % 8 * wide + row // 8 * matrix.stride
        unit = column // each
        # Where k goes on beyond a row of the pattern (B of a sparse product, with 32 bytes), it does so at `leading`.
        along = column % each * size + unit % matrix.span * UNIT + unit // matrix.span * matrix.leading
    return swizzled(matrix.start + across + along, matrix.span, matrix.base)


def swizzled(address: NDArray[np.int64], span: int, base: int = 0) -> NDArray[np.int64]:
    """Addresses with their unit exchanged by their row: bits from 4 on by those from 7 on, 1 to 3 of them."""
    row = ((address >> 7) - base) & (span - 1)
    return address ^ (row << 4)
