"""A pipeline with two stages: the next tile is in flight while the threads process the current one.

Purpose. The steps of `pipeline_one_stage`, one tile ahead: before a thread waits for a tile, it starts the copy of the
next one to the other stage. Thus the computation hides the time of the copy.

Generated PTX. Two mbarriers `full` and two `empty`, and for each thread two positions in the ring of stages, one for
the stage that it fills and one for the stage that it reads: the index of a stage, and the parity of its round. A stage
is filled again only after all threads have released it, which `acquire` waits for. Without this wait, a fast thread's
copy overwrites data that a slow thread still reads (PTX621).

`with producer.stage(copies=True)` executes acquire and commit around a block, and `with consumer.stage()` wait and
release.

The equivalent in CUDA C++: `corpus/seeds/src/pipeline_two_stages.cu`.
"""

from __future__ import annotations

from ptxkit.build import Global, Kernel, Register, f32, u32
from ptxkit.kernels.seeds.tile_folding import BYTES, THREADS, TILE, store_folded

STAGES = 2


def pipeline_two_stages(*, debug: bool = False) -> Kernel:
    """Returns a kernel that folds tiles of TILE elements; each CTA processes `tiles` consecutive ones, at least one.

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
