"""What orders accesses, watched: an access that nothing orders after another one it conflicts with is a finding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ptxkit.emulate.order import Order

if TYPE_CHECKING:
    from ptxkit.emulate.groups import Group
    from ptxkit.emulate.memory import Pool


class Clocks(Order):
    """Holds each access against the asynchronous operations that are in flight."""

    watches = True

    def accessed(
        self,
        group: Group,
        kind: str,
        pool: Pool,
        places: Any,
        size: int,
        order: str,
        scope: str | None,  # noqa: ARG002
    ) -> None:
        """Threads read, write or update `size` bytes at places of a pool."""
        if self.machine is not None:
            self.machine.asynchrony.flight.accessed(group, kind, pool, places, size)
