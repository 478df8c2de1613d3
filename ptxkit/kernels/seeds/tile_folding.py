"""What most of the programs here do with a tile once it is in shared memory: fold it about its middle.

Each element is added to the one opposite in its tile. So every thread reads what another thread brought, and a program
in which the threads meet too early, or not at all, gives wrong sums.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from ptxkit.build import Global, Kernel, Register, Shared, f32, u32

FloatArray: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]

THREADS = 256
TILE = 1024
"""Elements of a tile."""
BYTES = TILE * 4


def store_folded(
    k: Kernel, target: Global[f32], tile: Shared[f32], thread: Register[u32] | None = None, threads: int = THREADS
) -> None:
    """`target[i] = tile[i] + tile[TILE - 1 - i]`; `threads` of them share the work, this one is number `thread`."""
    for first in range(0, TILE, threads):
        mine = (k.tid.x if thread is None else thread) + first
        target[mine].store(tile[mine].load() + tile[(TILE - 1) - mine].load())


def fold_tiles(source: FloatArray) -> FloatArray:
    """The same of whole tiles."""
    tiles = source.reshape(-1, TILE)
    with np.errstate(over="ignore"):
        return (tiles + tiles[:, ::-1]).ravel()
