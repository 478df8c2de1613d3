"""Finds the edges that order two threads of a CTA: barriers, warp barriers and mbarriers, by the count of their uses.

The n-th use of a barrier by one thread corresponds to the n-th use of the same barrier by another thread. For an
mbarrier, a simulated schedule determines the phase in which an arrival counts and the phase that a wait observes.
Without a schedule, the n-th arrival of a thread belongs to phase n, and a wait observes the phase after the last one
that the thread observed. A relaxed operation orders only the accesses before a fence that precedes an arrival, or after
a fence that follows a wait.

Whether an edge orders two positions is a comparison of integers: all positions of a thread between two of its releases
have the same first position of another thread from which on an edge orders them, which is computed once.

Source: PTX ISA, "Causality Order", "bar", "mbarrier", "Phases of the mbarrier object".
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from itertools import accumulate

from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.trace import ThreadTrace, TraceEvent, UnknownCall
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.isa.effects import Barrier, Effect, MbarrierWait, MemoryFence, ProxyFence
from ptxkit.semantics.ordering import (
    ACQUIRE_ORDERS,
    RELEASE_ORDERS,
    SYNC_EFFECTS,
    is_fence,
    is_warp_barrier,
    sync_operation_of,
)
from ptxkit.syntax.constants import WARP_SIZE

#: The mask that names all lanes of a warp.
FULL_MASK = (1 << WARP_SIZE) - 1

#: The classes of effects that may order threads, or make other operations order them: most events are accesses.
_ORDERING = SYNC_EFFECTS | {MemoryFence, ProxyFence}

#: A position after the end of every trace: the acquire position of a relaxed wait that no fence follows.
NEVER = 1 << 40

#: A position after all others, `NEVER` among them: where no edge orders anything.
UNORDERED = 1 << 63


@dataclass(slots=True, eq=False)
class ReleaseAcquirePoints:
    """The positions in a thread's trace at which it releases and acquires, by barrier, in order.

    For an mbarrier, `acquire_phases` holds the phase that each acquire observes, and `release_phases` the phase in
    which each release counts. The positions are complete before the first question about them.
    """

    releases: dict[Hashable, list[int]] = field(default_factory=lambda: defaultdict(list))
    acquires: dict[Hashable, list[int]] = field(default_factory=lambda: defaultdict(list))
    acquire_phases: dict[Hashable, list[int]] = field(default_factory=lambda: defaultdict(list))
    release_phases: dict[Hashable, list[int]] = field(default_factory=lambda: defaultdict(list))
    _highest_phases: dict[Hashable, list[int]] = field(default_factory=dict)
    _all_releases: list[int] | None = None
    _ordered_from: dict[tuple[int, ReleaseAcquirePoints], int] = field(default_factory=dict)

    def first_ordered_position(self, since: int, acquirer: ReleaseAcquirePoints) -> int:
        """Returns the position of another thread after which an edge orders all its events after `since`.

        The result is UNORDERED where no edge does.
        """
        if self._all_releases is None:
            self._all_releases = sorted({at for positions in self.releases.values() for at in positions})
        following = bisect_left(self._all_releases, since)
        if following == len(self._all_releases):
            return UNORDERED
        found = self._ordered_from.get((following, acquirer))
        if found is None:
            found = self._ordered_from[following, acquirer] = self._find_ordered_position(since, acquirer)
        return found

    def _find_ordered_position(self, since: int, acquirer: ReleaseAcquirePoints) -> int:
        earliest = UNORDERED
        for key, positions in self.releases.items():
            first = bisect_left(positions, since)
            if first < len(positions) and key in acquirer.acquires:
                rounds = self.release_phases.get(key)
                acquired = acquirer.first_acquire(key, rounds[first] if rounds else first + 1)
                if acquired is not None and acquired < earliest:
                    earliest = acquired
        return earliest

    def _highest_phases_of(self, key: Hashable) -> list[int] | None:
        """Returns the highest phase that each acquire of a barrier and the ones before it observe."""
        phases = self.acquire_phases.get(key)
        if phases is None:
            return None
        found = self._highest_phases.get(key)
        if found is None or len(found) != len(phases):
            found = self._highest_phases[key] = list(accumulate(phases, max))
        return found

    def observed_phases(self, key: Hashable, position: int) -> int:
        """Returns how many completed rounds of a barrier this thread has observed just before `position`."""
        count = bisect_left(self.acquires.get(key, ()), position)
        highest = self._highest_phases_of(key)
        return count if highest is None or not count else highest[count - 1]

    def acquires_between(self, since: int, until: int) -> bool:
        """Returns whether this thread acquires anywhere between two positions."""
        for positions in self.acquires.values():
            first = bisect_right(positions, since)
            if first < len(positions) and positions[first] < until:
                return True
        return False

    def first_acquire(self, key: Hashable, ordinal: int) -> int | None:
        """Returns the position at which this thread first observes that round `ordinal` (from 1) is complete."""
        positions = self.acquires.get(key, [])
        highest = self._highest_phases_of(key)
        index = ordinal - 1 if highest is None else bisect_left(highest, ordinal)
        return positions[index] if index < len(positions) else None


def release_acquire_points(
    trace: ThreadTrace,
    phases: Mapping[int, int] | None = None,
    *,
    proxies: bool = False,
    threads: int | None = None,
    masks: bool = False,
) -> ReleaseAcquirePoints:
    """Returns the release and acquire points of a trace.

    phases: by position, the phase in which an arrival counts, or which a wait observes. A fence that publishes only the
    initialization of mbarriers is treated as one that publishes everything. proxies: whether a proxy fence is treated
    likewise, for callers that determine whether anything may order two accesses. threads: the number of threads of the
    CTA, where the rounds of a barrier of fewer threads are to be counted separately. masks: whether those of the
    barriers of a warp with different masks are.
    """
    marks = ReleaseAcquirePoints()
    known = phases or {}
    events = [
        (at, e) for at, e in enumerate(trace.events) if not isinstance(e, UnknownCall) and type(e.effect) in _ORDERING
    ]
    fences = [(at, e.effect) for at, e in events if is_fence(e.effect, proxy_fences=proxies)]
    releasing, acquiring = (
        [at for at, effect in fences if is_fence(effect, proxy_fences=proxies, orders=orders)]
        for orders in (RELEASE_ORDERS, ACQUIRE_ORDERS)
    )
    for position, event in events:
        effect = event.effect
        operation = sync_operation_of(effect)
        if operation is None:
            continue
        key = _sync_key(effect, event, trace.tid, threads, masks=masks)
        if operation.releases:
            earlier = marks.releases[key]
            earlier.append(_effective_release(operation.is_relaxed, position, releasing, earlier))
            if not isinstance(effect, Barrier):
                marks.release_phases[key].append(known.get(position, len(marks.releases[key])))
        if operation.acquires:
            marks.acquires[key].append(_effective_acquire(operation.is_relaxed, position, acquiring))
            if isinstance(effect, MbarrierWait):
                observed = known.get(position)
                marks.acquire_phases[key].append(
                    _observed_phase(marks.acquire_phases[key], effect, event) if observed is None else observed
                )
    for positions in marks.acquires.values():
        _propagate_to_earlier(positions)
    return marks


def _effective_release(relaxed: bool, position: int, fences: list[int], earlier: list[int]) -> int:
    """Returns the position up to which a release orders.

    For a relaxed release, this is the position of the last fence or earlier release.
    """
    if not relaxed:
        return position
    before = bisect_left(fences, position)
    return max(fences[before - 1] if before else -1, earlier[-1] if earlier else -1)


def _effective_acquire(relaxed: bool, position: int, fences: list[int]) -> int:
    """Returns the position from which an acquire orders; for a relaxed one, that of the next fence."""
    if not relaxed:
        return position
    following = bisect_left(fences, position)
    return fences[following] if following < len(fences) else NEVER


def _propagate_to_earlier(positions: list[int]) -> None:
    """Lowers each position to the minimum of the later ones: an acquire also covers all earlier rounds."""
    for index in range(len(positions) - 2, -1, -1):
        positions[index] = min(positions[index], positions[index + 1])


def _observed_phase(before: list[int], effect: MbarrierWait, event: TraceEvent) -> int:
    """Returns the phase that a wait observes.

    A wait for parity 1 on a fresh mbarrier observes none: it succeeds immediately.
    """
    if before:
        return before[-1] + 1
    return 0 if effect.by == "parity" and event.amount == 1 else 1


def _sync_key(
    effect: Effect, event: TraceEvent, tid: int, threads: int | None = None, *, masks: bool = False
) -> Hashable:
    """Returns the key of the barrier or mbarrier that a thread uses."""
    if isinstance(effect, Barrier):
        return barrier_key(effect, event, tid, threads, masks=masks)
    return ("mbarrier", event.address)


def warp_mask_of(event: TraceEvent, tid: int) -> int | None:
    """Returns the mask of lanes that a barrier of a warp names; None if it is unknown or lacks the executing lane."""
    mask = event.amount & FULL_MASK if isinstance(event.amount, int) else 0
    return mask if mask >> tid % WARP_SIZE & 1 else None


def barrier_key(
    effect: Barrier, event: TraceEvent, tid: int, threads: int | None = None, *, masks: bool = False
) -> Hashable:
    """Returns the key of the barrier that a thread uses; if `threads` is given, the key includes the thread count.

    masks: whether the key of a barrier of a warp includes the mask, because lanes wait for those with the same one.
    """
    if effect.level == "warp":
        return ("warp", tid // WARP_SIZE, warp_mask_of(event, tid) if masks else None)
    if effect.level != "cta":
        return (effect.level, 0)
    number = event.amount if event.amount is not None else 0
    is_of_all = threads is None or not isinstance(event.size, int) or event.size >= threads
    return ("cta", number) if is_of_all else ("cta", number, event.size)


@dataclass(frozen=True, slots=True)
class SyncEdge:
    """An edge that orders one thread's events before `release_position` before another's after `acquire_position`."""

    release_position: int
    acquire_position: int


def find_sync_edges(
    releaser: ReleaseAcquirePoints, since: int, acquirer: ReleaseAcquirePoints, until: int
) -> Iterator[SyncEdge]:
    """Yields the edges that order the releasing thread's `since` before the acquiring thread's `until`."""
    for key, positions in releaser.releases.items():
        first = bisect_left(positions, since)
        if first == len(positions):
            continue
        observed = acquirer.observed_phases(key, until)
        rounds = releaser.release_phases.get(key) or range(1, len(positions) + 1)
        if rounds[first] > observed:
            continue
        last = bisect_right(rounds, observed) - 1
        for index in {first, max(first, last)}:
            acquired = acquirer.first_acquire(key, rounds[index])
            if acquired is not None and acquired < until:
                yield SyncEdge(positions[index], acquired)


@dataclass(frozen=True, slots=True)
class UnorderedRelease:
    """A release to another thread that does not order the access in question: it is relaxed, or precedes the access."""

    step: Step
    is_relaxed: bool


def find_unordered_release(
    tid: int,
    events: Iterable[tuple[int, TraceEvent]],
    since: int,
    over: int,
    acquirer: ReleaseAcquirePoints,
    until: int,
) -> UnorderedRelease | None:
    """Returns the first release after `since` that is acquired before `until` and does not order `over`.

    Such a release is relaxed, or precedes `over`. events: the thread's events, with positions.
    """
    seen: dict[Hashable, int] = defaultdict(int)
    for position, event in events:
        effect = event.effect
        operation = sync_operation_of(effect)
        if operation is None or not operation.releases or operation.is_deferred:
            continue
        if is_warp_barrier(effect):
            continue
        key = _sync_key(effect, event, tid)
        seen[key] += 1
        if (
            since < position
            and (position < over or operation.is_relaxed)
            and acquirer.observed_phases(key, until) >= seen[key]
        ):
            return UnorderedRelease(event.step, operation.is_relaxed)
    return None
