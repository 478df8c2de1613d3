"""A histogram that exceeds the shared memory of one CTA: each CTA of a cluster holds a part of the counters.

Algorithm. Counting is fast in shared memory and slow in global memory, but 65,536 counters take 256 KB, and a CTA has
at most 227 KB. A cluster has more: each of its CTAs holds a part of the bins, and any thread updates any counter of the
cluster with an atomic operation on *distributed shared memory*. The upper bits of a bin's number determine its CTA, and
`mapa` converts an address in the executing CTA's shared memory to the corresponding address in another CTA.

    keys      7  40001  12  65535  20000 ...         each thread reads some, 16 bytes at a time

    cluster   rank 0        rank 1
    counts    0..32767      32768..65535             128 KB each
    target    0..32767      32768..65535             cp.reduce.async.bulk adds all of it

Each cluster iterates over the keys and has a separate histogram at the end. A bulk reduction adds it to the target:
one instruction of one thread for each CTA, for 128 KB at once.

The speed is limited by the atomic operations on other CTAs' memory, which are half of them here. In a cluster of four
they are three quarters, and counting takes 2.4 times as long (on an H200), so the cluster is as small as the bins
allow.

The rules that make the kernel correct, with the code that the verifier reports if one is violated:

* Another CTA's counters may be updated only after that CTA has started and set them to zero: a barrier of the cluster
  follows (PTX611). The counters may be read only after all CTAs have finished counting: a second barrier of the
  cluster. No CTA exits before it, because others may still access its memory (PTX612).
* Counting uses the generic proxy, and the bulk reduction reads through the async proxy: each thread executes a proxy
  fence after it has counted, before the barrier of the cluster (PTX401).
* The CTA may exit only after its shared memory has been read (PTX303), so its group is waited for.

The counting operations need no order among each other: `red.relaxed`. Atomic operations on equal keys are serialized,
so this kernel suits keys that are spread over the bins.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: red", "Data Movement and Conversion
Instructions: mapa", "... cp.reduce.async.bulk", "Async Proxy".
"""

from __future__ import annotations

from ptxkit.build import Global, Kernel, Register, Shared, u32

BINS = 1 << 16
CLUSTER = 2
"""The CTAs that share the bins."""
BINS_PER_CTA = BINS // CLUSTER
"""The bins of a CTA, a power of two."""
_BINS_PER_CTA_BITS = BINS_PER_CTA.bit_length() - 1
THREADS = 512
VECTOR = 4
"""The keys of one load of 16 bytes."""
MIN_KEYS_PER_CLUSTER = THREADS * VECTOR * CLUSTER
"""The number of keys for which an additional cluster reduces the time."""
_SHARED, _THREADS = 228 * 1024, 2048
"""The shared memory in bytes and the threads of a multiprocessor of sm_90. The system reserves 1,024 bytes for each
CTA.
"""


def cluster_histogram(*, debug: bool = False) -> Kernel:
    """Returns a kernel that computes `target[key] += 1` for each of `count` keys below BINS; other keys are not
    counted.

    The sum of count and the keys of one pass of the grid (CTAs x THREADS x VECTOR) is below 2**32.

    Parameters: keys, target: u32 arrays, aligned to 16 bytes, target of BINS elements; count: u32. Block: THREADS;
    grid: any multiple of CLUSTER, such as `ctas(count, room)`.
    """
    k = Kernel("cluster_histogram", threads=THREADS, cluster=CLUSTER, debug=debug)
    keys = k.param(Global[u32], "keys", align=16)
    target = k.param(Global[u32], "target", align=16)
    count = k.param(u32, "count")
    counts = k.dynamic_shared(u32, BINS_PER_CTA, align=16)

    # 1. Set the counters of all CTAs of the cluster to zero.
    mine = k.tid.x * VECTOR
    own = counts[mine]
    for start in k.unroll(0, BINS_PER_CTA, THREADS * VECTOR):
        own[start].store([0] * VECTOR)
    k.cluster_sync()

    # 2. Count the keys: whole vectors, then the remaining keys.
    first = k.ctaid.x * (THREADS * VECTOR) + mine
    whole = count & -VECTOR
    with k.for_range(first, whole, k.nctaid.x * (THREADS * VECTOR)) as index:
        for key in keys[index].load(VECTOR, read_only=True):
            _count_key(k, counts, key)
    rest = whole + (k.ctaid.x * THREADS + k.tid.x)
    with k.if_(rest < count):
        _count_key(k, counts, keys[rest].load())
    k.fence_proxy_async_shared_cluster()
    k.cluster_sync()

    # 3. All keys in this CTA's bins are counted.
    with k.thread_is(0):
        k.cp_reduce_async_bulk_add(target[k.cluster_ctarank * BINS_PER_CTA], counts, BINS_PER_CTA * u32.size())
        k.tma_store_arrive()
        k.tma_store_wait()
    return k


def room(multiprocessors: int) -> int:
    """Returns the number of CTAs that are resident on a device with that many multiprocessors.

    It is limited by shared memory and threads.
    """
    return multiprocessors * min(_SHARED // (BINS_PER_CTA * u32.size() + 1024), _THREADS // THREADS)


def ctas(count: int, room: int) -> int:
    """Returns the number of CTAs for `count` keys, a multiple of CLUSTER, if `room` CTAs can be resident at once."""
    return max(min(room // CLUSTER, -(-count // MIN_KEYS_PER_CLUSTER)), 1) * CLUSTER


def _count_key(k: Kernel, counts: Shared[u32], key: Register[u32]) -> None:
    """Counts a key in the CTA whose rank the upper bits of its bin's number state."""
    rank, place = key >> _BINS_PER_CTA_BITS, counts[key & (BINS_PER_CTA - 1)]
    with k.if_(rank == k.cluster_ctarank):
        place.reduce("add", 1, scope="cluster")
    with k.elif_(lambda: rank < CLUSTER):
        place.map_rank(rank).reduce("add", 1, scope="cluster")
