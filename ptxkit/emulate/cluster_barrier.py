"""The barrier of a cluster: arriving and waiting are two instructions.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: barrier.cluster".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulate.faults import Fault
from ptxkit.emulate.waiting import Waitable

if TYPE_CHECKING:
    from ptxkit.emulate.cta import Cta
    from ptxkit.emulate.groups import Group
    from ptxkit.emulate.machine import Cluster


class ClusterPhase(Waitable):
    """One use of the barrier: it opens when all threads of the cluster that live have arrived."""

    __slots__ = ("arrived", "cluster", "is_open", "known")

    def __init__(self, cluster: Cluster) -> None:
        super().__init__()
        self.cluster = cluster
        self.arrived: dict[Cta, Any] = {}
        self.is_open = False
        self.known: dict[Any, Any] = {}
        """What orders accesses keeps here."""

    def missing(self) -> list[tuple[Cta, int]]:
        """The CTAs whose threads have not all arrived, and how many have not."""
        found = []
        for cta in self.cluster.ctas:
            there = self.arrived.get(cta)
            absent = cta.alive if there is None else cta.alive & ~there
            if absent.any():
                found.append((cta, int(numpy.count_nonzero(absent))))
        return found

    def describe(self, _group: Group) -> str:
        """Who is still awaited."""
        rest = ", ".join(f"{count} threads of CTA {cta.ctaid}" for cta, count in self.missing())
        return f"the barrier of the cluster, at which {rest} have not arrived"


class ClusterBarrier:
    """A cluster's barrier. phase: the present one."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.phase = ClusterPhase(cluster)
        self._owed: dict[Cta, Any] = {}

    def _of(self, cta: Cta) -> Any:
        """The phase at which each thread of a CTA has arrived and not waited yet; None for none."""
        found = self._owed.get(cta)
        if found is None:
            found = self._owed[cta] = numpy.full(cta.threads, None, object)
        return found

    def arrive(self, group: Group, order: str) -> None:
        """Threads arrive. They must wait before they arrive once more."""
        cta, index = group.cta, group.lanes.index
        owed = self._of(cta)
        again = owed[index] != None  # noqa: E711 (element by element)
        if again.any():
            raise Fault("PTX613", "threads arrive at the cluster's barrier twice without a wait between", index[again])
        phase = self.phase
        owed[index] = phase
        there = phase.arrived.get(cta)
        if there is None:
            there = phase.arrived[cta] = numpy.zeros(cta.threads, bool)
        there[index] = True
        cta.machine.order.cluster_arrives(group, phase, order)
        self.open_if_complete()

    def wait(self, group: Group) -> ClusterPhase | None:
        """The phase for which threads wait: None where they need not any more."""
        cta, index = group.cta, group.lanes.index
        owed = self._of(cta)
        phases = owed[index]
        without = phases == None  # noqa: E711 (element by element)
        if without.any():
            message = "threads wait for the cluster's barrier without having arrived"
            raise Fault("PTX613", message, index[without])
        for phase in phases:
            if not phase.is_open:
                found: ClusterPhase = phase
                return found
        cta.machine.order.passes_cluster_barrier(group, phases[0])
        owed[index] = None
        return None

    def open_if_complete(self) -> None:
        """Open the barrier where all that live have arrived."""
        phase = self.phase
        if phase.arrived and not phase.missing():
            phase.is_open = True
            self.phase = ClusterPhase(self.cluster)
            phase.wake()
