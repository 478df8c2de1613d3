"""Attention at the speed of the tensor cores: `softmax(scale * Q @ K.T) @ V`, without the matrix of scores in memory.

Algorithm. A CTA computes the output of a tile of 64 queries for each consumer warpgroup. It reads the keys and values
in blocks, from the last block to the first, and keeps for each query the greatest score so far, the sum of the powers,
and the output without the division by the sum (`attention_softmax`). One thread, the *producer*, starts all copies by
tensor maps: a tile of Q, and blocks of K and V to the slots of a ring. Two mbarriers synchronize each slot: `full`
counts the bytes that have arrived, and `empty` the consumer warps that have read it. The scores are a product of two
matrices in shared memory, with the layout of the tensor maps. The accumulators of the scores have the layout that
`wgmma` wants of a left matrix in registers, so P, their powers rounded to 16 bits, is multiplied by V without leaving
the registers. V is read in the order of its rows, as a transposed matrix.

    ring         K3   K2 V3   K1 V2   K0 V1   V0
    producer     fills the slots in this order
    consumer     S3   S2 O3   S1 O2   S0 O1   O0          Si = Q @ Ki.T, O += Pi @ Vi

The design keeps the tensor cores busy while the powers are computed, which takes half as long as the multiplications
with 128 elements in a head, and as long with 64:

* Within a warpgroup: the scores of a block and the output of the block before it are issued together. The powers are
  computed as soon as the scores are complete, while the output is still being multiplied.
* Between warpgroups ("ping-pong"): each waits for its turn to issue multiplications, at a named barrier, so that one
  computes powers while the tensor cores work for the other.
* The mask is data (`attention_schedule`): a row of the schedule states which keys a query sees. Only the last blocks of
  a tile are computed with the mask; the loop over the others has no comparison.
* The table also distributes the tiles over the CTAs, the longest first, which a causal mask needs.

What ptxas makes of it decides the speed, and was read from its machine code:

* The wait for the next slot is between the powers and the wait for the output, and the sums of the powers are exchanged
  between lanes in each block. Both are needed only later. Without them ptxas moves the computation of the powers
  after the wait for the output, where nothing overlaps with it.
* The consumers' code is before the producer's. After the branch to the elected thread, ptxas does not treat the
  descriptors as uniform any more, and copies each to uniform registers before each multiplication.

The rules that make the kernel correct have the code that is reported if one is violated. The loop over the rows of the
schedule depends on data, so `lint` proves little about it; the reference machine finds a fault wherever one of the
synchronization instructions is deleted, but for the last wait for a turn.

* mbarriers are initialized before any thread uses them (PTX501): a barrier of the CTA follows.
* Scores and output may be accessed only after a wait for their multiplications (PTX311, PTX314), and a slot is released
  only then. A fence precedes multiplications after other instructions have accessed their registers (PTX312).
* All warps of a warpgroup release registers before the others request them (PTX605).
* Q is released after the last product of scores has been waited for, and a new tile of Q is loaded only then.
* Each turn is passed to the next warpgroup once. The first turn of the first warpgroup is passed by the last one, and
  the first warpgroup waits once more at the end, so that no arrival is left.

Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions", "Tensors: Swizzling Modes", "Async Proxy",
"Parallel Synchronization and Communication Instructions: bar, barrier", "Miscellaneous Instructions: setmaxnreg". The
overlap within and between warpgroups is that of Shah et al., "FlashAttention-3: Fast and Accurate Attention with
Asynchrony and Low-precision", 2024.
"""

from __future__ import annotations

from ptxkit.build import Global, Kernel, Register, Ring, TensorMap, b8, b16, f32, u32
from ptxkit.kernels.attention_config import (
    CONSUMER_REGISTERS,
    ELEMENTS,
    INITIAL_REGISTERS,
    PRODUCER_REGISTERS,
    STRIP_ELEMENTS,
    WARPS_PER_WARPGROUP,
    AttentionConfig,
    AttentionContext,
    AttentionItem,
    iterate_items,
)
from ptxkit.kernels.attention_consumer import emit_consumer
from ptxkit.kernels.attention_output import AttentionOutput

DEFAULT_CONFIG = AttentionConfig()


def attention(config: AttentionConfig = DEFAULT_CONFIG, *, debug: bool = False) -> Kernel:
    """Returns a kernel that computes `softmax(scale * Q @ K.T) @ V` for tiles of queries.

    Parameters: q, k, v: tensor maps of (batch, sequence, heads, head), swizzle 128; out: the output; out_batch,
    out_row, out_head: its strides in elements, multiples of 8; lse: memory for the natural logarithm of each row's sum
    of exponentials; items: the words of the schedule; scale: the factor of the scores, times log2(e). Block:
    `config.threads`; grid: the CTAs of the schedule. `scaled_dot_product.Attention` creates all of them. Raises
    `BuildValueError` for a variant that is not possible.
    """
    form = config
    form.check()
    consumers = range(WARPS_PER_WARPGROUP, WARPS_PER_WARPGROUP + form.consumer_warps)
    k = Kernel(
        "attention", threads=form.threads, target="sm_90a", registers=INITIAL_REGISTERS[form.warpgroups], debug=debug
    )
    kind = ELEMENTS[form.element]
    boxes = {"q": form.rows, "k": form.keys, "v": form.keys}
    q, keys, values = (
        k.tensor_map(name, kind, box=(STRIP_ELEMENTS, 1, rows, 1), swizzle=128) for name, rows in boxes.items()
    )
    out = k.param(Global[b16], "out", align=16)
    batch_stride, row_stride, head_stride = (k.param(u32, f"out_{each}") for each in ("batch", "row", "head"))
    lse = k.param(Global[f32], "lse")
    output = AttentionOutput(k, form.element, out, batch_stride, row_stride, head_stride, lse)
    items = k.param(Global[u32], "items", align=16)
    scale = k.param(f32, "scale")
    memory = k.dynamic_shared(b8, form.shared_bytes, align=1024)
    query_full, query_empty = k.mbarrier("query_full"), k.mbarrier("query_empty")
    full, empty = k.mbarrier("full", form.slots), k.mbarrier("empty", form.slots)
    warp = k.uniform(k.warp)
    self = AttentionContext(k, form, warp, memory, query_full, query_empty, full, empty, q, keys, values)

    with k.thread_is(0):
        for each in (q, keys, values):
            each.prefetch_map()
        for barrier in (query_full, full):
            barrier.init(1)
        for barrier in (query_empty, empty):
            barrier.init(form.consumer_warps)
    k.cta_sync()

    with k.role(warps=consumers, registers=CONSUMER_REGISTERS[form.warpgroups], by=warp):
        emit_consumer(self, items, output, scale)
    producers = k.role(warps=range(WARPS_PER_WARPGROUP), registers=PRODUCER_REGISTERS[form.warpgroups], by=warp)
    with producers, k.if_(warp == 0), k.elect_one():
        _emit_producer(self, items)
    return k


def _emit_producer(attention: AttentionContext, items: Global[u32]) -> None:
    """Emits the code of the producer thread, which loads a tile of Q, and the blocks of K and V from the last one to
    the first, in the order in which the consumers need them.
    """
    k, form = attention.k, attention.config
    ring = Ring(k, form.slots)
    query = Ring(k, 1)

    def load(tensor: TensorMap, item: AttentionItem, row: Register[u32]) -> None:
        full = attention.full[ring.stage]
        attention.empty[ring.stage].wait(ring.opposite())
        full.arrive_expect_tx(form.slot_bytes)
        slot = attention.ring[ring.stage * form.slot_bytes]
        for strip in range(form.strips):
            place = slot[strip * form.key_strip_bytes :]
            tensor.load(place, (strip * STRIP_ELEMENTS, item.key_head, row, item.batch), full)
        ring.advance()

    with iterate_items(attention, items) as item:
        attention.query_empty.wait(query.opposite())
        query.advance()
        attention.query_full.arrive_expect_tx(form.query_bytes)
        for strip in range(form.strips):
            place = attention.memory[strip * form.query_strip_bytes :]
            where = strip * STRIP_ELEMENTS, item.head, item.row, item.batch
            attention.queries.load(place, where, attention.query_full)
        row = k.variable(u32, item.key + (item.blocks - 1) * form.keys)
        left = k.variable(u32, item.blocks - 1)
        load(attention.keys, item, row)
        with k.while_(lambda: left != 0):
            load(attention.keys, item, row - form.keys)
            load(attention.values, item, row)
            row.set(row - form.keys)
            left.set(left - 1)
        load(attention.values, item, row)
