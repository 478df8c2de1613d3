"""The synchronization of threads by mbarriers, within the scopes of the arrivals and waits.

Within a CTA each releasing arrival synchronizes with acquiring waits. Between CTAs of a cluster both need a scope that
includes the two CTAs; if one is narrower, the phase is observed, but earlier accesses do not become known (`IN_SCOPE`).
The completion of a copy makes its own bytes known whatever the scopes are.

Source: PTX ISA, "Memory Consistency Model": "Scope", "Release and Acquire Patterns", "mbarrier.arrive",
"mbarrier.test_wait / mbarrier.try_wait".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.diagnostics.catalogue import ptx5xx
from ptxkit.emulator.core.findings import ExecutionFault
from ptxkit.emulator.races.access_history import AccessHistory
from ptxkit.emulator.races.mbarrier_init_order import MbarrierInitialization
from ptxkit.emulator.races.vector_clocks import ClockVector, join_into, required_scope_level, without_scope
from ptxkit.emulator.sync.async_operation import AsyncOperation, DeferredArrival
from ptxkit.emulator.threads.machine_observer import MachineObserver
from ptxkit.semantics.object_names import MBARRIER_BYTES
from ptxkit.semantics.ordering import ACQUIRE_ORDERS, RELEASE_ORDERS, SYSTEM_LEVEL, scope_level

if TYPE_CHECKING:
    from ptxkit.emulator.sync.mbarrier import Mbarrier
    from ptxkit.emulator.threads.machine_state import CtaState
    from ptxkit.emulator.threads.thread_groups import ThreadGroup


class MbarrierClocks(MachineObserver):
    """Updates the clocks of threads at mbarriers, and checks that threads use mbarriers in their lifetimes."""

    def __init__(self, history: AccessHistory) -> None:
        self._history = history

    def on_mbarrier_init(self, group: ThreadGroup, thread: int, barrier: Mbarrier) -> None:
        """Records that a thread has initialized an mbarrier."""
        known = self._history.clocks_of(group.cta)
        place = (group.activation.function, group.pc, group.cta)
        self._clock_of(barrier).initialization = MbarrierInitialization(
            known, int(thread), int(known.own_times[thread]), place
        )

    def on_mbarrier_use(self, group: ThreadGroup, index: Any, barrier: Mbarrier) -> None:
        """Threads (`index`) execute an operation on a live mbarrier: they must be ordered after its initialization."""
        known, clock = self._history.clocks_of(group.cta), self._clock_of(barrier)
        times = clock.last_uses.get(known)
        if times is None:
            times = clock.last_uses[known] = numpy.zeros(known.threads, numpy.int64)
        times[index] = known.own_times[index]
        begun = clock.initialization
        if begun is not None:
            begun.check(group, index, barrier, known)

    def on_mbarrier_inval(self, group: ThreadGroup, index: Any, barrier: Mbarrier) -> None:
        """Threads (`index`) are about to invalidate an mbarrier: the uses by all others must be known to them."""
        known, clock = self._history.clocks_of(group.cta), self._clock_of(barrier)
        for other, times in clock.last_uses.items():
            used = numpy.flatnonzero(times)
            who, last = numpy.full(len(used), index[0]), other.own_times[used] - 1
            late = used[~known.happens_before(who, other, used, times[used])]
            # Lanes may act for their warp after a synchronization that does not order accesses by the text of the ISA
            # (`match.sync`), then a fence and an atomic by one lane; only that lane is known here.
            reported_lines = numpy.unique(
                used[(last >= times[used]) & known.happens_before(who, other, used, last)] >> 5
            )
            if other is known:
                reported_lines = numpy.append(reported_lines, index[0] >> 5)
            late = late[~numpy.isin(late >> 5, reported_lines)]
            if len(late):
                message = ptx5xx.INVAL_NOT_ORDERED(barrier=barrier.name, thread=late[0])
                fault = ExecutionFault(
                    message,
                    index[:1],
                    space="shared",
                    start=barrier.offset,
                    size=MBARRIER_BYTES,
                )
                fault.location, fault.cta = (group.activation.function, group.pc), group.cta
                group.cta.machine.report_fault(fault)
                return

    def on_mbarrier_arrive(self, group: ThreadGroup, index: Any, barrier: Mbarrier, order: str, scope: str) -> None:
        """Threads (`index`) are about to arrive at an mbarrier."""
        known, clock, level = self._history.clocks_of(group.cta), self._clock_of(barrier), scope_level(scope)
        if order in RELEASE_ORDERS:
            clock.release(group.cta, level, known.release_clock(index))
            return
        for thread in index.tolist():
            for reach, released in known.fence_releases(thread).items():
                clock.release(group.cta, min(level, reach), released)
        join_into(clock.relaxed_vector, known.release_clock(index))

    def on_phase_complete(self, barrier: Mbarrier) -> None:
        """The current phase of an mbarrier is complete."""
        self._clock_of(barrier).complete_phase()

    def on_phase_observed(self, group: ThreadGroup, index: Any, barrier: Mbarrier, order: str, scope: str) -> None:
        """Threads (`index`) have observed that the phase before the current one is complete."""
        known, clock, level = self._history.clocks_of(group.cta), self._clock_of(barrier), scope_level(scope)
        join_into(known.relaxed_vector, clock.relaxed_vector)
        for (cta, reach), released in clock.completed_phases.items():
            need = 0 if cta is None else required_scope_level(cta, group.cta)
            reaches = need <= min(reach, level)
            if order in ACQUIRE_ORDERS:
                known.acquire_clock(index, released if reaches else without_scope(released))
                continue
            for thread in index.tolist():
                waiting = known.pending_acquires.setdefault(thread, [])
                waiting.append((0, without_scope(released) if need else dict(released)))
                if need and reaches:
                    waiting.append((need, dict(released)))
        if (None, SYSTEM_LEVEL) in clock.completed_phases:
            known.note_wait(index)

    def on_mbarrier_signal(self, operation: AsyncOperation | DeferredArrival, barrier: Mbarrier) -> None:
        """A complete operation of the async proxy releases its own accesses, and not earlier ones of its thread.

        Stores and reductions through the generic proxy release, and so may arrivals after copies: they also release all
        accesses that were known when they were issued.
        """
        if operation.issue_clock is not None:
            known, clock = self._history.clocks_of(operation.cta), self._clock_of(barrier)
            if isinstance(operation, DeferredArrival) or operation.proxy == "generic":
                clock.release(None, SYSTEM_LEVEL, operation.issue_clock)
            # Accesses that were complete at one arrival are also released by a later one on another object.
            engines = (
                known.copy_engines
                if isinstance(operation, DeferredArrival)
                else {known.engine_for(operation.signals[0][0])}
            )
            for engine in engines:
                clock.release(None, SYSTEM_LEVEL, known.engine_clock(engine))

    @staticmethod
    def _clock_of(barrier: Mbarrier) -> _MbarrierClock:
        if barrier.clock is None:
            barrier.clock = _MbarrierClock()
        found: _MbarrierClock = barrier.clock
        return found


class _MbarrierClock:
    """The clocks that arrivals at an mbarrier release, in the current phase and in complete ones.

    The clocks are stored by the level of the scope and by the CTA that releases, which is None for an operation,
    because that needs no scope. `relaxed_vector` has the accesses that were complete before relaxed arrivals, which do
    not release them.
    """

    def __init__(self) -> None:
        self.current_phase: dict[tuple[CtaState | None, int], ClockVector] = {}
        self.completed_phases: dict[tuple[CtaState | None, int], ClockVector] = {}
        self.relaxed_vector: ClockVector = {}
        self.initialization: MbarrierInitialization | None = None
        self.last_uses: ClockVector = {}
        """The time of the last use of the mbarrier by each thread, by CTA."""

    def release(self, cta: CtaState | None, reach: int, released: ClockVector) -> None:
        """Records the clock that an arrival releases."""
        join_into(self.current_phase.setdefault((cta, reach), {}), released)

    def complete_phase(self) -> None:
        """Completes the current phase."""
        for key, released in self.current_phase.items():
            join_into(self.completed_phases.setdefault(key, {}), released)
        self.current_phase = {}
