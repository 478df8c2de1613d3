"""Distributed shared memory: each CTA of a cluster writes to the shared memory of the next one.

Purpose. The CTAs of a cluster run at the same time and may access each other's shared memory. An address in a CTA's
shared memory and a rank give the corresponding address in another CTA.

Generated PTX. `mapa` for the address, and an ordinary store to `.shared::cluster`. Two barriers of the cluster: one
before the first access to another CTA, which must have started by then (PTX611), and one between the stores and the
loads of the stored data. A barrier of the CTA would not order them. The second barrier also prevents a CTA from exiting
before its neighbor has written to it.

The equivalent in CUDA C++: `corpus/seeds/src/cluster_write.cu`, with `cluster_group::map_shared_rank`.
"""

from __future__ import annotations

import numpy as np

from ptxkit.build import Global, Kernel, f32
from ptxkit.kernels.seeds.tile_folding import THREADS, FloatArray

CTAS = 4
"""The CTAs of a cluster."""


def cluster_write(*, debug: bool = False) -> Kernel:
    """Returns a kernel in which each CTA writes the THREADS elements of the previous CTA in the cluster, and the first
    one those of the last.

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
    """Returns the expected elements for whole clusters."""
    return np.roll(source.reshape(-1, CTAS, THREADS), 1, axis=1).ravel()
