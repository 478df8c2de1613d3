"""Models mbarriers in a simulated schedule: the counts of their phases, arrivals, and the results of waits.

An `MbarrierLocation` identifies an mbarrier by the rank of its CTA in the cluster and its offset in that CTA's shared
memory.

Source: PTX ISA, "Phases of the mbarrier object", "Tracking asynchronous operations by the mbarrier object",
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
from ptxkit.semantics.mbarrier_state import MbarrierOutcome, MbarrierState

#: The initialization of an mbarrier: the instruction, the number of its execution, and the warps that execute it.
Initializer: TypeAlias = tuple[Step, int, frozenset[int]]
BoxEquation: TypeAlias = tuple[tuple[tuple[Step, int], ...], int]
"""Copies by tensor maps, each with the number of times, and the bytes that all of them transfer together."""


@dataclass(slots=True)
class SimulatedMbarrier:
    """An mbarrier, and the events that led to its state.

    earlier_phases: the number of phases that earlier mbarriers at its location began. arrivals: the arrivals in the
    current phase. previous_arrivals: the arrivals in the phase before. expect_events: the events that added expected
    bytes in the current phase. last_update: the time of its last arrival or expect-tx. boxes: the copies of unknown
    size in the current phase. box_bytes: the bytes that are expected of these.
    """

    state: MbarrierState
    location: MbarrierLocation
    earlier_phases: int = 0
    arrivals: list[TraceEvent] = field(default_factory=list)
    previous_arrivals: tuple[TraceEvent, ...] = ()
    expect_events: list[TraceEvent] = field(default_factory=list)
    last_update: int = 0
    initializer: Initializer | None = None
    boxes: Counter[Step] = field(default_factory=Counter)
    box_bytes: int = 0


@dataclass(frozen=True, slots=True)
class ExcessArrival:
    """An arrival that exceeds the count of its phase.

    phase: the number of the phase, from 1. earlier_arrivals: the arrivals before it. is_unobserved: whether the phase
    began before any thread had observed the previous one; otherwise all arrivals of the phase had already occurred.
    clock: the number of events that were simulated before it.
    """

    event: TraceEvent
    location: MbarrierLocation
    phase: int
    earlier_arrivals: tuple[TraceEvent, ...]
    is_unobserved: bool
    count: int
    clock: int = 0


class MbarrierModel:
    """All mbarriers of one simulated schedule.

    `box_equations` holds the copies of unknown size, with the bytes expected of them, of each kind of phase that was
    completed. `excess_arrivals` holds the arrivals that exceed the count of a phase; of simultaneous ones, only one.
    `tx_overflows` holds the first expect-tx after which a tx-count exceeded its range, with that count.
    `is_approximate` is set where something could not be simulated exactly. `changed_mbarriers` holds the mbarriers that
    completed a phase or were invalidated since it was last read. `clock` is the number of simulated events, which
    orders updates. `is_truncated` is set where an actor has reached the end of a truncated exploration, after which no
    arrival is certainly in excess. `live` holds the valid mbarriers.
    """

    def __init__(self, actors: Sequence[ThreadClass]) -> None:
        self._thread_classes = actors
        self.live: dict[MbarrierLocation, SimulatedMbarrier] = {}
        self._earlier_phases: Counter[MbarrierLocation] = Counter()
        self._observed_phases: list[dict[MbarrierLocation, int]] = [{} for _ in actors]
        self._tokens: list[dict[tuple[MbarrierLocation, Value | None], int]] = [{} for _ in actors]
        self.excess_arrivals: list[ExcessArrival] = []
        self.tx_overflows: list[tuple[TraceEvent, int]] = []
        self.box_equations: dict[BoxEquation, None] = {}
        self.is_approximate = False
        self.changed_mbarriers: list[SimulatedMbarrier] = []
        self.clock = 0
        self.is_truncated = False

    def unbalanced_locations(self) -> list[MbarrierLocation]:
        """Returns the mbarriers whose tx-count is not zero: bytes are missing, or arrived without an expect-tx."""
        states = ((place, known.state) for place, known in self.live.items())
        return [place for place, state in states if state.tx_count and not state.unsized_copies]

    def initialize(self, place: MbarrierLocation, count: Value | None, maker: Initializer | None = None) -> None:
        """Initializes an mbarrier. Lanes of one warp that execute the same initialization do so only once."""
        known = self.live.get(place)
        if known is not None:
            if maker is not None and known.initializer == maker:
                return
            self.invalidate(place)
        needed = count if isinstance(count, int) else 0
        self.is_approximate |= not needed
        self.live[place] = SimulatedMbarrier(
            MbarrierState(needed), place, earlier_phases=self._earlier_phases[place], initializer=maker
        )

    def invalidate(self, place: MbarrierLocation) -> None:
        """Invalidates an mbarrier, and discards what threads observed of its phases."""
        ended = self.live.pop(place)
        self.changed_mbarriers.append(ended)
        self._earlier_phases[place] = ended.earlier_phases + ended.state.completed_phases + bool(ended.arrivals)
        for known in self._observed_phases:
            known.pop(place, None)
        for tokens in self._tokens:
            for key in [key for key in tokens if key[0] == place]:
                del tokens[key]

    def expect_tx(self, known: SimulatedMbarrier, event: TraceEvent, size: Value | None, times: int) -> None:
        """Adds expected bytes to the tx-count.

        The addition completes no phase, because copies that were issued earlier are deferred.
        """
        known.last_update = self.clock
        known.expect_events.append(event)
        if not isinstance(size, int):
            self.is_approximate = True
            return
        known.box_bytes += size * times
        outcome = known.state.expect_tx(size * times, may_complete=False)
        due = known.state.tx_count
        if outcome is MbarrierOutcome.TX_COUNT_OVERFLOW and due > 0 and not self.tx_overflows:
            self.tx_overflows.append((event, due))

    def begin_copy(self, known: SimulatedMbarrier, event: TraceEvent, times: int) -> None:
        """Starts a copy that completes bytes on the mbarrier."""
        if isinstance(event.size, int):
            known.box_bytes -= event.size * times
        else:
            known.boxes[event.step] += times
            known.state.begin_unsized_copies(times)

    def end_copy(self, known: SimulatedMbarrier, size: Value | None, times: int) -> None:
        """Completes the bytes of a copy."""
        state = known.state
        self._note_outcome(
            known, state.complete_tx(size * times) if isinstance(size, int) else state.end_unsized_copies(times)
        )

    def arrive(self, actor: int, event: TraceEvent, place: MbarrierLocation, known: SimulatedMbarrier) -> None:
        """Arrives synchronously with every thread of an actor."""
        effect = event.effect
        assert isinstance(effect, MbarrierArrive)
        each = event.amount if isinstance(event.amount, int) else None
        self.is_approximate |= each is None
        self._tokens[actor][(place, event.size)] = known.state.completed_phases
        threads = len(self._thread_classes[actor].tids)
        if effect.expect is None and not effect.drop:
            self.count_arrivals(known, (each or 1) * threads, actor, event, place)
            return
        for _ in range(threads):
            if effect.expect is not None:
                self.expect_tx(known, event, event.expect, 1)
            if effect.drop:
                known.state.drop(each or 0)
            self.count_arrivals(known, each or 1, actor, event, place)

    def count_arrivals(
        self, known: SimulatedMbarrier, arrivals: int, actor: int, event: TraceEvent, place: MbarrierLocation
    ) -> None:
        """Counts arrivals, one phase at a time. Only the first phase that no thread has observed is in excess."""
        known.last_update = self.clock
        state, is_observed = known.state, False
        while arrivals > 0:
            whole = state.complete_phases(arrivals) if is_observed else 0
            if whole:
                arrivals -= whole * state.count
                known.previous_arrivals = (event,)
                self.changed_mbarriers.append(known)
                continue
            some = min(arrivals, state.pending_arrivals) or arrivals
            outcome = state.arrive(some)
            if outcome is MbarrierOutcome.UNOBSERVED_PHASE:
                # A thread that tested the phase may have observed it, and would then have taken another path.
                if not is_observed and (event.step, event.visit) not in self._thread_classes[actor].polled_arrivals:
                    self._record_excess(known, event, place, known.previous_arrivals, unobserved=True)
                is_observed = True
                state.observe()
                continue
            if outcome is MbarrierOutcome.EXCESS_ARRIVALS:
                self._record_excess(known, event, place, tuple(known.arrivals), unobserved=False)
                return
            arrivals -= some
            known.arrivals.append(event)
            self._note_outcome(known, outcome)

    def _record_excess(
        self,
        known: SimulatedMbarrier,
        event: TraceEvent,
        place: MbarrierLocation,
        others: tuple[TraceEvent, ...],
        *,
        unobserved: bool,
    ) -> None:
        if self.is_truncated:
            return
        phase, before = known.state.completed_phases + 1, tuple(dict.fromkeys(others))
        count = known.state.count
        self.excess_arrivals.append(ExcessArrival(event, place, phase, before, unobserved, count, self.clock))

    def _note_outcome(self, known: SimulatedMbarrier, outcome: MbarrierOutcome) -> None:
        """Starts the records of the next phase where an operation completed one."""
        if outcome is MbarrierOutcome.PHASE_COMPLETE:
            self.changed_mbarriers.append(known)
            known.previous_arrivals, known.arrivals = tuple(known.arrivals), []
            known.expect_events = []
            if known.boxes:
                self.box_equations[tuple(known.boxes.items()), known.box_bytes] = None
                known.boxes = Counter()
            known.box_bytes = 0

    def test_wait(
        self, actor: int, effect: MbarrierWait, event: TraceEvent, place: MbarrierLocation, known: SimulatedMbarrier
    ) -> bool:
        """Returns the result of a wait; where it is true, the actor observes the phase."""
        seen, state = self._observed_phases[actor], known.state
        if effect.by == "state" and (place, event.amount) in self._tokens[actor]:
            passes = state.is_phase_complete(self._tokens[actor][(place, event.amount)])
        elif effect.by == "parity" and isinstance(event.amount, int):
            passes = state.is_parity_complete(event.amount)
        else:
            self.is_approximate = True
            passes = state.is_phase_complete(seen.get(place, 0))
        if passes:
            seen[place] = state.completed_phases
            state.observe()
        return passes
