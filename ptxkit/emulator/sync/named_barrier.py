"""Named barriers of a CTA.

A barrier counts whole warps: a warp arrives when all of its threads that have not exited have arrived.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: bar, barrier".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulator.core.findings import ExecutionFault
from ptxkit.emulator.threads.waitable import Waitable

if TYPE_CHECKING:
    from ptxkit.emulator.engine.cta import Cta
    from ptxkit.emulator.engine.executable import DecodedFunction
    from ptxkit.emulator.threads.thread_groups import ThreadGroup

WARP_SIZE = 32


class BarrierPhase(Waitable):
    """One phase of a barrier: it completes when enough threads have arrived.

    expected: threads, or None for all that have not exited. arrived: whether each thread has arrived; values: the
    predicates for a reduction. sites: by warp, the position of the aligned instruction of its threads, -1 for none.
    """

    __slots__ = (
        "_first_arrival",
        "_location_of_site",
        "all_arrivals_wait",
        "arrival_locations",
        "barrier",
        "expected_threads",
        "has_arrived",
        "is_complete",
        "predicates",
        "release_clock",
    )

    def __init__(self, barrier: NamedBarrier, expected: int | None) -> None:
        super().__init__()
        self.barrier, self.expected_threads = barrier, expected
        self.has_arrived = numpy.zeros(barrier.cta.threads, bool)
        self.predicates = numpy.zeros(barrier.cta.threads, bool)
        self.arrival_locations = numpy.full(barrier.cta.warps, -1)
        self._location_of_site: dict[tuple[int, int], int] = {}
        self.is_complete = False
        self._first_arrival: tuple[DecodedFunction, int] | None = None
        self.all_arrivals_wait = True
        self.release_clock: Any = None
        """What orders accesses keeps here."""

    def check_convergence(self, group: ThreadGroup) -> None:
        """Check that all threads of a warp execute the same instruction, if that is aligned."""
        place = self._location_of_site.setdefault((id(group.activation), group.pc), len(self._location_of_site))
        warps = group.lanes.index >> 5
        wrong = (self.arrival_locations[warps] >= 0) & (self.arrival_locations[warps] != place)
        if wrong.any():
            warp = int(warps[wrong][0])
            message = f"threads of warp {warp} come to barrier {self.barrier.number} at different instructions"
            raise ExecutionFault("PTX603", message, group.lanes.index[wrong])
        self.arrival_locations[warps] = place
        if self._first_arrival is None:
            self._first_arrival = (group.activation.function, group.pc)

    def warps_with_partial_arrival(self) -> Any:
        """Return the warps of which only some threads have arrived at an aligned instruction."""
        cta = self.barrier.cta
        absent = numpy.zeros(cta.warps * WARP_SIZE, bool)
        absent[: cta.threads] = cta.alive & ~self.has_arrived
        return (self.arrival_locations >= 0) & absent.reshape(-1, WARP_SIZE).any(axis=1)

    def check_exited_warps(self) -> None:
        """Report warps of which some threads have exited without executing the aligned instruction."""
        cta = self.barrier.cta
        absent = numpy.zeros(cta.warps * WARP_SIZE, bool)
        absent[: cta.threads] = ~self.has_arrived
        parted = numpy.flatnonzero((self.arrival_locations >= 0) & absent.reshape(-1, WARP_SIZE).any(axis=1))
        if self._first_arrival is None or not len(parted):
            return
        warp = int(parted[0])
        there = numpy.flatnonzero(self.has_arrived[warp * WARP_SIZE : (warp + 1) * WARP_SIZE]) + warp * WARP_SIZE
        missing = int(numpy.flatnonzero(absent.reshape(-1, WARP_SIZE)[warp])[0]) + warp * WARP_SIZE
        message = (
            f"only a part of warp {warp} executes this barrier, which wants all threads of a warp: thread {missing} "
            "has ended before"
        )
        fault = ExecutionFault("PTX603", message, there)
        fault.location, fault.cta = self._first_arrival, cta
        cta.machine.report_fault(fault)

    def arrived_count(self) -> int:
        """Return the arrived threads: a warp counts as 32, full or not, once all of its lanes that have not exited
        arrived.

        In an incomplete warp, threads that arrived at an instruction that is not aligned count individually.
        """
        cta = self.barrier.cta
        came, absent = (numpy.zeros(cta.warps * WARP_SIZE, bool) for _ in range(2))
        came[: cta.threads] = self.has_arrived
        absent[: cta.threads] = cta.alive & ~self.has_arrived
        each, parted = came.reshape(-1, WARP_SIZE).sum(axis=1), absent.reshape(-1, WARP_SIZE).any(axis=1)
        of_parted = numpy.where(self.arrival_locations >= 0, 0, each)
        return int(numpy.where(parted, of_parted, numpy.where(each > 0, WARP_SIZE, 0)).sum())

    @property
    def code(self) -> str:
        """Return the code of the rule that a deadlock breaks."""
        return "PTX603" if self.warps_with_partial_arrival().any() else "PTX601"

    def describe(self, _group: ThreadGroup) -> str:
        """Describe the missing arrivals."""
        number = self.barrier.number
        torn = numpy.flatnonzero(self.warps_with_partial_arrival())
        if len(torn):
            return f"barrier {number}, to which only a part of warp {torn[0]} has come: it wants all threads of a warp"
        if self.expected_threads is not None:
            return f"barrier {number}, at which {self.arrived_count()} of {self.expected_threads} threads have arrived"
        missing = numpy.flatnonzero(self.barrier.cta.alive & ~self.has_arrived)
        shown = ", ".join(map(str, missing[:4])) + (", ..." if len(missing) > 4 else "")
        return f"barrier {number}, which {len(missing)} threads have not reached (threads {shown})"


class NamedBarrier:
    """One of a CTA's sixteen barriers."""

    def __init__(self, cta: Cta, number: int) -> None:
        self.cta, self.number = cta, number
        self.phase: BarrierPhase | None = None

    def arrive(
        self, group: ThreadGroup, expected: int | None, values: Any = None, *, aligned: bool = False, waits: bool = True
    ) -> BarrierPhase:
        """Count the arrival of the group's threads; return their phase, which may be complete now."""
        phase = self.phase
        if phase is None:
            phase = self.phase = BarrierPhase(self, expected)
        elif phase.expected_threads != expected:
            message = (
                f"barrier {self.number} is used with {_thread_count_text(expected)}, and before with "
                f"{_thread_count_text(phase.expected_threads)}"
            )
            raise ExecutionFault("PTX602", message, group.lanes.index)
        index = group.lanes.index
        again = phase.has_arrived[index]
        if again.any():
            message = f"threads arrive at barrier {self.number} once more before it opens"
            raise ExecutionFault("PTX602", message, index[again])
        if aligned:
            phase.check_convergence(group)
        phase.has_arrived[index] = True
        if values is not None:
            phase.predicates[index] = values
        phase.all_arrivals_wait &= waits
        self.cta.machine.observer.on_barrier_arrive(group, phase)
        self._complete_if_ready()
        return phase

    def on_threads_exit(self) -> None:
        """Handle the exit of threads."""
        self._complete_if_ready()

    def _complete_if_ready(self) -> None:
        phase = self.phase
        if phase is None:
            return
        if phase.expected_threads is None:
            if (self.cta.alive & ~phase.has_arrived).any():
                return
        elif phase.arrived_count() < phase.expected_threads:
            return
        elif phase.arrived_count() > phase.expected_threads:
            message = (
                f"{phase.arrived_count()} threads arrive at barrier {self.number}, which opens for "
                f"{phase.expected_threads}"
            )
            raise ExecutionFault("PTX602", message, numpy.flatnonzero(phase.has_arrived))
        self.phase = None
        phase.is_complete = True
        phase.check_exited_warps()
        self.cta.machine.observer.on_barrier_complete(self.cta, phase)
        phase.wake()


def _thread_count_text(expected: int | None) -> str:
    return "all threads" if expected is None else f"{expected} threads"
