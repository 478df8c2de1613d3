"""The state machine of a barrier of a CTA, named by a number, or of a warp: its phases, and the threads that arrive.

A barrier without a declared number of threads waits for all members that have not exited. One with a declared number
counts whole warps: a warp counts as 32 threads, complete or not, once all of its lanes that have not exited have
arrived. Sets of threads are those of `thread_sets`.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: bar, barrier", "bar.warp.sync".
"""

from __future__ import annotations

from enum import Enum

from ptxkit.semantics.thread_sets import lanes_of, warps_of
from ptxkit.syntax.constants import WARP_SIZE


class BarrierOutcome(Enum):
    """The outcome of an operation on a barrier."""

    PENDING = "pending"
    """The current phase is not complete."""
    PHASE_COMPLETE = "phase complete"
    """The current phase is complete; the next one has begun."""
    COUNT_MISMATCH = "count mismatch"
    """Threads declare another number than earlier threads of the phase; the earlier number remains."""
    REPEATED_ARRIVAL = "repeated arrival"
    """Threads arrive once more in a phase; they are not counted again."""
    EXCESS_ARRIVALS = "excess arrivals"
    """The phase is complete, and more threads have arrived than were declared."""

    @property
    def is_error(self) -> bool:
        """Whether the operation breaks a rule."""
        return self not in _VALID_OUTCOMES


_VALID_OUTCOMES = (BarrierOutcome.PENDING, BarrierOutcome.PHASE_COMPLETE)


class BarrierState:
    """The state of a barrier.

    members: the threads that may arrive and have not exited. declared_count: the number of threads for which the
    current phase waits, None for all members. arrived: the threads that have arrived in the current phase. counted: how
    many of these count toward a declared number. completed_phases: the number of complete phases.
    """

    __slots__ = ("arrived", "completed_phases", "counted", "declared_count", "members")

    def __init__(self, members: int) -> None:
        self.members = members
        self.declared_count: int | None = None
        self.arrived = self.counted = self.completed_phases = 0

    def declare(
        self, count: int | None, *, has_partial_warps: bool = False, counts_earlier: bool = False
    ) -> BarrierOutcome:
        """Declares for how many threads the phase waits, None for all members.

        has_partial_warps: whether lanes that do not count yet have arrived in an earlier phase. counts_earlier: whether
        threads that arrived for all members count toward the first number that is declared after them; if not, that is
        a mismatch.
        """
        if count == self.declared_count:
            return BarrierOutcome.PENDING
        if self.arrived or self.counted or has_partial_warps:
            if self.declared_count is not None or not counts_earlier:
                return BarrierOutcome.COUNT_MISMATCH
            self.counted = self.arrived.bit_count()
        self.declared_count = count
        return BarrierOutcome.PENDING

    def arrive(self, threads: int) -> BarrierOutcome:
        """Records the arrival of threads. It completes no phase: a caller counts warps first."""
        if self.arrived & threads:
            return BarrierOutcome.REPEATED_ARRIVAL
        self.arrived |= threads
        return BarrierOutcome.PENDING

    def exit(self, threads: int) -> None:
        """Records that threads have exited, so that the barrier no longer waits for them."""
        self.members &= ~threads

    @property
    def partial_warps(self) -> int:
        """The warps of which some lanes have arrived, and others have neither arrived nor exited."""
        return warps_of(self.arrived) & warps_of(self.members & ~self.arrived)

    def count_arrived_warps(self, aligned_warps: int = 0) -> None:
        """Counts the threads that have arrived.

        aligned_warps: the warps that arrived at an aligned instruction. Of the other warps, the lanes of a partial warp
        are counted one by one.
        """
        partial = self.partial_warps
        lanes = self.arrived & lanes_of(partial & ~aligned_warps)
        self.counted = WARP_SIZE * (warps_of(self.arrived) & ~partial).bit_count() + lanes.bit_count()

    def count_warp(self) -> None:
        """Counts one more warp, complete or not. The caller ensures that it has arrived."""
        self.counted += WARP_SIZE

    @property
    def arrived_count(self) -> int:
        """The number of threads that have arrived, as the barrier counts them."""
        return self.arrived.bit_count() if self.declared_count is None else self.counted

    @property
    def expected_count(self) -> int:
        """The number of threads for which the phase waits."""
        return self.members.bit_count() if self.declared_count is None else self.declared_count

    def complete_if_ready(self) -> BarrierOutcome:
        """Completes the phase if all threads for which it waits have arrived."""
        excess = 0
        if self.declared_count is None:
            if not self.arrived or self.members & ~self.arrived:
                return BarrierOutcome.PENDING
        elif not self.counted or self.counted < self.declared_count:
            return BarrierOutcome.PENDING
        else:
            excess = self.counted - self.declared_count
        self.arrived = self.counted = 0
        self.completed_phases += 1
        return BarrierOutcome.EXCESS_ARRIVALS if excess else BarrierOutcome.PHASE_COMPLETE
