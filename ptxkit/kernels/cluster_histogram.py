"""A histogram too large for the shared memory of one CTA: the CTAs of a cluster hold a part each, and count in all.

The idea. Counting in shared memory is fast, and in global memory it is not; but 65,536 counters are 256 KB, and a CTA
has at most 227. A cluster has more: each of its CTAs holds a share of the bins, and any thread changes any counter of
the cluster, with an atomic on *distributed shared memory*. Which CTA a bin is in are the upper bits of its number, and
`mapa` makes of a place in the own shared memory the same place in that of another CTA.

    keys      7  40001  12  65535  20000 ...         each thread reads some, 16 bytes at a time

    cluster   rank 0        rank 1
    counts    0..32767      32768..65535             128 KB each
    target    0..32767      32768..65535             cp.reduce.async.bulk adds all of it

Each cluster iterates over the keys and has a histogram of its own at the end. It is added to the target by the bulk
copy engine, which combines as it copies: one instruction of one thread for each CTA, 128 KB at once.

What limits it are the atomics that go to the other CTA, half of them here. In a cluster of four it is three of four,
and counting takes 2.4 times as long (on an H200); so the cluster is as small as the bins allow.

The rules that make it right, and what the verifier says where one is broken:

* Another CTA's counters may be changed when that CTA has started and set them to zero: the cluster meets after that
  (PTX611). What is in them at the end others have counted: the cluster meets again, and only then they are read; nor
  does a CTA end before that, while others may still count in its memory (PTX612).
* The counting goes through the generic proxy, the copy engine reads through the async proxy: each thread fences what it
  has counted, in whatever CTA, before the cluster meets (PTX401).
* The CTA may end only when its shared memory was read (PTX303). The group is waited for, as is usual.

No order is needed between the counts themselves: `red.relaxed`. Where many keys are equal, their atomics wait for one
another; this kernel is for keys that are spread.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: red", "Data Movement and Conversion
Instructions: mapa", "... cp.reduce.async.bulk", "Async Proxy".
"""

from __future__ import annotations

from ptxkit.build import Global, Kernel, Register, Shared, u32

BINS = 1 << 16
CLUSTER = 2
"""CTAs that share the bins."""
BINS_PER_CTA = BINS // CLUSTER
"""Bins of a CTA: a power of two."""
_BINS_PER_CTA_BITS = BINS_PER_CTA.bit_length() - 1
THREADS = 512
VECTOR = 4
"""Keys of one load: 16 bytes."""
MIN_KEYS_PER_CLUSTER = THREADS * VECTOR * CLUSTER
"""Keys for which a cluster is worth starting."""
_SHARED, _THREADS = 228 * 1024, 2048
"""Bytes and threads of a multiprocessor of sm_90; each CTA takes 1,024 bytes in addition to its own."""


def cluster_histogram(*, debug: bool = False) -> Kernel:
    """`target[key] += 1` for each of `count` keys that is below BINS; others are not counted.

    count and the keys of one pass of the grid (CTAs x THREADS x VECTOR) together are below 2**32.

    Parameters: keys, target: u32 arrays, aligned to 16 bytes, target of BINS elements; count: u32. Block: THREADS;
    grid: any multiple of CLUSTER, such as `ctas(count, room)`.
    """
    k = Kernel("cluster_histogram", threads=THREADS, cluster=CLUSTER, debug=debug)
    keys = k.param(Global[u32], "keys", align=16)
    target = k.param(Global[u32], "target", align=16)
    count = k.param(u32, "count")
    counts = k.dynamic_shared(u32, BINS_PER_CTA, align=16)

    # 1. No counts, in all CTAs of the cluster.
    mine = k.tid.x * VECTOR
    own = counts[mine]
    for start in k.unroll(0, BINS_PER_CTA, THREADS * VECTOR):
        k.st_v4(own[start], [0] * VECTOR)
    k.cluster_sync()

    # 2. The keys: vectors, and what is left of them.
    first = k.ctaid.x * (THREADS * VECTOR) + mine
    whole = count & -VECTOR
    with k.for_range(first, whole, k.nctaid.x * (THREADS * VECTOR)) as index:
        for key in k.ld_nc_v4(keys[index]):
            _count_key(k, counts, key)
    rest = whole + (k.ctaid.x * THREADS + k.tid.x)
    with k.if_(rest < count):
        _count_key(k, counts, keys[rest].load())
    k.fence_proxy_async_shared_cluster()
    k.cluster_sync()

    # 3. All counts of this CTA's bins are in.
    with k.thread_is(0):
        k.cp_reduce_async_bulk_add(target[k.cluster_ctarank * BINS_PER_CTA], counts, BINS_PER_CTA * u32.size())
        k.tma_store_arrive()
        k.tma_store_wait()
    return k


def room(multiprocessors: int) -> int:
    """The CTAs that are on a device of so many multiprocessors at once: by their shared memory and their threads."""
    return multiprocessors * min(_SHARED // (BINS_PER_CTA * u32.size() + 1024), _THREADS // THREADS)


def ctas(count: int, room: int) -> int:
    """The grid for `count` keys, where `room` CTAs are on the device at once; a multiple of CLUSTER."""
    return max(min(room // CLUSTER, -(-count // MIN_KEYS_PER_CLUSTER)), 1) * CLUSTER


def _count_key(k: Kernel, counts: Shared[u32], key: Register[u32]) -> None:
    """Counts a key where its bin is: in the CTA of the rank that its upper bits say."""
    rank, place = key >> _BINS_PER_CTA_BITS, counts[key & (BINS_PER_CTA - 1)]
    with k.if_(rank == k.cluster_ctarank):
        k.red_relaxed_cluster_add(place, 1)
    with k.elif_(lambda: rank < CLUSTER):
        k.red_relaxed_cluster_add(place.map_rank(rank), 1)
