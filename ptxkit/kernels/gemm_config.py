"""The sizes, the current row of the schedule and the mbarriers that the producer and the consumers of the GEMM
share.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ptxkit.build import Barrier, Global, Kernel, Register, Scalar, Shared, b8, bf16, u8, u32
from ptxkit.fast_dataclasses import dataclass

ROWS, COLUMNS = 128, 256
"""The rows and columns of a CTA's tile."""
PRECISE_COLUMNS = 128
"""The columns of a tile whose sums are promoted to fp32: they need twice the registers."""
K_BLOCK_BYTES = 128
"""The bytes of K in a k-block, which is the width of the swizzle."""
STAGES, PRECISE_STAGES = 4, 6
PRODUCERS, CONSUMERS = 4, 8
"""The warps of each role."""
THREADS = 32 * (PRODUCERS + CONSUMERS)
STRIP_COLUMNS = 64
"""The columns of C that are stored at once: 128 bytes."""
CLUSTERS = (1, 2)
ELEMENTS: dict[str, type[Scalar]] = {"bf16": bf16, "e4m3": u8, "e5m2": u8}
"""The types of A and B, by the names that tensor maps use."""
A_STAGE_BYTES = ROWS * K_BLOCK_BYTES
"""The bytes of A in a stage."""
STAGING_BOX_BYTES = 16 * 2 * STRIP_COLUMNS
"""The bytes of a staging box: 16 rows of C."""
WARPGROUP_A_BYTES = 64 * K_BLOCK_BYTES
"""The bytes of A that a consumer warpgroup multiplies."""


@dataclass(frozen=True, slots=True)
class GemmConfig:
    """The variant of the GEMM: `element` is the type of A and B, and `cluster` the number of CTAs that share B.

    With `by_columns`, B is [K, N]. With `precise`, the sums of each k-block are added in fp32.
    """

    element: str
    cluster: int
    by_columns: bool
    precise: bool

    @property
    def columns(self) -> int:
        """The columns of a CTA's tile."""
        return PRECISE_COLUMNS if self.precise else COLUMNS

    @property
    def stages(self) -> int:
        """The number of stages that fit in shared memory."""
        return PRECISE_STAGES if self.precise else STAGES

    @property
    def stage_bytes(self) -> int:
        """The bytes of a stage: A and B."""
        return A_STAGE_BYTES + self.columns * K_BLOCK_BYTES

    @property
    def multicast_columns(self) -> int:
        """The columns of B that a CTA of the cluster copies to all CTAs."""
        return self.columns // self.cluster

    @property
    def is_scaled(self) -> bool:
        """Whether the product is multiplied by two scale factors, as for types with 8 bits."""
        return ELEMENTS[self.element].size() == 1

    @property
    def k_block_elements(self) -> int:
        """The elements of K in a k-block."""
        return K_BLOCK_BYTES // ELEMENTS[self.element].size()

    @property
    def sums_per_thread(self) -> int:
        """The sums that each thread of a consumer holds."""
        return self.columns // 2


@dataclass(frozen=True, slots=True)
class GemmContext:
    """The state that the parts of the kernel share: `rank` is that of the CTA in its cluster, and `warp` is uniform."""

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
        """Returns the first row of the CTA's tile."""
        m = self.packed_tile & 0xFFFF
        return (m * gemm.config.cluster + gemm.rank) * ROWS

    def column(self, gemm: GemmContext) -> Register[u32]:
        """Returns the first column of the tile."""
        return (self.packed_tile >> 16) * gemm.config.columns


@contextmanager
def iterate_work_items(gemm: GemmContext, items: Global[u32]) -> Iterator[WorkItem]:
    """Yields the worker's rows of the schedule in order. The next row is loaded while the current one is processed."""
    k, cluster = gemm.k, gemm.config.cluster
    worker, step = (k.clusterid.x, k.nctaid.x // cluster) if cluster > 1 else (k.ctaid.x, k.nctaid.x)
    index = k.variable(u32, worker * 4, multiple=4)
    words = [k.variable(u32, word) for word in items[index].load(4, read_only=True)]
    with k.while_(lambda: words[1] != 0):
        index.set(index + step * 4)
        following = items[index].load(4, read_only=True)
        place, blocks, first, kind = words
        yield WorkItem(place, blocks, first, kind)
        for word, value in zip(words, following, strict=True):
            word.set(value)
