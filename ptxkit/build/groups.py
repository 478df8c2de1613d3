"""Threads that do something together: one thread, a warp, or the CTA.

Source: PTX ISA, "Cooperative Thread Arrays", "Parallel Synchronization and Communication Instructions: bar".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxkit.build.types import u32
from ptxkit.build.values import Register
from ptxkit.records import dataclass

if TYPE_CHECKING:
    from ptxkit.build.sync import Sync


@dataclass(frozen=True, slots=True)
class Group:
    """`size` threads; `rank`: the executing thread's number among them. barrier: the named barrier at which they meet,
    None for a warp or a single thread."""

    builder: Sync
    size: int
    rank: Register[u32] | int
    barrier: int | None = None

    def sync(self) -> None:
        """All threads of the group meet; nothing for a single thread."""
        if self.barrier == 0:
            self.builder.cta_sync()
        elif self.barrier is not None:
            self.builder.cta_sync(self.barrier, self.size)
        elif self.size > 1:
            self.builder.warp_sync()
