"""Two roles with barriers of their own: one warp fills two buffers in turn, eight warps empty them.

What it shows. A barrier of the CTA makes all threads wait for all. Where some threads only bring data and the others
only use it, each buffer has two mbarriers instead: `filled` (its data is there) and `ready` (its data was used, it may
be filled again). The producer arrives at the first and waits for the second, the consumers the other way round.

What it becomes. `ready` counts the consumers, `filled` the producers: who waits for a phase need not arrive at it. All
waits are by parity, which each thread keeps for itself (`Ring`): 0 for the first round over the buffers, 1 for the
second, and so on. In the first round the buffers are ready before any arrival: a wait for the *other* parity of a
fresh mbarrier returns at once.

`mbarrier.arrive` releases and `mbarrier.test_wait` acquires, so ordinary stores are seen without another fence. Without
the wait for `filled` the consumers race with the producer, and without that for `ready` it with them (PTX621).

The twin in CUDA C++: `corpus/seeds/src/producer_consumer.cu`, where `cuda::barrier` counts both roles at both barriers.
The same by `k.pipeline`: `pipeline_roles`.
"""

from __future__ import annotations

from ptxkit.build import Barrier, Global, Kernel, Register, Ring, Shared, f32, u32
from ptxkit.kernels.seeds.tile_folding import TILE, store_folded

PRODUCERS, CONSUMERS = 32, 256
BUFFERS = 2


def producer_consumer(*, debug: bool = False) -> Kernel:
    """Folds tiles of TILE elements; each CTA has `tiles` of them in a row.

    Parameters: source, target: f32 arrays; tiles: u32. Block: PRODUCERS + CONSUMERS; grid: any.
    """
    k = Kernel("producer_consumer", threads=PRODUCERS + CONSUMERS, debug=debug)
    source, target = k.param(Global[f32], "source"), k.param(Global[f32], "target")
    tiles = k.param(u32, "tiles")
    buffers = k.shared(f32, BUFFERS * TILE, name="buffers")
    ready, filled = k.mbarrier("ready", BUFFERS), k.mbarrier("filled", BUFFERS)
    with k.thread_is(0):
        ready.init(CONSUMERS)
        filled.init(PRODUCERS)
    k.cta_sync()
    first = k.ctaid.x * tiles * TILE
    with k.role(warps=0):
        _produce(k, buffers, source[first], tiles, ready, filled)
    with k.role(warps=range(1, 9)):
        _consume(k, target[first], buffers, tiles, ready, filled)
    return k


def _produce(
    k: Kernel, buffers: Shared[f32], source: Global[f32], tiles: Register[u32], ready: Barrier, filled: Barrier
) -> None:
    ring = Ring(k, BUFFERS)
    with k.for_range(0, tiles) as number:
        ready[ring.stage].wait(ring.opposite())
        buffer = buffers[ring.stage * TILE]
        with k.for_range(k.laneid, TILE, PRODUCERS) as at:
            buffer[at].store(source[number * TILE + at].load())
        filled[ring.stage].arrive()
        ring.advance()


def _consume(
    k: Kernel, target: Global[f32], buffers: Shared[f32], tiles: Register[u32], ready: Barrier, filled: Barrier
) -> None:
    ring = Ring(k, BUFFERS)
    with k.for_range(0, tiles) as number:
        filled[ring.stage].wait(ring.parity)
        store_folded(k, target[number * TILE], buffers[ring.stage * TILE], k.tid.x - PRODUCERS, CONSUMERS)
        ready[ring.stage].arrive()
        ring.advance()
