"""The barrier of a cluster, for which arriving and waiting are two instructions.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: barrier.cluster".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ptxkit.diagnostics import Message
from ptxkit.diagnostics.catalogue import ptx6xx
from ptxkit.emulator.core.findings import ExecutionFault
from ptxkit.emulator.core.lane_set import thread_index_of
from ptxkit.emulator.threads.waitable import Waitable
from ptxkit.semantics.cluster_barrier_state import ClusterBarrierOutcome, ClusterBarrierState
from ptxkit.semantics.thread_sets import thread_range

if TYPE_CHECKING:
    from ptxkit.emulator.threads.machine_state import ClusterState, CtaState
    from ptxkit.emulator.threads.thread_groups import ThreadGroup


class ClusterBarrierPhase(Waitable):
    """One phase of the barrier, on which threads wait. `release_clock` is the clock of the arrivals, in the form of the
    race detector.
    """

    __slots__ = ("barrier", "release_clock")

    def __init__(self, barrier: ClusterBarrier) -> None:
        super().__init__()
        self.barrier = barrier
        self.release_clock: dict[Any, Any] = {}

    def describe(self, _group: ThreadGroup) -> Message:
        """Describes the missing arrivals."""
        rest = ", ".join(f"{count} threads of CTA {cta.ctaid}" for cta, count in self.barrier.missing_arrivals())
        return ptx6xx.CLUSTER_BARRIER_INCOMPLETE(missing=rest)


class ClusterBarrier:
    """The barrier of a cluster, with its current `phase`. The numbers of a CTA's threads follow those of the CTA before
    it.
    """

    def __init__(self, cluster: ClusterState) -> None:
        self.cluster = cluster
        self.state = ClusterBarrierState(thread_range(0, sum(cta.threads for cta in cluster.ctas)))
        self.phase = self._completed_phase = ClusterBarrierPhase(self)

    def arrive(self, group: ThreadGroup, order: str) -> None:
        """Records that threads arrive. They must wait before they arrive again."""
        threads = self._threads_of(group)
        if self.state.arrive(threads) is ClusterBarrierOutcome.REPEATED_ARRIVAL:
            raise ExecutionFault(
                ptx6xx.ARRIVAL_WITHOUT_WAIT(),
                self._index_in(group.cta, threads & self.state.unwaited),
            )
        group.cta.machine.observer.on_cluster_arrive(group, self.phase, order)
        self._complete_if_ready()

    def wait(self, group: ThreadGroup) -> ClusterBarrierPhase | None:
        """Returns the phase that threads wait for, or None if it is complete."""
        threads = self._threads_of(group)
        outcome = self.state.wait(threads)
        if outcome is ClusterBarrierOutcome.WAIT_WITHOUT_ARRIVAL:
            early = self._index_in(group.cta, threads & ~self.state.unwaited)
            raise ExecutionFault(ptx6xx.WAIT_WITHOUT_ARRIVAL(), early)
        if outcome is ClusterBarrierOutcome.PENDING:
            return self.phase
        # No phase completes before all threads of the cluster have waited for the previous one.
        group.cta.machine.observer.on_cluster_barrier_pass(group, self._completed_phase)
        return None

    def on_threads_exit(self, cta: CtaState, threads: int) -> None:
        """Handles the exit of a set of threads of a CTA."""
        self.state.exit(threads << cta.rank * cta.threads)
        self._complete_if_ready()

    def missing_arrivals(self) -> list[tuple[CtaState, int]]:
        """Returns the CTAs with missing arrivals, each with the number of threads that have not arrived."""
        missing = self.state.members & ~self.state.arrived
        counts = [
            (cta, (missing & thread_range(cta.rank * cta.threads, cta.threads)).bit_count())
            for cta in self.cluster.ctas
        ]
        return [(cta, count) for cta, count in counts if count]

    def _complete_if_ready(self) -> None:
        if self.state.complete_if_ready() is ClusterBarrierOutcome.PHASE_COMPLETE:
            self._completed_phase, self.phase = self.phase, ClusterBarrierPhase(self)
            self._completed_phase.wake()

    @staticmethod
    def _threads_of(group: ThreadGroup) -> int:
        return group.lanes.thread_set() << group.cta.rank * group.cta.threads

    @staticmethod
    def _index_in(cta: CtaState, threads: int) -> Any:
        return thread_index_of(threads >> cta.rank * cta.threads)
