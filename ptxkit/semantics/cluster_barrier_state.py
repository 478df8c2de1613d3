"""The state machine of the barrier of a cluster: arriving and waiting are two instructions, which alternate.

Sets of threads are the bits of an integer; a caller assigns each thread of the cluster a separate bit.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: barrier.cluster" (a wait is for all threads
that have not exited to arrive), "Control Flow Instructions: exit".
"""

from __future__ import annotations

from enum import Enum


class ClusterBarrierOutcome(Enum):
    """The outcome of an operation on the barrier of a cluster."""

    PENDING = "pending"
    """The phase of the operation is not complete."""
    PHASE_COMPLETE = "phase complete"
    """The phase is complete: the current one, which the operation completes, or the one for which threads wait."""
    REPEATED_ARRIVAL = "repeated arrival"
    """Threads arrive twice without a wait in between; none of them is counted again."""
    WAIT_WITHOUT_ARRIVAL = "wait without arrival"
    """Threads wait without having arrived."""

    @property
    def is_error(self) -> bool:
        """Whether the operation breaks a rule."""
        return self not in _VALID_OUTCOMES


_VALID_OUTCOMES = (ClusterBarrierOutcome.PENDING, ClusterBarrierOutcome.PHASE_COMPLETE)


class ClusterBarrierState:
    """The state of the barrier of a cluster.

    members: the threads of the cluster that have not exited. arrived: those that have arrived in the current phase,
    including exited ones. unwaited: those that have arrived in some phase and not waited for it. completed_phases: the
    number of complete phases. A phase waits for each member: the arrival of an exited thread does not replace that of
    another one.
    """

    __slots__ = ("arrived", "completed_phases", "members", "unwaited")

    def __init__(self, members: int) -> None:
        self.members = members
        self.arrived = self.unwaited = self.completed_phases = 0

    @property
    def arrived_count(self) -> int:
        """The number of threads that have arrived in the current phase, among those for which it waits."""
        return (self.arrived & self.members).bit_count()

    @property
    def expected_count(self) -> int:
        """The number of threads for which the current phase waits."""
        return self.members.bit_count()

    def arrive(self, threads: int) -> ClusterBarrierOutcome:
        """Records the arrival of threads. It completes no phase by itself."""
        if self.unwaited & threads:
            return ClusterBarrierOutcome.REPEATED_ARRIVAL
        self.arrived |= threads
        self.unwaited |= threads
        return ClusterBarrierOutcome.PENDING

    def wait(self, threads: int) -> ClusterBarrierOutcome:
        """Waits for the phases in which threads arrived. Where one is not complete, they wait again later."""
        if threads & ~self.unwaited:
            return ClusterBarrierOutcome.WAIT_WITHOUT_ARRIVAL
        if threads & self.arrived:
            return ClusterBarrierOutcome.PENDING
        self.unwaited &= ~threads
        return ClusterBarrierOutcome.PHASE_COMPLETE

    def exit(self, threads: int) -> None:
        """Records that threads have exited, so that the barrier no longer waits for them."""
        self.members &= ~threads

    def complete_if_ready(self) -> ClusterBarrierOutcome:
        """Completes the current phase if all threads for which it waits have arrived."""
        if not self.arrived or self.members & ~self.arrived:
            return ClusterBarrierOutcome.PENDING
        self.arrived = 0
        self.completed_phases += 1
        return ClusterBarrierOutcome.PHASE_COMPLETE
