"""The consumers of the attention kernel: warpgroups that multiply Q by K, compute the softmax, and multiply P by V.

`attention` explains the algorithm.
"""

from __future__ import annotations

from ptxkit.build import Global, Register, Ring, b32, f32, pred, s32, u32
from ptxkit.kernels.attention_config import (
    ELEMENTS,
    K_STEP,
    STRIP_ELEMENTS,
    STRIP_ROW_BYTES,
    WARPGROUP_ROWS,
    WARPS_PER_WARPGROUP,
    AttentionContext,
    AttentionItem,
    iterate_items,
)
from ptxkit.kernels.attention_output import AttentionOutput
from ptxkit.kernels.attention_softmax import OnlineSoftmax

FIRST_TURN_BARRIER = 1
"""The barrier of the first warpgroup's turns; the others have the numbers after it."""
THREADS_PER_TURN = 2 * 32 * WARPS_PER_WARPGROUP
"""The threads of such a barrier: a warpgroup that waits, and the one before it, which arrives."""
QUERY_STEP_BYTES = 2 * K_STEP
"""The distance of two steps of K in a row of Q or K."""
VALUE_STEP_BYTES = K_STEP * STRIP_ROW_BYTES
"""The distance of two steps of K in V, whose rows are along N."""


class _Consumer:
    """A warp of a consumer: its scores, its probabilities, its part of the output, and its position in the ring."""

    def __init__(self, attention: AttentionContext, scale: Register[f32]) -> None:
        k = self.k = attention.k
        self.attention, self.config = attention, attention.config
        form = self.config
        warp = attention.warp - WARPS_PER_WARPGROUP
        self.warpgroup = warp >> 2
        self.is_leader = k.laneid == 0
        self.ring = Ring(k, form.slots)
        self.key_slot, self.value_slot = k.variable(u32, 0), k.variable(u32, 0)
        self.query = Ring(k, 1)
        self.scores, self.output = k.accumulator(form.keys), k.accumulator(form.head)
        self.probabilities = [k.variable(b32, 0) for _ in range(form.keys // 4)]
        self.softmax = OnlineSoftmax(k, self.scores, scale)
        own = attention.memory[self.warpgroup * (WARPGROUP_ROWS * STRIP_ROW_BYTES)]
        self.queries = k.matrix(own.aligned(WARPGROUP_ROWS * STRIP_ROW_BYTES))
        self.keys = k.matrix(attention.ring)
        self.values = k.matrix(attention.ring, leading=form.key_strip_bytes, transposed=True)
        self.own_row = (k.laneid >> 2) + (warp << 4)
        self.own_column = (k.laneid & 3) * 2
        # Where this thread's visible keys end, for its two rows, from its first column of the current block on.
        self.visible = [k.variable(s32, 0) for _ in range(2)]

    # ------------------------------------------------------------------------------------------ synchronization

    def next_slot(self) -> None:
        """Advances to the next slot, and waits until it has been filled."""
        self.ring.advance()
        self.wait_for_slot()

    def wait_for_slot(self) -> None:
        """Waits until the current slot has been filled."""
        self.attention.full[self.ring.stage].wait(self.ring.parity)

    def release(self, slot: Register[u32]) -> None:
        """Releases a slot, which the warp's completed multiplications have read."""
        with self.k.predicated(self.is_leader):
            self.attention.empty[slot].arrive()

    def take_turn(self) -> None:
        """Waits until the warpgroup before this one has issued its multiplications."""
        self.k.instruction("bar_sync", (self.warpgroup + FIRST_TURN_BARRIER, THREADS_PER_TURN))

    def pass_turn(self) -> None:
        """Lets the next warpgroup issue its multiplications."""
        k, last = self.k, self.config.warpgroups - 1
        following = k.where(self.warpgroup == last, 0, self.warpgroup + 1)
        k.instruction("bar_arrive", (following + FIRST_TURN_BARRIER, THREADS_PER_TURN))

    # ------------------------------------------------------------------------------------------ multiplications

    def issue_scores(self) -> None:
        """Issues `scores = Q @ K.T` for the block of keys in the current slot."""
        k, form = self.k, self.config
        self.key_slot.set(self.ring.stage)
        keys = self.keys.at(self.key_slot, form.slot_bytes)
        steps = STRIP_ELEMENTS // K_STEP
        for number in k.unroll(form.strips * steps):
            strip, step = divmod(number, steps)
            q = self.queries.moved(strip * form.query_strip_bytes + step * QUERY_STEP_BYTES)
            b = keys.moved(strip * form.key_strip_bytes + step * QUERY_STEP_BYTES)
            self.scores.multiply(q, b, form.element, accumulate=number > 0)
        k.wgmma_commit_group()

    def issue_output(self) -> None:
        """Issues `output += P @ V` for the block of values in the current slot."""
        k, form = self.k, self.config
        self.value_slot.set(self.ring.stage)
        values = self.values.at(self.value_slot, form.slot_bytes)
        for step in k.unroll(form.keys // K_STEP):
            p = self.probabilities[4 * step : 4 * step + 4]
            self.output.multiply(p, values.moved(step * VALUE_STEP_BYTES), form.element)
        k.wgmma_commit_group()

    # ------------------------------------------------------------------------------------------ softmax

    def begin_masks(self, item: AttentionItem) -> None:
        """Computes where the keys end that this thread's rows see, for the last block."""
        k, form = self.k, self.config
        limit, diagonal = item.limit.reinterpret(s32), item.diagonal.reinterpret(s32)
        first = ((item.blocks - 1) * form.keys + self.own_column).reinterpret(s32)
        for row, visible in enumerate(self.visible):
            visible.set(k.min_s32(limit, self.own_row.reinterpret(s32) + diagonal + (8 * row + 1)) - first)

    def softmax_of_block(self, *, masked: bool) -> tuple[list[Register[f32]], Register[pred]]:
        """Computes the powers of a block of scores, and returns the factors for the output: see `OnlineSoftmax`."""
        if masked:
            self.softmax.mask((self.visible[0], self.visible[1]))
            for visible in self.visible:
                visible.set(visible + self.config.keys)
        return self.softmax.update(masked=masked)

    def pack(self) -> None:
        """Rounds the powers to the type of V, as the fragments of P."""
        self.scores.packed(ELEMENTS[self.config.element], into=self.probabilities)

    def rescale(self, factors: list[Register[f32]]) -> None:
        """Multiplies the output by the factors of its rows."""
        for number, value in enumerate(self.output.registers):
            self.k.mul_f32(value, factors[number // 2 % 2], into=value)


def emit_consumer(
    attention: AttentionContext, items: Global[u32], output: AttentionOutput, scale: Register[f32]
) -> None:
    """Emits the code of the consumer warpgroups."""
    k = attention.k
    consumer = _Consumer(attention, scale)
    with k.if_(consumer.warpgroup == attention.config.warpgroups - 1):
        consumer.pass_turn()
    with iterate_items(attention, items) as item:
        _begin_item(consumer, item)
        left = k.variable(u32, k.uniform(item.masked) - 1)
        with k.while_(lambda: left != 0):
            _step(consumer, masked=True)
            left.set(left - 1)
        left.set(k.uniform(item.blocks) - k.uniform(item.masked))
        with k.while_(lambda: left != 0):
            _step(consumer, masked=False)
            left.set(left - 1)
        _end_item(consumer, item, output)
    with k.if_(consumer.warpgroup == 0):
        consumer.take_turn()


def _begin_item(consumer: _Consumer, item: AttentionItem) -> None:
    """Computes the probabilities of the last block, which is always masked."""
    k = consumer.k
    consumer.begin_masks(item)
    consumer.softmax.restart()
    for value in consumer.output.registers:
        k.mov_f32(0.0, into=value)
    consumer.attention.query_full.wait(consumer.query.parity)
    consumer.query.advance()
    consumer.wait_for_slot()
    k.wgmma_fence()
    consumer.issue_scores()
    k.wgmma_wait_group(0)
    consumer.release(consumer.key_slot)
    consumer.softmax_of_block(masked=True)
    consumer.next_slot()
    consumer.pack()


def _step(consumer: _Consumer, *, masked: bool) -> None:
    """Issues the scores of a block and the output of the block before it, and computes the softmax of the former
    while the latter is computed.
    """
    k = consumer.k
    consumer.take_turn()
    k.wgmma_fence()
    consumer.issue_scores()
    consumer.next_slot()
    consumer.issue_output()
    consumer.pass_turn()
    k.wgmma_wait_group(1)
    consumer.release(consumer.key_slot)
    factors, needed = consumer.softmax_of_block(masked=masked)
    consumer.next_slot()
    k.wgmma_wait_group(0)
    consumer.release(consumer.value_slot)
    consumer.pack()
    with k.if_(needed):
        consumer.rescale(factors)


def _end_item(consumer: _Consumer, item: AttentionItem, output: AttentionOutput) -> None:
    """Releases Q, multiplies the last probabilities by V, and stores the tile."""
    k = consumer.k
    with k.predicated(consumer.is_leader):
        consumer.attention.query_empty.arrive()
    k.wgmma_fence()
    consumer.issue_output()
    consumer.ring.advance()
    k.wgmma_wait_group(0)
    consumer.release(consumer.value_slot)
    reciprocals, logarithms = consumer.softmax.finish()
    consumer.rescale(reciprocals)
    output.store(consumer.output, consumer.own_row, item, logarithms)
