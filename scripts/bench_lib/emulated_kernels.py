"""Kernels that measure the reference machine: a tile by `wgmma`, and a ring of many stages."""

from __future__ import annotations

from ptxkit.build import Global, Kernel, bf16, f32, u32

SIDE = 64
"""The rows and columns of a tile, and its depth."""

STAGES = 10
TILES = 2 * STAGES + 3
"""The number of tiles that pass through the ring: more than two rounds."""

TILE = 512
"""The elements of a tile of the ring."""

CONSUMERS = 128


def wgmma_tile() -> Kernel:
    """Returns a kernel for `out = a @ b.T` of 64 x 64 elements: tensor maps copy to shared memory, and one warpgroup
    multiplies.

    Parameters: a, b: maps of bf16; out: f32 (64, 64). Block: 128; grid: any, all CTAs compute the same.
    """
    k = Kernel("wgmma_tile", threads=128, target="sm_90a")
    maps = [k.tensor_map(name, bf16, box=(SIDE, SIDE), swizzle=128) for name in "ab"]
    out = k.param(Global[f32], "out")
    tiles = [k.shared(bf16, SIDE * SIDE, align=1024) for _ in maps]
    full = k.mbarrier("full")
    with k.thread_is(0):
        full.init(1)
        full.arrive_expect_tx(sum(each.bytes for each in maps))
        for each, tile in zip(maps, tiles, strict=True):
            each.load(tile, (0, 0), full)
    k.cta_sync()
    full.wait(parity=0)
    acc, (a, b) = k.accumulator(SIDE), [k.matrix(each) for each in tiles]
    k.wgmma_fence()
    for step in k.unroll(SIDE // 16):
        acc.multiply(a.moved(32 * step), b.moved(32 * step), bf16, accumulate=step > 0)
    k.wgmma_commit_group()
    k.wgmma_wait_group(0)
    mine = out[k.ctaid.x * (SIDE * SIDE)]
    for number, each in enumerate(acc.registers):
        mine[acc.row(number) * SIDE + acc.column(number)].store(each)
    return k


def ring(stages: int = STAGES) -> Kernel:
    """Returns a kernel that doubles tiles of 512 elements; one thread copies them to a ring of stages, and 128 threads
    read them.

    Parameters: source, target: f32; tiles: u32, of each CTA. Block: 160; grid: any.
    """
    k = Kernel("ring", threads=32 + CONSUMERS, target="sm_90a")
    source, target = k.param(Global[f32], "source", align=16), k.param(Global[f32], "target")
    tiles = k.param(u32, "tiles")
    slots = k.shared(f32, stages * TILE, align=128, name="slots")
    pipe = k.pipeline(stages, producers=1, consumers=CONSUMERS)
    pipe.init()
    first = k.ctaid.x * tiles
    size = TILE * f32.size()
    with k.role(warps=0), k.elect_one():
        producer = pipe.producer()
        with k.for_range(0, tiles) as number, producer.stage(bytes=size) as stage:
            k.cp_async_bulk_shared_cluster_global(
                slots[stage.index * TILE], source[(first + number) * TILE], size, stage.full
            )
    with k.role(warps=range(1, 1 + CONSUMERS // 32)):
        consumer, member = pipe.consumer(), k.tid.x - 32
        with k.for_range(0, tiles) as number, consumer.stage() as stage:
            slot, out = slots[stage.index * TILE], target[(first + number) * TILE]
            for part in range(0, TILE, CONSUMERS):
                out[member + part].store(slot[member + part].load() * 2.0)
    return k
