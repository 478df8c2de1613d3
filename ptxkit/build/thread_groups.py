"""Threads that do something together: one thread, a warp, some warps, any threads of the CTA, or all of them.

Source: PTX ISA, "Cooperative Thread Arrays", "Parallel Synchronization and Communication Instructions: bar".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxkit.build.errors import BuildError
from ptxkit.build.registers import Register
from ptxkit.build.scalar_types import u32
from ptxkit.fast_dataclasses import dataclass

if TYPE_CHECKING:
    from ptxkit.build.barriers_and_fences import SynchronizationBuilder


@dataclass(frozen=True, slots=True)
class Group:
    """`size` threads; `rank`: the executing thread's number among them. barrier: the named barrier at which they meet,
    None for a warp or a single thread. scattered: they are no whole warps, and meet at no barrier of the CTA."""

    builder: SynchronizationBuilder
    size: int
    rank: Register[u32] | int
    barrier: int | None = None
    scattered: bool = False

    def sync(self) -> None:
        """All threads of the group meet; nothing for a single thread. BuildError for scattered ones."""
        if self.scattered:
            raise BuildError(
                "barriers of a CTA count whole warps, so these threads meet at an mbarrier: memcpy_async(..., barrier=)"
            )
        if self.barrier == 0:
            self.builder.cta_sync()
        elif self.barrier is not None:
            self.builder.cta_sync(self.barrier, self.size)
        elif self.size > 1:
            self.builder.warp_sync()
