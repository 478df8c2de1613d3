"""Checks of accesses to shared memory of other CTAs, which must have started, and must not exit before
the access happens.

Source: PTX ISA, "State Spaces: Shared State Space", "Parallel Synchronization and Communication Instructions:
barrier.cluster".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from ptxkit.diagnostics.catalogue import ptx6xx
from ptxkit.emulator.core.findings import ExecutionFault
from ptxkit.emulator.races.access_history import AccessHistory
from ptxkit.emulator.races.shadow_memory import FIRST_READ, LAST_READ, WRITE, ShadowMemory
from ptxkit.emulator.races.vector_clocks import COMPLETED
from ptxkit.emulator.threads.machine_observer import AccessEvent, MachineObserver

if TYPE_CHECKING:
    from ptxkit.emulator.threads.machine_state import CtaState


class SharedMemoryLifetime(MachineObserver):
    """Checks accesses by threads of other CTAs against the start and the exit of the CTA that owns the memory."""

    def __init__(self, history: AccessHistory) -> None:
        self._history = history

    def on_access(self, event: AccessEvent) -> None:
        """Checks that the CTAs whose memory is accessed are known to have started, and have not exited."""
        group, places = event.group, event.byte_offsets
        cluster = group.cta.cluster
        if cluster.size == 1 or event.buffer is not cluster.shared_buffer:
            return
        known, ranks = self._history.clocks_of(group.cta), places // cluster.stride
        for rank in numpy.unique(ranks[ranks != group.cta.rank]).tolist():
            other = cluster.ctas[rank]
            index = group.lanes.index[ranks == rank]
            start = int(places[ranks == rank][0]) % cluster.stride
            if not other.alive.any():
                content = ptx6xx.ACCESS_OF_EXITED_CTA(access=event.kind, cta=other.ctaid)
            elif not known.has_started_before(index, self._history.clocks_of(other)):
                content = ptx6xx.ACCESS_BEFORE_CTA_START(access=event.kind, cta=other.ctaid)
            else:
                continue
            fault = ExecutionFault(content, index, space="shared", start=start, size=event.size)
            fault.location, fault.cta = (group.activation.function, group.pc), group.cta
            group.cta.machine.report_fault(fault)

    def on_cta_exit(self, cta: CtaState) -> None:
        """All threads of a CTA have exited: accesses of others to its shared memory must be known to them."""
        cluster = cta.cluster
        if cluster.size == 1 or cluster.shared_buffer.shadow is None:
            return
        shadow, stride = self._history.shadow_of(cluster.shared_buffer), cluster.stride
        units = numpy.arange(cta.rank * stride // shadow.unit, (cta.rank + 1) * stride // shadow.unit)
        everything = self._history.clocks_of(cta).full_clock()
        for kind in (WRITE, FIRST_READ, LAST_READ):
            agents, times = shadow.last_accesses(kind, units)
            for other, at in self._history.group_by_owner(agents, numpy.flatnonzero(agents)):
                if other.cta is cta:
                    continue
                held = everything.get(other)
                late = at if held is None else at[held[COMPLETED, agents[at] - other.base] < times[at]]
                if len(late):
                    self._report_early_exit(cta, shadow, kind, int(units[late[0]]), int(agents[late[0]]))
                    return

    def _report_early_exit(self, cta: CtaState, shadow: ShadowMemory, kind: int, unit: int, agent: int) -> None:
        site = self._history.site(int(shadow.sites[kind][unit]))
        verb = "writes" if kind == WRITE else "reads"
        start = unit * shadow.unit % cta.cluster.stride
        fault = ExecutionFault(
            ptx6xx.CTA_EXITS_DURING_ACCESS(access=verb, cta=cta.ctaid),
            numpy.array([self._history.thread_at(site, agent)]),
            space="shared",
            start=start,
            size=shadow.unit,
        )
        fault.location, fault.cta = (site.function, site.pc), site.cta
        cta.machine.report_fault(fault)
