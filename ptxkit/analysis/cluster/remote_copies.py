"""Finds copies of one CTA of a cluster into the shared memory of another, and reads there that do not observe them.

Only a CTA's own threads can wait on its mbarriers. A thread that reads without such a wait is therefore unordered with
the copy, unless the copying CTA was synchronized with the reading one first: by the barrier of the cluster, by a
signal, or through memory.

Source: PTX ISA, "Cluster of Cooperative Thread Arrays", "st.async", "Async Proxy", "Completion Mechanisms for
Asynchronous Copy Operations".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

from ptxkit.analysis.cluster.cluster_facts import (
    CLUSTER_BARRIER_KEY,
    SIGNAL_EFFECTS,
    RemoteAccess,
    cluster_barrier_arrivals,
    find_multicast_arrivals,
    find_remote_accesses,
    find_signaled_mbarriers,
    has_observed_signal,
    may_poll_memory,
    other_ctas_of,
    signal_observations,
)
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.thread_view import PairBudget, ThreadView
from ptxkit.analysis.symexec.trace import TraceEvent, UnknownCall
from ptxkit.analysis.sync.mbarrier_location import location_at
from ptxkit.analysis.sync.sync_edges import NEVER
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Access, MbarrierComplete, MbarrierWait
from ptxkit.syntax.constants import WARP_SIZE

#: A CTA, one of its threads, and a position in the trace of the thread.
CtaPosition: TypeAlias = tuple[ScenarioFacts, ThreadView, int]


@dataclass(frozen=True, slots=True)
class RemoteCopy:
    """A copy into another CTA.

    source, issuer, position, event: the copying CTA, its thread, and the copy in its trace. low, high: the range `[low,
    high)` of the receiver that it writes. mbarrier, phase: the receiver's mbarrier on which it completes, and the phase
    in which it counts.
    """

    source: ScenarioFacts
    issuer: ThreadView
    position: int
    event: TraceEvent
    low: int
    high: int
    mbarrier: int
    phase: int


@dataclass(frozen=True, slots=True)
class RemoteRead:
    """A read of bytes that another CTA copies, or a store to them.

    is_observed: whether its thread has observed that the copy is complete; None where the part of an execution that
    the budget cut off may order the two. is_certain: whether some input certainly leads to both.
    """

    copy: RemoteCopy
    event: TraceEvent
    is_observed: bool | None
    is_certain: bool


#: The accesses of a thread to bytes that a copy writes, with positions, in program order.
UsesOfCopy: TypeAlias = Callable[[ThreadView, RemoteCopy], Sequence[tuple[int, TraceEvent]]]


def find_remote_reads(kernel: KernelFacts, facts: ScenarioFacts) -> Iterator[RemoteRead]:
    """Yields the reads of the bytes that other CTAs copy into this one, where the order is known.

    A few executions of each pair of instructions are examined. A kernel that may poll memory is omitted, because a flag
    may order the two.
    """
    return _find_uses(kernel, facts, reads_of_copy)


def find_remote_overwrites(kernel: KernelFacts, facts: ScenarioFacts) -> Iterator[TraceEvent]:
    """Yields the stores of a CTA to bytes that other CTAs copy into it, where nothing orders the two."""
    return (each.event for each in _find_uses(kernel, facts, _stores_of_copy) if each.is_observed is False)


def _find_uses(kernel: KernelFacts, facts: ScenarioFacts, uses_of: UsesOfCopy) -> Iterator[RemoteRead]:
    if facts.scenario.launch.cluster_size <= 1 or may_poll_memory(kernel.program):
        return
    pair_budget, departures = PairBudget(facts.budget), OutgoingSignals(facts)
    signals: frozenset[int] | None = None
    for copy in find_remote_copies(kernel.scenarios, facts):
        signals = find_signaled_mbarriers(kernel.scenarios) if signals is None else signals
        for reader in facts.threads.values():
            for position, event in uses_of(reader, copy):
                if not pair_budget.allow((event.step, copy.event.step)):
                    continue
                is_observed = is_completion_observed(facts, reader, position, copy, signals, departures)
                if is_observed is None:
                    continue
                # A wait that no execution contains, or that a guess leads to, may be the one that observes the copy.
                is_certain = (
                    copy.issuer.trace.is_certain(copy.position)
                    and reader.trace.is_certain(position)
                    and facts.is_exhaustive_for(MbarrierWait)
                )
                is_cut = not is_observed and facts.may_acquire_from_truncated(reader, position)
                yield RemoteRead(copy, event, None if is_cut else is_observed, is_certain)


def find_remote_refills(kernel: KernelFacts, facts: ScenarioFacts) -> Iterator[TraceEvent]:
    """Yields the reads of a CTA whose bytes a later copy of another CTA may overwrite before they are read.

    The reader has observed an earlier phase of the mbarrier of the copy, and the copying CTA has not observed that the
    reader has passed the read. A kernel that may poll memory is omitted.
    """
    if facts.scenario.launch.cluster_size <= 1 or may_poll_memory(kernel.program):
        return
    pair_budget, departures = PairBudget(facts.budget), OutgoingSignals(facts)
    for copy in find_remote_copies(kernel.scenarios, facts):
        number = _latest_phase_of(copy.source, copy.issuer, copy.position) or 0
        for reader in facts.threads.values() if number > 1 else ():
            points, key = reader.release_acquire_points, ("mbarrier", copy.mbarrier)
            for position, event in reads_of_copy(reader, copy) if key in points.acquires else ():
                if (
                    0 < points.observed_phases(key, position) < number
                    and pair_budget.allow((event.step, copy.event.step))
                    and not departures.may_be_observed(reader, position, (copy.source, copy.issuer, copy.position))
                ):
                    yield event


def find_remote_copies(scenarios: Sequence[ScenarioFacts], facts: ScenarioFacts) -> Iterator[RemoteCopy]:
    """Yields the copies of other explored CTAs into this one whose phases are known."""
    rank = facts.scenario.rank
    for source in other_ctas_of(scenarios, facts):
        for issuer in source.threads.values():
            for position, event in issuer.positions(Access):
                effect = event.effect
                if isinstance(effect, Access) and effect.completion == "mbarrier" and effect.kind != "read":
                    to = location_at(source.scenario.rank, event.address)
                    at = location_at(source.scenario.rank, event.barrier)
                    phase = _phase_of(issuer, position)
                    if to is None or at is None or phase is None or not isinstance(event.size, int):
                        continue
                    if effect.multicast is not None:
                        # The phase is that of the copying CTA; one that observes no phase here has not waited at all.
                        phase = 1
                        is_received = _is_multicast_to(event, rank)
                    else:
                        is_received = to[0] == at[0] == rank
                    if is_received:
                        yield RemoteCopy(source, issuer, position, event, to[1], to[1] + event.size, at[1], phase)


def _is_multicast_to(event: TraceEvent, rank: int) -> bool:
    """Returns whether a copy to several CTAs certainly fills the memory of a CTA and completes on its own mbarrier."""
    is_paired = any(isinstance(effect, MbarrierComplete) and effect.paired for effect in event.step.effects)
    return not is_paired and isinstance(event.amount, int) and bool(event.amount >> rank & 1)


def _phase_of(issuer: ThreadView, position: int) -> int | None:
    """Returns the phase in which a copy completes; None where it is unknown."""
    at = _completion_of(issuer, position)
    return None if at is None else issuer.phases.get(at)


def _latest_phase_of(facts: ScenarioFacts, thread: ThreadView, position: int) -> int | None:
    """Returns the latest phase in which a copy or a signal of a thread may count; None where it is unknown."""
    event = thread.trace.events[position]
    is_access = isinstance(event, TraceEvent) and isinstance(event.effect, Access)
    at = _completion_of(thread, position) if is_access else position
    return None if at is None else facts.simulation.latest_phase_of(facts.scenario.rank, thread.trace, at)


def _completion_of(issuer: ThreadView, position: int) -> int | None:
    """Returns the position of the operation by which a copy signals its mbarrier; None where it is unknown."""
    events = issuer.trace.events
    copy = events[position]
    for at in range(position + 1, len(events)):
        event = events[at]
        if isinstance(event, UnknownCall) or (event.step, event.visit) != (copy.step, copy.visit):
            return None
        if isinstance(event.effect, MbarrierComplete):
            return at
    return None


class OutgoingSignals:
    """The remote accesses by which threads of one CTA may signal other CTAs."""

    def __init__(self, facts: ScenarioFacts) -> None:
        self._facts = facts
        self._cache: dict[tuple[ThreadView, int], bool] = {}
        self._phases: dict[tuple[ThreadView, int], int | None] = {}

    @cached_property
    def _signals(self) -> list[list[RemoteAccess]]:
        """The signals of each thread at each mbarrier of another CTA, in order."""
        found: dict[tuple[ThreadView, int, int], list[RemoteAccess]] = defaultdict(list)
        for each in (*self._remote_accesses, *find_multicast_arrivals(self._facts)):
            if each.mbarrier is not None:
                found[each.thread, each.rank, each.mbarrier].append(each)
        return [sorted(each, key=lambda signal: signal.position) for each in found.values()]

    def _phase_of(self, signal: RemoteAccess) -> int | None:
        key = signal.thread, signal.position
        if key not in self._phases:
            self._phases[key] = _latest_phase_of(self._facts, *key)
        return self._phases[key]

    @cached_property
    def _remote_accesses(self) -> list[RemoteAccess]:
        return list(find_remote_accesses(self._facts))

    def may_signal_after(self, reader: ThreadView, position: int) -> bool:
        """Returns whether another CTA may learn that a thread has passed a position, by a later remote access."""
        known = self._cache.get((reader, position))
        if known is None:
            known = self._cache[(reader, position)] = any(
                self._is_possibly_after(reader, position, each) for each in self._remote_accesses
            )
        return known

    def may_be_observed(self, reader: ThreadView, position: int, place: CtaPosition) -> bool:
        """Returns whether a thread of another CTA may have observed, at a position, that a thread has passed another.

        Signals of known phases are followed from this CTA to the other one; whatever is unknown may be one.
        """
        source, issuer, until = place
        rounds = sum(at < position for at in cluster_barrier_arrivals(reader))
        if self._signals_unknown_mbarriers or _may_observe_cluster_phase(source, rounds + 1, issuer, until):
            return True
        for signals in self._signals:
            number = next(
                (n for n, each in enumerate(signals) if self._is_possibly_after(reader, position, each)), None
            )
            if number is not None and (
                signals[0].rank != source.scenario.rank or self._may_be_signaled(signals, number, place)
            ):
                return True
        return False

    def _may_be_signaled(self, signals: list[RemoteAccess], number: int, place: CtaPosition) -> bool:
        """Returns whether a thread has observed before a position the phase of a signal, in all schedules.

        signals: those of a thread at an mbarrier, in order: where the phase of one is unknown, it is at least that of
        an earlier one.
        """
        reach = signals[number]
        phase = next(
            (known for at in range(number, -1, -1) if (known := self._phase_of(signals[at])) is not None), None
        )
        if phase is None:
            return True
        source, issuer, until = place
        for thread in source.threads.values():
            observed = thread.release_acquire_points.first_acquire(("mbarrier", reach.mbarrier), phase)
            if observed is not None and (
                observed < until if thread is issuer else source.is_ordered(thread, observed, issuer, until)
            ):
                return True
        return False

    @cached_property
    def _signals_unknown_mbarriers(self) -> bool:
        return any(
            not isinstance(event.address, int)
            for thread in self._facts.threads.values()
            for _, event in thread.positions(*SIGNAL_EFFECTS)
        )

    def _is_possibly_after(self, reader: ThreadView, position: int, reach: RemoteAccess) -> bool:
        """Returns whether a remote access may follow a position of a thread.

        Accesses of the thread's warp may follow that are later in its own trace, or at later places in the text,
        because there are many points at which lanes converge without order.
        """
        if reach.thread is reader:
            return reach.position > position
        if reach.thread.tid // WARP_SIZE == reader.tid // WARP_SIZE:
            read, event = reader.trace.events[position], reach.event
            own = self._facts.happens_before.positions_by_execution(
                self._facts.happens_before.path_of(reader.tid).group
            )
            same = own.get((event.step, event.visit))
            if same is not None:
                return same >= position
            if event.step.index >= read.step.index or event.visit > read.visit:
                return True
        return self._facts.is_ordered(reader, position, reach.thread, reach.position)


def is_completion_observed(
    facts: ScenarioFacts,
    reader: ThreadView,
    position: int,
    copy: RemoteCopy,
    signals: frozenset[int],
    departures: OutgoingSignals,
) -> bool | None:
    """Returns whether a thread of the receiving CTA has observed at a position of its trace that a copy is complete.

    The result is None where this is unknown, or where the copy may start later. signals: the mbarriers that CTAs signal
    in one another. departures: the signals of the receiving CTA.
    """
    key = ("mbarrier", copy.mbarrier)
    if reader.has_observed(copy.mbarrier, copy.phase, position):
        return True
    if reader.has_observed(copy.mbarrier, 1, position):
        return None
    if _has_waiter(facts, copy) and has_observed_signal(reader, position, signals - {copy.mbarrier}):
        return None
    if _may_start_after(departures, reader, position, copy, signals):
        return None
    for thread in facts.threads.values():
        waited = thread.release_acquire_points.first_acquire(key, copy.phase)
        if thread is reader or waited is None or waited == NEVER:
            continue
        if thread.trace.leader is not None and thread.trace.leader == reader.trace.leader:
            continue  # threads that take the reader's path have not waited earlier than the reader
        is_of_warp = thread.tid // WARP_SIZE == reader.tid // WARP_SIZE
        if is_of_warp or facts.is_ordered(thread, waited, reader, position):
            return True
    return False


def _has_waiter(facts: ScenarioFacts, copy: RemoteCopy) -> bool:
    """Returns whether any thread of the receiving CTA may wait for the phase of a copy.

    If none exists, no thread observes its completion.
    """
    for thread in facts.threads.values():
        for key in thread.release_acquire_points.acquires:
            match key:
                case ("mbarrier", address) if not isinstance(address, int):
                    return True
                case ("mbarrier", address) if address == copy.mbarrier:
                    if thread.release_acquire_points.first_acquire(key, copy.phase) not in (None, NEVER):
                        return True
    return False


def _may_start_after(
    departures: OutgoingSignals, reader: ThreadView, position: int, copy: RemoteCopy, signals: frozenset[int]
) -> bool:
    """Returns whether the copying CTA may have observed that a thread of the receiving CTA has passed a position."""
    source, issuer = copy.source, copy.issuer
    goes_out = departures.may_signal_after(reader, position)
    if goes_out and has_observed_signal(issuer, copy.position, signals):
        return True
    for thread in source.threads.values() if goes_out else ():
        observed = min(signal_observations(thread, signals), default=None) if thread is not issuer else None
        if observed is not None and source.is_ordered(thread, observed, issuer, copy.position):
            return True
    rounds = sum(at < position for at in cluster_barrier_arrivals(reader))
    return _may_observe_cluster_phase(source, rounds + 1, issuer, copy.position)


def _may_observe_cluster_phase(facts: ScenarioFacts, ordinal: int, thread: ThreadView, position: int) -> bool:
    """Returns whether a round of the cluster's barrier may be complete before a position of a thread."""
    for other in facts.threads.values():
        acquires = other.release_acquire_points.acquires.get(CLUSTER_BARRIER_KEY, [])
        if len(acquires) >= ordinal:
            at = acquires[ordinal - 1]
            if at < position if other is thread else facts.is_ordered(other, at, thread, position):
                return True
    return False


def reads_of_copy(reader: ThreadView, copy: RemoteCopy) -> Sequence[tuple[int, TraceEvent]]:
    """Returns the reads of bytes that a copy writes, with positions, in program order."""
    return _overlapping(reader.reads_by_range, copy)


def _stores_of_copy(writer: ThreadView, copy: RemoteCopy) -> Sequence[tuple[int, TraceEvent]]:
    """Returns the synchronous stores to bytes that a copy writes, with positions, in program order."""
    return _overlapping(writer.stores_by_range, copy)


def _overlapping(
    places: Mapping[tuple[int, int], list[tuple[int, TraceEvent]]], copy: RemoteCopy
) -> Sequence[tuple[int, TraceEvent]]:
    met = [found for (low, high), found in places.items() if low < copy.high and copy.low < high]
    return met[0] if len(met) == 1 else sorted((each for found in met for each in found), key=lambda each: each[0])
