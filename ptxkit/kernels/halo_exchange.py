"""Heat flowing along rods: steps of a stencil with the halo sent between CTAs of a cluster, and none through memory.

The idea. Each step, an element becomes a mean of itself and its two neighbours, so the next step needs what the
neighbours have become. A launch for each step would read and write all rods each time. Here a rod is held by a cluster:
each CTA has a stretch of it in registers, PER elements a thread, and all steps happen there. Memory is read once and
written once.

What a thread needs each step are two elements: the last one of the thread before it, the first one of the thread
after it. All threads write theirs to shared memory, meet, and read. At the ends of a CTA's stretch the neighbour is a
thread of another CTA. It sends its element with `st.async`, a store into the shared memory of another CTA that counts
its bytes at an mbarrier there:

    rank 0                            rank 1
    registers     ... |a b c d|       |e f g h| ...
    shared      first[..]  last[..]   first[..]  last[..]        all threads of the CTA: its barrier
    halo          from_right <-- e    d --> from_left            st.async: the mbarriers of the CTA that receives

All of it exists twice, for odd and for even steps, so that no thread waits before writing: one that is a step ahead
writes to the other half. None can be two steps ahead, for the step between needs what the neighbour sends in it.

Two more things make it fast, as the threads are busy with arithmetic and not with waiting. Two steps are one turn of
the loop, so that which half is used is a constant. And a step computes four times the mean, with the weights 1, 2 and
1: two operations an element. The factors of two steps are taken out in one multiplication; they are powers of two, so
that nothing is rounded otherwise.

The rules that make it right, and what the verifier says where one is broken:

* A CTA's shared memory and its mbarriers exist when it has started: the thread that initialises them fences, and the
  cluster meets before the first step (PTX611, PTX613). Nor may a CTA end while a neighbour sends to it: here it cannot,
  since each waits for all that is sent to it.
* The thread that receives announces the bytes (`arrive.expect_tx`), then waits. The bytes may come before they are
  announced: the phase is not complete before the one arrival that it needs (PTX503, PTX505).
* The wait has the scope of the cluster, as what it waits for was written by another CTA. That is the author's to see.
* Shared memory is read after the barrier that follows the writes (PTX621). It is written again two steps later, after
  the barrier of the step between.

Source: PTX ISA, "Data Movement and Conversion Instructions: st.async", "Parallel Synchronization and Communication
Instructions: mbarrier", "... barrier.cluster"; "Cooperative Thread Arrays: Cluster of Cooperative Thread Arrays".
"""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.build import Barrier, Global, Kernel, Register, Shared, f32, pred, u32, u64
from ptxkit.fast_dataclasses import dataclass

THREADS = 256
VECTOR = 4
"""Elements of one load: 16 bytes."""
ELEMENTS_PER_THREAD = 16
"""Elements of a thread."""
CLUSTER = 4
"""CTAs that hold a rod."""
ROD_ELEMENTS = CLUSTER * THREADS * ELEMENTS_PER_THREAD
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
    edges = _Edges.of(k)
    with k.thread_is(0):
        edges.init()
        k.fence_barrier_init()
    k.cluster_sync()

    place = k.ctaid.x.convert(u64) * (THREADS * ELEMENTS_PER_THREAD) + (k.tid.x * ELEMENTS_PER_THREAD).convert(u64)
    rod = [
        k.variable(f32, value)
        for part in range(0, ELEMENTS_PER_THREAD, VECTOR)
        for value in k.ld_v4(source[place][part])
    ]
    with k.for_range(0, steps >> 1, unroll=False) as pair:
        following: Sequence[Register[f32]] = rod
        for half in range(2):
            following = _emit_step(k, edges, half, pair & 1, following)
        _scale_into(k, following, 1 / 16, rod)
    with k.if_((steps & 1) == 1):
        _scale_into(k, _emit_step(k, edges, 0, (steps >> 1) & 1, rod), 1 / 4, rod)
    for part in range(0, ELEMENTS_PER_THREAD, VECTOR):
        k.st_v4(target[place][part], rod[part : part + VECTOR])
    return k


def _emit_step(
    k: Kernel, edges: _Edges, half: int, parity: Register[u32], rod: Sequence[Register[f32]]
) -> list[Register[f32]]:
    """The elements after a step, times four."""
    edges.publish(half, rod[0], rod[-1])
    k.cta_sync()
    before, after = edges.neighbours(half, parity, rod[0], rod[-1])
    around = [before, *rod, after]
    return [k.fma_rn(rod[i], 2.0, around[i] + around[i + 2]) for i in range(ELEMENTS_PER_THREAD)]


def _scale_into(k: Kernel, values: Sequence[Register[f32]], factor: float, into: Sequence[Register[f32]]) -> None:
    """The values times a power of two."""
    for value, place in zip(values, into, strict=True):
        k.mul(value, factor, into=place)


@dataclass(frozen=True, slots=True)
class _Edges:
    """The first and last elements of all threads, and what comes from the CTAs on either side.

    at_left: whether the thread has its left neighbour in another CTA; at_right.
    """

    k: Kernel
    firsts: Shared[f32]
    lasts: Shared[f32]
    left: _Side
    right: _Side
    at_left: Register[pred]
    at_right: Register[pred]

    @classmethod
    def of(cls, k: Kernel) -> _Edges:
        """Declares all of it."""
        firsts, lasts = (k.shared(f32, 2 * THREADS, name=name)[k.tid.x] for name in ("firsts", "lasts"))
        rank = k.cluster_ctarank
        at_left = (k.tid.x == 0) & (rank != 0)
        at_right = (k.tid.x == THREADS - 1) & (rank != CLUSTER - 1)
        return cls(k, firsts, lasts, _Side.of(k, "left"), _Side.of(k, "right"), at_left, at_right)

    def init(self) -> None:
        """Makes the mbarriers; for one thread."""
        self.left.arrived.init(1)
        self.right.arrived.init(1)

    def publish(self, half: int, first: Register[f32], last: Register[f32]) -> None:
        """Shows the CTA the thread's elements, and sends them to the neighbours where those are elsewhere."""
        k, rank = self.k, self.k.cluster_ctarank
        self.firsts[half * THREADS].store(first)
        self.lasts[half * THREADS].store(last)
        with k.if_(self.at_left):
            self.right.send(half, first, rank - 1)
        with k.if_(self.at_right):
            self.left.send(half, last, rank + 1)

    def neighbours(
        self, half: int, parity: Register[u32], first: Register[f32], last: Register[f32]
    ) -> tuple[Register[f32], Register[f32]]:
        """The elements next to the thread's own; at the ends of the rod, those once more."""
        k = self.k
        before, after = k.variable(f32, first), k.variable(f32, last)
        with k.predicated(k.tid.x != 0):
            k.ld(self.lasts[half * THREADS - 1], into=before)
        with k.predicated(k.tid.x != THREADS - 1):
            k.ld(self.firsts[half * THREADS + 1], into=after)
        with k.if_(self.at_left):
            self.left.receive(half, parity, before)
        with k.if_(self.at_right):
            self.right.receive(half, parity, after)
        return before, after


@dataclass(frozen=True, slots=True)
class _Side:
    """What comes from one neighbour. value: an element for even and one for odd steps. came: the mbarriers of both."""

    value: Shared[f32]
    arrived: Barrier

    @classmethod
    def of(cls, k: Kernel, name: str) -> _Side:
        return cls(k.shared(f32, 2, name=f"from_{name}"), k.mbarrier(f"{name}_came", 2))

    def send(self, half: int, value: Register[f32], rank: Register[u32]) -> None:
        """Stores an element in the same place of the CTA of that rank."""
        k = self.value.builder
        k.instruction("st_async", (self.value[half].map_rank(rank), value, self.arrived[half].map_rank(rank)))

    def receive(self, half: int, parity: Register[u32], into: Register[f32]) -> None:
        """Waits for the element that is sent to this place."""
        came = self.arrived[half]
        came.arrive_expect_tx(f32.size())
        came.wait(parity, scope="cluster")
        self.value.builder.instruction("ld", (self.value[half],), into=into)
