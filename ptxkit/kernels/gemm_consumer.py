"""The consumers of the GEMM: two warpgroups that multiply, and store the previous tile at the same time.

`gemm` explains the algorithm.
"""

from __future__ import annotations

from ptxkit.build import Global, Register, RemoteBarrier, Ring, Shared, TensorMap, b16, b32, bf16, f32, pred, u32
from ptxkit.kernels.gemm_config import (
    A_STAGE_BYTES,
    CONSUMERS,
    K_BLOCK_BYTES,
    PRODUCERS,
    STAGING_BOX_BYTES,
    STRIP_COLUMNS,
    WARPGROUP_A_BYTES,
    GemmContext,
    WorkItem,
    iterate_work_items,
)
from ptxkit.kernels.gemm_schedule import FINISH, PARTIAL


class _Consumer:
    """A warp of a consumer warpgroup: its sums, its position in the ring, and the finished tile that is not yet
    stored.
    """

    def __init__(self, gemm: GemmContext, c: TensorMap) -> None:
        k = self.k = gemm.k
        self.gemm, self.c = gemm, c
        self.warp = gemm.warp - PRODUCERS
        form = gemm.config
        self.ring = Ring(k, form.stages)
        self.is_leader = k.laneid == 0
        self.false_predicate = k.laneid > 31
        # The sums of the tile and of the current k-block, and the matrices of stage 0.
        self.sums = k.accumulator(form.columns)
        self.block_sums = k.accumulator(form.columns) if form.precise else self.sums
        self.a_matrix = k.matrix(gemm.memory[(self.warp >> 2) * WARPGROUP_A_BYTES].aligned(WARPGROUP_A_BYTES))
        apart = STRIP_COLUMNS * K_BLOCK_BYTES if form.by_columns else 16
        self.b_matrix = k.matrix(gemm.memory[A_STAGE_BYTES:], leading=apart, transposed=form.by_columns)
        # Lane l releases the stage in the cluster's CTA l. The multiplications have read it when their wait is over.
        # The arrival is a release of scope `cta`, as in other libraries, because the scope `cluster` costs a fifth of
        # the speed.
        self.is_releaser = k.laneid < form.cluster
        target = k.where(self.is_releaser, k.laneid, gemm.rank) if not isinstance(gemm.rank, int) else None
        self.empty = gemm.empty if target is None else gemm.empty.map_rank(target)
        self.previous_stage = k.variable(u32, 0)
        # The finished tile: its packed sums, their position in C, and whether there is one.
        self.packed = [k.variable(b32, 0) for _ in range(form.sums_per_thread // 2)]
        self.row, self.column = k.variable(u32, 0), k.variable(u32, 0)
        self.pending = k.variable(pred, self.false_predicate)
        self.boxes = gemm.memory[form.stages * form.stage_bytes :][self.warp * (2 * STAGING_BOX_BYTES)]
        lane = k.laneid
        self.place = self.boxes.to_register() + (lane & 15) * (2 * STRIP_COLUMNS) + (((lane >> 4) ^ (lane & 7)) << 4)

    def multiply(self, *, fresh: bool = False) -> None:
        """Waits for the stage and issues its multiplications. With `fresh`, the first one initializes the sums."""
        k, ring, form = self.k, self.ring, self.gemm.config
        assert isinstance(ring.stage, Register)
        self.gemm.full[ring.stage].wait(ring.parity)
        left, right = self.a_matrix.at(ring.stage, form.stage_bytes), self.b_matrix.at(ring.stage, form.stage_bytes)
        step = 16 * K_BLOCK_BYTES if form.by_columns else 32
        k.wgmma_fence()
        for number in k.unroll(K_BLOCK_BYTES // 32):
            a, b = left.moved(32 * number), right.moved(step * number)
            self.block_sums.multiply(a, b, form.element, accumulate=not (fresh and number == 0))
        k.wgmma_commit_group()

    def advance(self) -> None:
        """Advances to the next stage; the current one becomes the previous one."""
        self.previous_stage.set(self.ring.stage)
        self.ring.advance()

    def free(self, pending: int) -> None:
        """Waits for all multiplications but the newest `pending` k-blocks, and releases the previous stage."""
        self.k.wgmma_wait_group(pending)
        barrier = self.empty[self.previous_stage]
        with self.k.predicated(self.is_releaser):
            if isinstance(barrier, RemoteBarrier):
                barrier.arrive(scope="cta")
            else:
                barrier.arrive()

    def promote(self, *, begins: bool) -> None:
        """Adds the complete sums of a k-block to the earlier ones, in fp32. With `begins`, there are no earlier
        ones.
        """
        for fresh, value in zip(self.block_sums.registers, self.sums.registers, strict=True):
            if begins:
                self.k.mov_f32(fresh, into=value)
            else:
                self.k.add(value, fresh, into=value)

    def store(self, strip: int) -> None:
        """Stores a strip of the finished tile: from registers to a staging box, and from the box to C."""
        k, box = self.k, strip % 2
        with k.predicated(self.is_leader):
            k.tma_store_wait(1)  # the box is free: only the other one may still be read
        k.warp_sync()
        for number in range(4):
            place = k.pointer(Shared[b16], self.place ^ (number << 5), align=16)
            first = 16 * strip + 4 * number
            k.stmatrix_m8n8_x4(place[box * STAGING_BOX_BYTES // 2], tuple(self.packed[first : first + 4]))
        k.fence_view_async()
        k.warp_sync()
        with k.predicated(self.pending):
            column = self.column + STRIP_COLUMNS * strip if strip else self.column
            self.c.store((column, self.row), self.boxes[box * STAGING_BOX_BYTES :])
        with k.predicated(self.is_leader):
            k.tma_store_arrive()  # also commits an empty group, so that the count of groups is correct

    def pack(self, item: WorkItem, scale: Register[f32] | None) -> None:
        """Rounds the sums of a finished tile, and records their position in C."""
        self.row.set(item.row(self.gemm) + self.warp * 16)
        self.column.set(item.column(self.gemm))
        self.sums.packed(bf16, into=self.packed, scale=scale)
        self.pending.set(self.is_leader)


def emit_consumer(
    gemm: GemmContext,
    c: TensorMap,
    items: Global[u32],
    parts: Global[f32],
    flags: Global[u32],
    scales: list[Global[f32]],
) -> None:
    """Emits the code of the two warpgroups, which multiply, and store the previous tile at the same time."""
    k = gemm.k
    consumer = _Consumer(gemm, c)
    scale = scales[0].load() * scales[1].load() if scales else None
    sums = _multiply_row_precisely if gemm.config.precise else _multiply_row
    with iterate_work_items(gemm, items) as item:
        sums(consumer, item)
        _combine_partial_sums(consumer, item, parts, flags, scale)
    for strip in range(gemm.config.columns // STRIP_COLUMNS):
        consumer.store(strip)
    with k.predicated(consumer.is_leader):
        k.tma_store_wait(read=False)


def _multiply_row(consumer: _Consumer, item: WorkItem) -> None:
    """Multiplies the k-blocks of a row: the next one is issued before the previous one is complete."""
    k, strips = consumer.k, consumer.gemm.config.columns // STRIP_COLUMNS
    consumer.multiply(fresh=True)
    consumer.advance()
    for strip in range(strips):
        consumer.multiply()
        consumer.store(strip)
        consumer.free(1)
        consumer.advance()
    left = k.variable(u32, item.blocks - (1 + strips))
    with k.if_(left != 0), k.loop() as loop:
        consumer.multiply()
        consumer.free(1)
        consumer.advance()
        left.set(left - 1)
        loop.break_(when=left == 0)
    consumer.free(0)


def _multiply_row_precisely(consumer: _Consumer, item: WorkItem) -> None:
    """Multiplies the k-blocks of a row with a separate sum for each. While it is added, the other warpgroup
    multiplies.
    """
    k, strips = consumer.k, consumer.gemm.config.columns // STRIP_COLUMNS

    def block(strip: int | None = None) -> None:
        consumer.multiply(fresh=True)
        consumer.advance()
        if strip is not None:
            consumer.store(strip)
        consumer.free(0)
        consumer.promote(begins=strip == 0)

    for strip in range(strips):
        block(strip)
    left = k.variable(u32, item.blocks - strips)
    with k.loop() as loop:
        block()
        left.set(left - 1)
        loop.break_(when=left == 0)


def _combine_partial_sums(
    consumer: _Consumer, item: WorkItem, parts: Global[f32], flags: Global[u32], scale: Register[f32] | None
) -> None:
    """Ends a row: publishes partial sums, or adds those that another worker published, and packs a complete sum."""
    k, gemm, sums = consumer.k, consumer.gemm, consumer.sums.registers
    count = gemm.config.sums_per_thread
    kind = item.kind & 0xFF
    number = ((item.kind >> 8) * gemm.config.cluster + gemm.rank) * CONSUMERS + consumer.warp
    with k.if_(kind == PARTIAL):
        room, flag = parts[number * (32 * count) + k.laneid * 4], flags[number]
        for first in range(0, count, 4):
            room[32 * first].store(sums[first : first + 4])
        k.warp_sync()
        with k.predicated(consumer.is_leader):
            flag.store(1, order="release")
        consumer.pending.set(consumer.false_predicate)
    with k.else_():
        with k.if_(kind == FINISH):
            room, flag = parts[number * (32 * count) + k.laneid * 4], flags[number]
            with k.loop() as loop:
                loop.break_(when=flag.load(order="acquire") != 0)
            k.warp_sync()
            with k.predicated(consumer.is_leader):
                flag.store(0, order="relaxed")
            for first in range(0, count, 4):
                for mine, other in zip(sums[first : first + 4], room[32 * first].load(4), strict=True):
                    k.add(mine, other, into=mine)
        consumer.pack(item, scale)
