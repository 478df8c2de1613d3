"""Decides whether anything may order two threads of a CTA: barriers, mbarriers, memory, or convergence of a warp.

`sync_edges` finds the edges that order two threads directly. This module decides the opposite: whether two positions
are certainly *not* ordered. It therefore over-approximates the happens-before relation and treats every uncertainty as
order: chains through third threads, barriers whose rounds cannot be distinguished, flags in memory, and instructions
that the lanes of a warp execute together.

Threads of one warp that take the same path and synchronize identically form one `WarpPath`. Positions are indices into
the events of their group.

Source: PTX ISA, "Causality Order", "Program Order", "bar", "mbarrier".
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Self

from ptxkit.analysis.context.memory_signals import CTA_BARRIER_KEY, MemorySignals
from ptxkit.analysis.context.warp_order import NEVER, WarpOrder
from ptxkit.analysis.context.warp_paths import WarpPath
from ptxkit.analysis.ir.budget import AnalysisBudget
from ptxkit.analysis.ir.shared_window import CTA_BITS
from ptxkit.analysis.limits import PAIR_CHECK_COST
from ptxkit.analysis.symexec.trace import GroupEvent, TraceEvent, UnknownCall
from ptxkit.analysis.sync.sync_edges import NEVER as NOT_AT_ALL
from ptxkit.analysis.sync.sync_edges import barrier_key
from ptxkit.analysis.values.symbolic_values import GroupValue, SymbolicValue
from ptxkit.isa.effects import (
    Barrier,
    MbarrierArrive,
    MbarrierTrack,
    MbarrierWait,
)
from ptxkit.semantics.ordering import sync_operation_of

if TYPE_CHECKING:
    from ptxkit.analysis.context.kernel_facts import ScenarioFacts

#: Synchronization through mbarriers of other CTAs, whose rounds no exploration counts.
_REMOTE_KEY = ("elsewhere", 0)


def key_of_mbarrier(barrier: int | None) -> Hashable:
    """Returns the key of an mbarrier of the CTA, given its offset, or of those of other CTAs."""
    return _REMOTE_KEY if barrier is None else ("mbarrier", barrier)


class HappensBefore:
    """The over-approximated happens-before relation of the threads of some groups.

    volatile_orders: whether volatile accesses to memory release and acquire, as programs from before the memory model
    expect; the manual defines them as relaxed. warps: what orders the lanes of each warp; None for all that may order
    them.
    """

    def __init__(
        self,
        facts: ScenarioFacts,
        budget: AnalysisBudget,
        *,
        volatile_orders: bool = True,
        warps: WarpOrder | None = None,
    ) -> None:
        self._budget = budget
        self._facts = facts
        self._volatile_orders = volatile_orders
        self._threads = facts.scenario.launch.threads
        self._is_single_cta = facts.scenario.launch.cluster_size == 1
        self._warps = facts.warp_order if warps is None else warps
        self.paths = self._warps.paths
        self.path_of = self._warps.path_of
        self.convergence_points_of = self._warps.convergence_points_of
        self.positions_by_execution = self._warps.positions_by_execution
        self.first_concurrent_position = self._warps.first_concurrent_position
        self._propagation_cache: dict[frozenset[tuple[Hashable, int]], dict[WarpPath, int]] = {}
        self._ordered_positions_cache: dict[tuple[WarpPath, int, GroupValue | None], dict[WarpPath, int]] = {}
        self._deciding_positions_cache: dict[WarpPath, list[int]] = {}

    @classmethod
    def of(cls, facts: ScenarioFacts) -> Self:
        """Returns the relation of an execution with the budget of its kernel."""
        return cls(facts, facts.budget)

    @property
    def orders_by_memory(self) -> bool:
        """Whether a strong write of one thread may order what a strong read of another thread precedes."""
        return self._signals.may_order

    def may_precede(self, releaser: WarpPath, since: int, acquirer: WarpPath, until: int) -> bool:
        """Returns whether the releaser's position `since` may be ordered before the acquirer's position `until`."""
        return (
            self.may_converge(releaser, since, acquirer, until)
            or self.first_ordered_position(releaser, since, acquirer) <= until
        )

    def may_converge(self, releaser: WarpPath, since: int, acquirer: WarpPath, until: int) -> bool:
        """Returns whether lanes of one warp may converge between two positions.

        `first_ordered_position` implies this result, but it examines all other warps as well.
        """
        return (
            acquirer is not releaser
            and acquirer.warp == releaser.warp
            and self._warps.ordered_position(releaser, since, acquirer) <= until
        )

    def first_ordered_position(
        self, releaser: WarpPath, since: int, acquirer: WarpPath, barrier: GroupValue | None = None
    ) -> int:
        """Returns the acquiring path's first position that may be ordered after the releasing path's position `since`.

        The result is NEVER where there is no such position. barrier: the mbarrier that signals the completion of the
        operation that the releasing path starts there.
        """
        if barrier is None:
            since = self._deciding_position(releaser, since)
        key = (releaser, since, barrier)
        found = self._ordered_positions_cache.get(key)
        if found is None:
            found = self._ordered_positions_cache[key] = self._ordered_positions(releaser, since, barrier)
        return found.get(acquirer, NEVER)

    def _deciding_position(self, path: WarpPath, since: int) -> int:
        """Returns the next position of the only path of a warp at which it releases: what is before is equal to it."""
        is_sole = len(self._warps.paths_by_warp[path.warp]) == 1
        if since >= NEVER or not is_sole or self._signals.may_release(path):
            return since
        marks = self._deciding_positions_cache.get(path)
        if marks is None:
            released = (at for positions in path.release_acquire_points.releases.values() for at in positions)
            marks = sorted({-1, *released})
            marks.append(marks[-1] + 1)
            self._deciding_positions_cache[path] = marks
        return marks[min(bisect_left(marks, since), len(marks) - 1)]

    def may_observe(self, phases: Mapping[Hashable, int], acquirer: WarpPath, until: int) -> bool:
        """Returns whether a path may know before a position, directly or by other threads, that phases are complete.

        phases: by the key of the barrier, that of an mbarrier of another CTA among them (`key_of_mbarrier`).
        """
        rounds = {key: 0 if key in self._uncountable_barriers else phase for key, phase in phases.items()}
        return self._propagate(rounds).get(acquirer, NEVER) <= until

    def _ordered_positions(self, releaser: WarpPath, since: int, barrier: GroupValue | None) -> dict[WarpPath, int]:
        """Maps each path to its first position that may be ordered after a position of the releasing path."""
        rounds: dict[Hashable, int] = {}
        peers = {
            peer: self._warps.ordered_position(releaser, since, peer)
            for peer in self._warps.paths_by_warp[releaser.warp]
        }
        for peer, there in peers.items():
            self._record_releases(peer, there, rounds)
        if isinstance(barrier, int):
            key = ("mbarrier", barrier)
            event = releaser.group.events[since]
            synchronizing = (
                0
                if key in self._uncountable_barriers
                else releaser.completion_phases.get((key, event.step, event.visit), 0)
            )
            rounds[key] = min(rounds.get(key, NEVER), synchronizing)
        elif barrier is not None:
            rounds[_REMOTE_KEY] = 0
        known = frozenset(rounds.items())
        found = self._propagation_cache.get(known)
        if found is None:
            self._budget.pair_checks -= len(self.paths) * PAIR_CHECK_COST
            found = self._propagation_cache[known] = self._propagate(rounds)
        return found | {
            peer: min(there, found.get(peer, NEVER)) for peer, there in peers.items() if peer is not releaser
        }

    def _propagate(self, rounds: dict[Hashable, int]) -> dict[WarpPath, int]:
        """Computes where each path first acquires the given rounds, directly or through releases of other paths."""
        found: dict[WarpPath, int] = {}
        pending = list(rounds)
        while pending:
            key = pending.pop()
            for acquirer, at in self._acquirers(key, rounds[key]):
                for peer in self._warps.paths_by_warp[acquirer.warp]:
                    there = self._warps.ordered_position(acquirer, at, peer)
                    if there < found.get(peer, NEVER):
                        found[peer] = there
                        pending.extend(self._record_releases(peer, there, rounds))
        return found

    def _record_releases(self, path: WarpPath, since: int, rounds: dict[Hashable, int]) -> list[Hashable]:
        """Records the rounds that a path releases from a position on, and returns the keys whose round changed.

        Threads may continue after a truncated exploration, and a barrier does not wait for exited threads. The round
        after the last one therefore counts as released.
        """
        synchronizing: list[tuple[Hashable, int]] = []
        for key, positions in path.release_acquire_points.releases.items() if since < NEVER else ():
            if key not in self._uncountable_barriers:
                index = bisect_left(positions, since)
                rounds_of = path.release_acquire_points.release_phases.get(key)
                if rounds_of is None:
                    synchronizing.append((key, index + 1))
                else:
                    synchronizing.append((key, rounds_of[index] if index < len(rounds_of) else rounds_of[-1] + 1))
            elif since <= positions[-1] or path.is_truncated:
                synchronizing.append((key, 0))
        if (
            since < NEVER
            and self._has_full_cta_barrier
            and CTA_BARRIER_KEY not in path.release_acquire_points.releases
            and not path.is_truncated
        ):
            synchronizing.append((CTA_BARRIER_KEY, 1))  # the barrier does not wait for exited threads
        written = self._signals.round_of_next_write(path, since)
        if written is not None:
            synchronizing.append((self._memory_key(path), written))
        if path in self._remote_arrivers and since < NEVER:
            synchronizing.append((_REMOTE_KEY, 0))
        news = [key for key, ordinal in synchronizing if ordinal < rounds.get(key, NEVER)]
        rounds.update((key, ordinal) for key, ordinal in synchronizing if ordinal < rounds.get(key, NEVER))
        return news

    def _acquirers(self, key: Hashable, ordinal: int) -> Iterator[tuple[WarpPath, int]]:
        """Yields each path that acquires a round of a barrier, and the position; round 0 represents any round."""
        if isinstance(key, tuple) and key[0] == "memory":
            yield from ((path, at) for path, at in self._signals.reads_after(ordinal) if path is not key[1])
            return
        for path in self.paths:
            at: int | None = None
            if key == _REMOTE_KEY:
                waits = [
                    positions[0]
                    for barrier, positions in path.release_acquire_points.acquires.items()
                    if _is_mbarrier_key(barrier)
                ]
                at = min(waits, default=None)
            else:
                positions = path.release_acquire_points.acquires.get(key, [])
                at = (
                    (path.release_acquire_points.first_acquire(key, ordinal) if ordinal else positions[0])
                    if positions
                    else None
                )
            if at is not None and at < NOT_AT_ALL:
                yield path, at
            elif path.is_truncated and key in path.release_acquire_points.acquires:
                yield path, len(path.group.events)  # it may come to the round after its exploration was cut short

    def _memory_key(self, path: WarpPath) -> Hashable:
        """Returns the key of synchronization through flags that a path sets in memory; no exploration counts rounds.

        What a thread learns from its own strong writes is its program order, so the only thread of a path has a key of
        its own. In a cluster, another CTA may release to it what it has not yet observed at the cluster barrier.
        """
        return ("memory", path if len(path.tids) == 1 and self._is_single_cta else None)

    @cached_property
    def _uncountable_barriers(self) -> frozenset[Hashable]:
        """The barriers where the n-th use by one thread need not correspond to the n-th use by another."""
        found: set[Hashable] = set()
        uses: dict[Hashable, set[int]] = defaultdict(set)
        seen: dict[Hashable, int] = defaultdict(int)
        for path in self.paths:
            for event in path.sync_events:
                if isinstance(event.effect, Barrier) and event.effect.threads is not None:
                    named = barrier_key(event.effect, event, path.tids[0], self._threads)
                    uses[named].add(len(path.release_acquire_points.releases.get(named, ())))
                    if isinstance(event.amount, SymbolicValue) or isinstance(event.size, SymbolicValue):
                        found.add(named)
            for key, phases in path.release_acquire_points.acquire_phases.items():
                seen[key] = max(seen[key], *phases)
                if not path.has_known_phases and not _matches_parity(path, key):
                    found.add(key)
        for path in self.paths:
            for key, positions in path.release_acquire_points.releases.items() if not path.has_known_phases else ():
                if _is_mbarrier_key(key) and len(positions) > seen[key] + 1:
                    found.add(key)  # it may arrive twice in a phase
        found.update(key for key, counts in uses.items() if len(counts) > 1 and not self._is_ordinal(key, uses))
        return frozenset(found)

    def _is_ordinal(self, key: Hashable, used: Iterable[Hashable]) -> bool:
        """Returns whether the n-th use of a barrier is one of its phase n, though some warps use it more often.

        used: the barriers, of which one with several thread counts has several keys.
        """
        match key:
            case ("cta", int() as number, *_):
                same = [each for each in used if isinstance(each, tuple) and each[:2] == key[:2]]
                return len(same) == 1 and self._facts.simulation.is_ordinal(self._facts.scenario.rank, number)
        return False

    @cached_property
    def _has_full_cta_barrier(self) -> bool:
        """Whether any thread uses a barrier of all threads of the CTA."""
        return any(CTA_BARRIER_KEY in path.release_acquire_points.releases for path in self.paths)

    @cached_property
    def _remote_arrivers(self) -> frozenset[WarpPath]:
        """The paths that arrive at unknown mbarriers, or at mbarriers of other CTAs."""
        is_single_cta = self._is_single_cta
        return frozenset(
            path for path in self.paths if any(_may_arrive_remotely(event, is_single_cta) for event in path.sync_events)
        )

    @cached_property
    def _signals(self) -> MemorySignals:
        return MemorySignals(self._facts.program, self.paths, self._volatile_orders, self._end_of_known_rounds)

    def _end_of_known_rounds(self, path: WarpPath) -> int:
        """Returns the position of a path up to which its rounds of the CTA's barrier are those of other threads."""
        return 0 if CTA_BARRIER_KEY in self._uncountable_barriers else self._known_ends.get(path, NEVER)

    @cached_property
    def _known_ends(self) -> dict[WarpPath, int]:
        """The first position of each path from which on its synchronization is not known."""
        return {}


class GuessedOrder(HappensBefore):
    """The happens-before relation of the explored execution, and of all that differ from it after a guess.

    A race is proven only if no such execution orders it. From the first guess of a thread on, or from its first
    operation at an unknown barrier or call of unknown code, the thread may release and acquire at every barrier of the
    CTA.
    """

    @cached_property
    def _known_ends(self) -> dict[WarpPath, int]:
        """The first position of each path from which on its synchronization is not known."""
        ends = ((path, _known_end(path)) for path in self.paths)
        return {path: end for path, end in ends if end is not None}

    @property
    def has_guesses(self) -> bool:
        """Whether the path of some thread, or a barrier or function that it uses, is not known."""
        return bool(self._known_ends)

    def may_act_before(self, second: WarpPath, until: int) -> bool:
        """Returns whether what a thread does after a guess may come before a position of a path."""
        ends = self._known_ends.items()
        return any(end < until if path is second else self.may_precede(path, end, second, until) for path, end in ends)

    def may_act_between(self, first: WarpPath, since: int, second: WarpPath, until: int) -> bool:
        """Returns whether what a thread does after a guess may come between positions of two paths."""
        return any(
            (path is first or self.may_precede(first, since, path, end))
            and (end < until if path is second else self.may_precede(path, end, second, until))
            for path, end in self._known_ends.items()
        )

    def may_converge(self, releaser: WarpPath, since: int, acquirer: WarpPath, until: int) -> bool:
        """Returns whether lanes of one warp may converge between two positions."""
        if acquirer is releaser or acquirer.warp != releaser.warp:
            return False
        is_guessed = any(path.warp == releaser.warp for path in self._known_ends)
        return (
            is_guessed and self._may_converge_after_guess(releaser, since, acquirer, until)
        ) or super().may_converge(releaser, since, acquirer, until)

    def _may_converge_after_guess(self, releaser: WarpPath, since: int, acquirer: WarpPath, until: int) -> bool:
        """Returns whether a lane has a point before a position at which another one may converge after a guess.

        What both have executed before the guesses is not such a point.
        """
        if self._known_ends.get(acquirer, NEVER) < until or until >= len(acquirer.group.events):
            return True
        known = min(since, self._known_ends.get(releaser, NEVER), len(releaser.group.events) - 1)
        start = self.first_concurrent_position(releaser, known, acquirer) if known >= 0 else 0
        return start <= until and self._warps.convergence_points(acquirer.group).may_order_between(start, until)

    def _record_releases(self, path: WarpPath, since: int, rounds: dict[Hashable, int]) -> list[Hashable]:
        changed = super()._record_releases(path, since, rounds)
        end = self._known_ends.get(path)
        if end is None or since >= NEVER:
            return changed
        for key in self._all_keys:
            ordinal = 0
            if key not in self._uncountable_barriers:
                ordinal = bisect_left(path.release_acquire_points.releases.get(key, ()), end) + 1
            if ordinal < rounds.get(key, NEVER):
                rounds[key] = ordinal
                changed.append(key)
        return changed

    def _acquirers(self, key: Hashable, ordinal: int) -> Iterator[tuple[WarpPath, int]]:
        yield from super()._acquirers(key, ordinal)
        yield from self._known_ends.items()

    @cached_property
    def _all_keys(self) -> list[Hashable]:
        """The barriers and mbarriers that some thread uses."""
        points = [path.release_acquire_points for path in self.paths]
        used = dict.fromkeys(key for each in points for marks in (each.releases, each.acquires) for key in marks)
        return [*(key for key in used if not (isinstance(key, tuple) and key[0] == "warp")), _REMOTE_KEY]

    @cached_property
    def _uncountable_barriers(self) -> frozenset[Hashable]:
        mbarriers = (key for key in self._all_keys if _is_mbarrier_key(key)) if self._known_ends else ()
        return super()._uncountable_barriers | {*mbarriers, _REMOTE_KEY}


def _is_mbarrier_key(key: Hashable) -> bool:
    return isinstance(key, tuple) and key[0] == "mbarrier"


def _may_arrive_remotely(event: TraceEvent, is_single_cta: bool) -> bool:
    """Returns whether an arrival may be at an unknown mbarrier, or at one of another CTA.

    alone: whether no other CTA is explored. Then an address in either window that was not mapped to another CTA belongs
    to the thread's own CTA.
    """
    effect = event.effect
    if not isinstance(effect, MbarrierArrive | MbarrierTrack):
        return False
    if not isinstance(event.address, int) or event.address >> CTA_BITS:
        return True
    return getattr(effect, "space", "") == "shared::cluster" and (not is_single_cta or event.ctas is not None)


def _matches_parity(path: WarpPath, key: Hashable) -> bool:
    """Returns whether the parities for which threads wait at an mbarrier agree with the phases counted for it."""
    waits = [e for e in path.sync_events if isinstance(e.effect, MbarrierWait) and ("mbarrier", e.address) == key]
    return all(
        isinstance(event.amount, int) and (phase - 1) & 1 == event.amount & 1
        for event, phase in zip(waits, path.release_acquire_points.acquire_phases[key], strict=True)
    )


def _known_end(path: WarpPath) -> int | None:
    """Returns the position of the first event of a path that a guess decides, or of its first unknown operation."""
    guess = path.group.first_guess
    lane = path.group.tids.index(path.tids[0])
    for position, event in enumerate(path.group.events[:guess]):
        if isinstance(event, UnknownCall):
            return position
        if sync_operation_of(event.effect) is None:
            continue
        own = event.for_thread(lane) if isinstance(event, GroupEvent) else event
        if own is not None and _is_at_unknown_barrier(own):
            return position
    return guess


def _is_at_unknown_barrier(event: TraceEvent) -> bool:
    if isinstance(event.effect, Barrier):
        parts = (event.amount, event.size) if event.effect.level == "cta" else ()
        return any(isinstance(part, SymbolicValue) for part in parts)
    return not isinstance(event.address, int)
