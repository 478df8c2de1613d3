"""Groups of wgmma operations, which a warpgroup commits and waits for as a unit.

Each warp commits its part; a wait by one of them ends when the parts of all are complete, so that one thread may
release the operands for its warpgroup.

Source: PTX ISA, "Warpgroup", "wgmma.commit_group", "wgmma.wait_group".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulator.engine.collective_checks import WARPGROUP_SIZE
from ptxkit.emulator.threads.waitable import Waitable

if TYPE_CHECKING:
    from ptxkit.emulator.engine.cta import Cta
    from ptxkit.emulator.threads.thread_groups import ThreadGroup


class WarpgroupCommit(Waitable):
    """The wait of a warp for the other warps of its warpgroup to commit the same groups."""

    __slots__ = ("cta",)

    code = "PTX315"

    def __init__(self, cta: Cta) -> None:
        super().__init__()
        self.cta = cta

    def describe(self, group: ThreadGroup) -> str:
        """Describe which threads have not committed the group."""
        closed = self.cta.machine.async_engine.committed_groups(self.cta, "wgmma")
        team = int(group.lanes.index[0]) // WARPGROUP_SIZE
        members = slice(team * WARPGROUP_SIZE, (team + 1) * WARPGROUP_SIZE)
        behind = numpy.flatnonzero(self.cta.alive[members] & (closed[members] < closed[group.lanes.index].max()))
        first = f" (thread {team * WARPGROUP_SIZE + behind[0]} among them)" if len(behind) else ""
        return f"{len(behind)} threads of its warpgroup{first} to commit their multiplications"


def max_over_warpgroups(limits: Any) -> Any:
    """Return, for each thread, the maximum over its warpgroup."""
    count = len(limits)
    padded = numpy.full(-(-count // WARPGROUP_SIZE) * WARPGROUP_SIZE, -1, limits.dtype)
    padded[:count] = limits
    return numpy.repeat(padded.reshape(-1, WARPGROUP_SIZE).max(axis=1), WARPGROUP_SIZE)[:count]
