"""A partitioned pipeline: threads of even rank copy, and threads of odd rank compute.

Purpose. In `cuda::pipeline`, threads may have a fixed role. Producers acquire, copy and commit; consumers wait, compute
and release. With two stages between them, the producers are up to two tiles ahead.

Generated PTX. The same as for `pipeline_two_stages`, but `full` counts only the producers and `empty` only the
consumers. Each producer copies its share with `memcpy_async` of a single thread: two `cp.async` of 16 bytes for each
tile. Even and odd threads share every warp, so each warp waits at two instructions at once. This works because the
threads of a warp make independent progress, provided that neither branch needs the whole warp. Roles of whole warps, as
in `producer_consumer`, are faster.

The equivalent in CUDA C++: `corpus/seeds/src/pipeline_roles.cu`.
"""

from __future__ import annotations

from ptxkit.build import Global, Kernel, f32, u32
from ptxkit.kernels.seeds.tile_folding import THREADS, TILE, store_folded

STAGES, HALF = 2, THREADS // 2
UNIT = 4
"""The elements of 16 bytes."""


def pipeline_roles(*, debug: bool = False) -> Kernel:
    """Returns a kernel that folds tiles of TILE elements; each CTA processes `tiles` consecutive ones.

    Parameters: source, target: f32 arrays, the source aligned to 16 bytes; tiles: u32. Block: THREADS; grid: any.
    """
    k = Kernel("pipeline_roles", threads=THREADS, debug=debug)
    source, target = k.param(Global[f32], "source", align=16), k.param(Global[f32], "target")
    tiles = k.param(u32, "tiles")
    stages = k.shared(f32, STAGES * TILE, align=16, name="stages")
    pipe = k.pipeline(STAGES, producers=HALF, consumers=HALF, name="pipe")
    pipe.init()
    first = k.ctaid.x * tiles
    member = k.tid.x >> 1
    with k.if_((k.tid.x & 1) == 0):
        producer = pipe.producer()
        with k.for_range(0, tiles) as number, producer.stage(copies=True) as empty:
            stage, tile = stages[empty.index * TILE], source[(first + number) * TILE]
            for part in range(0, TILE, HALF * UNIT):
                mine = member * UNIT + part
                k.memcpy_async(stage[mine], tile[mine], UNIT * f32.size(), group=k.this_thread())
    with k.else_():
        consumer = pipe.consumer()
        with k.for_range(0, tiles) as number, consumer.stage() as full:
            store_folded(k, target[(first + number) * TILE], stages[full.index * TILE], member, HALF)
    return k
