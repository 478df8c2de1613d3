"""Groups of wgmma operations, which a warpgroup commits and waits for as a unit.

Each warp commits its part; a wait by one of them ends when the parts of all are complete, so that one thread may
release the operands for its warpgroup.

Source: PTX ISA, "Warpgroup", "wgmma.commit_group", "wgmma.wait_group".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.diagnostics import Message
from ptxkit.diagnostics.catalogue import ptx3xx
from ptxkit.emulator.core.lane_set import WARPGROUP_SIZE
from ptxkit.emulator.threads.waitable import Waitable

if TYPE_CHECKING:
    from ptxkit.emulator.threads.machine_state import CtaState
    from ptxkit.emulator.threads.thread_groups import ThreadGroup


class WarpgroupCommit(Waitable):
    """The wait of a warp for the other warps of its warpgroup to commit the same groups."""

    __slots__ = ("cta",)

    def __init__(self, cta: CtaState) -> None:
        super().__init__()
        self.cta = cta

    def describe(self, group: ThreadGroup) -> Message:
        """Describes which threads have not committed the group."""
        closed = self.cta.machine.async_engine.committed_groups(self.cta, "wgmma")
        team = int(group.lanes.index[0]) // WARPGROUP_SIZE
        members = slice(team * WARPGROUP_SIZE, (team + 1) * WARPGROUP_SIZE)
        late = numpy.flatnonzero(self.cta.alive[members] & (closed[members] < closed[group.lanes.index].max()))
        first = ptx3xx.ONE_OF_THE_THREADS(thread=team * WARPGROUP_SIZE + late[0]) if len(late) else ""
        return ptx3xx.WARPGROUP_DID_NOT_COMMIT(threads=len(late), first=first)


def max_over_warpgroups(limits: Any) -> Any:
    """Returns, for each thread, the maximum over its warpgroup."""
    count = len(limits)
    padded = numpy.full(-(-count // WARPGROUP_SIZE) * WARPGROUP_SIZE, -1, limits.dtype)
    padded[:count] = limits
    return numpy.repeat(padded.reshape(-1, WARPGROUP_SIZE).max(axis=1), WARPGROUP_SIZE)[:count]
