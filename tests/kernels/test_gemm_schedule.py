"""The schedule of the GEMM: every k-block of every tile once, and without deadlocks."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxkit.kernels.gemm_schedule import (
    FINISH,
    MIN_K_BLOCKS,
    NORMAL,
    PARTIAL,
    encode_schedule,
    is_split_worthwhile,
    make_schedule,
    order_tiles,
)

SIZES = [
    (1, 1, 1, 66),
    (32, 32, 128, 66),
    (64, 32, 128, 132),
    (16, 16, 64, 66),
    (7, 5, 33, 3),
    (9, 13, 1, 4),
    (3, 3, 20, 2),
]


def check(down: int, across: int, blocks: int, workers: int, spread: bool | None) -> None:
    """Asserts that every k-block of every tile belongs to one worker; partial sums reach the worker that waits for
    them."""
    lists = make_schedule(down, across, blocks, workers, spread=spread)
    assert len(lists) == workers
    blocks = max(blocks, MIN_K_BLOCKS)
    rows = [row for each in lists for row in each]
    done = Counter((row.m, row.n, k) for row in rows for k in range(row.first, row.first + row.blocks))
    assert done == {(m, n, k): 1 for m in range(down) for n in range(across) for k in range(blocks)}
    assert all(row.blocks >= MIN_K_BLOCKS for row in rows)
    assert all((row.kind == NORMAL) == (row.blocks == blocks) for row in rows)
    given_on = {row.slot: (row.m, row.n, row.first + row.blocks) for row in rows if row.kind == PARTIAL}
    taken = {row.slot: (row.m, row.n, row.first) for row in rows if row.kind == FINISH}
    assert given_on == taken
    assert len(given_on) == sum(row.kind == PARTIAL for row in rows)
    assert all(row.first + row.blocks == blocks for row in rows if row.kind == FINISH)
    for each in lists:  # partial sums for others come first, those it waits for last, or not before its whole tiles
        kinds = [row.kind for row in each]
        assert PARTIAL not in kinds[1:]
        assert FINISH not in kinds or PARTIAL not in kinds[kinds.index(FINISH) :]


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("spread", [None, False, True])
def test_every_part_of_every_tile_is_computed_once(sizes: tuple[int, int, int, int], spread: bool | None) -> None:
    check(*sizes, spread)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 60), st.integers(1, 70), st.booleans())
def test_every_part_is_computed_once_for_any_shape(m: int, n: int, blocks: int, workers: int, spread: bool) -> None:
    check(m, n, blocks, workers, spread)


def test_the_last_wave_is_distributed_where_that_is_faster() -> None:
    assert is_split_worthwhile(32 * 32, 128, 66)
    assert not is_split_worthwhile(16 * 16, 64, 66)
    shares = [sum(row.blocks for row in rows) for rows in make_schedule(32, 32, 128, 66)]
    assert max(shares) - min(shares) <= 2 * MIN_K_BLOCKS
    assert {row.kind for rows in make_schedule(16, 16, 64, 66) for row in rows} == {NORMAL}


def test_concurrent_tiles_are_in_a_block() -> None:
    order = order_tiles(32, 32)
    assert sorted(order) == [(m, n) for m in range(32) for n in range(32)]
    first = order[:64]
    assert {m for m, _ in first} == {n for _, n in first} == set(range(8))


def test_the_table_has_a_row_for_each_iteration_of_each_worker_and_an_end() -> None:
    lists = make_schedule(7, 5, 33, 3, spread=True)
    words = encode_schedule(lists)
    assert words.dtype == np.uint32
    assert words.shape == (max(map(len, lists)) + 1, 3, 4)
    for worker, rows in enumerate(lists):
        for turn, row in enumerate(rows):
            place, blocks, first, kind = map(int, words[turn, worker])
            assert (place & 0xFFFF, place >> 16, blocks, first) == (row.m, row.n, row.blocks, row.first)
            assert (kind & 0xFF, kind >> 8) == (row.kind, row.slot)
        assert not words[len(rows) :, worker].any()
