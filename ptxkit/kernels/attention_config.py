"""The sizes of an attention kernel, the current row of its schedule, and the state that its roles share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ptxkit.build import (
    Barrier,
    BuildValueError,
    Global,
    Kernel,
    Register,
    Scalar,
    Shared,
    TensorMap,
    b8,
    bf16,
    f16,
    u32,
)
from ptxkit.fast_dataclasses import dataclass
from ptxkit.kernels.limits import MAX_BLOCK_KEYS, MAX_RING_BYTES

WARPGROUP_ROWS = 64
"""The rows of Q of a consumer warpgroup."""
STRIP_ELEMENTS, STRIP_ROW_BYTES = 64, 128
"""A tile is stored in strips of 64 columns, as wide as the swizzle of the tensor maps."""
WARPS_PER_WARPGROUP = 4
K_STEP = 16
"""The elements of K of one multiplication, for both types."""
HEAD_SIZES = (64, 128, 256)
ELEMENTS: dict[str, type[Scalar]] = {"bf16": bf16, "f16": f16}
WARPGROUPS = (2, 3)
"""The possible numbers of consumer warpgroups."""
INITIAL_REGISTERS = {2: 168, 3: 128}
"""The registers that a thread starts with, by the number of consumer warpgroups."""
PRODUCER_REGISTERS = {2: 24, 3: 32}
CONSUMER_REGISTERS = {2: 240, 3: 160}
MIN_SLOTS = 2
ITEM_WORDS = 8
"""The words of a row of the schedule."""


@dataclass(frozen=True, slots=True)
class AttentionConfig:
    """The variant of an attention kernel.

    `head` is the number of elements of a query, key or value. A CTA has `warpgroups` consumers of 64 queries each, and
    processes `keys` keys at once. `slots` is the number of blocks of K or V in shared memory.
    """

    element: str = "bf16"
    head: int = 128
    keys: int = 128
    warpgroups: int = 2
    slots: int = 4

    @property
    def rows(self) -> int:
        """The queries of a CTA's tile."""
        return WARPGROUP_ROWS * self.warpgroups

    @property
    def threads(self) -> int:
        """The threads of a CTA: a producer warpgroup and the consumers."""
        return 32 * WARPS_PER_WARPGROUP * (1 + self.warpgroups)

    @property
    def consumer_warps(self) -> int:
        """The warps of the consumers."""
        return WARPS_PER_WARPGROUP * self.warpgroups

    @property
    def strips(self) -> int:
        """The strips of 64 columns of a head."""
        return self.head // STRIP_ELEMENTS

    @property
    def query_strip_bytes(self) -> int:
        """The bytes of 64 columns of the tile of Q."""
        return self.rows * STRIP_ROW_BYTES

    @property
    def query_bytes(self) -> int:
        """The bytes of the tile of Q."""
        return self.strips * self.query_strip_bytes

    @property
    def key_strip_bytes(self) -> int:
        """The bytes of 64 columns of a block of K or V."""
        return self.keys * STRIP_ROW_BYTES

    @property
    def slot_bytes(self) -> int:
        """The bytes of a block of K or V."""
        return self.strips * self.key_strip_bytes

    @property
    def shared_bytes(self) -> int:
        """The launch-sized shared memory in bytes."""
        return self.query_bytes + self.slots * self.slot_bytes

    def check(self) -> None:
        """Raises `BuildValueError` for values that no kernel has."""
        for name, value, possible in (
            ("element", self.element, tuple(ELEMENTS)),
            ("head", self.head, HEAD_SIZES),
            ("warpgroups", self.warpgroups, WARPGROUPS),
        ):
            if value not in possible:
                raise BuildValueError(f"{name} is {' or '.join(map(str, possible))}, not {value!r}")
        if self.keys % K_STEP or not K_STEP <= self.keys <= MAX_BLOCK_KEYS:
            raise BuildValueError(
                f"a block has {K_STEP} to {MAX_BLOCK_KEYS} keys, a multiple of {K_STEP}, not {self.keys!r}"
            )
        if self.slots < MIN_SLOTS:
            raise BuildValueError(f"K and V of a block need {MIN_SLOTS} slots, not {self.slots!r}")
        if self.shared_bytes > MAX_RING_BYTES:
            raise BuildValueError(
                f"{self.slots} slots of {self.keys} keys need {self.shared_bytes} bytes of shared memory; a CTA has "
                f"{MAX_RING_BYTES}: use fewer keys or slots"
            )


@dataclass(frozen=True, slots=True)
class AttentionContext:
    """The state that the roles share. `warp` is uniform.

    Slot i of the ring holds a block of K or V: `full[i]` counts its bytes, and `empty[i]` the consumer warps that have
    read it.
    """

    k: Kernel
    config: AttentionConfig
    warp: Register[u32]
    memory: Shared[b8]
    query_full: Barrier
    query_empty: Barrier
    full: Barrier
    empty: Barrier
    queries: TensorMap
    keys: TensorMap
    values: TensorMap

    @property
    def ring(self) -> Shared[b8]:
        """The slots, which are after the tile of Q."""
        return self.memory[self.config.query_bytes :]


@dataclass(frozen=True, slots=True)
class AttentionItem:
    """A row of the schedule: see `attention_schedule`."""

    row: Register[u32]
    heads: Register[u32]
    batch_and_rows: Register[u32]
    key: Register[u32]
    blocks_and_masked: Register[u32]
    limit: Register[u32]
    diagonal: Register[u32]
    logarithm: Register[u32]

    @property
    def head(self) -> Register[u32]:
        """The head of Q and of the output."""
        return self.heads & 0xFFFF

    @property
    def key_head(self) -> Register[u32]:
        """The head of K and V."""
        return self.heads >> 16

    @property
    def batch(self) -> Register[u32]:
        """The index of the sequence."""
        return self.batch_and_rows & 0xFFFF

    @property
    def rows(self) -> Register[u32]:
        """The queries of the tile that exist."""
        return self.batch_and_rows >> 16

    @property
    def blocks(self) -> Register[u32]:
        """The blocks of keys."""
        return self.blocks_and_masked & 0xFFFF

    @property
    def masked(self) -> Register[u32]:
        """The number of the last blocks that some query of the tile does not see completely."""
        return self.blocks_and_masked >> 16


@contextmanager
def iterate_items(attention: AttentionContext, items: Global[u32]) -> Iterator[AttentionItem]:
    """Yields the CTA's rows of the schedule in order."""
    k = attention.k
    index = k.variable(u32, k.ctaid.x * ITEM_WORDS, multiple=ITEM_WORDS)
    step = k.nctaid.x * ITEM_WORDS
    words = [k.variable(u32, 0) for _ in range(ITEM_WORDS)]

    def load() -> None:
        k.ld_nc_v4(items[index], into=words[:4])
        k.ld_nc_v4(items[index][4], into=words[4:])

    load()
    item = AttentionItem(*words)
    with k.while_(lambda: item.blocks_and_masked != 0):
        yield item
        index.set(index + step)
        load()
