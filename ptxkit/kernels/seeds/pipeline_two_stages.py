"""A pipeline with two stages: the next tile is in flight while the threads work on the current one.

What it shows. The steps of `pipeline_one_stage`, one tile ahead: before a thread waits for a tile it has started the
copy of the next one, into the other stage. So the time of a copy is hidden by work.

What it becomes. The mbarriers `full` and `empty` twice, and for each thread two places in the ring of stages, one for
what it fills and one for what it reads: the number of a stage, and the parity of its round. A stage is filled again
only when all threads have released it: the wait of `acquire`. Without it a fast thread's copy overwrites what a slow
one still reads (PTX621).

`with producer.stage(copies=True)` is acquire and commit around a block, `with consumer.stage()` wait and release.

The twin in CUDA C++: `corpus/seeds/src/pipeline_two_stages.cu`.
"""

from __future__ import annotations

from ptxkit.build import Global, Kernel, Register, f32, u32
from ptxkit.kernels.seeds.tile_folding import BYTES, THREADS, TILE, store_folded

STAGES = 2


def pipeline_two_stages(*, debug: bool = False) -> Kernel:
    """Folds tiles of TILE elements; each CTA has `tiles` of them in a row, at least one.

    Parameters: source, target: f32 arrays, the source aligned to 16 bytes; tiles: u32. Block: THREADS; grid: any.
    """
    k = Kernel("pipeline_two_stages", threads=THREADS, debug=debug)
    source, target = k.param(Global[f32], "source", align=16), k.param(Global[f32], "target")
    tiles = k.param(u32, "tiles")
    stages = k.shared(f32, STAGES * TILE, align=16, name="stages")
    pipe = k.pipeline(STAGES, producers=THREADS, consumers=THREADS, name="pipe")
    pipe.init()
    producer, consumer = pipe.producer(), pipe.consumer()
    first = k.ctaid.x * tiles

    def start(number: Register[u32] | int) -> None:
        with producer.stage(copies=True) as empty:
            place = stages[empty.index * TILE]
            k.memcpy_async(place, source[(first + number) * TILE], BYTES, group=k.this_cta())

    start(0)
    with k.for_range(0, tiles) as number:
        following = number + 1
        with k.if_(following < tiles):
            start(following)
        with consumer.stage() as full:
            store_folded(k, target[(first + number) * TILE], stages[full.index * TILE])
    return k
