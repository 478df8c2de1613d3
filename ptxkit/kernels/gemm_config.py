"""What the producer and the consumers of the GEMM share: sizes, the current row of the schedule, mbarriers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ptxkit.build import Barrier, Global, Kernel, Register, Scalar, Shared, b8, bf16, u8, u32
from ptxkit.fast_dataclasses import dataclass

ROWS, COLUMNS = 128, 256
"""Of a CTA's tile."""
PRECISE_COLUMNS = 128
"""Of a tile whose sums are promoted: they take twice the registers."""
K_BLOCK_BYTES = 128
"""Bytes of K in a k-block: as much as the swizzle spans."""
STAGES, PRECISE_STAGES = 4, 6
PRODUCERS, CONSUMERS = 4, 8
"""Warps of each role."""
THREADS = 32 * (PRODUCERS + CONSUMERS)
STRIP_COLUMNS = 64
"""Columns of C that are stored at once: 128 bytes."""
CLUSTERS = (1, 2)
ELEMENTS: dict[str, type[Scalar]] = {"bf16": bf16, "e4m3": u8, "e5m2": u8}
"""Types of A and B, and how tensor maps call them."""
A_STAGE_BYTES = ROWS * K_BLOCK_BYTES
"""Bytes of A in a stage."""
STAGING_BOX_BYTES = 16 * 2 * STRIP_COLUMNS
"""Bytes of a staging box: 16 rows of C."""
WARPGROUP_A_BYTES = 64 * K_BLOCK_BYTES
"""Bytes of A that a consumer warpgroup multiplies."""


@dataclass(frozen=True, slots=True)
class GemmConfig:
    """Which GEMM it is. element: of A and B. cluster: CTAs that share B. by_columns: B is [K, N].

    precise: the sums of each k-block are added to others in fp32.
    """

    element: str
    cluster: int
    by_columns: bool
    precise: bool

    @property
    def columns(self) -> int:
        """Of a CTA's tile."""
        return PRECISE_COLUMNS if self.precise else COLUMNS

    @property
    def stages(self) -> int:
        """As many as shared memory has room for."""
        return PRECISE_STAGES if self.precise else STAGES

    @property
    def stage_bytes(self) -> int:
        """Of a stage: A and B."""
        return A_STAGE_BYTES + self.columns * K_BLOCK_BYTES

    @property
    def multicast_columns(self) -> int:
        """Columns of B that a CTA of the cluster brings to all."""
        return self.columns // self.cluster

    @property
    def is_scaled(self) -> bool:
        """Whether the product is multiplied by two factors, as those of 8-bit numbers are."""
        return ELEMENTS[self.element].size() == 1

    @property
    def k_block_elements(self) -> int:
        """Elements of K in a k-block."""
        return K_BLOCK_BYTES // ELEMENTS[self.element].size()

    @property
    def sums_per_thread(self) -> int:
        """Of a consumer's thread."""
        return self.columns // 2


@dataclass(frozen=True, slots=True)
class GemmContext:
    """What the parts of the kernel share. rank: of the CTA in its cluster. warp: uniform."""

    k: Kernel
    config: GemmConfig
    rank: Register[u32] | int
    warp: Register[u32]
    memory: Shared[b8]
    full: Barrier
    empty: Barrier


@dataclass(frozen=True, slots=True)
class WorkItem:
    """A row of the schedule."""

    packed_tile: Register[u32]
    blocks: Register[u32]
    first: Register[u32]
    kind: Register[u32]

    def row(self, gemm: GemmContext) -> Register[u32]:
        """The first row of the CTA's tile."""
        m = self.packed_tile & 0xFFFF
        return (m * gemm.config.cluster + gemm.rank) * ROWS

    def column(self, gemm: GemmContext) -> Register[u32]:
        """The first column of the tile."""
        return (self.packed_tile >> 16) * gemm.config.columns


@contextmanager
def iterate_work_items(gemm: GemmContext, items: Global[u32]) -> Iterator[WorkItem]:
    """The worker's rows of the schedule, one after another; the next one is fetched while this one is at work."""
    k, cluster = gemm.k, gemm.config.cluster
    worker, step = (k.clusterid.x, k.nctaid.x // cluster) if cluster > 1 else (k.ctaid.x, k.nctaid.x)
    index = k.variable(u32, worker * 4, multiple=4)
    words = [k.variable(u32, word) for word in k.ld_nc_v4(items[index])]
    with k.while_(lambda: words[1] != 0):
        index.set(index + step * 4)
        following = k.ld_nc_v4(items[index])
        place, blocks, first, kind = words
        yield WorkItem(place, blocks, first, kind)
        for word, value in zip(words, following, strict=True):
            word.set(value)
