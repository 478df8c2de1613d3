"""Multicast: one copy transfers a tile to all CTAs of a cluster.

Purpose. CTAs of a cluster often need the same data. One of them copies it once, with a mask of the CTAs that receive
it; the tile is read once, and written to the shared memory of each CTA at the same offset.

Generated PTX. `cp.async.bulk` with `.multicast::cluster` and a mask. It reports to the mbarrier *of each CTA*, also at
the same offset, so each CTA expects the bytes that it receives, and waits for its own mbarrier. Before the copy all
mbarriers must be initialized: `fence.mbarrier_init`, then a barrier of the cluster (PTX611 and PTX501 without it). No
CTA may exit while a copy to its memory is pending, which its own wait ensures (PTX302 without it).

The equivalent in CUDA C++: `corpus/seeds/src/multicast.cu`.
"""

from __future__ import annotations

import numpy as np

from ptxkit.build import Global, Kernel, f32
from ptxkit.kernels.seeds.tile_folding import BYTES, THREADS, TILE, FloatArray

CTAS = 2
"""The CTAs of a cluster."""


def multicast(*, debug: bool = False) -> Kernel:
    """Returns a kernel in which each cluster has a tile of the source, and the CTA of rank r writes it multiplied by r
    + 1.

    Parameters: source, target: f32 arrays, TILE elements for each cluster and for each CTA, the source aligned to 16
    bytes. Block: THREADS; grid: a multiple of CTAS.
    """
    k = Kernel("multicast", threads=THREADS, cluster=CTAS, target="sm_90a", debug=debug)
    source, target = k.param(Global[f32], "source", align=16), k.param(Global[f32], "target")
    tile, there = k.shared(f32, TILE, align=128, name="tile"), k.mbarrier("there")
    rank = k.cluster_ctarank
    with k.thread_is(0):
        there.init(1)
        k.fence_barrier_init()
        there.arrive_expect_tx(BYTES)
    k.cluster_sync(aligned=False)
    with k.if_((rank | k.tid.x) == 0):
        k.cp_async_bulk_multicast_cluster(tile, source[k.clusterid.x * TILE], BYTES, there, (1 << CTAS) - 1)
    there.wait(parity=0)

    factor = (rank + 1).convert(f32, "rn")
    mine = target[k.ctaid.x * TILE]
    for part in range(0, TILE, THREADS):
        at = k.tid.x + part
        mine[at].store(tile[at].load() * factor)
    k.cluster_sync(aligned=False)
    return k


def expected_multiples(source: FloatArray) -> FloatArray:
    """Returns the expected elements for whole tiles."""
    factors = np.arange(1, CTAS + 1, dtype=np.float32)
    with np.errstate(over="ignore"):
        return (source.reshape(-1, 1, TILE) * factors[:, None]).ravel()
