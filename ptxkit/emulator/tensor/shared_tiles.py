"""Tiles of shared memory as matrices of codes: the units of 16 bytes that hold them, and their decoding.

Manual: Shared Memory Matrix Layout; Asynchronous Multiply-and-Accumulate Instruction: wgmma.mma_async.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ptxkit.emulator.core.numbers.formats import DTYPES, Bits
from ptxkit.emulator.tensor.descriptors import UNIT_BYTES, decode_matrix_descriptor, element_addresses
from ptxkit.emulator.tensor.fragments import unpack_elements


def unit_addresses(
    descriptor: int, rows: int, columns: int, width: int, *, transposed: bool = False
) -> NDArray[np.int64]:
    """Returns the addresses of the units that hold a matrix, of the shape (units across, units along).

    `rows` are those of A, or the columns of B; `columns` are along k. `width` is the number of bits of an element. With
    `transposed`, neighbors in a unit are neighbors along the rows, else along k.
    """
    matrix = decode_matrix_descriptor(descriptor)
    if transposed:
        each = UNIT_BYTES * 8 // width
        return element_addresses(matrix, rows, columns, width // 8, transposed=True)[::each]
    return element_addresses(matrix, rows, columns * width // 8 // UNIT_BYTES, UNIT_BYTES)


def decode_codes(octets: Bits, width: int, *, transposed: bool = False) -> Bits:
    """Returns the matrix (..., rows, columns) of units' bytes, (..., units across, units along, 16) of uint8."""
    if width in (8, 16, 32):
        parts = np.ascontiguousarray(octets).view(DTYPES[width])
    else:
        parts = unpack_elements(np.ascontiguousarray(octets).view(np.uint32), width)
        parts = parts.reshape(*octets.shape[:-1], -1)
    if transposed:
        parts = np.swapaxes(parts, -1, -2)  # (..., across, elements, along)
        return parts.reshape(*parts.shape[:-3], -1, parts.shape[-1])
    return parts.reshape(*parts.shape[:-2], -1)
