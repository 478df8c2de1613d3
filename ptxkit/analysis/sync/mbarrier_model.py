"""mbarriers as a rehearsal plays them: what their phases wait for, who arrives, and what waits are told.

An object is at a `Place`: the rank of its CTA in the cluster, and where it is in that CTA's shared memory.
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

#: Bytes that an mbarrier may be due at most.
MAX_TX_COUNT = (1 << 20) - 1

#: What made an object: an instruction, the number of its execution, and the warps that execute it.
Initializer: TypeAlias = tuple[Step, int, frozenset[int]]


@dataclass(slots=True)
class MbarrierState:
    """An mbarrier. count: arrivals that a phase needs. pending: those still to come. bytes: those still to come;
    copies of unknown size (`boxes`) bring what is left. phase: phases that are complete. past: those that objects
    at its place began before. observed: the latest that some wait has told of. arrivals: the events that arrived in
    the current phase; last: those of the phase before. expected: the bytes announced in the current phase, by
    `expects`. touched: when it was last arrived at, or told to expect.
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
    """An arrival that its phase has no room for.

    phase: the number of the phase, from 1. others: the arrivals before it. unobserved: the phase began before any
    thread had observed the one before; else all arrivals of the phase were there already.
    """

    thread_class: int
    event: TraceEvent
    location: MbarrierLocation
    phase: int
    earlier_arrivals: tuple[TraceEvent, ...]
    is_unobserved: bool
    count: int


class MbarrierModel:
    """All mbarriers of one rehearsal.

    excess: arrivals that were too many, once where some come together. overfull: announcements after which an object
    was due more bytes than it can count, with these bytes. vague: something could not be played as it is. changed:
    objects that a phase or their life has ended of since somebody looked. now: how many events were played, which says
    what was touched last. is_cut: some actor has come to where its walk was cut short, so that no later arrival is
    surely too many.
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
        """Where objects are still due bytes, or have had some that nobody announced."""
        return [place for place, known in self._mbarriers.items() if known.tx_count and not known.unknown_size_copies]

    def get(self, place: MbarrierLocation) -> MbarrierState | None:
        """The live object at a place."""
        return self._mbarriers.get(place)

    def initialize(self, place: MbarrierLocation, count: Value | None, maker: Initializer | None = None) -> None:
        """Makes an object; lanes of one warp that do so in one execution make it together, once."""
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
        """Ends the life of an object, and what was known of its phases."""
        ended = self._mbarriers.pop(place)
        self.changed_mbarriers.append(ended)
        self._earlier_phases[place] = ended.earlier_phases + ended.completed_phases + bool(ended.arrivals)
        for known in (*self._tokens, *self._observed_phases):
            known.pop(place, None)

    def expect_tx(self, known: MbarrierState, event: TraceEvent, size: Value | None, times: int) -> None:
        """Announces bytes."""
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
        """Starts what will complete bytes."""
        if not isinstance(size, int):
            known.unknown_size_copies += times

    def end_copy(self, known: MbarrierState, size: Value | None, times: int) -> None:
        """Completes bytes; the last of the copies of unknown size, all that are left."""
        if isinstance(size, int):
            known.tx_count -= size * times
        else:
            known.unknown_size_copies -= times
            if not known.unknown_size_copies:
                known.tx_count = 0
        self._complete_phase_if_ready(known)

    def arrive(self, actor: int, event: TraceEvent, place: MbarrierLocation, known: MbarrierState) -> None:
        """Arrives at once, with every thread of an actor."""
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
        """Counts arrivals, those of one phase at a time."""
        known.last_update = self.clock
        told = False
        while arrivals > 0:
            if told and known.pending_arrivals == known.count > 0:
                arrivals = self._complete_whole_phases(known, arrivals, event)
                continue
            if known.completed_phases > known.observed_phases:
                told = True
                # Who has asked may have been told; what it did then is not what this walk does.
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
        """Ends all phases that arrivals of one event fill, however many; the arrivals that are left."""
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
        """Ends the phase when all of it is there."""
        if known.is_complete:
            self.changed_mbarriers.append(known)
            known.completed_phases += 1
            known.pending_arrivals = known.count
            known.previous_arrivals, known.arrivals = tuple(known.arrivals), []
            known.expected_bytes, known.expect_events = 0, []

    def test_wait(
        self, actor: int, effect: MbarrierWait, event: TraceEvent, place: MbarrierLocation, known: MbarrierState
    ) -> bool:
        """Whether a wait answers true; then its phase is observed."""
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
