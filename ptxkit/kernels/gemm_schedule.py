"""Who multiplies what: the schedule of the GEMM, made on the host, one row of four words a worker and turn.

A worker is a cluster of CTAs (or a CTA alone), which takes a tile, or a part of one, each turn. The kernel reads its
rows one after another and knows nothing of the matrices' shapes, so the order of tiles is a matter of Python.

Two ideas are in that order. Tiles in work at the same time lie in a block and not in a row, so that what they share is
in the L2 cache once: groups of `GROUP_ROWS` rows of tiles, in order along N. And the last wave of tiles, when it does
not fill the device, is spread over all workers along K ("stream-K"): a worker that gets the beginning of a tile's sum
publishes its partial sums, and the one that gets the end adds them to its own.

    tiles along K    |     0     |     1     |     2     |     3     |
    worker           |       0       |       1       |       2       |      0 publishes for 1, and 1 for 2

    row = (m | n << 16, k-blocks, first k-block, kind | slot << 8)

k-blocks of 0 end a worker's list. `slot` is the number of the worker whose partial sums are published.

No worker waits for another that waits: what a worker publishes comes first in its list, what it waits for last. All
workers must be on the device at once; the grid is no larger than that.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit.fast_dataclasses import dataclass

NORMAL, PARTIAL, FINISH = 0, 1, 2
"""Kinds of a row: a whole tile; the beginning of one, whose sums are published; the end of one."""
GROUP_ROWS = 8
"""Rows of tiles in a group."""
MIN_K_BLOCKS = 5
"""The least k-blocks of a row: the tile before is stored under the first of them."""
STREAM_K_THRESHOLD = 16
"""k-blocks for which a worker would have to be idle, in the mean, before passing partial sums on is faster."""

_KIND_ORDER = (PARTIAL, NORMAL, FINISH)


@dataclass(frozen=True, slots=True)
class ScheduleRow:
    """A worker's turn: tile m, n of the workers' tiles; `blocks` of its k-blocks, from `first` on."""

    m: int
    n: int
    first: int
    blocks: int
    kind: int = NORMAL
    slot: int = 0

    def to_words(self) -> tuple[int, int, int, int]:
        """As the kernel reads it."""
        return self.m | self.n << 16, self.blocks, self.first, self.kind | self.slot << 8


def order_tiles(down: int, across: int) -> list[tuple[int, int]]:
    """All tiles of a grid of `down` x `across`: groups of GROUP_ROWS rows, each column by column."""
    groups = [range(top, min(top + GROUP_ROWS, down)) for top in range(0, down, GROUP_ROWS)]
    return [(m, n) for rows in groups for n in range(across) for m in rows]


def can_split_k(tiles: int, blocks: int, workers: int) -> bool:
    """Whether the last wave can be spread over all workers, and is not full anyway."""
    return tiles >= workers and tiles % workers != 0 and blocks >= 4 * MIN_K_BLOCKS


def is_split_worthwhile(tiles: int, blocks: int, workers: int) -> bool:
    """Whether workers would be idle for longer than the spreading takes."""
    return (-(-tiles // workers) - tiles / workers) * blocks > STREAM_K_THRESHOLD


def make_schedule(
    down: int, across: int, blocks: int, workers: int, *, spread: bool | None = None
) -> list[list[ScheduleRow]]:
    """The rows of each worker, for `down` x `across` tiles of `blocks` k-blocks each (at least LEAST are taken).

    spread: whether the last one to two waves are spread along K, where they can be; None does it if that is faster.
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
    """The worker's share of `total` k-blocks: a stretch of the tiles laid end to end."""
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
    """The nearest place that leaves no part shorter than LEAST."""
    rest = place % blocks
    if rest < MIN_K_BLOCKS:
        return place - rest
    return place + blocks - rest if rest > blocks - MIN_K_BLOCKS else place


def encode_schedule(lists: list[list[ScheduleRow]]) -> np.ndarray[Any, np.dtype[np.uint32]]:
    """The rows as words, (turns, workers, 4): row by row, and an end after the last one."""
    turns = max(map(len, lists)) + 1
    words = np.zeros((turns, len(lists), 4), np.uint32)
    for worker, rows in enumerate(lists):
        for turn, row in enumerate(rows):
            words[turn, worker] = row.to_words()
    return words
