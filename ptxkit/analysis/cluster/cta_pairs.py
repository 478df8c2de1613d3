"""Finds accesses of two CTAs of a cluster to the same bytes, and the synchronization from one CTA to the other.

Source: PTX ISA, "Cluster of Cooperative Thread Arrays", "mbarrier.arrive", "mbarrier.test_wait / mbarrier.try_wait",
"barrier.cluster".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

from ptxkit.analysis.cluster.cluster_facts import (
    CLUSTER_BARRIER_KEY,
    cluster_barrier_arrivals,
    count_observed_rounds,
    other_ctas_of,
)
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.ir.interval_index import IntervalIndex
from ptxkit.analysis.ir.shared_window import CTA_BITS
from ptxkit.analysis.limits import MAX_PAIR_ARRIVALS
from ptxkit.analysis.symexec.access_ranges import access_range
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.sync.mbarrier_location import MbarrierLocation, location_of
from ptxkit.analysis.sync.sync_edges import NEVER
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Access, MbarrierArrive, MbarrierWait


@dataclass(frozen=True, slots=True)
class CtaAccess:
    """An access of a thread to shared memory of some CTA of the cluster."""

    thread: ThreadView
    position: int
    event: TraceEvent

    @property
    def is_certain(self) -> bool:
        """Whether some input certainly leads to the access."""
        return self.thread.trace.is_certain(self.position)


@dataclass(frozen=True, slots=True)
class RemoteSyncEdge:
    """An arrival at an mbarrier of another CTA, and the wait in that CTA for the phase in which it counts."""

    arrival: CtaAccess
    wait: CtaAccess


def cta_pairs_of(kernel: KernelFacts, facts: ScenarioFacts) -> Iterator[CtaPair]:
    """Yields the pairs of a CTA and each other explored CTA of its cluster."""
    known = facts.own_analysis(_pairs_from)
    for other in other_ctas_of(kernel.scenarios, facts):
        if not (facts.has_unknown_call or other.has_unknown_call):
            yield known.setdefault(id(other), CtaPair(facts, other))


def _pairs_from(_: ScenarioFacts) -> dict[int, CtaPair]:
    """Returns the pairs of a CTA that were examined, by the identity of the other CTA's facts."""
    return {}


class CtaPair:
    """Two CTAs of a cluster; the accesses of the first one come first."""

    def __init__(self, releaser: ScenarioFacts, acquirer: ScenarioFacts) -> None:
        self.releaser, self.acquirer = releaser, acquirer
        self._arrivals_after: dict[tuple[ThreadView, int], int] = {}
        self._waits_before: dict[tuple[ThreadView, int], int] = {}

    def shared_accesses(
        self, is_wanted: Callable[[TraceEvent], bool] = lambda _: True
    ) -> Iterator[tuple[CtaAccess, CtaAccess]]:
        """Yields the accesses of the first and the second CTA to the same bytes, if one of them is remote.

        The budget limits the number of pairs. is_wanted: selects the accesses of the second CTA.
        """
        budget = self.acquirer.budget
        home, abroad = self.releaser.own_analysis(_accesses_by_owner)
        for place, after in self.acquirer.own_analysis(_accesses_with_ranges):
            if not is_wanted(after.event):
                continue
            is_own = place[0] >> CTA_BITS == self.acquirer.scenario.rank + 1
            for uses in (abroad,) if is_own else (home, abroad):
                for before in uses.overlapping(*place) if uses else ():
                    budget.pair_checks -= 1
                    if budget.is_exhausted:
                        return
                    yield before, after

    @cached_property
    def sync_edges(self) -> list[RemoteSyncEdge]:
        """The arrivals of the first CTA at the mbarriers of the second, each with the waits for its phase."""
        return list(self._find_sync_edges())

    def _find_sync_edges(self) -> Iterator[RemoteSyncEdge]:
        waits: dict[int, list[tuple[CtaAccess, int]]] = defaultdict(list)
        for thread in self.acquirer.threads.values():
            numbers: dict[int, int] = defaultdict(int)
            for at, event in thread.positions(MbarrierWait):
                if isinstance(event.address, int):
                    waits[event.address].append((CtaAccess(thread, at, event), numbers[event.address]))
                    numbers[event.address] += 1
        rank = self.acquirer.scenario.rank
        for thread in self.releaser.threads.values():
            counts: dict[MbarrierLocation, int] = defaultdict(int)
            for at, event in thread.positions(MbarrierArrive):
                place = location_of(self.releaser.scenario.rank, event)
                if place is None or place[0] != rank or _is_asynchronous(event):
                    continue
                counts[place] += 1
                if counts[place] <= MAX_PAIR_ARRIVALS:
                    arrival = CtaAccess(thread, at, event)
                    yield from self._edges_from(arrival, waits[place[1]], ("mbarrier", place[1]))

    def _edges_from(
        self, arrival: CtaAccess, waits: Sequence[tuple[CtaAccess, int]], key: tuple[str, int]
    ) -> Iterator[RemoteSyncEdge]:
        """Yields the first wait of each thread that observes the completion of an arrival's phase.

        waits: the waits, each with its number in its thread.
        """
        marks = arrival.thread.release_acquire_points
        own = ("mbarrier", arrival.event.address)
        at = [p for p, e in arrival.thread.positions(MbarrierArrive) if e.address == arrival.event.address]
        phase = marks.release_phases[own][at.index(arrival.position)]
        seen: set[int] = set()
        for wait, number in waits:
            if wait.thread.tid not in seen and wait.thread.release_acquire_points.acquire_phases[key][number] >= phase:
                seen.add(wait.thread.tid)
                yield RemoteSyncEdge(arrival, wait)

    def is_ordered_by_edge(self, before: CtaAccess, handover: RemoteSyncEdge, after: CtaAccess) -> bool:
        """Returns whether one access precedes the arrival and the other one follows the wait."""
        return _is_ordered(self.releaser, before, handover.arrival) and _is_ordered(self.acquirer, handover.wait, after)

    def first_ordering_edge(self, before: CtaAccess, after: CtaAccess) -> RemoteSyncEdge | None:
        """Returns the first of the `sync_edges` that orders two accesses.

        The arrivals after an access, and the waits before one, are sets of bits, which are found once for each access.
        """
        arrivals, waits = self._arrivals_after, self._waits_before
        first, last = (before.thread, before.position), (after.thread, after.position)
        if first not in arrivals:
            arrivals[first] = _bits(_is_ordered(self.releaser, before, each.arrival) for each in self.sync_edges)
        if last not in waits:
            waits[last] = _bits(_is_ordered(self.acquirer, each.wait, after) for each in self.sync_edges)
        common = arrivals[first] & waits[last]
        return self.sync_edges[(common & -common).bit_length() - 1] if common else None

    def may_be_ordered_by_cluster_barrier(self, before: CtaAccess, after: CtaAccess) -> bool:
        """Returns whether the barrier of the cluster may order one access before the other.

        Some thread must arrive after it has observed the access, and release it: a relaxed arrival without a fence
        releases nothing.
        """
        rounds = count_observed_rounds(self.cta_of(after.thread), after.thread, after.position)
        return rounds > _count_arrivals_before(before) and any(
            self._is_released(before, thread, rounds) for thread in self.cta_of(before.thread).threads.values()
        )

    def _is_released(self, before: CtaAccess, thread: ThreadView, rounds: int) -> bool:
        """Returns whether a thread of the same CTA releases an access with one of its first `rounds` arrivals."""
        releases = thread.release_acquire_points.releases.get(CLUSTER_BARRIER_KEY, [])[:rounds]
        if not releases or thread is before.thread:
            return bool(releases) and releases[-1] > before.position
        return self.cta_of(thread).is_ordered(before.thread, before.position, thread, releases[-1])

    def cta_of(self, thread: ThreadView) -> ScenarioFacts:
        """Returns the one of the two CTAs to which a thread belongs."""
        return self.releaser if self.releaser.threads.get(thread.tid) is thread else self.acquirer

    def is_ordered_by_cluster_barrier(self, before: CtaAccess, after: CtaAccess) -> bool:
        """Returns whether the barrier of the cluster certainly orders one access before the other."""
        acquired = after.thread.release_acquire_points.first_acquire(
            CLUSTER_BARRIER_KEY, _count_arrivals_before(before) + 1
        )
        return acquired is not None and acquired < after.position

    def barrier_positions_around(self, before: CtaAccess) -> tuple[dict[ThreadView, int], dict[ThreadView, int]]:
        """Returns the positions of the next cluster barrier after an access.

        The first mapping has, for each thread of the first CTA, the position of its arrival; the second one has, for
        each thread of the second CTA, the position after its wait.
        """
        number = _count_arrivals_before(before)
        come = {
            t: (*cluster_barrier_arrivals(t), *[NEVER] * (number + 1))[number] for t in self.releaser.threads.values()
        }
        acquired = {
            t: t.release_acquire_points.first_acquire(CLUSTER_BARRIER_KEY, number + 1)
            for t in self.acquirer.threads.values()
        }
        return come, {t: NEVER if at is None else at for t, at in acquired.items()}


def _count_arrivals_before(touch: CtaAccess) -> int:
    """Returns how often a thread has arrived at the barrier of the cluster before an access."""
    return sum(at < touch.position for at in cluster_barrier_arrivals(touch.thread))


def _bits(values: Iterable[bool]) -> int:
    """Returns the number whose bit n is the n-th value."""
    return sum(1 << number for number, value in enumerate(values) if value)


def _is_ordered(facts: ScenarioFacts, first: CtaAccess, second: CtaAccess) -> bool:
    if first.thread is second.thread:
        return first.position < second.position
    return facts.is_ordered(first.thread, first.position, second.thread, second.position)


def _accesses_by_owner(facts: ScenarioFacts) -> tuple[IntervalIndex[CtaAccess], IntervalIndex[CtaAccess]]:
    """Returns the accesses of a CTA's threads to its own memory, and to the memory of others."""
    home: IntervalIndex[CtaAccess] = IntervalIndex()
    abroad: IntervalIndex[CtaAccess] = IntervalIndex()
    for place, touch in facts.own_analysis(_accesses_with_ranges):
        (home if place[0] >> CTA_BITS == facts.scenario.rank + 1 else abroad).add(*place, touch)
    return home, abroad


def _accesses_with_ranges(facts: ScenarioFacts) -> list[tuple[tuple[int, int], CtaAccess]]:
    """Returns (range in the cluster's memory, access) for all accesses to constant addresses."""
    found: list[tuple[tuple[int, int], CtaAccess]] = []
    for thread in facts.threads.values():
        for position, event in thread.accesses:
            touched, effect = access_range(event), event.effect
            if touched is None or not isinstance(effect, Access):
                continue
            named = location_of(facts.scenario.rank, event)
            assert named is not None
            ranks = [named[0]]
            if effect.multicast is not None:
                mask = event.amount if isinstance(event.amount, int) else 0
                ranks = [rank for rank in range(mask.bit_length()) if mask >> rank & 1]
            access = CtaAccess(thread, position, event)
            for rank in ranks:
                low = named[1] | rank + 1 << CTA_BITS
                found.append(((low, low + touched[1] - touched[0]), access))
    return found


def _is_asynchronous(event: TraceEvent) -> bool:
    return isinstance(event.effect, MbarrierArrive) and event.effect.asynchronous
