"""8x8 matrices between rows and registers."""

from __future__ import annotations

import numpy as np

from ptxkit.emulator.tensor.ldmatrix_layout import to_registers, to_rows, transpose_register


def test_a_lane_holds_two_neighbours_of_its_row() -> None:
    rows = np.arange(128, dtype=np.uint16).reshape(1, 2, 8, 8)
    first, second = to_registers(rows)
    assert first[0, 5] == 8 + 2 | (8 + 3) << 16
    assert second[0, 31] == 64 + 62 | (64 + 63) << 16
    assert (to_rows([first, second]) == rows).all()


def test_transposed_it_holds_two_of_its_column() -> None:
    rows = np.arange(64, dtype=np.uint16).reshape(1, 1, 8, 8)
    (register,) = to_registers(rows, transposed=True)
    assert register[0, 5] == 16 + 1 | (24 + 1) << 16
    assert (transpose_register(register) == to_registers(rows)[0]).all()
