"""One thread of a kernel with the facts that rules read about it, computed on demand."""

from __future__ import annotations

import copy as copying
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

from ptxkit.analysis.context.access_extents import sample_unlocated
from ptxkit.analysis.ir.budget import AnalysisBudget
from ptxkit.analysis.ir.interval_index import IntervalIndex
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.limits import FIRST_VISITS, LAST_VISITS, MAX_EXECUTION_PAIRS, PAIR_CHECK_COST
from ptxkit.analysis.symexec.access_ranges import (
    access_range,
    is_async_read,
    is_async_write,
    is_generic_read,
    is_outside_shared,
    is_tensor_map_read,
    orders_shared_before_async,
)
from ptxkit.analysis.symexec.trace import OperandViolation, ThreadTrace, TraceEvent, UnknownCall
from ptxkit.analysis.sync.async_groups import AsyncCopy, async_copies_of
from ptxkit.analysis.sync.sync_edges import ReleaseAcquirePoints, release_acquire_points
from ptxkit.analysis.values.symbolic_values import Value
from ptxkit.fast_dataclasses import replace
from ptxkit.isa.effects import Access, MbarrierWait, ProxyFence

#: The one-way fences between proxies: a release orders nothing without the acquire.
_ONE_WAY_DIRECTIONS = ("release", "acquire")

AnalysisT = TypeVar("AnalysisT")

CopiesByStep: TypeAlias = tuple[tuple[Step, list[AsyncCopy]], ...]
"""The asynchronous copies into shared memory, by instruction."""


class PairBudget:
    """Bounds how often a rule examines the same pair of places, and how many pairs it examines in total."""

    def __init__(self, budget: AnalysisBudget) -> None:
        self._counts: dict[Hashable, int] = defaultdict(int)
        self._budget = budget

    def allow(self, key: Hashable) -> bool:
        """Returns whether to examine this pair of places once more."""
        self._counts[key] += 1
        self._budget.pair_checks -= PAIR_CHECK_COST
        return self._counts[key] <= MAX_EXECUTION_PAIRS and not self._budget.is_exhausted


class ThreadView:
    """The trace of a thread with its derived facts."""

    def __init__(self, trace: ThreadTrace, phases_of: Callable[[ThreadTrace], Mapping[int, int]] | None = None) -> None:
        self.trace = trace
        self.tid = trace.tid
        self._phases_of = phases_of
        self._waits_cache: dict[int, Sequence[tuple[int, TraceEvent]]] = {}
        self._reads_by_issuer: dict[int, list[tuple[int, TraceEvent, CopiesByStep]]] = {}
        self._analyses: dict[Callable[[ThreadView], Any], Any] = {}

    def with_violations(self, found: dict[tuple[Step, str], OperandViolation]) -> ThreadView:
        """Returns the thread, with what is derived from its events, in an equal execution with other violations."""
        other = copying.copy(self)
        other.trace = replace(self.trace, operand_violations=found)
        return other

    def analysis(self, kind: Callable[[ThreadView], AnalysisT]) -> AnalysisT:
        """Returns the result of an analysis of the thread's events only, which is computed once."""
        if kind not in self._analyses:
            self._analyses[kind] = kind(self)
        found: AnalysisT = self._analyses[kind]
        return found

    @cached_property
    def release_acquire_points(self) -> ReleaseAcquirePoints:
        """The positions at which the thread releases and acquires."""
        return release_acquire_points(self.trace, self.phases)

    @cached_property
    def phases(self) -> Mapping[int, int]:
        """The mbarrier phase, by position, in which an arrival or a copy counts, or that a wait observes."""
        return {} if self._phases_of is None else self._phases_of(self.trace)

    @cached_property
    def copies(self) -> list[AsyncCopy]:
        """The asynchronous accesses of the thread to shared memory that rules examine."""
        checked = {position for position, _ in self.accesses}
        known = (copy for copy in self.shared_copies if isinstance(copy.event.address, int))
        unsampled = {copy.position for copy in known if copy.position not in checked}
        return [copy for copy in self.shared_copies if copy.position not in unsampled]

    @cached_property
    def shared_copies(self) -> list[AsyncCopy]:
        """All asynchronous accesses of the thread that are not certainly outside shared memory."""
        return [copy for copy in self._copies if not is_outside_shared(copy.event)]

    @cached_property
    def map_reads(self) -> list[AsyncCopy]:
        """The reads of tensor maps by the tensor copies of the thread."""
        return [copy for copy in self._copies if is_tensor_map_read(copy.event)]

    @cached_property
    def map_addresses(self) -> dict[tuple[Step, int], Value | None]:
        """The address of the tensor map of each tensor copy of the thread, by instruction and execution."""
        return {(copy.event.step, copy.event.visit): copy.event.address for copy in self.map_reads}

    @cached_property
    def _copies(self) -> list[AsyncCopy]:
        return async_copies_of(self.trace, self.phases)

    @cached_property
    def accesses(self) -> list[tuple[int, TraceEvent]]:
        """The first and last accesses of each instruction to constant shared memory addresses, with positions."""
        known = [(position, event) for position, event in self.positions(Access) if access_range(event) is not None]
        last = {event.step: event.visit for _, event in known}
        return [(position, event) for position, event in known if _is_sampled(event, last[event.step])]

    @cached_property
    def unlocated(self) -> list[tuple[int, TraceEvent]]:
        """The first and last accesses of each instruction that may be of shared memory, at unknown addresses."""
        return sample_unlocated(self.positions(Access))

    @cached_property
    def access_positions(self) -> dict[tuple[Step, int], int]:
        """The first position among its `accesses` by instruction and visit."""
        return {(event.step, event.visit): position for position, event in reversed(self.accesses)}

    @cached_property
    def copies_by_execution(self) -> dict[tuple[Step, int], list[AsyncCopy]]:
        """The `copies` by instruction and visit."""
        found: dict[tuple[Step, int], list[AsyncCopy]] = defaultdict(list)
        for copy in self.copies:
            found[(copy.event.step, copy.event.visit)].append(copy)
        return found

    @cached_property
    def _fences(self) -> list[int]:
        events = self.trace.events
        return [
            at for at, event in enumerate(events) if isinstance(event, UnknownCall) or orders_shared_before_async(event)
        ]

    @cached_property
    def _one_way_fences(self) -> dict[str, list[int]]:
        fences = {
            direction: [at for at, e in self.positions(ProxyFence) if orders_shared_before_async(e, direction)]
            for direction in _ONE_WAY_DIRECTIONS
        }
        return {direction: sorted(found) for direction, found in fences.items()}

    def may_fence_between(self, since: int, until: int) -> bool:
        """Returns whether a fence between two positions may order shared memory accesses before async ones."""
        first = bisect_left(self._fences, since)
        return first < len(self._fences) and self._fences[first] < until

    def first_fence_since(self, since: int) -> Step | None:
        """Returns the first fence, from `since` on, that orders shared memory accesses before async ones."""
        later = (self.trace.events[at] for at in self._fences if at >= since)
        return next(
            (each.step for each in later if not isinstance(each, UnknownCall) and orders_shared_before_async(each)),
            None,
        )

    def first_one_way_fence(self, direction: str, since: int, until: int) -> int | None:
        """Returns the first one-way fence (`release` or `acquire`) from `since` on and before `until`."""
        fences = self._one_way_fences[direction]
        first = bisect_left(fences, since)
        return fences[first] if first < len(fences) and fences[first] < until else None

    @cached_property
    def reads(self) -> list[tuple[int, TraceEvent]]:
        """The reads of shared memory by the thread, through either proxy."""
        return [(at, event) for at, event in self.accesses if is_generic_read(event) or is_async_read(event)]

    @cached_property
    def reads_by_range(self) -> dict[tuple[int, int], list[tuple[int, TraceEvent]]]:
        """The `reads` by the bytes that they access, since loops repeat the same few ranges."""
        return _by_range(self.reads)

    @cached_property
    def stores_by_range(self) -> dict[tuple[int, int], list[tuple[int, TraceEvent]]]:
        """The synchronous writes of shared memory by the bytes that they access."""
        return _by_range(
            (position, event)
            for position, event in self.accesses
            if isinstance(event.effect, Access) and event.effect.kind != "read" and event.effect.completion is None
        )

    @cached_property
    def copies_by_range(self) -> IntervalIndex[AsyncCopy]:
        """The asynchronous copies of the thread into shared memory, by the bytes that they write."""
        index: IntervalIndex[AsyncCopy] = IntervalIndex()
        for copy in self.copies:
            effect, touched = copy.event.effect, access_range(copy.event)
            if isinstance(effect, Access) and effect.kind != "read" and touched is not None:
                index.add(*touched, copy)
        return index

    def reads_of(self, issuer: ThreadView, budget: AnalysisBudget) -> list[tuple[int, TraceEvent, CopiesByStep]]:
        """Returns the thread's reads of bytes that another thread's copies write, in order, each with these copies."""
        known = self._reads_by_issuer.get(issuer.tid)
        if known is None:
            known = self._reads_by_issuer[issuer.tid] = []
            budget.pair_checks -= len(self.reads_by_range)
            if budget.is_exhausted:
                return known
            for (low, high), reads in self.reads_by_range.items():
                copies = issuer.copies_by_range.overlapping(low, high)
                if copies:
                    by_step: dict[Step, list[AsyncCopy]] = defaultdict(list)
                    for copy in copies:
                        by_step[copy.event.step].append(copy)
                    fills = tuple(by_step.items())
                    known.extend((position, event, fills) for position, event in reads)
            known.sort(key=lambda read: read[0])
        return known

    @cached_property
    def async_writes(self) -> list[tuple[int, TraceEvent]]:
        """The asynchronous writes of the thread to constant addresses of shared memory, with positions."""
        return [(position, event) for position, event in self.accesses if is_async_write(event)]

    @cached_property
    def _by_effect(self) -> dict[type, list[tuple[int, TraceEvent]]]:
        found: dict[type, list[tuple[int, TraceEvent]]] = defaultdict(list)
        for position, event in enumerate(self.trace.events):
            if isinstance(event, TraceEvent):
                found[type(event.effect)].append((position, event))
        return found

    def positions(self, *kinds: type) -> Sequence[tuple[int, TraceEvent]]:
        """Returns the events whose effect is of one of these classes, with positions, class by class."""
        if len(kinds) == 1:
            return self._by_effect.get(kinds[0], ())
        return [item for kind in kinds for item in self._by_effect.get(kind, ())]

    def waits_for(self, barrier: int) -> Sequence[tuple[int, TraceEvent]]:
        """Returns the waits for an mbarrier, or for an unknown one, with positions."""
        found = self._waits_cache.get(barrier)
        if found is None:
            waits = self.positions(MbarrierWait)
            found = [each for each in waits if each[1].address == barrier or not isinstance(each[1].address, int)]
            self._waits_cache[barrier] = found
        return found

    @cached_property
    def first_waits(self) -> dict[int | None, int]:
        """The position from which the first wait on each mbarrier orders; the key None represents unknown addresses."""
        found: dict[int | None, int] = {}
        for key, positions in self.release_acquire_points.acquires.items():
            match key:
                case ("mbarrier", address):
                    place = address if isinstance(address, int) else None
                    found[place] = min(positions[0], found.get(place, positions[0]))
        return found

    def has_observed(self, barrier: int, phase: int, until: int) -> bool:
        """Returns whether the thread itself has observed, before a position, that an mbarrier phase is complete."""
        return self.release_acquire_points.observed_phases(("mbarrier", barrier), until) >= phase


def _by_range(accesses: Iterable[tuple[int, TraceEvent]]) -> dict[tuple[int, int], list[tuple[int, TraceEvent]]]:
    found: dict[tuple[int, int], list[tuple[int, TraceEvent]]] = defaultdict(list)
    for position, event in accesses:
        place = access_range(event)
        if place is not None:
            found[place].append((position, event))
    return found


def _is_sampled(event: TraceEvent, last: int) -> bool:
    return event.visit < FIRST_VISITS or event.visit > last - LAST_VISITS
