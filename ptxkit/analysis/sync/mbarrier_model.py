"""Models mbarriers in a simulated schedule: the counts of their phases, arrivals, and the results of waits.

An mbarrier is at an `MbarrierLocation`: the rank of its CTA in the cluster, and its place in that CTA's shared memory.
Source: PTX ISA, "Phase of the mbarrier object", "Tracking asynchronous operations by the mbarrier object",
"mbarrier.test_wait / mbarrier.try_wait".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.sync.mbarrier_location import MbarrierLocation
from ptxkit.analysis.sync.thread_classes import ThreadClass
from ptxkit.analysis.values.symbolic_values import Value
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.isa.effects import MbarrierArrive, MbarrierWait

#: The maximum tx-count of an mbarrier, in bytes.
MAX_TX_COUNT = (1 << 20) - 1

#: What initialised an mbarrier: an instruction, the number of its execution, and the warps that execute it.
Initializer: TypeAlias = tuple[Step, int, frozenset[int]]


@dataclass(slots=True)
class MbarrierState:
    """The state of an mbarrier.

    count: the expected arrivals of a phase. pending_arrivals: the arrivals that the current phase still needs.
    tx_count: the bytes that it still needs; `unknown_size_copies` copies of unknown size supply the rest.
    completed_phases: the number of complete phases. earlier_phases: the phases that earlier mbarriers at its location
    began. observed_phases: the latest phase that some wait has observed. arrivals: the events that arrived in the
    current phase; previous_arrivals: those of the phase before. expected_bytes: the bytes that `expect_events` added in
    the current phase. last_update: the time of its last arrival or expect-tx.
    """

    count: int
    pending_arrivals: int
    tx_count: int = 0
    unknown_size_copies: int = 0
    completed_phases: int = 0
    earlier_phases: int = 0
    observed_phases: int = 0
    arrivals: list[TraceEvent] = field(default_factory=list)
    previous_arrivals: tuple[TraceEvent, ...] = ()
    expected_bytes: int = 0
    expect_events: list[TraceEvent] = field(default_factory=list)
    last_update: int = 0
    initializer: Initializer | None = None

    @property
    def is_complete(self) -> bool:
        return self.pending_arrivals == 0 and self.tx_count == 0 and not self.unknown_size_copies


@dataclass(frozen=True, slots=True)
class ExcessArrival:
    """An arrival that exceeds the count of its phase.

    phase: the number of the phase, from 1. earlier_arrivals: the arrivals before it. is_unobserved: the phase began
    before any thread had observed the previous one; otherwise all arrivals of the phase had already occurred.
    """

    thread_class: int
    event: TraceEvent
    location: MbarrierLocation
    phase: int
    earlier_arrivals: tuple[TraceEvent, ...]
    is_unobserved: bool
    count: int


class MbarrierModel:
    """All mbarriers of one simulated schedule.

    `excess_arrivals` holds the arrivals that exceed the count of a phase, one for simultaneous arrivals. `tx_overflows`
    holds the first expect-tx after which a tx-count exceeded its range, with that count. `is_approximate` is set where
    something could not be simulated exactly. `changed_mbarriers` holds the mbarriers that completed a phase or were
    invalidated since it was last read. `clock` is the number of simulated events, which orders updates. `is_truncated`
    is set where an actor has reached the end of a truncated exploration, after which no arrival is surely excessive.
    """

    def __init__(self, actors: Sequence[ThreadClass]) -> None:
        self._thread_classes = actors
        self._mbarriers: dict[MbarrierLocation, MbarrierState] = {}
        self._earlier_phases: Counter[MbarrierLocation] = Counter()
        self._observed_phases: list[Counter[MbarrierLocation]] = [Counter() for _ in actors]
        self._tokens: list[Counter[MbarrierLocation]] = [Counter() for _ in actors]
        self.excess_arrivals: list[ExcessArrival] = []
        self.tx_overflows: list[tuple[TraceEvent, int]] = []
        self.is_approximate = False
        self.changed_mbarriers: list[MbarrierState] = []
        self.clock = 0
        self.is_truncated = False

    def unbalanced_locations(self) -> list[MbarrierLocation]:
        """Returns the mbarriers whose tx-count is not zero: bytes are missing, or arrived without an expect-tx."""
        return [place for place, known in self._mbarriers.items() if known.tx_count and not known.unknown_size_copies]

    def get(self, place: MbarrierLocation) -> MbarrierState | None:
        """Returns the valid mbarrier at a location."""
        return self._mbarriers.get(place)

    def initialize(self, place: MbarrierLocation, count: Value | None, maker: Initializer | None = None) -> None:
        """Initialises an mbarrier; lanes of one warp that execute the same initialisation do so only once."""
        known = self._mbarriers.get(place)
        if known is not None:
            if maker is not None and known.initializer == maker:
                return
            self.invalidate(place)
        needed = count if isinstance(count, int) else 0
        self.is_approximate |= not needed
        self._mbarriers[place] = MbarrierState(
            needed, needed, earlier_phases=self._earlier_phases[place], initializer=maker
        )

    def invalidate(self, place: MbarrierLocation) -> None:
        """Invalidates an mbarrier, and discards what threads observed of its phases."""
        ended = self._mbarriers.pop(place)
        self.changed_mbarriers.append(ended)
        self._earlier_phases[place] = ended.earlier_phases + ended.completed_phases + bool(ended.arrivals)
        for known in (*self._tokens, *self._observed_phases):
            known.pop(place, None)

    def expect_tx(self, known: MbarrierState, event: TraceEvent, size: Value | None, times: int) -> None:
        """Adds expected bytes to the tx-count."""
        known.last_update = self.clock
        known.expect_events.append(event)
        if isinstance(size, int):
            known.tx_count += size * times
            known.expected_bytes += size * times
            if known.tx_count > MAX_TX_COUNT and not self.tx_overflows:
                self.tx_overflows.append((event, known.tx_count))
        else:
            self.is_approximate = True

    def begin_copy(self, known: MbarrierState, size: Value | None, times: int) -> None:
        """Starts a copy that completes bytes on the mbarrier."""
        if not isinstance(size, int):
            known.unknown_size_copies += times

    def end_copy(self, known: MbarrierState, size: Value | None, times: int) -> None:
        """Completes the bytes of a copy; the last copy of unknown size completes all remaining bytes."""
        if isinstance(size, int):
            known.tx_count -= size * times
        else:
            known.unknown_size_copies -= times
            if not known.unknown_size_copies:
                known.tx_count = 0
        self._complete_phase_if_ready(known)

    def arrive(self, actor: int, event: TraceEvent, place: MbarrierLocation, known: MbarrierState) -> None:
        """Arrives synchronously with every thread of an actor."""
        effect = event.effect
        assert isinstance(effect, MbarrierArrive)
        each = event.amount if isinstance(event.amount, int) else None
        self.is_approximate |= each is None
        self._tokens[actor][place] = known.completed_phases
        threads = len(self._thread_classes[actor].tids)
        if effect.expect is None and not effect.drop:
            self.count_arrivals(known, (each or 1) * threads, actor, event, place)
            return
        for _ in range(threads):
            if effect.expect is not None:
                self.expect_tx(known, event, event.expect, 1)
            if effect.drop:
                known.count -= each or 0
            self.count_arrivals(known, each or 1, actor, event, place)

    def count_arrivals(
        self, known: MbarrierState, arrivals: int, actor: int, event: TraceEvent, place: MbarrierLocation
    ) -> None:
        """Counts arrivals, one phase at a time."""
        known.last_update = self.clock
        is_observed = False
        while arrivals > 0:
            if is_observed and known.pending_arrivals == known.count > 0:
                arrivals = self._complete_whole_phases(known, arrivals, event)
                continue
            if known.completed_phases > known.observed_phases:
                is_observed = True
                # A thread that tested the phase may have observed it, and would then have taken another path.
                if (event.step, event.visit) not in self._thread_classes[actor].polled_arrivals:
                    self._record_excess(known, actor, event, place, known.previous_arrivals, unobserved=True)
                known.observed_phases = known.completed_phases
            if known.pending_arrivals == 0:
                self._record_excess(known, actor, event, place, tuple(known.arrivals), unobserved=False)
                return
            some = min(arrivals, known.pending_arrivals) if known.pending_arrivals > 0 else arrivals
            arrivals -= some
            known.pending_arrivals -= some
            known.arrivals.append(event)
            self._complete_phase_if_ready(known)

    def _complete_whole_phases(self, known: MbarrierState, arrivals: int, event: TraceEvent) -> int:
        """Completes all phases that the arrivals of one event fill, and returns the number of remaining arrivals."""
        whole, left = divmod(arrivals, known.count)
        if not whole:
            known.observed_phases = known.completed_phases
            known.pending_arrivals -= left
            known.arrivals.append(event)
            return 0
        known.completed_phases += whole
        known.observed_phases = known.completed_phases - 1
        known.previous_arrivals = (event,)
        self.changed_mbarriers.append(known)
        return left

    def _record_excess(
        self,
        known: MbarrierState,
        actor: int,
        event: TraceEvent,
        place: MbarrierLocation,
        others: tuple[TraceEvent, ...],
        *,
        unobserved: bool,
    ) -> None:
        if self.is_truncated:
            return
        phase, before = known.completed_phases + 1, tuple(dict.fromkeys(others))
        self.excess_arrivals.append(ExcessArrival(actor, event, place, phase, before, unobserved, known.count))

    def _complete_phase_if_ready(self, known: MbarrierState) -> None:
        """Completes the phase when no arrival and no byte is pending."""
        if known.is_complete:
            self.changed_mbarriers.append(known)
            known.completed_phases += 1
            known.pending_arrivals = known.count
            known.previous_arrivals, known.arrivals = tuple(known.arrivals), []
            known.expected_bytes, known.expect_events = 0, []

    def test_wait(
        self, actor: int, effect: MbarrierWait, event: TraceEvent, place: MbarrierLocation, known: MbarrierState
    ) -> bool:
        """Returns the result of a wait; where it is true, the actor observes the phase."""
        seen = self._observed_phases[actor]
        if effect.by == "state":
            passes = known.completed_phases > self._tokens[actor][place]
        elif isinstance(event.amount, int):
            passes = known.completed_phases & 1 != event.amount & 1
        else:
            self.is_approximate = True
            passes = known.completed_phases > seen[place]
        if passes:
            seen[place] = known.completed_phases
            known.observed_phases = max(known.observed_phases, known.completed_phases)
        return passes
