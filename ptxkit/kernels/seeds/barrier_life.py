"""The life cycle of a barrier: initialized, counted down, completed, reset automatically, and invalidated.

Purpose. One thread observes an mbarrier from its first arrival to its invalidation and records its state:

* `mbarrier.init` initializes the object, here for four arrivals in each phase;
* each `mbarrier.arrive` decrements the count and returns a token; `mbarrier.pending_count` extracts from it how many
  arrivals were missing *before* this one: 4, 3, 2, 1;
* `mbarrier.test_wait` tests whether the phase of a token is complete: no, no, no, yes. With the last arrival the object
  resets itself, and the next phase begins with four again;
* `mbarrier.arrive_drop` arrives, and lowers the count of all later phases: the third begins with three;
* `mbarrier.inval` invalidates the object. Only after it may its 8 bytes be used for other data. Before it, no other
  instruction may access them, and after it, no mbarrier operation.

Threads arrive in the next phase only after the completion of the current one was observed: with fewer waits than
phases, a thread could not distinguish them (PTX505).

The equivalent in CUDA C++: `corpus/seeds/src/barrier_life.cu`, with the primitives `__mbarrier_init`, ...
"""

from __future__ import annotations

import numpy as np

from ptxkit.build import Global, Kernel, f32, u32
from ptxkit.kernels.seeds.tile_folding import FloatArray

ARRIVALS = (4, 4, 3)
"""The arrivals of the phases; the last arrival of the second phase drops out."""
ELEMENTS = 2 * sum(ARRIVALS) + 1
"""The elements that each CTA writes."""


def barrier_life(*, debug: bool = False) -> Kernel:
    """Returns a kernel that writes two numbers for each arrival: the number of missing arrivals before it, and 1 if the
    phase was complete after it, else 0.

    After them, it writes an element of the source that was stored in the barrier's memory.

    Parameters: source, target: f32 arrays, one and ELEMENTS elements for each CTA. Block: 32; grid: any.
    """
    k = Kernel("barrier_life", threads=32, debug=debug)
    source, target = k.param(Global[f32], "source"), k.param(Global[f32], "target")
    barrier = k.mbarrier("barrier")
    with k.thread_is(0):
        mine = target[k.ctaid.x * ELEMENTS]
        place = 0
        barrier.init(ARRIVALS[0])
        for phase, arrivals in enumerate(ARRIVALS):
            for left in reversed(range(arrivals)):
                drops = phase == 1 and left == 0
                token = barrier.arrive_drop() if drops else barrier.arrive()
                missing = k.mbarrier_pending_count(token).reinterpret(u32)
                complete = k.selp_u32(1, 0, barrier.test_wait(token=token))
                for seen in (missing, complete):
                    mine[place].store(seen.convert(f32, "rn"))
                    place += 1
            barrier.wait(token=token)
        barrier.inval()
        memory = barrier.cast(f32)
        memory.store(source[k.ctaid.x].load())
        mine[place].store(memory.load())
    return k


def expected_trace(source: FloatArray) -> FloatArray:
    """Returns the expected elements for a source of one element for each CTA."""
    seen = [number for arrivals in ARRIVALS for left in range(arrivals, 0, -1) for number in (left, left == 1)]
    each = np.tile(np.array(seen, np.float32), (source.size, 1))
    return np.column_stack([each, source]).ravel()
