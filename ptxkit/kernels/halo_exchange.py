"""Heat conduction in rods: a stencil whose halo is exchanged between the CTAs of a cluster, without global memory.

Algorithm. In each step, an element becomes a weighted mean of itself and its two neighbors, so each step depends on the
results of the previous one. A launch for each step would read and write all rods each time. Here a cluster holds a rod:
each CTA keeps a section of it in registers, ELEMENTS_PER_THREAD elements in each thread, and executes all steps. Global
memory is read once and written once.

In each step a thread needs two elements of other threads: the last one of the previous thread and the first one of the
next thread. All threads write theirs to shared memory, synchronize, and read. At the ends of a CTA's section the
neighbor is a thread of another CTA, which sends its element with `st.async`, a store to the shared memory of another
CTA that counts its bytes at an mbarrier there:

    rank 0                            rank 1
    registers     ... |a b c d|       |e f g h| ...
    shared      first[..]  last[..]   first[..]  last[..]        all threads of the CTA: its barrier
    halo          from_right <-- e    d --> from_left            st.async: the mbarriers of the CTA that receives

There are two copies of these buffers, for odd and for even steps, so that no thread waits before it writes: a thread
that is one step ahead writes to the other copy. No thread can be two steps ahead, because the step between needs the
elements that its neighbors send in it.

Two optimizations reduce the arithmetic, which limits the speed. An iteration of the loop executes two steps, so that
the index of the buffer is a constant. A step computes four times the mean, with the weights 1, 2 and 1: two operations
for each element. One multiplication removes the factors of two steps; they are powers of two, so that the rounding does
not change.

The rules that make the kernel correct, with the code that the verifier reports if one is violated:

* A CTA's shared memory and mbarriers are valid only after it has started: the thread that initializes them executes a
  fence, and a barrier of the cluster precedes the first step (PTX611, PTX613). A CTA must not exit while a neighbor
  sends to it; this cannot happen here, because each CTA waits for all elements that are sent to it.
* The receiving thread expects the bytes (`arrive.expect_tx`), then waits. The bytes may arrive before they are
  expected, because the phase also needs one arrival to complete (PTX503, PTX505).
* The wait has the scope of the cluster, because another CTA writes the data. The verifier does not check this.
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
"""The elements of one load of 16 bytes."""
ELEMENTS_PER_THREAD = 16
"""The elements of a thread."""
CLUSTER = 4
"""The CTAs that hold a rod."""
ROD_ELEMENTS = CLUSTER * THREADS * ELEMENTS_PER_THREAD
"""The elements of a rod."""


def halo_exchange(*, debug: bool = False) -> Kernel:
    """Returns a kernel that computes `x[i] = (x[i - 1] + x[i + 1]) / 4 + x[i] / 2` for each element of each rod,
    `steps` times.

    The ends are insulated: the element beyond an end equals the last element. Rods have ROD_ELEMENTS elements. Each
    operation is rounded once, to nearest.

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
        for value in source[place][part].load(VECTOR)
    ]
    with k.for_range(0, steps >> 1, unroll=False) as pair:
        following: Sequence[Register[f32]] = rod
        for half in range(2):
            following = _emit_step(k, edges, half, pair & 1, following)
        _scale_into(k, following, 1 / 16, rod)
    with k.if_((steps & 1) == 1):
        _scale_into(k, _emit_step(k, edges, 0, (steps >> 1) & 1, rod), 1 / 4, rod)
    for part in range(0, ELEMENTS_PER_THREAD, VECTOR):
        target[place][part].store(rod[part : part + VECTOR])
    return k


def _emit_step(
    k: Kernel, edges: _Edges, half: int, parity: Register[u32], rod: Sequence[Register[f32]]
) -> list[Register[f32]]:
    """Returns the elements after a step, multiplied by four."""
    edges.publish(half, rod[0], rod[-1])
    k.cta_sync()
    before, after = edges.neighbors(half, parity, rod[0], rod[-1])
    around = [before, *rod, after]
    return [k.fma(rod[i], 2.0, around[i] + around[i + 2]) for i in range(ELEMENTS_PER_THREAD)]


def _scale_into(k: Kernel, values: Sequence[Register[f32]], factor: float, into: Sequence[Register[f32]]) -> None:
    """Multiplies the values by a power of two."""
    for value, place in zip(values, into, strict=True):
        k.mul(value, factor, into=place)


@dataclass(frozen=True, slots=True)
class _Edges:
    """The first and last elements of all threads, and the elements that adjacent CTAs send.

    `at_left` is whether the left neighbor of the thread is in another CTA, and `at_right` whether the right one is.
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
        """Declares the buffers and mbarriers."""
        firsts, lasts = (k.shared(f32, 2 * THREADS, name=name)[k.tid.x] for name in ("firsts", "lasts"))
        rank = k.cluster_ctarank
        at_left = (k.tid.x == 0) & (rank != 0)
        at_right = (k.tid.x == THREADS - 1) & (rank != CLUSTER - 1)
        return cls(k, firsts, lasts, _Side.of(k, "left"), _Side.of(k, "right"), at_left, at_right)

    def init(self) -> None:
        """Initializes the mbarriers. One thread executes it."""
        self.left.arrived.init(1)
        self.right.arrived.init(1)

    def publish(self, half: int, first: Register[f32], last: Register[f32]) -> None:
        """Publishes the thread's elements in the CTA, and sends them to neighbors in other CTAs."""
        k, rank = self.k, self.k.cluster_ctarank
        self.firsts[half * THREADS].store(first)
        self.lasts[half * THREADS].store(last)
        with k.if_(self.at_left):
            self.right.send(half, first, rank - 1)
        with k.if_(self.at_right):
            self.left.send(half, last, rank + 1)

    def neighbors(
        self, half: int, parity: Register[u32], first: Register[f32], last: Register[f32]
    ) -> tuple[Register[f32], Register[f32]]:
        """Returns the elements next to the thread's own, or the thread's elements at the ends of the rod."""
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
    """The elements that one neighbor sends: `value` for even and for odd steps, and `came`, the mbarriers of both."""

    value: Shared[f32]
    arrived: Barrier

    @classmethod
    def of(cls, k: Kernel, name: str) -> _Side:
        return cls(k.shared(f32, 2, name=f"from_{name}"), k.mbarrier(f"{name}_came", 2))

    def send(self, half: int, value: Register[f32], rank: Register[u32]) -> None:
        """Stores an element to the corresponding location in the CTA with that rank."""
        k = self.value.builder
        k.instruction("st_async", (self.value[half].map_rank(rank), value, self.arrived[half].map_rank(rank)))

    def receive(self, half: int, parity: Register[u32], into: Register[f32]) -> None:
        """Waits for the element that is sent to this location."""
        came = self.arrived[half]
        came.arrive_expect_tx(f32.size())
        came.wait(parity, scope="cluster")
        self.value.builder.instruction("ld", (self.value[half],), into=into)
