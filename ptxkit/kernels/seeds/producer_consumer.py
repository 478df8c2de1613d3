"""Two roles with their own barriers: one warp fills two buffers in turn, and eight warps read them.

Purpose. A barrier of the CTA makes all threads wait for each other. If some threads only write data and the others only
read it, each buffer has two mbarriers instead: `filled` (its data is valid) and `ready` (its data has been read, and it
may be filled again). The producer arrives at `filled` and waits for `ready`, and the consumers arrive at `ready` and
wait for `filled`.

Generated PTX. `ready` counts the consumers and `filled` the producers: a thread that waits for a phase need not arrive
at it. All waits are by parity, which each thread tracks (`Ring`): 0 for the first round over the buffers, 1 for the
second, and so on. In the first round the buffers are ready before any arrival: a wait for the *opposite* parity of a
new mbarrier returns immediately.

`mbarrier.arrive` releases and `mbarrier.test_wait` acquires, so ordinary stores are visible without another fence.
Without the wait for `filled` or the wait for `ready`, the consumers and the producer race (PTX621).

The equivalent in CUDA C++: `corpus/seeds/src/producer_consumer.cu`, where `cuda::barrier` counts both roles at both
barriers. The same with `k.pipeline`: `pipeline_roles`.
"""

from __future__ import annotations

from ptxkit.build import Barrier, Global, Kernel, Register, Ring, Shared, f32, u32
from ptxkit.kernels.seeds.tile_folding import TILE, store_folded

PRODUCERS, CONSUMERS = 32, 256
BUFFERS = 2


def producer_consumer(*, debug: bool = False) -> Kernel:
    """Returns a kernel that folds tiles of TILE elements; each CTA processes `tiles` consecutive ones.

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
