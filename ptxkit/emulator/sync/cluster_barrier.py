"""The barrier of a cluster: arriving and waiting are two instructions.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: barrier.cluster".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulator.core.findings import ExecutionFault
from ptxkit.emulator.threads.waitable import Waitable

if TYPE_CHECKING:
    from ptxkit.emulator.engine.cta import Cta
    from ptxkit.emulator.engine.machine import Cluster
    from ptxkit.emulator.threads.thread_groups import ThreadGroup


class ClusterBarrierPhase(Waitable):
    """One phase of the barrier: it completes when all threads of the cluster that have not exited have arrived."""

    __slots__ = ("cluster", "has_arrived", "is_complete", "release_clock")

    def __init__(self, cluster: Cluster) -> None:
        super().__init__()
        self.cluster = cluster
        self.has_arrived: dict[Cta, Any] = {}
        self.is_complete = False
        self.release_clock: dict[Any, Any] = {}
        """What orders accesses keeps here."""

    def missing_arrivals(self) -> list[tuple[Cta, int]]:
        """Return the CTAs with missing arrivals, each with the number of threads that have not arrived."""
        found = []
        for cta in self.cluster.ctas:
            there = self.has_arrived.get(cta)
            absent = cta.alive if there is None else cta.alive & ~there
            if absent.any():
                found.append((cta, int(numpy.count_nonzero(absent))))
        return found

    def describe(self, _group: ThreadGroup) -> str:
        """Describe the missing arrivals."""
        rest = ", ".join(f"{count} threads of CTA {cta.ctaid}" for cta, count in self.missing_arrivals())
        return f"the barrier of the cluster, at which {rest} have not arrived"


class ClusterBarrier:
    """The barrier of a cluster. phase: the current one."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.phase = ClusterBarrierPhase(cluster)
        self._unwaited_phases: dict[Cta, Any] = {}

    def _unwaited_phase_of(self, cta: Cta) -> Any:
        """Return, for each thread of a CTA, the phase at which it has arrived but not waited yet, or None."""
        found = self._unwaited_phases.get(cta)
        if found is None:
            found = self._unwaited_phases[cta] = numpy.full(cta.threads, None, object)
        return found

    def arrive(self, group: ThreadGroup, order: str) -> None:
        """Record that threads arrive. They must wait before they arrive again."""
        cta, index = group.cta, group.lanes.index
        owed = self._unwaited_phase_of(cta)
        again = owed[index] != None  # noqa: E711 (element by element)
        if again.any():
            raise ExecutionFault(
                "PTX613", "threads arrive at the cluster's barrier twice without a wait between", index[again]
            )
        phase = self.phase
        owed[index] = phase
        there = phase.has_arrived.get(cta)
        if there is None:
            there = phase.has_arrived[cta] = numpy.zeros(cta.threads, bool)
        there[index] = True
        cta.machine.observer.on_cluster_arrive(group, phase, order)
        self.complete_if_ready()

    def wait(self, group: ThreadGroup) -> ClusterBarrierPhase | None:
        """Return the phase that threads wait for; None where it is complete."""
        cta, index = group.cta, group.lanes.index
        owed = self._unwaited_phase_of(cta)
        phases = owed[index]
        without = phases == None  # noqa: E711 (element by element)
        if without.any():
            message = "threads wait for the cluster's barrier without having arrived"
            raise ExecutionFault("PTX613", message, index[without])
        for phase in phases:
            if not phase.is_complete:
                found: ClusterBarrierPhase = phase
                return found
        cta.machine.observer.on_cluster_barrier_pass(group, phases[0])
        owed[index] = None
        return None

    def complete_if_ready(self) -> None:
        """Complete the phase if all threads that have not exited have arrived."""
        phase = self.phase
        if phase.has_arrived and not phase.missing_arrivals():
            phase.is_complete = True
            self.phase = ClusterBarrierPhase(self.cluster)
            phase.wake()
