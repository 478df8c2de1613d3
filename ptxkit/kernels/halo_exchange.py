"""Heat flowing along rods: steps of a stencil with the halo sent between CTAs of a cluster, and none through memory.

The idea. Each step, an element becomes a mean of itself and its two neighbours, so the next step needs what the
neighbours have become. A launch for each step would read and write all rods each time. Here a rod is held by a cluster:
each CTA has a stretch of it in registers, PER elements a thread, and all steps happen there. Memory is read once and
written once.

What a thread needs each step are two elements: the last one of the thread before it, the first one of the thread
behind it. All threads write theirs to shared memory, meet, and read. At the ends of a CTA's stretch the neighbour is a
thread of another CTA. It sends its element with `st.async`, a store into the shared memory of another CTA that counts
its bytes at an mbarrier there:

    rank 0                            rank 1
    registers     ... |a b c d|       |e f g h| ...
    shared      first[..]  last[..]   first[..]  last[..]        all threads of the CTA: its barrier
    halo          from_right <-- e    d --> from_left            st.async: the mbarriers of the CTA that receives

Everything stands twice, for odd and for even steps, so that nobody waits before writing: who is a step ahead writes to
the other half. Two steps ahead nobody can be, for the step between needs what the neighbour sends in it.

The rules that make it right, and what the verifier says where one is broken:

* A CTA's shared memory and its mbarriers exist when it has started: the thread that initialises them fences, and the
  cluster meets before the first step (PTX611, PTX613). Nor may a CTA end while a neighbour sends to it: here it cannot,
  since each waits for all that is sent to it.
* The thread that receives announces the bytes (`arrive.expect_tx`), then waits. The bytes may come before they are
  announced: the phase is not complete before the one arrival that it needs.
* The wait has the scope of the cluster, as what it waits for was written by another CTA (PTX506).
* Shared memory is read behind the barrier that follows the writes (PTX621). It is written again two steps later, behind
  the barrier of the step between.

Source: PTX ISA, "Data Movement and Conversion Instructions: st.async", "Parallel Synchronization and Communication
Instructions: mbarrier", "... barrier.cluster"; "Cooperative Thread Arrays: Cluster of Cooperative Thread Arrays".
"""

from __future__ import annotations

from ptxkit.build import Barrier, Global, Kernel, Register, RemoteBarrier, Shared, SharedCluster, f32, u32, u64
from ptxkit.records import dataclass

THREADS = 256
VECTOR = 4
"""Elements of one load: 16 bytes."""
PER = 8
"""Elements of a thread."""
CLUSTER = 4
"""CTAs that hold a rod."""
LENGTH = CLUSTER * THREADS * PER
"""Elements of a rod."""


def halo_exchange(*, debug: bool = False) -> Kernel:
    """`steps` times, for each element of each rod: `x[i] = (x[i - 1] + x[i + 1]) / 4 + x[i] / 2`.

    The ends are insulated: beyond each lies an element like the last one. Rods have LENGTH elements. Each operation is
    rounded once, to nearest.

    Parameters: source, target: f32 arrays of rods, aligned to 16 bytes; steps: u32. Block: THREADS; grid: CLUSTER CTAs
    for each rod.
    """
    k = Kernel("halo_exchange", threads=THREADS, cluster=CLUSTER, debug=debug)
    source = k.param(Global[f32], "source", align=16)
    target = k.param(Global[f32], "target", align=16)
    steps = k.param(u32, "steps")
    firsts, lasts = (k.shared(f32, 2 * THREADS, name=name) for name in ("firsts", "lasts"))
    left, right = _Side.of(k, "left"), _Side.of(k, "right")

    with k.thread_is(0):
        left.came.init(1)
        right.came.init(1)
        k.fence_barrier_init()
    k.cluster_sync()

    thread = k.tid.x
    place = k.ctaid.x.convert(u64) * (THREADS * PER) + (thread * PER).convert(u64)
    rod = [k.variable(f32, value) for part in range(0, PER, VECTOR) for value in k.ld_v4(source[place][part])]
    rank = k.cluster_ctarank
    begins, ends = thread == 0, thread == THREADS - 1
    to_left, to_right = begins & (rank != 0), ends & (rank != CLUSTER - 1)
    there_left, there_right = right.of_rank((rank + (CLUSTER - 1)) % CLUSTER), left.of_rank((rank + 1) % CLUSTER)

    with k.for_range(0, steps, unroll=False) as step:
        half = step & 1
        parity = (step >> 1) & 1
        row = half * THREADS + thread
        firsts[row].store(rod[0])
        lasts[row].store(rod[-1])
        with k.if_(to_left):
            there_left.send(k, half, rod[0])
        with k.if_(to_right):
            there_right.send(k, half, rod[-1])
        k.cta_sync()
        before, behind = k.variable(f32, rod[0]), k.variable(f32, rod[-1])
        with k.predicated(~begins):
            k.ld(lasts[row][-1], into=before)
        with k.predicated(~ends):
            k.ld(firsts[row][1], into=behind)
        with k.if_(to_left):
            left.receive(k, half, parity, before)
        with k.if_(to_right):
            right.receive(k, half, parity, behind)
        around = [before, *rod, behind]
        following = [(around[i] + around[i + 2]) * 0.25 + around[i + 1] * 0.5 for i in range(PER)]
        for value, new in zip(rod, following, strict=True):
            value.set(new)
    for part in range(0, PER, VECTOR):
        k.st_v4(target[place][part], rod[part : part + VECTOR])
    return k


@dataclass(frozen=True, slots=True)
class _Side:
    """What comes from one neighbour. value: an element for even and one for odd steps. came: the mbarriers of both."""

    value: Shared[f32]
    came: Barrier

    @classmethod
    def of(cls, k: Kernel, name: str) -> _Side:
        return cls(k.shared(f32, 2, name=f"from_{name}"), k.mbarrier(f"{name}_came", 2))

    def of_rank(self, rank: Register[u32]) -> _Remote:
        """The same in the CTA of that rank."""
        return _Remote(self.value.map_rank(rank), self.came.map_rank(rank))

    def receive(self, k: Kernel, half: Register[u32], parity: Register[u32], into: Register[f32]) -> None:
        """Waits for the neighbour's element."""
        came = self.came[half]
        came.arrive_expect_tx(f32.size())
        came.wait(parity, scope="cluster")
        k.ld(self.value[half], into=into)


@dataclass(frozen=True, slots=True)
class _Remote:
    """Where a neighbour takes what comes from this side."""

    value: SharedCluster[f32]
    came: RemoteBarrier

    def send(self, k: Kernel, half: Register[u32], value: Register[f32]) -> None:
        k.st_async(self.value[half], value, self.came[half])
