"""Named barriers of a CTA.

A barrier counts whole warps: a warp arrives when all of its threads that have not exited have arrived.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: bar, barrier".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.diagnostics import Message
from ptxkit.diagnostics.catalogue import ptx6xx
from ptxkit.emulator.core.findings import ExecutionFault
from ptxkit.emulator.core.lane_set import thread_index_of, thread_set_of
from ptxkit.emulator.threads.waitable import Waitable
from ptxkit.semantics.barrier_state import BarrierOutcome, BarrierState
from ptxkit.semantics.thread_sets import first_thread, lanes_of, thread_range, warps_of
from ptxkit.syntax.constants import WARP_SIZE

if TYPE_CHECKING:
    from ptxkit.emulator.threads.machine_state import CtaState, FunctionCode
    from ptxkit.emulator.threads.thread_groups import ThreadGroup


class BarrierPhase(Waitable):
    """One phase of a barrier, on which threads wait; it completes when enough threads have arrived.

    `arrived` are the threads that have arrived, `predicates` those whose predicate for a reduction is true, and
    `aligned_warps` those that arrived at an aligned instruction, as sets of `semantics.thread_sets`.
    `includes_all_threads` states whether all threads that have not exited had arrived when the phase completed.
    `release_clock` is the clock of the arrivals, in the form of the race detector.
    """

    __slots__ = (
        "_first_arrival",
        "_warps_by_site",
        "aligned_warps",
        "all_arrivals_wait",
        "arrived",
        "barrier",
        "includes_all_threads",
        "is_complete",
        "predicates",
        "release_clock",
    )

    def __init__(self, barrier: NamedBarrier) -> None:
        super().__init__()
        self.barrier = barrier
        self.arrived = self.predicates = self.aligned_warps = 0
        self._warps_by_site: dict[tuple[int, int], int] = {}
        self._first_arrival: tuple[FunctionCode, int] | None = None
        self.all_arrivals_wait = True
        self.is_complete = self.includes_all_threads = False
        self.release_clock: Any = None

    def check_convergence(self, group: ThreadGroup, threads: int) -> None:
        """Checks that all threads of a warp execute the same instruction, if that is aligned."""
        site, warps = (id(group.activation), group.pc), warps_of(threads)
        wrong = 0
        for other, there in self._warps_by_site.items():
            if other != site:
                wrong |= there & warps
        if wrong:
            warp = first_thread(wrong) // WARP_SIZE
            content = ptx6xx.WARP_AT_DIFFERENT_BARRIERS(warp=warp, number=self.barrier.number)
            raise ExecutionFault(content, thread_index_of(threads & lanes_of(wrong)))
        self._warps_by_site[site] = self._warps_by_site.get(site, 0) | warps
        self.aligned_warps |= warps
        if self._first_arrival is None:
            self._first_arrival = (group.activation.function, group.pc)

    def partial_aligned_warps(self) -> int:
        """Returns the warps of which only some threads have arrived at an aligned instruction."""
        return self.barrier.state.partial_warps & self.aligned_warps

    def check_exited_warps(self) -> None:
        """Reports warps of which some threads have exited without executing the aligned instruction."""
        cta = self.barrier.cta
        absent = thread_range(0, cta.threads) & ~self.arrived
        partial = warps_of(absent) & self.aligned_warps
        if self._first_arrival is None or not partial:
            return
        lanes = lanes_of(partial & -partial)
        warp, missing = first_thread(partial) // WARP_SIZE, first_thread(absent & lanes)
        content = ptx6xx.WARP_LANE_EXITED(warp=warp, thread=missing)
        fault = ExecutionFault(content, thread_index_of(self.arrived & lanes))
        fault.location, fault.cta = self._first_arrival, cta
        cta.machine.report_fault(fault)

    def describe(self, _group: ThreadGroup) -> Message:
        """Describes the missing arrivals."""
        number, state = self.barrier.number, self.barrier.state
        partial = self.partial_aligned_warps()
        if partial:
            warp = first_thread(partial) // WARP_SIZE
            return ptx6xx.BARRIER_LACKS_LANES(number=number, warp=warp)
        if state.declared_count is not None:
            return ptx6xx.BARRIER_LACKS_ARRIVALS(
                number=number, arrived=state.arrived_count, expected=state.declared_count
            )
        missing = thread_index_of(state.members & ~state.arrived)
        shown = ", ".join(map(str, missing[:4])) + (", ..." if len(missing) > 4 else "")
        return ptx6xx.BARRIER_LACKS_THREADS(number=number, missing=len(missing), threads=shown)


class NamedBarrier:
    """One of a CTA's sixteen barriers."""

    def __init__(self, cta: CtaState, number: int) -> None:
        self.cta, self.number = cta, number
        self.state = BarrierState(thread_set_of(cta.alive.nonzero()[0]))
        self.phase: BarrierPhase | None = None

    def arrive(
        self, group: ThreadGroup, expected: int | None, values: Any = None, *, aligned: bool = False, waits: bool = True
    ) -> BarrierPhase:
        """Counts the arrival of the group's threads, and returns their phase, which may be complete afterwards."""
        state, threads, index = self.state, group.lanes.thread_set(), group.lanes.index
        earlier = state.declared_count
        if state.declare(expected) is BarrierOutcome.COUNT_MISMATCH:
            content = ptx6xx.BARRIER_COUNTS_DIFFER(
                number=self.number, threads=_thread_count_text(expected), before=_thread_count_text(earlier)
            )
            raise ExecutionFault(content, index)
        if state.arrive(threads) is BarrierOutcome.REPEATED_ARRIVAL:
            again = thread_index_of(threads & state.arrived)
            raise ExecutionFault(ptx6xx.BARRIER_ARRIVED_TWICE(number=self.number), again)
        if self.phase is None:
            self.phase = BarrierPhase(self)
        phase = self.phase
        if aligned:
            phase.check_convergence(group, threads)
        phase.arrived = state.arrived
        if values is not None:
            phase.predicates |= thread_set_of(index[numpy.broadcast_to(values, index.shape).astype(bool)])
        phase.all_arrivals_wait &= waits
        self.cta.machine.observer.on_barrier_arrive(group, phase)
        self._complete_if_ready(phase)
        return phase

    def on_threads_exit(self, threads: int) -> None:
        """Handles the exit of a set of threads."""
        self.state.exit(threads)
        if self.phase is not None:
            self._complete_if_ready(self.phase)

    def _complete_if_ready(self, phase: BarrierPhase) -> None:
        state = self.state
        if state.declared_count is not None:
            state.count_arrived_warps(phase.aligned_warps)
        arrived_count, phase.includes_all_threads = state.arrived_count, not state.members & ~state.arrived
        outcome = state.complete_if_ready()
        if outcome is BarrierOutcome.EXCESS_ARRIVALS:
            content = ptx6xx.BARRIER_TOO_MANY_ARRIVALS(
                arrived=arrived_count, number=self.number, expected=state.declared_count
            )
            raise ExecutionFault(content, thread_index_of(phase.arrived))
        if outcome is BarrierOutcome.PHASE_COMPLETE:
            self.phase = None
            phase.is_complete = True
            phase.check_exited_warps()
            self.cta.machine.observer.on_barrier_complete(self.cta, phase)
            phase.wake()


def _thread_count_text(expected: int | None) -> str:
    return "all threads" if expected is None else f"{expected} threads"
