"""The computation that most example programs apply to a tile in shared memory: they fold it about its middle.

Each element is added to the opposite one in its tile. So every thread reads data that another thread has copied, and a
program that synchronizes too early, or not at all, computes wrong sums.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from ptxkit.build import Global, Kernel, Register, Shared, f32, u32

FloatArray: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]

THREADS = 256
TILE = 1024
"""The elements of a tile."""
BYTES = TILE * 4


def store_folded(
    k: Kernel, target: Global[f32], tile: Shared[f32], thread: Register[u32] | None = None, threads: int = THREADS
) -> None:
    """Stores `target[i] = tile[i] + tile[TILE - 1 - i]`. `threads` threads share the work; this one is number
    `thread`.
    """
    for first in range(0, TILE, threads):
        mine = (k.tid.x if thread is None else thread) + first
        target[mine].store(tile[mine].load() + tile[(TILE - 1) - mine].load())


def fold_tiles(source: FloatArray) -> FloatArray:
    """Returns the expected elements for whole tiles."""
    tiles = source.reshape(-1, TILE)
    with np.errstate(over="ignore"):
        return (tiles + tiles[:, ::-1]).ravel()
