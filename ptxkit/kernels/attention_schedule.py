"""The schedule of the attention kernel: the host assigns tiles of queries to CTAs, one row of eight words for each.

    row = (first query, head | head of K << 16, sequence | queries << 16, first key,
           blocks | masked blocks << 16, keys, diagonal, logarithm)

Query i of the tile sees the keys j < min(keys, i + diagonal + 1) of its sequence. So the mask is data: without a causal
mask, the diagonal is beyond all keys. The blocks after the last visible key are not in the row, and of the others, only
the last `masked` ones are computed with the mask. A row with 0 blocks ends the list of a CTA.

The time of a tile is known: the number of its blocks, and some time for its begin and end. Tiles are assigned from the
longest to the shortest, each to the CTA that is the first to be free. Heads whose keys and values fit in the L2 cache
together are processed before the next ones.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ptxkit.fast_dataclasses import dataclass
from ptxkit.kernels.attention_config import ITEM_WORDS

L2_BYTES = 32 << 20
"""The bytes of K and V that are processed together, so that they stay in the L2 cache (50 MB on an H100)."""
TILE_OVERHEAD = 1.0
"""The time of a tile's begin and end, in blocks."""
NO_DIAGONAL = 1 << 30
"""The diagonal of a tile that sees all keys."""


@dataclass(frozen=True, slots=True)
class AttentionSequence:
    """The queries and keys of one sequence: where they begin in the tensors, and how many there are.

    `batch` is the index in the outermost dimension of the tensors; sequences of different lengths have the same.
    """

    batch: int
    query: int
    queries: int
    key: int
    keys: int


@dataclass(frozen=True, slots=True)
class AttentionTile:
    """A row of the schedule."""

    row: int
    rows: int
    head: int
    key_head: int
    batch: int
    key: int
    keys: int
    blocks: int
    masked: int
    diagonal: int
    logarithm: int

    @property
    def time(self) -> float:
        """The time of the tile, in blocks."""
        return self.blocks + TILE_OVERHEAD

    def to_words(self) -> tuple[int, ...]:
        """Returns the words that the kernel reads."""
        return (
            self.row,
            self.head | self.key_head << 16,
            self.batch | self.rows << 16,
            self.key,
            self.blocks | self.masked << 16,
            self.keys,
            self.diagonal & 0xFFFFFFFF,
            self.logarithm,
        )


@dataclass(frozen=True, slots=True)
class AttentionShape:
    """The sizes of a problem: `heads` of Q share `key_heads` of K and V, in equal groups.

    `queries` is the extent of Q along the sequence; the logarithms are an array (batch, heads, queries). `key_bytes` is
    the size of one key and one value of a head. With `causal`, the last query of a sequence sees all keys, and each
    other query one key less than the next; with `top_left`, the first query sees the first key only.
    """

    heads: int
    key_heads: int
    queries: int
    key_bytes: int
    causal: bool = False
    top_left: bool = False


def make_tiles(
    sequence: AttentionSequence, head: int, shape: AttentionShape, rows: int, keys: int
) -> Iterable[AttentionTile]:
    """Yields the tiles of a head of a sequence, of `rows` queries each, in blocks of `keys` keys."""
    for first in range(0, sequence.queries, rows):
        count = min(rows, sequence.queries - first)
        diagonal = NO_DIAGONAL
        if shape.causal:
            diagonal = first + (0 if shape.top_left else sequence.keys - sequence.queries)
        visible = max(0, min(sequence.keys, diagonal + count))
        blocks = max(1, -(-visible // keys))
        complete = max(0, min(sequence.keys, diagonal + 1)) // keys
        yield AttentionTile(
            sequence.query + first,
            count,
            head,
            head // (shape.heads // shape.key_heads),
            sequence.batch,
            sequence.key,
            sequence.keys,
            blocks,
            max(1, blocks - complete),
            diagonal,
            (sequence.batch * shape.heads + head) * shape.queries + sequence.query + first,
        )


def order_attention_tiles(
    sequences: Sequence[AttentionSequence], shape: AttentionShape, rows: int, keys: int
) -> list[AttentionTile]:
    """Returns all tiles: groups of heads whose keys and values fit in the L2 cache, and in each, the longest first."""
    found: list[AttentionTile] = []
    group: list[AttentionTile] = []
    size = 0
    shared = shape.heads // shape.key_heads
    for sequence in sequences:
        for head in range(0, shape.heads, shared):
            more = sequence.keys * shape.key_bytes
            if size + more > L2_BYTES:
                found += sorted(group, key=lambda tile: -tile.blocks)
                group, size = [], 0
            size += more
            for each in range(head, head + shared):
                group += make_tiles(sequence, each, shape, rows, keys)
    return found + sorted(group, key=lambda tile: -tile.blocks)


def assign_tiles(tiles: Iterable[AttentionTile], workers: int) -> list[list[AttentionTile]]:
    """Returns the tiles of each CTA: each tile is processed by the CTA that is the first to be free."""
    lists: list[list[AttentionTile]] = [[] for _ in range(workers)]
    free = [(0.0, worker) for worker in range(workers)]
    for tile in tiles:
        time, worker = free[0]
        lists[worker].append(tile)
        heapq.heapreplace(free, (time + tile.time, worker))
    return lists


def encode_tiles(lists: list[list[AttentionTile]]) -> np.ndarray[Any, np.dtype[np.uint32]]:
    """Returns the rows as words of shape (turns, CTAs, 8), with an end row after the last one of each CTA."""
    turns = max(map(len, lists)) + 1
    words = np.zeros((turns, len(lists), ITEM_WORDS), np.uint32)
    for worker, tiles in enumerate(lists):
        for turn, tile in enumerate(tiles):
            words[turn, worker] = tile.to_words()
    return words
