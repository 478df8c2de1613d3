"""What mbarriers let threads know of each other, within the scopes of the arrivals and waits.

Within a CTA each releasing arrival synchronizes with acquiring waits. Between CTAs of a cluster both need a scope that
includes the two CTAs; where one is narrower, the phase is observed, but earlier accesses do not become known
(`IN_SCOPE`). The completion of a copy makes its own bytes known whatever the scopes are.

Source: PTX ISA, "Memory Consistency Model": "Scope", "Release and Acquire Patterns", "mbarrier.arrive",
"mbarrier.test_wait, mbarrier.try_wait".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulator.core.findings import ExecutionFault
from ptxkit.emulator.races.mbarrier_init_order import MbarrierInitialization
from ptxkit.emulator.races.race_detector import RaceDetector
from ptxkit.emulator.races.vector_clocks import (
    ClockVector,
    CtaClocks,
    join_into,
    required_scope_level,
    scope_level,
    without_scope,
)
from ptxkit.emulator.sync.async_operation import AsyncOperation, DeferredArrival
from ptxkit.emulator.sync.mbarrier import MBARRIER_BYTES

if TYPE_CHECKING:
    from ptxkit.emulator.engine.cta import Cta
    from ptxkit.emulator.sync.mbarrier import Mbarrier
    from ptxkit.emulator.threads.thread_groups import ThreadGroup

RELEASE_ORDERS = frozenset({"release", "acq_rel", "sc"})
ACQUIRE_ORDERS = frozenset({"acquire", "acq_rel", "sc"})
_SYSTEM_LEVEL = 3


class MbarrierClocks(RaceDetector):
    """Races between accesses that mbarriers order."""

    def on_mbarrier_init(self, group: ThreadGroup, thread: int, barrier: Mbarrier) -> None:
        """A thread has initialised an mbarrier."""
        known = self.clocks_of(group.cta)
        place = (group.activation.function, group.pc, group.cta)
        self._clock_of(barrier).initialization = MbarrierInitialization(
            known, int(thread), int(known.own_times[thread]), place
        )

    def on_mbarrier_use(self, group: ThreadGroup, index: Any, barrier: Mbarrier) -> None:
        """Threads (`index`) execute an operation on a live mbarrier: they must know of its initialization."""
        known, clock = self.clocks_of(group.cta), self._clock_of(barrier)
        times = clock.last_uses.get(known)
        if times is None:
            times = clock.last_uses[known] = numpy.zeros(known.threads, numpy.int64)
        times[index] = known.own_times[index]
        begun = clock.initialization
        if begun is not None and self.machine is not None:
            begun.check(group, index, barrier, known, self.machine)

    def on_mbarrier_inval(self, group: ThreadGroup, index: Any, barrier: Mbarrier) -> None:
        """Threads (`index`) are about to invalidate an mbarrier: the uses by all others must be known to them."""
        known, clock = self.clocks_of(group.cta), self._clock_of(barrier)
        for other, times in clock.last_uses.items():
            used = numpy.flatnonzero(times)
            who, last = numpy.full(len(used), index[0]), other.own_times[used] - 1
            late = used[~known.happens_before(who, other, used, times[used])]
            # Lanes act for their warp through what orders nothing by the text of the ISA: `match.sync`, then a fence
            # and an atomic by one lane; here only the atomic's lane is known.
            spoken = numpy.unique(used[(last >= times[used]) & known.happens_before(who, other, used, last)] >> 5)
            if other is known:
                spoken = numpy.append(spoken, index[0] >> 5)
            late = late[~numpy.isin(late >> 5, spoken)]
            if len(late) and self.machine is not None:
                message = f"ends {barrier.name}, and nothing tells this thread that thread {late[0]} is done with it"
                fault = ExecutionFault(
                    "PTX507", message, index[:1], space="shared", start=barrier.offset, size=MBARRIER_BYTES
                )
                fault.location, fault.cta = (group.activation.function, group.pc), group.cta
                self.machine.report_fault(fault)
                return

    def on_mbarrier_arrive(self, group: ThreadGroup, index: Any, barrier: Mbarrier, order: str, scope: str) -> None:
        """Threads (`index`) are about to arrive at an mbarrier."""
        known, clock, level = self.clocks_of(group.cta), self._clock_of(barrier), scope_level(scope)
        if order in RELEASE_ORDERS:
            clock.release(group.cta, level, known.release_clock(index))
            return
        for thread in index.tolist():
            for reach, told in known.fence_releases(thread).items():
                clock.release(group.cta, min(level, reach), told)
        join_into(clock.relaxed_vector, known.release_clock(index))

    def on_phase_complete(self, barrier: Mbarrier) -> None:
        """The current phase of an mbarrier is complete."""
        self._clock_of(barrier).complete_phase()

    def on_phase_observed(self, group: ThreadGroup, index: Any, barrier: Mbarrier, order: str, scope: str) -> None:
        """Threads (`index`) have observed that the phase before the current one is complete."""
        group.cta.collectives.has_synchronized[index] = True
        known, clock, level = self.clocks_of(group.cta), self._clock_of(barrier), scope_level(scope)
        join_into(known.relaxed_vector, clock.relaxed_vector)
        for (cta, reach), told in clock.completed_phases.items():
            need = 0 if cta is None else required_scope_level(cta, group.cta)
            reaches = need <= min(reach, level)
            if order in ACQUIRE_ORDERS:
                known.acquire_clock(index, told if reaches else without_scope(told))
                continue
            for thread in index.tolist():
                waiting = known.pending_acquires.setdefault(thread, [])
                waiting.append((0, without_scope(told) if need else dict(told)))
                if need and reaches:
                    waiting.append((need, dict(told)))
        if (None, _SYSTEM_LEVEL) in clock.completed_phases:
            known.note_wait(index)

    def on_mbarrier_signal(self, operation: AsyncOperation | DeferredArrival, barrier: Mbarrier) -> None:
        """A complete operation of the async proxy releases its own accesses, and not earlier ones of its thread.

        Stores and reductions through the generic proxy release, and so may arrivals after copies: these also release
        what was known when they were issued.
        """
        if operation.issue_clock is not None:
            known, clock = self.clocks_of(operation.cta), self._clock_of(barrier)
            if isinstance(operation, DeferredArrival) or operation.proxy == "generic":
                clock.release(None, _SYSTEM_LEVEL, operation.issue_clock)
            # What was complete at one arrival is also released by a later one on another object.
            engines = (
                known.copy_engines
                if isinstance(operation, DeferredArrival)
                else {known.engine_for(operation.signals[0][0])}
            )
            for engine in engines:
                clock.release(None, _SYSTEM_LEVEL, known.engine_clock(engine))

    @staticmethod
    def _release_into(vector: ClockVector, known: CtaClocks, index: Any, order: str) -> None:
        if order in RELEASE_ORDERS:
            join_into(vector, known.release_clock(index))
            return
        for thread in index.tolist():
            for told in known.fence_releases(thread).values():
                join_into(vector, told)

    @staticmethod
    def _clock_of(barrier: Mbarrier) -> _MbarrierClock:
        if barrier.clock is None:
            barrier.clock = _MbarrierClock()
        found: _MbarrierClock = barrier.clock
        return found


class _MbarrierClock:
    """What arrivals at an mbarrier release, in the current phase and in complete ones.

    The clocks are kept by the CTA that releases (None: an operation, which needs no scope) and the level of its scope.
    heard: what relaxed arrivals do not release, though it was complete before them.
    """

    def __init__(self) -> None:
        self.current_phase: dict[tuple[Cta | None, int], ClockVector] = {}
        self.completed_phases: dict[tuple[Cta | None, int], ClockVector] = {}
        self.relaxed_vector: ClockVector = {}
        self.initialization: MbarrierInitialization | None = None
        self.last_uses: ClockVector = {}
        """By CTA, when each thread used it last."""

    def release(self, cta: Cta | None, reach: int, told: ClockVector) -> None:
        """Record what an arrival releases."""
        join_into(self.current_phase.setdefault((cta, reach), {}), told)

    def complete_phase(self) -> None:
        """Complete the current phase."""
        for key, told in self.current_phase.items():
            join_into(self.completed_phases.setdefault(key, {}), told)
        self.current_phase = {}
