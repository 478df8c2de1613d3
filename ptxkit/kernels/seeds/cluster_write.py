"""Distributed shared memory: each CTA of a cluster writes to the shared memory of the next one.

What it shows. The CTAs of a cluster run at the same time and may read and write each other's shared memory. An address
of one's own becomes that of the same place in another CTA by naming its rank.

What it becomes. `mapa` for the address, and an ordinary store to `.shared::cluster`. Two barriers of the cluster: one
before the first access to another CTA, which must have begun by then (PTX611), and one between the stores and the loads
of what was stored. A barrier of the CTA would order nothing here. The second also keeps each CTA alive until its
neighbour has written to it.

The twin in CUDA C++: `corpus/seeds/src/cluster_write.cu`, with `cluster_group::map_shared_rank`.
"""

from __future__ import annotations

import numpy as np

from ptxkit.build import Global, Kernel, f32
from ptxkit.kernels.seeds.tile_folding import THREADS, FloatArray

CTAS = 4
"""Of a cluster."""


def cluster_write(*, debug: bool = False) -> Kernel:
    """Each CTA writes the THREADS elements of the CTA before it in the cluster, the first one those of the last.

    Parameters: source, target: f32 arrays, THREADS elements for each CTA. Block: THREADS; grid: a multiple of CTAS.
    """
    k = Kernel("cluster_write", threads=THREADS, cluster=CTAS, debug=debug)
    source, target = k.param(Global[f32], "source"), k.param(Global[f32], "target")
    tile = k.shared(f32, THREADS, name="tile")
    mine = k.ctaid.x * THREADS + k.tid.x
    following = (k.cluster_ctarank + 1) & (CTAS - 1)
    k.cluster_sync()
    there = tile.map_rank(following)
    there[k.tid.x].store(source[mine].load())
    k.cluster_sync()
    target[mine].store(tile[k.tid.x].load())
    return k


def rotate_ctas(source: FloatArray) -> FloatArray:
    """The same of whole clusters."""
    return np.roll(source.reshape(-1, CTAS, THREADS), 1, axis=1).ravel()
