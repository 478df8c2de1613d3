"""8x8 matrices of 16 bits: between rows in memory and the registers of a warp, and transposed.

Manual: ldmatrix; stmatrix; movmatrix. A row is 16 bytes; lane l holds two neighbouring elements of row l / 4.
"""

from __future__ import annotations

import numpy as np

from ptxkit.emulator.core.numbers.formats import Bits

_SIDE = 8


def to_registers(rows: Bits, *, transposed: bool = False) -> list[Bits]:
    """Return a register for each matrix of rows (..., matrices, 8, 8) of 16 bits."""
    if transposed:
        rows = np.swapaxes(rows, -1, -2)
    words = np.ascontiguousarray(rows).view(np.uint32)  # (..., matrices, 8, 4)
    flat = words.reshape(*words.shape[:-2], 32)
    return [flat[..., at, :] for at in range(flat.shape[-2])]


def to_rows(registers: list[Bits]) -> Bits:
    """Return rows (..., matrices, 8, 8) of 16 bits, of a register for each matrix."""
    flat = np.ascontiguousarray(np.stack(registers, axis=-2))
    return flat.view(np.uint16).reshape(*flat.shape[:-1], _SIDE, _SIDE)


def transpose_register(register: Bits) -> Bits:
    """Return the transpose of a matrix in one register of each lane."""
    return to_registers(to_rows([register]), transposed=True)[0]
