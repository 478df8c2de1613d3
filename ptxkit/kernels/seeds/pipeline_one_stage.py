"""A pipeline with one stage: acquire, copy, commit, wait, work, release.

Purpose. The six steps of `cuda::pipeline`, in which every thread is a producer and a consumer. A stage is acquired (no
thread uses it any more), filled by copies, committed (it becomes full when the copies are complete), waited for, used
and released. With one stage nothing overlaps; the steps are those of any number of stages.

Generated PTX. Two mbarriers: each thread arrives at `full` when *its* copies are complete
(`cp.async.mbarrier.arrive.noinc`: the copies trigger the arrival, and the thread continues immediately), and at `empty`
when it has read the stage. The copies are `cp.async` of 16 bytes, since each thread issues its own. A wait for `full`
covers all threads' copies, so they may read each other's data without a `bar.sync`; without the wait, the tile is read
before it has arrived (PTX302).

The equivalent in CUDA C++: `corpus/seeds/src/pipeline_one_stage.cu`.
"""

from __future__ import annotations

from ptxkit.build import Global, Kernel, f32, u32
from ptxkit.kernels.seeds.tile_folding import BYTES, THREADS, TILE, store_folded


def pipeline_one_stage(*, debug: bool = False) -> Kernel:
    """Returns a kernel that folds tiles of TILE elements, which the CTAs share.

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
