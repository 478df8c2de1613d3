"""The size of a launch: its grid, its CTAs and its clusters."""

from __future__ import annotations

from typing import TypeAlias

from ptxkit.fast_dataclasses import dataclass

Dim3: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class LaunchGeometry:
    """The dimensions with which a kernel is launched. `shared` is the number of bytes of dynamic shared memory."""

    grid: Dim3
    block: Dim3
    cluster: Dim3 = (1, 1, 1)
    shared: int = 0

    @property
    def cta_count(self) -> int:
        """The number of CTAs in the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def cluster_count(self) -> int:
        """The number of clusters in the grid."""
        return self.cta_count // (self.cluster[0] * self.cluster[1] * self.cluster[2])
