"""The schedule of attention: every query of every head once, all keys that it sees, and an even distribution."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxkit.kernels.attention_schedule import (
    AttentionSequence,
    AttentionShape,
    AttentionTile,
    assign_tiles,
    encode_tiles,
    make_tiles,
    order_attention_tiles,
)

ROWS, KEYS = 16, 8


def visible_keys(tile: AttentionTile) -> np.ndarray:
    """Returns which keys of the sequence each query of the tile sees, by the words of the tile."""
    return np.arange(tile.keys) < np.minimum(tile.keys, np.arange(tile.rows)[:, None] + tile.diagonal + 1)


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 70), st.integers(0, 70), st.booleans(), st.booleans())
def test_tiles_have_the_keys_that_their_queries_see(queries: int, keys: int, causal: bool, top_left: bool) -> None:
    shape = AttentionShape(1, 1, queries, 256, causal, top_left)
    sequence = AttentionSequence(0, 5, queries, 7, keys)
    tiles = list(make_tiles(sequence, 0, shape, ROWS, KEYS))
    assert [tile.row for tile in tiles] == list(range(5, 5 + queries, ROWS))
    assert sum(tile.rows for tile in tiles) == queries
    diagonal = (0 if top_left else keys - queries) if causal else keys
    expected = np.arange(keys) <= np.arange(queries)[:, None] + diagonal
    assert np.array_equal(np.concatenate([visible_keys(tile) for tile in tiles]), expected)
    for tile in tiles:
        seen = visible_keys(tile)
        last = max(np.flatnonzero(seen.any(0)), default=-1)
        assert tile.blocks == max(1, last // KEYS + 1)
        assert 1 <= tile.masked <= tile.blocks
        complete = (tile.blocks - tile.masked) * KEYS
        assert seen[:, :complete].all()
        following = seen[:, complete : complete + KEYS]
        assert tile.masked == 1 or not (following.shape[1] == KEYS and following.all())
        assert tile.key == 7


@pytest.mark.parametrize("causal", [False, True])
def test_every_query_of_every_head_is_computed_once(causal: bool) -> None:
    sequences = [AttentionSequence(0, 0, 50, 0, 60), AttentionSequence(1, 0, 17, 0, 9)]
    shape = AttentionShape(6, 2, 50, 256, causal)
    lists = assign_tiles(order_attention_tiles(sequences, shape, ROWS, KEYS), 5)
    assert len(lists) == 5
    tiles = [tile for each in lists for tile in each]
    done = Counter((tile.batch, tile.head, row) for tile in tiles for row in range(tile.row, tile.row + tile.rows))
    assert done == {
        (each.batch, head, row): 1 for each in sequences for head in range(6) for row in range(each.queries)
    }
    assert all(tile.key_head == tile.head // 3 for tile in tiles)
    assert all(tile.logarithm == (tile.batch * 6 + tile.head) * 50 + tile.row for tile in tiles)


def test_tiles_of_a_causal_mask_are_distributed_evenly() -> None:
    sequence = AttentionSequence(0, 0, 4096, 0, 4096)
    tiles = order_attention_tiles([sequence], AttentionShape(16, 16, 4096, 512, causal=True), 128, 128)
    assert [tile.blocks for tile in tiles] == sorted((tile.blocks for tile in tiles), reverse=True)
    times = [sum(tile.time for tile in each) for each in assign_tiles(tiles, 132)]
    assert max(times) < 1.02 * sum(times) / len(times)


def test_heads_that_do_not_fit_in_the_cache_together_follow_each_other() -> None:
    sequence = AttentionSequence(0, 0, 256, 0, 1 << 16)
    tiles = order_attention_tiles([sequence], AttentionShape(8, 4, 256, 512), 128, 128)
    assert [tile.key_head for tile in tiles] == sorted(tile.key_head for tile in tiles)


def test_the_table_has_a_row_for_each_tile_and_an_end() -> None:
    sequence = AttentionSequence(3, 0, 90, 11, 40)
    lists = assign_tiles(order_attention_tiles([sequence], AttentionShape(4, 2, 90, 256, causal=True), ROWS, KEYS), 7)
    words = encode_tiles(lists)
    assert words.shape == (max(map(len, lists)) + 1, 7, 8)
    for worker, tiles in enumerate(lists):
        assert not words[len(tiles) :, worker].any()
        for turn, tile in enumerate(tiles):
            row, heads, batch, key, blocks, keys, diagonal, logarithm = map(int, words[turn, worker])
            assert (row, heads & 0xFFFF, heads >> 16) == (tile.row, tile.head, tile.key_head)
            assert (batch & 0xFFFF, batch >> 16) == (tile.batch, tile.rows)
            assert (blocks & 0xFFFF, blocks >> 16) == (tile.blocks, tile.masked)
            assert (key, keys, logarithm) == (11, 40, tile.logarithm)
            assert diagonal == tile.diagonal % (1 << 32)
