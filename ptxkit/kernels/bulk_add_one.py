"""Bulk copy in, add one, bulk copy out: one tile for each CTA.

The idea. A bulk copy moves a whole tile with one instruction of one thread; the hardware does the addresses. What is
left to the program is order, in three places where ordinary instructions and the copy engine (the *async proxy*)
meet:

1. **Copy in.** An mbarrier in shared memory counts bytes. One thread initialises it, and a barrier of the CTA lets
   the others use it (PTX501); that needs no proxy fence, for a copy's mbarrier operand is a generic access. The same
   thread announces the bytes (`arrive.expect_tx`) and starts the copy, which reports its bytes to the mbarrier;
   announce another number and the phase ends too early or never (PTX503). All threads wait for the phase. That wait
   is enough: what the copy wrote may now be read, with no fence (PTX302 without the wait).
2. **Add one.** Each thread rewrites its elements with ordinary stores: the *generic proxy*.
3. **Copy out.** The copy engine does not see ordinary stores of its own accord. Each thread that stored fences its
   stores (`fence.proxy.async`), and only then the barrier of the CTA lets one thread start the copy. A barrier orders
   threads and not proxies: without the fence the copy may take the old bytes (PTX401). ptxas accepts that, and tests
   often pass.

At the end the thread that started the copy closes its group and waits until the source was read: shared memory
belongs to the CTA, and the CTA must not end before (PTX301, PTX303).

The end of the array. Bulk copies move multiples of 16 bytes. The last tile copies as many as there are; the one to
three elements that are left are done with plain loads and stores.

Source: PTX ISA, "Data Movement and Conversion Instructions: cp.async.bulk", "Async Proxy", "mbarrier", "fence".
"""

from __future__ import annotations

from ptxkit.build import Global, Kernel, f32, u32

THREADS = 128
TILE = 1024
"""Elements of a tile; the grid has one CTA for each."""
UNIT = 4
"""Elements in the 16 bytes that a bulk copy moves at least."""


def bulk_add_one(*, debug: bool = False) -> Kernel:
    """`target[i] = source[i] + 1` for i < count, for any count below 2**32 - TILE.

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

        # 3. Copy out: fence first, barrier then.
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
    """The grid for `count` elements."""
    return -(-count // TILE)
