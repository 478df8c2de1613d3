"""A matrix product at the speed of the tensor cores: persistent, warp-specialised, tensor maps in and out.

The idea. Each CTA multiplies tiles of 128 x 256, and one thread of it does nothing but tell the copy engine to bring
the next 128 bytes of K of A and B to one of four stages of shared memory (the *producer*). Two warpgroups of 128
threads, the *consumers*, multiply 64 x 256 each, straight from shared memory: `wgmma` reads both matrices through
descriptors, in the swizzle in which the tensor maps wrote them. Two mbarriers a stage hand it over: `full` counts the
bytes that have come, `empty` the consumers that are done. The producer gives registers back, and the consumers, who
hold 128 sums each, take them (`setmaxnreg`).

Nothing may make the tensor cores wait:

* The k-blocks overlap: a warpgroup issues the next four multiplications before it waits for the last four, and only
  then frees the stage of those.
* A finished tile is not stored when it is finished. Its sums are packed to bf16 (64 registers), and a quarter of them
  is stored under each of the next tile's first k-blocks: `stmatrix` to a staging box, and a tensor map's store, by each
  warp for its own 16 rows.
* What a warp has in common is computed once a warp: `k.uniform` says so to ptxas, and descriptors are in the uniform
  registers that `wgmma` wants.
* The CTAs of a cluster take tiles below one another and need the same part of B: each brings its share of it to all
  (multicast), and a stage is free when the consumers of all of them say so.
* Who multiplies what is a table made on the host: see `gemm_schedule`. It also spreads the last tiles over all CTAs,
  which hand partial sums on through global memory.

The rules that make it right, with the code that the verifier gives where one is broken. What a role does here hangs on
the schedule, which is data; where it cannot prove that a wait is missed whatever the data, it says nothing, and such
rules stand without a code: they are the author's.

* mbarriers are made before anybody uses them, also of other CTAs (PTX501, PTX613): the initialising thread fences, and
  all threads of the cluster meet. No CTA ends while others may still signal its mbarriers: they meet again at the end.
* A stage is read when its phase is complete, and the bytes announced are those of the boxes (PTX503 for one CTA).
* Sums may be touched only when the multiplications are waited for (PTX311); a stage is freed only then.
* `wgmma.fence` stands before the first multiplication after sums were read or written by other instructions (PTX312).
* All warps of a warpgroup give registers back before the others ask for them (PTX605).
* The threads' stores to the staging boxes go through the generic proxy, the copy out reads through the async proxy:
  each thread fences, the warp meets, one lane issues (PTX401). It waits for its last but one group before the box is
  written again (PTX303), also when the last group was of nothing; and for all of them before the CTA ends.
* Partial sums are written, the warp meets, and one lane says so with a release; who takes them waits with an acquire.

Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions", "Tensors: Swizzling Modes", "Async Proxy",
"Miscellaneous Instructions: setmaxnreg", "Memory Consistency Model".
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ptxkit.build import (
    Barrier,
    BuildValueError,
    Global,
    Kernel,
    Register,
    RemoteBarrier,
    Ring,
    Shared,
    TensorMap,
    b8,
    b16,
    b32,
    bf16,
    f32,
    pred,
    u8,
    u16,
    u32,
)
from ptxkit.build.types import Scalar
from ptxkit.kernels.gemm_schedule import FINISH, PARTIAL
from ptxkit.records import dataclass

ROWS, COLUMNS = 128, 256
"""Of a CTA's tile."""
DEPTH = 128
"""Bytes of K in a k-block: as much as the swizzle spans."""
STAGES = 4
PRODUCERS, CONSUMERS = 4, 8
"""Warps of each role."""
THREADS = 32 * (PRODUCERS + CONSUMERS)
STRIP = 64
"""Columns of C that are stored at once: 128 bytes."""
CLUSTERS = (1, 2)
ELEMENTS: dict[str, type[Scalar]] = {"bf16": bf16, "e4m3": u8}
"""Types of A and B, and how tensor maps call them."""

_A, _B = ROWS * DEPTH, COLUMNS * DEPTH
_STAGE = _A + _B
_BOX = 16 * 2 * STRIP
"""Bytes of a staging box: 16 rows of C."""
_GROUP = 64 * DEPTH
"""Bytes of A that a consumer warpgroup multiplies."""
SUMS = COLUMNS // 2
"""Of a consumer's thread."""


@dataclass(frozen=True, slots=True)
class Gemm:
    """What the parts of the kernel share. rank: of the CTA in its cluster. warp: uniform. by_columns: B is [K, N]."""

    k: Kernel
    element: str
    cluster: int
    by_columns: bool
    rank: Register[u32] | int
    warp: Register[u32]
    memory: Shared[b8]
    full: Barrier
    empty: Barrier

    @property
    def depth(self) -> int:
        """Elements of K in a k-block."""
        return DEPTH // ELEMENTS[self.element].size()


@dataclass(frozen=True, slots=True)
class Item:
    """A row of the schedule."""

    place: Register[u32]
    blocks: Register[u32]
    first: Register[u32]
    kind: Register[u32]

    def row(self, gemm: Gemm) -> Register[u32]:
        """The first row of the CTA's tile."""
        m = self.place & 0xFFFF
        return (m * gemm.cluster + gemm.rank) * ROWS

    def column(self) -> Register[u32]:
        """The first column of the tile."""
        return (self.place >> 16) * COLUMNS


def gemm(element: str = "bf16", *, cluster: int = 2, by_columns: bool = False, debug: bool = False) -> Kernel:
    """`c = a @ b`, summed in fp32, rounded to bf16 once.

    element: `bf16` or `e4m3` (then `c = scale_a * scale_b * (a @ b)`). cluster: CTAs that share a part of B, 1 or 2.
    by_columns: B is [K, N], row by row (bf16 only); else it is [N, K], so that both matrices run along K.

    Parameters: a, b, c: tensor maps, swizzle 128; items: the schedule's words; parts: CTAs x CONSUMERS x 32 x SUMS
    f32 of room; flags: CTAs x CONSUMERS words, zero at first and left zero; for e4m3, scale_a and scale_b: one f32
    each. Block: THREADS; grid: the workers of the schedule times `cluster`. `Matmul` makes all this.
    """
    if element not in ELEMENTS:
        raise BuildValueError(f"the elements are {' or '.join(ELEMENTS)}, not {element!r}")
    if cluster not in CLUSTERS:
        raise BuildValueError(f"a cluster has {' or '.join(map(str, CLUSTERS))} CTAs, not {cluster!r}")
    if by_columns and element != "bf16":
        raise BuildValueError(f"wgmma reads {element} only along K: B is [N, K]")
    shape = cluster if cluster > 1 else None
    k = Kernel("gemm", threads=THREADS, target="sm_90a", cluster=shape, registers=168, debug=debug)
    kind = ELEMENTS[element]
    depth = DEPTH // kind.size()
    a = k.tensor_map("a", kind, box=(depth, ROWS), swizzle=128)
    b = k.tensor_map("b", kind, box=(depth, STRIP if by_columns else COLUMNS // cluster), swizzle=128)
    c = k.tensor_map("c", bf16, box=(STRIP, 16), swizzle=128)
    items = k.param(Global[u32], "items", align=16)
    parts = k.param(Global[f32], "parts", align=16)
    flags = k.param(Global[u32], "flags")
    scales = [k.param(Global[f32], f"scale_{each}") for each in "ab"] if element == "e4m3" else []
    memory = k.dynamic_shared(b8, STAGES * _STAGE + CONSUMERS * 2 * _BOX, align=1024)
    full, empty = k.mbarrier("full", STAGES), k.mbarrier("empty", STAGES)
    rank = k.cluster_ctarank if cluster > 1 else 0
    self = Gemm(k, element, cluster, by_columns, rank, k.uniform(k.warp), memory, full, empty)

    with k.thread_is(0):
        for each in (a, b, c):
            each.prefetch_map()
        full.init(1)
        empty.init(CONSUMERS * cluster)
        if cluster > 1:
            k.fence_barrier_init()
    if cluster > 1:
        k.cluster_sync()
    else:
        k.cta_sync()

    with k.role(warps=range(PRODUCERS), registers=40, by=self.warp), k.if_(self.warp == 0), k.elect_one():
        _produce(self, a, b, items)
    with k.role(warps=range(PRODUCERS, PRODUCERS + CONSUMERS), registers=232, by=self.warp):
        _consume(self, c, items, parts, flags, scales)
    if cluster > 1:
        k.cluster_sync(aligned=False)
    return k


@contextmanager
def _each_item(gemm: Gemm, items: Global[u32]) -> Iterator[Item]:
    """The worker's rows of the schedule, one after another; the next one is fetched while this one is at work."""
    k = gemm.k
    worker, step = (k.clusterid.x, k.nctaid.x // gemm.cluster) if gemm.cluster > 1 else (k.ctaid.x, k.nctaid.x)
    index = k.variable(u32, worker * 4, multiple=4)
    words = [k.variable(u32, word) for word in k.ld_nc_v4(items[index])]
    with k.while_(lambda: words[1] != 0):
        index.set(index + step * 4)
        following = k.ld_nc_v4(items[index])
        place, blocks, first, kind = words
        yield Item(place, blocks, first, kind)
        for word, value in zip(words, following, strict=True):
            word.set(value)


# ----------------------------------------------------------------------------------------------------- producer


def _produce(gemm: Gemm, a: TensorMap, b: TensorMap, items: Global[u32]) -> None:
    """One thread: for each k-block of each row, waits for a free stage and has it filled."""
    k, ring, depth = gemm.k, Ring(gemm.k, STAGES), gemm.depth
    share = COLUMNS // gemm.cluster
    everyone = (1 << gemm.cluster) - 1 if gemm.cluster > 1 else None
    mask = None if everyone is None else k.constant_register(everyone).convert(u16)
    with _each_item(gemm, items) as item:
        row = item.row(gemm)
        column = item.column() + share * gemm.rank
        left, along = k.variable(u32, item.blocks), k.variable(u32, item.first * depth)
        with k.loop() as loop:
            full = gemm.full[ring.stage]
            gemm.empty[ring.stage].wait(ring.opposite())
            full.arrive_expect_tx(_STAGE)
            stage = gemm.memory[ring.stage * _STAGE]
            mine = stage[_A:][share * DEPTH * gemm.rank]
            a.load(stage, (along, row), full)
            if gemm.by_columns:
                for number in range(share // STRIP):
                    strip = mine[number * STRIP * DEPTH :]
                    b.load(strip, (column + number * STRIP, along), full, multicast=mask)
            else:
                b.load(mine, (along, column), full, multicast=mask)
            ring.advance()
            along.set(along + depth)
            left.set(left - 1)
            loop.break_(when=left == 0)


# ---------------------------------------------------------------------------------------------------- consumers


class _Consumer:
    """A warp of a consumer warpgroup: its sums, where it is in the ring, and the tile that is still to be stored."""

    def __init__(self, gemm: Gemm, c: TensorMap) -> None:
        k = self.k = gemm.k
        self.gemm, self.c = gemm, c
        self.warp = gemm.warp - PRODUCERS
        self.ring = Ring(k, STAGES)
        self.leads = k.laneid == 0
        self.never = k.laneid > 31
        # The sums, and the matrices of stage 0.
        self.sums = k.accumulator(COLUMNS)
        self.left = k.matrix(gemm.memory[(self.warp >> 2) * _GROUP].aligned(_GROUP))
        apart = STRIP * DEPTH if gemm.by_columns else 16
        self.right = k.matrix(gemm.memory[_A:], leading=apart, transposed=gemm.by_columns)
        # Lane l frees the stage of the cluster's CTA l. Only the stages' contents matter, so the arrival is relaxed.
        self.frees = k.laneid < gemm.cluster
        target = k.selected(k.laneid, gemm.rank, self.frees) if not isinstance(gemm.rank, int) else None
        self.empty = gemm.empty if target is None else gemm.empty.map_rank(target)
        self.before = k.variable(u32, 0)
        # The finished tile: packed sums, where they belong, and whether there is one.
        self.packed = [k.variable(b32, 0) for _ in range(SUMS // 2)]
        self.row, self.column = k.variable(u32, 0), k.variable(u32, 0)
        self.pending = k.variable(pred, self.never)
        self.boxes = gemm.memory[STAGES * _STAGE :][self.warp * (2 * _BOX)]
        lane = k.laneid
        self.place = self.boxes.to_register() + (lane & 15) * (2 * STRIP) + (((lane >> 4) ^ (lane & 7)) << 4)

    def multiply(self, *, fresh: bool = False) -> None:
        """Waits for the stage and issues its multiplications; fresh: the first one begins the sums."""
        k, ring = self.k, self.ring
        assert isinstance(ring.stage, Register)
        self.gemm.full[ring.stage].wait(ring.parity)
        left, right = self.left.at(ring.stage, _STAGE), self.right.at(ring.stage, _STAGE)
        step = 16 * DEPTH if self.gemm.by_columns else 32
        k.wgmma_fence()
        for number in k.unroll(DEPTH // 32):
            a, b = left.moved(32 * number), right.moved(step * number)
            self.sums.multiply(a, b, self.gemm.element, accumulate=not (fresh and number == 0))
        k.wgmma_commit_group()

    def advance(self) -> None:
        """Goes on to the next stage; this one is the one `before`."""
        self.before.set(self.ring.stage)
        self.ring.advance()

    def free(self, pending: int) -> None:
        """Waits for all multiplications but the newest `pending` k-blocks, and frees the stage before."""
        self.k.wgmma_wait_group(pending)
        barrier = self.empty[self.before]
        with self.k.predicated(self.frees):
            if isinstance(barrier, RemoteBarrier):
                barrier.arrive(order="relaxed")
            else:
                barrier.arrive()

    def store(self, strip: int) -> None:
        """Stores a strip of the finished tile: registers to a staging box, and the box to C."""
        k, box = self.k, strip % 2
        with k.predicated(self.leads):
            k.tma_store_wait(1)  # the box is free: only the other one may still be read
        k.warp_sync()
        for number in range(4):
            place = k.pointer(Shared[b16], self.place ^ (number << 5), align=16)
            first = 16 * strip + 4 * number
            k.stmatrix_m8n8_x4(place[box * _BOX // 2], tuple(self.packed[first : first + 4]))
        k.fence_view_async()
        k.warp_sync()
        with k.predicated(self.pending):
            self.c.store((self.column + STRIP * strip, self.row), self.boxes[box * _BOX :])
        with k.predicated(self.leads):
            k.tma_store_arrive()  # also a group of nothing, so that the count holds

    def pack(self, item: Item, scale: Register[f32] | None) -> None:
        """The sums are a finished tile: rounds them, and remembers where they belong."""
        self.row.set(item.row(self.gemm) + self.warp * 16)
        self.column.set(item.column())
        self.sums.packed(bf16, into=self.packed, scale=scale)
        self.pending.set(self.leads)


def _consume(
    gemm: Gemm, c: TensorMap, items: Global[u32], parts: Global[f32], flags: Global[u32], scales: list[Global[f32]]
) -> None:
    """Two warpgroups: multiply, and store the tile before meanwhile."""
    k = gemm.k
    consumer = _Consumer(gemm, c)
    scale = scales[0].load() * scales[1].load() if scales else None
    with _each_item(gemm, items) as item:
        consumer.multiply(fresh=True)
        consumer.advance()
        for strip in range(COLUMNS // STRIP):
            consumer.multiply()
            consumer.store(strip)
            consumer.free(1)
            consumer.advance()
        left = k.variable(u32, item.blocks - (1 + COLUMNS // STRIP))
        with k.if_(left != 0), k.loop() as loop:
            consumer.multiply()
            consumer.free(1)
            consumer.advance()
            left.set(left - 1)
            loop.break_(when=left == 0)
        consumer.free(0)
        _join(consumer, item, parts, flags, scale)
    for strip in range(COLUMNS // STRIP):
        consumer.store(strip)
    with k.predicated(consumer.leads):
        k.tma_store_wait(read=False)


def _join(consumer: _Consumer, item: Item, parts: Global[f32], flags: Global[u32], scale: Register[f32] | None) -> None:
    """The end of a row: hands partial sums on, or takes what was handed on; a whole sum is packed."""
    k, gemm, sums = consumer.k, consumer.gemm, consumer.sums.registers
    kind = item.kind & 0xFF
    number = ((item.kind >> 8) * gemm.cluster + gemm.rank) * CONSUMERS + consumer.warp
    with k.if_(kind == PARTIAL):
        room, flag = parts[number * (32 * SUMS) + k.laneid * 4], flags[number]
        for first in range(0, SUMS, 4):
            k.st_v4(room[32 * first], sums[first : first + 4])
        k.warp_sync()
        with k.predicated(consumer.leads):
            k.st_release_gpu(flag, 1)
        consumer.pending.set(consumer.never)
    with k.else_():
        with k.if_(kind == FINISH):
            room, flag = parts[number * (32 * SUMS) + k.laneid * 4], flags[number]
            with k.loop() as loop:
                loop.break_(when=k.ld_acquire_gpu(flag) != 0)
            k.warp_sync()
            with k.predicated(consumer.leads):
                k.st_relaxed_gpu(flag, 0)
            for first in range(0, SUMS, 4):
                for mine, other in zip(sums[first : first + 4], k.ld_v4(room[32 * first]), strict=True):
                    k.add(mine, other, into=mine)
        consumer.pack(item, scale)
