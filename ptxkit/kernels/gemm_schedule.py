"""The schedule of the GEMM: the host assigns tiles to workers, one row of four words for each worker and turn.

A worker is a cluster of CTAs (or a single CTA), which processes a tile, or a part of one, in each turn. The kernel
reads the worker's rows in order and does not depend on the matrices' shapes, so the order of tiles is determined in
Python.

The order has two purposes. First, tiles that are processed at the same time form a block instead of a row, so that the
parts of A and B that they share are loaded to the L2 cache once: groups of `GROUP_ROWS` rows of tiles, in order along
N. Second, if the last wave of tiles does not fill the device, it is split over all workers along K ("stream-K"): a
worker that computes the beginning of a tile's sum publishes its partial sums, and the worker that computes the end adds
them to its own.

    tiles along K    |     0     |     1     |     2     |     3     |
    worker           |       0       |       1       |       2       |      0 publishes for 1, and 1 for 2

    row = (m | n << 16, k-blocks, first k-block, kind | slot << 8)

A row with 0 k-blocks ends a worker's list. `slot` is the number of the worker that publishes the partial sums.

No worker waits for a worker that waits itself: a row whose sums are published is the first of its worker's split rows,
and a row that waits is the last. All workers must be resident at the same time, so the grid is no larger than the
device allows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit.fast_dataclasses import dataclass

NORMAL, PARTIAL, FINISH = 0, 1, 2
"""The kinds of a row: a whole tile; the beginning of a tile, whose sums are published; the end of a tile."""
GROUP_ROWS = 8
"""The rows of tiles in a group."""
MIN_K_BLOCKS = 5
"""The least number of k-blocks of a row, because the previous tile is stored during the first of them."""
STREAM_K_THRESHOLD = 16
"""The mean idle time of a worker, in k-blocks, above which splitting along K is faster."""

_KIND_ORDER = (PARTIAL, NORMAL, FINISH)


@dataclass(frozen=True, slots=True)
class ScheduleRow:
    """A worker's turn: tile (m, n), and `blocks` of its k-blocks, from `first` on."""

    m: int
    n: int
    first: int
    blocks: int
    kind: int = NORMAL
    slot: int = 0

    def to_words(self) -> tuple[int, int, int, int]:
        """Returns the words that the kernel reads."""
        return self.m | self.n << 16, self.blocks, self.first, self.kind | self.slot << 8


def order_tiles(down: int, across: int) -> list[tuple[int, int]]:
    """Returns all tiles of a grid of `down` x `across`, in groups of GROUP_ROWS rows, each in column-major order."""
    groups = [range(top, min(top + GROUP_ROWS, down)) for top in range(0, down, GROUP_ROWS)]
    return [(m, n) for rows in groups for n in range(across) for m in rows]


def can_split_k(tiles: int, blocks: int, workers: int) -> bool:
    """Returns whether the last wave is incomplete and can be split over all workers."""
    return tiles >= workers and tiles % workers != 0 and blocks >= 4 * MIN_K_BLOCKS


def is_split_worthwhile(tiles: int, blocks: int, workers: int) -> bool:
    """Returns whether the idle time of the workers exceeds the cost of splitting."""
    return (-(-tiles // workers) - tiles / workers) * blocks > STREAM_K_THRESHOLD


def make_schedule(
    down: int, across: int, blocks: int, workers: int, *, spread: bool | None = None
) -> list[list[ScheduleRow]]:
    """Returns the rows of each worker for `down` x `across` tiles of `blocks` k-blocks each.

    At least MIN_K_BLOCKS blocks are assumed for a tile. `spread` determines whether the last one or two waves are split
    along K, if that is possible; None splits them if that is faster.
    """
    blocks = max(blocks, MIN_K_BLOCKS)
    order = order_tiles(down, across)
    tiles = len(order)
    wanted = is_split_worthwhile(tiles, blocks, workers) if spread is None else spread
    lists: list[list[ScheduleRow]] = [[] for _ in range(workers)]
    first = 0
    if wanted and can_split_k(tiles, blocks, workers):
        first = tiles % workers + workers
        lists = [_split_worker_rows(order, worker, first * blocks, blocks, workers) for worker in range(workers)]
    for number, (m, n) in enumerate(order[first:]):
        lists[number % workers].append(ScheduleRow(m, n, 0, blocks))
    return lists


def _split_worker_rows(
    order: list[tuple[int, int]], worker: int, total: int, blocks: int, workers: int
) -> list[ScheduleRow]:
    """Returns the worker's share of `total` k-blocks: a range of the tiles' concatenated k-blocks."""
    begin, end = (_snap_cut(total * each // workers, blocks) for each in (worker, worker + 1))
    found = []
    while begin < end:
        tile, start = divmod(begin, blocks)
        count = min(blocks - start, end - begin)
        kind = NORMAL if count == blocks else PARTIAL if start == 0 else FINISH
        m, n = order[tile]
        found.append(ScheduleRow(m, n, start, count, kind, worker - 1 if kind == FINISH else worker))
        begin += count
    return sorted(found, key=lambda row: _KIND_ORDER.index(row.kind))


def _snap_cut(place: int, blocks: int) -> int:
    """Returns the nearest position that leaves no part shorter than MIN_K_BLOCKS."""
    rest = place % blocks
    if rest < MIN_K_BLOCKS:
        return place - rest
    return place + blocks - rest if rest > blocks - MIN_K_BLOCKS else place


def encode_schedule(lists: list[list[ScheduleRow]]) -> np.ndarray[Any, np.dtype[np.uint32]]:
    """Returns the rows as words of shape (turns, workers, 4), with an end row after the last one of each worker."""
    turns = max(map(len, lists)) + 1
    words = np.zeros((turns, len(lists), 4), np.uint32)
    for worker, rows in enumerate(lists):
        for turn, row in enumerate(rows):
            words[turn, worker] = row.to_words()
    return words
