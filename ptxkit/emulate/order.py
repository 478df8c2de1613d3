"""What orders accesses to memory: nothing is watched here; see `ptxkit/emulate/clocks.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ptxkit.emulate.cta import Cta
    from ptxkit.emulate.groups import Group
    from ptxkit.emulate.machine import Machine
    from ptxkit.emulate.memory import Pool


class Order:
    """Hears of every access and of all that orders them. This one minds nothing, and costs next to nothing."""

    watches = False

    def __init__(self) -> None:
        self.machine: Machine | None = None

    def accessed(
        self, group: Group, kind: str, pool: Pool, places: Any, size: int, order: str, scope: str | None
    ) -> None:
        """Threads read, write or update `size` bytes at places of a pool."""

    def fenced(self, group: Group, order: str, scope: str) -> None:
        """Threads execute a fence."""

    def barrier_opens(self, cta: Cta, phase: Any) -> None:
        """A barrier of a CTA lets its threads go."""

    def passes_barrier(self, group: Group, phase: Any) -> None:
        """Threads go on behind a barrier."""

    def warp_meets(self, group: Group, masks: Any) -> None:
        """Lanes of a warp synchronise."""

    def go_on(self) -> bool:
        """Nobody can go on: let something asynchronous happen; whether there was anything."""
        return False
