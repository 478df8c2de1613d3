"""Bulk copy in, add one, bulk copy out: one tile for each CTA.

Algorithm. A bulk copy moves a whole tile with one instruction of one thread; the hardware computes the addresses. The
program only has to order the operations, at three points where generic instructions and bulk copies (the *async proxy*)
access the same memory:

1. **Copy in.** An mbarrier in shared memory counts bytes. One thread initializes it, and a barrier of the CTA publishes
   it to the others (PTX501). This needs no proxy fence, because a copy accesses its mbarrier through the generic proxy.
   The same thread expects the bytes (`arrive.expect_tx`) and starts the copy, which reports its bytes to the
   mbarrier. If the expected number is wrong, the phase completes too early or never (PTX503). All threads wait for the
   phase. After the wait they may read the copied bytes without a fence (PTX302 without the wait).
2. **Add one.** Each thread updates its elements with ordinary stores, which use the *generic proxy*.
3. **Copy out.** Bulk copies do not observe generic stores without a proxy fence. Each thread that stored executes
   `fence.proxy.async`, and then a barrier of the CTA precedes the copy, which one thread starts. A barrier orders
   threads and not proxies: without the fence the copy may read the old bytes (PTX401). ptxas accepts such a program,
   and tests often pass.

At the end, the thread that started the copy commits its group and waits until the source has been read: shared memory
belongs to the CTA, which must not exit before (PTX301, PTX303).

The end of the array. Bulk copies move multiples of 16 bytes. The copies of the last tile are shortened accordingly, and
the remaining one to three elements are processed with plain loads and stores.

Source: PTX ISA, "Data Movement and Conversion Instructions: cp.async.bulk", "Async Proxy", "mbarrier", "fence".
"""

from __future__ import annotations

from ptxkit.build import Global, Kernel, f32, u32

THREADS = 128
TILE = 1024
"""The elements of a tile; the grid has one CTA for each tile."""
UNIT = 4
"""The elements in 16 bytes, the smallest size of a bulk copy."""


def bulk_add_one(*, debug: bool = False) -> Kernel:
    """Returns a kernel that computes `target[i] = source[i] + 1` for i < count, for any count below 2**32 - TILE.

    Parameters: source, target: f32 arrays, aligned to 16 bytes; count: u32. Block: THREADS; grid: `ctas(count)`.
    """
    k = Kernel("bulk_add_one", threads=THREADS, debug=debug)
    source = k.param(Global[f32], "source", align=16)
    target = k.param(Global[f32], "target", align=16)
    count = k.param(u32, "count")
    tile = k.shared(f32, TILE, align=128, name="tile")
    full = k.mbarrier("full")

    thread = k.tid.x
    begin = k.ctaid.x * TILE
    length = k.min(count - begin, TILE)
    whole = length & -UNIT
    size = whole * f32.size()

    with k.if_(whole > 0):
        # 1. Copy in.
        with k.thread_is(0):
            full.init(1)
        k.bar_sync(0)
        with k.thread_is(0):
            full.arrive_expect_tx(size)
            k.cp_async_bulk_shared_cluster_global(tile, source[begin], size, full)
        full.wait(parity=0)

        # 2. Add one.
        for first in range(0, TILE, THREADS):
            mine = thread + first
            with k.if_(mine < whole):
                place = tile[mine]
                place.store(place.load() + 1.0)

        # 3. Copy out: first the fence, then the barrier.
        k.fence_proxy_async_shared_cta()
        k.bar_sync(0)
        with k.thread_is(0):
            k.cp_async_bulk_global_shared_cta(target[begin], tile, size)
            k.cp_async_bulk_commit_group()
            k.cp_async_bulk_wait_group_read(0)

    # The end of the array.
    rest = whole + thread
    with k.if_(rest < length):
        place_out = target[begin][rest]
        place_out.store(source[begin][rest].load() + 1.0)
    return k


def ctas(count: int) -> int:
    """Returns the number of CTAs for `count` elements."""
    return -(-count // TILE)
