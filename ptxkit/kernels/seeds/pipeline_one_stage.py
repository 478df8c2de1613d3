"""A pipeline with one stage: acquire, copy, commit, wait, work, release.

What it shows. The six steps of `cuda::pipeline`, in which every thread is a producer and a consumer. A stage is
acquired (no thread uses it any more), filled by copies, committed (it is full once they are there), waited for, used
and released. With one stage nothing overlaps; the steps are those of any number of stages.

What it becomes. Two mbarriers: `full`, at which each thread arrives when *its* copies are complete
(`cp.async.mbarrier.arrive.noinc`: the copies arrive for it, the thread continues at once), and `empty`, at which each
thread arrives when it has read. The copies are `cp.async` of 16 bytes, since they are those of each thread. A wait for
`full` covers all threads' copies, so they may read each other's without a `bar.sync`; leave the wait out, and the tile
is read before it is there (PTX302).

The twin in CUDA C++: `corpus/seeds/src/pipeline_one_stage.cu`.
"""

from __future__ import annotations

from ptxkit.build import Global, Kernel, f32, u32
from ptxkit.kernels.seeds.tile_folding import BYTES, THREADS, TILE, store_folded


def pipeline_one_stage(*, debug: bool = False) -> Kernel:
    """Folds tiles of TILE elements; the CTAs share them.

    Parameters: source, target: f32 arrays, the source aligned to 16 bytes; tiles: u32. Block: THREADS; grid: any.
    """
    k = Kernel("pipeline_one_stage", threads=THREADS, debug=debug)
    source, target = k.param(Global[f32], "source", align=16), k.param(Global[f32], "target")
    tiles = k.param(u32, "tiles")
    tile = k.shared(f32, TILE, align=16, name="tile")
    pipe = k.pipeline(1, producers=THREADS, consumers=THREADS, name="pipe")
    pipe.init()
    producer, consumer = pipe.producer(), pipe.consumer()
    with k.for_range(k.ctaid.x, tiles, k.nctaid.x) as number:
        first = number * TILE
        empty = producer.acquire()
        k.memcpy_async(tile, source[first], BYTES, group=k.this_cta())
        producer.commit(empty, copies=True)
        full = consumer.wait()
        store_folded(k, target[first], tile)
        consumer.release(full)
    return k
