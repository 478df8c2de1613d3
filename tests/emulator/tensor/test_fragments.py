"""The layout of elements in registers, compared with the manual's formulas."""

from __future__ import annotations

import numpy as np
import pytest

from ptxkit.emulator.tensor import fragments, mma_m8n8k4
from ptxkit.emulator.tensor.fragments import accumulator_layout, gather_matrix, multiplicand_layout, scatter_registers

LANES = [(lane, lane >> 2, lane % 4) for lane in range(32)]


def elements_of(layout: fragments.FragmentLayout, lane: int) -> list[tuple[int, int]]:
    """Returns row and column of a lane's elements, in the manual's order: those of the first register first."""
    rows, columns = layout.row[:, lane].ravel(), layout.column[:, lane].ravel()
    return list(zip(rows.tolist(), columns.tolist(), strict=True))


def test_the_fragment_of_a_of_16_by_16_halves_has_the_layout_of_the_manual() -> None:
    for lane, group, thread in LANES:
        expected = [
            (group if i < 2 or 4 <= i < 6 else group + 8, thread * 2 + (i & 1) + (8 if i >= 4 else 0)) for i in range(8)
        ]
        assert elements_of(multiplicand_layout(16, 16, 16), lane) == expected


def test_the_fragment_of_b_of_16_by_8_halves_has_the_layout_of_the_manual() -> None:
    for lane, group, thread in LANES:
        expected = [(group, thread * 2 + (i & 1) + (8 if i >= 2 else 0)) for i in range(4)]  # column, row
        assert elements_of(multiplicand_layout(8, 16, 16), lane) == expected


def test_the_fragment_of_a_of_16_by_32_bytes_has_the_layout_of_the_manual() -> None:
    for lane, group, thread in LANES:
        expected = [
            (group if i < 4 or 8 <= i < 12 else group + 8, thread * 4 + (i & 3) + (16 if i >= 8 else 0))
            for i in range(16)
        ]
        assert elements_of(multiplicand_layout(16, 32, 8), lane) == expected


def test_the_fragments_of_a_of_16_by_8_words_and_of_doubles_have_the_layout_of_the_manual() -> None:
    for lane, group, thread in LANES:
        words = [(group if i in (0, 2) else group + 8, thread if i < 2 else thread + 4) for i in range(4)]
        assert elements_of(multiplicand_layout(16, 8, 32), lane) == words
        doubles = [(group if i % 2 == 0 else group + 8, i // 2 * 4 + thread) for i in range(8)]
        assert elements_of(multiplicand_layout(16, 16, 64), lane) == doubles


def test_accumulators_of_both_widths_have_the_layout_of_the_manual() -> None:
    for lane, group, thread in LANES:
        expected = [(group if i < 2 else group + 8, thread * 2 + (i & 1)) for i in range(4)]
        assert elements_of(accumulator_layout(16, 8, 32), lane) == expected
        assert elements_of(accumulator_layout(16, 8, 16), lane) == expected
        assert elements_of(accumulator_layout(8, 8, 64), lane) == expected[:2]
    assert (accumulator_layout(16, 8, 32).registers, accumulator_layout(16, 8, 16).registers) == (4, 2)


@pytest.mark.parametrize(
    ("rows", "columns", "width"), [(16, 256, 1), (16, 64, 4), (16, 16, 16), (8, 4, 64), (16, 8, 32)]
)
def test_every_element_has_one_position(rows: int, columns: int, width: int) -> None:
    layout = multiplicand_layout(rows, columns, width)
    generator = np.random.default_rng(1)
    kind = np.uint8 if width < 8 else f"u{width // 8}"
    codes = generator.integers(0, 2 ** min(width, 63), (3, rows, columns)).astype(kind)
    held = scatter_registers(codes, layout)
    assert len(held) == layout.registers
    assert held[0].shape == (3, 32)
    assert (gather_matrix(held, layout) == codes).all()


def test_quads_contain_four_small_matrices() -> None:
    generator = np.random.default_rng(2)
    for width in (16, 32):
        codes = generator.integers(0, 2**width, (2, 4, 8, 8), dtype=np.uint64).astype(f"u{width // 8}")
        place = mma_m8n8k4.accumulator_layout(width)
        held = mma_m8n8k4.scatter_registers(codes, place, width)
        assert len(held) == width // 4
        assert (mma_m8n8k4.gather_matrix(held, place, (8, 8), width) == codes).all()
    product, row, column = mma_m8n8k4.multiplicand_layout(True)
    assert (product[21].tolist(), row[21].tolist(), column[21].tolist()) == ([1] * 4, [5] * 4, [0, 1, 2, 3])
    product, row, column = mma_m8n8k4.multiplicand_layout(False)
    assert (product[21].tolist(), row[21].tolist(), column[21].tolist()) == ([1] * 4, [4, 5, 6, 7], [1] * 4)
    _, row, column = mma_m8n8k4.accumulator_layout(32)
    assert row[19].tolist() == [5, 5, 7, 7, 5, 5, 7, 7]
    assert column[19].tolist() == [2, 3, 2, 3, 6, 7, 6, 7]
