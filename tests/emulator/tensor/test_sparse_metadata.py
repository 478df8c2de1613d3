"""Sparse matrices: the metadata of each chunk."""

from __future__ import annotations

import numpy as np
import pytest

from ptxkit.emulator.tensor.sparse_metadata import expand_sparse


@pytest.mark.parametrize(("width", "columns", "lanes"), [(16, 16, 1), (16, 32, 2), (8, 32, 2), (8, 64, 4)])
def test_two_of_four_elements_are_at_the_positions_of_their_numbers(width: int, columns: int, lanes: int) -> None:
    generator = np.random.default_rng(1)
    kind = f"u{width // 8}"
    choices = np.array([(i, j) for j in range(4) for i in range(j)])
    places = choices[generator.integers(0, len(choices), (16, columns // 4))]
    stored = generator.integers(1, 2**width, (16, columns // 4, 2)).astype(kind)
    expected = np.zeros((16, columns // 4, 4), kind)
    np.put_along_axis(expected, places, stored, axis=-1)
    nibbles = (places[..., 0] | places[..., 1] << 2).astype(np.uint32)
    for selector in range(4 // lanes):
        metadata = np.zeros(32, np.uint32)
        for row in range(16):
            for chunk in range(columns // 4):
                group, upper = row % 8, row // 8
                if width == 16:
                    lane, bit = 4 * group + selector * lanes + chunk // 4, 16 * upper + 4 * (chunk % 4)
                else:
                    lane, bit = 4 * group + selector * lanes + chunk // 8 * 2 + upper, 4 * (chunk % 8)
                metadata[lane] |= nibbles[row, chunk] << np.uint32(bit)
        found = expand_sparse(stored.reshape(16, -1), metadata, selector, width)
        assert (found == expected.reshape(16, columns)).all()


def test_of_two_words_the_halves_select() -> None:
    stored = np.arange(1, 65, dtype=np.uint32).reshape(16, 4)
    metadata = np.zeros(32, np.uint32)
    metadata[4 * 3] = 0x4E4E | 0xEEEE << 16  # row 3: second, first, second, first; row 11: always the second
    found = expand_sparse(stored, np.where(metadata, metadata, 0x44444444).astype(np.uint32), 0, 32)
    assert found[3].tolist() == [0, 13, 14, 0, 0, 15, 16, 0]
    assert found[11].tolist() == [0, 45, 0, 46, 0, 47, 0, 48]
    assert found[0].tolist() == [1, 0, 2, 0, 3, 0, 4, 0]


def test_elements_of_four_bits_are_stored_in_pairs() -> None:
    stored = np.tile(np.arange(1, 5, dtype=np.uint8), (16, 8))
    found = expand_sparse(stored, np.full(32, 0x88888888, np.uint32), 0, 4)  # pairs 0 and 2 of four
    assert found[0, :8].tolist() == [1, 2, 0, 0, 3, 4, 0, 0]
    assert found.shape == (16, 64)
