"""mma.m8n8k4 of f16: four products at once, each by eight lanes, four of the lower half of the warp and four of the
upper one.

Manual: Matrix Fragments for mma.m8n8k4 with .f16 floating point type.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from ptxkit.emulator.core.numbers.formats import Bits
from ptxkit.emulator.tensor.fragments import IndexArray, pack_elements, unpack_elements

_LANE = np.arange(32)
_SIDE = 8
_DEPTH = 4
PRODUCTS = 4


def gather_matrix(
    registers: Sequence[Bits], place: tuple[IndexArray, IndexArray, IndexArray], shape: tuple[int, int], width: int
) -> Bits:
    """Returns codes of shape (..., 4 products, rows, columns)."""
    parts = unpack_elements(np.stack(registers, axis=-2), width)  # (..., registers, lanes, elements)
    flat = np.moveaxis(parts, -2, -3).reshape(*parts.shape[:-3], 32, -1)
    codes = np.zeros((*flat.shape[:-2], PRODUCTS, *shape), flat.dtype)
    codes[(..., *place)] = flat
    return codes


def scatter_registers(codes: Bits, place: tuple[IndexArray, IndexArray, IndexArray], width: int) -> list[Bits]:
    """Returns D's registers."""
    flat = codes[(..., *place)]
    each = 32 // width
    packed = pack_elements(flat.reshape(*flat.shape[:-1], flat.shape[-1] // each, each), width)
    return [packed[..., at] for at in range(packed.shape[-1])]


@cache
def multiplicand_layout(along_lanes: bool) -> tuple[IndexArray, IndexArray, IndexArray]:
    """Returns the product, row and column of A's elements, (lanes, 4); B's are those with rows and columns exchanged.

    With `along_lanes`, neighboring lanes hold neighboring rows (A in rows, B in columns), else neighboring columns.
    """
    lane, at = _LANE[:, None], np.arange(_DEPTH)[None, :]
    upper = 4 * (lane >= 16)
    if along_lanes:
        return _product_index(lane, at), lane % 4 + upper + 0 * at, at + 0 * lane
    return _product_index(lane, at), at + upper, lane % 4 + 0 * at


@cache
def accumulator_layout(width: int) -> tuple[IndexArray, IndexArray, IndexArray]:
    """Returns the product, row and column of the elements of C or D, (lanes, 8)."""
    lane, at = _LANE[:, None], np.arange(_SIDE)[None, :]
    upper = 4 * (lane >= 16)
    if width == 16:
        return _product_index(lane, at), lane % 4 + upper + 0 * at, at + 0 * lane
    return _product_index(lane, at), (lane & 1) + (at & 2) + upper, (at & 4) + (lane & 2) + (at & 1)


def _product_index(lane: IndexArray, at: IndexArray) -> IndexArray:
    return lane % 16 // 4 + 0 * at
