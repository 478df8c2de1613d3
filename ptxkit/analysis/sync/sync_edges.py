"""What orders two threads of a CTA: barriers, warp barriers and mbarrier hand-overs, by how often each was used.

The n-th use of a barrier by one thread meets the n-th use of the same barrier by another. For an mbarrier, a rehearsal
says in which phase an arrival counts and of which phase a wait tells; without one, the n-th arrival of a thread belongs
to phase n, and a wait tells of the phase after the one that the thread knew of. What is relaxed orders what a fence
before an arrival, or after a wait, orders.
Source: PTX ISA, "Causality Order", "bar", "mbarrier", "Phase of the mbarrier object".
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping

from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.trace import ThreadTrace, TraceEvent, UnknownCall
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.isa.effects import Barrier, MbarrierArrive, MbarrierTrack, MbarrierWait, MemoryFence, ProxyFence

#: Behind the end of every trace: what a relaxed wait orders that no fence follows.
NEVER = 1 << 40


@dataclass(slots=True)
class ReleaseAcquirePoints:
    """Where one thread gives (`releases`) and takes (`acquires`) order, by barrier: positions in its trace, in order.

    `phases` says for an mbarrier which phase each acquire tells of, `rounds` in which phase each release counts.
    """

    releases: dict[Hashable, list[int]] = field(default_factory=lambda: defaultdict(list))
    acquires: dict[Hashable, list[int]] = field(default_factory=lambda: defaultdict(list))
    acquire_phases: dict[Hashable, list[int]] = field(default_factory=lambda: defaultdict(list))
    release_phases: dict[Hashable, list[int]] = field(default_factory=lambda: defaultdict(list))

    def observed_phases(self, key: Hashable, position: int) -> int:
        """How many rounds of a barrier this thread knows to be over, just before `position`."""
        count = bisect_left(self.acquires.get(key, ()), position)
        phases = self.acquire_phases.get(key)
        return count if phases is None else max(phases[:count], default=0)

    def acquires_between(self, since: int, until: int) -> bool:
        """Whether this thread takes order anywhere between two positions."""
        for positions in self.acquires.values():
            first = bisect_right(positions, since)
            if first < len(positions) and positions[first] < until:
                return True
        return False

    def first_acquire(self, key: Hashable, ordinal: int) -> int | None:
        """The position at which this thread first knows that round `ordinal` (from 1) is over."""
        positions = self.acquires.get(key, [])
        phases = self.acquire_phases.get(key)
        if phases is None:
            return positions[ordinal - 1] if ordinal <= len(positions) else None
        return next((at for at, phase in zip(positions, phases, strict=True) if phase >= ordinal), None)


def release_acquire_points(
    trace: ThreadTrace, phases: Mapping[int, int] | None = None, *, proxies: bool = False, threads: int | None = None
) -> ReleaseAcquirePoints:
    """The marks of a trace. phases: by position, the phase of an arrival, or of which a wait tells.

    A fence that publishes the initialisation of mbarriers only is taken for one that publishes all. proxies: so is one
    between proxies, for who asks what may be ordered in any way. threads: of the CTA, where the rounds of a barrier of
    fewer of them are to be counted on their own.
    """
    marks = ReleaseAcquirePoints()
    known = phases or {}
    kinds = (MemoryFence, ProxyFence) if proxies else (MemoryFence,)
    fences = [at for at, e in enumerate(trace.events) if not isinstance(e, UnknownCall) and isinstance(e.effect, kinds)]
    for position, event in enumerate(trace.events):
        if isinstance(event, UnknownCall):
            continue
        effect = event.effect
        if isinstance(effect, Barrier) and (effect.level, effect.order) != ("warp", "relaxed"):
            key = barrier_key(effect, event, trace.tid, threads)
            if effect.action in ("sync", "arrive"):
                marks.releases[key].append(
                    _effective_release(effect.order == "relaxed", position, fences, marks.releases[key])
                )
            if effect.action in ("sync", "wait"):
                marks.acquires[key].append(_effective_acquire(effect.order == "relaxed", position, fences))
        elif isinstance(effect, MbarrierArrive | MbarrierTrack):
            key = ("mbarrier", event.address)
            order = effect.order if isinstance(effect, MbarrierArrive) else "release"
            marks.releases[key].append(_effective_release(order == "relaxed", position, fences, marks.releases[key]))
            marks.release_phases[key].append(known.get(position, len(marks.releases[key])))
        elif isinstance(effect, MbarrierWait):
            key = ("mbarrier", event.address)
            marks.acquires[key].append(_effective_acquire(effect.order == "relaxed", position, fences))
            told = known.get(position)
            marks.acquire_phases[key].append(
                _observed_phase(marks.acquire_phases[key], effect, event) if told is None else told
            )
    for positions in marks.acquires.values():
        _propagate_to_earlier(positions)
    return marks


def _effective_release(relaxed: bool, position: int, fences: list[int], earlier: list[int]) -> int:
    """Up to where a release orders: a relaxed one, up to the fence before it, or as far as an earlier release did."""
    if not relaxed:
        return position
    before = bisect_left(fences, position)
    return max(fences[before - 1] if before else -1, earlier[-1] if earlier else -1)


def _effective_acquire(relaxed: bool, position: int, fences: list[int]) -> int:
    """From where on an acquire orders: a relaxed one, from the fence behind it."""
    if not relaxed:
        return position
    behind = bisect_left(fences, position)
    return fences[behind] if behind < len(fences) else NEVER


def _propagate_to_earlier(positions: list[int]) -> None:
    """What a later acquire orders, it orders for those before it as well."""
    for index in range(len(positions) - 2, -1, -1):
        positions[index] = min(positions[index], positions[index + 1])


def _observed_phase(before: list[int], effect: MbarrierWait, event: TraceEvent) -> int:
    """A fresh barrier answers true at once to a wait for parity 1: that wait tells of no phase."""
    if before:
        return before[-1] + 1
    return 0 if effect.by == "parity" and event.amount == 1 else 1


def barrier_key(effect: Barrier, event: TraceEvent, tid: int, threads: int | None = None) -> Hashable:
    """The barrier that a thread comes to; where the CTA's `threads` are given, that of so many of them."""
    if effect.level == "warp":
        return ("warp", tid // 32)
    if effect.level != "cta":
        return (effect.level, 0)
    number = event.amount if event.amount is not None else 0
    is_of_all = threads is None or not isinstance(event.size, int) or event.size >= threads
    return ("cta", number) if is_of_all else ("cta", number, event.size)


@dataclass(frozen=True, slots=True)
class SyncEdge:
    """A way by which what thread A did before `released` is before what thread B does after `acquired`."""

    release_position: int
    acquire_position: int


def find_sync_edges(
    giver: ReleaseAcquirePoints, since: int, taker: ReleaseAcquirePoints, until: int
) -> Iterator[SyncEdge]:
    """The ways that order the giver's position `since` before the taker's position `until`."""
    for key, positions in giver.releases.items():
        first = bisect_left(positions, since)
        if first == len(positions):
            continue
        observed = taker.observed_phases(key, until)
        rounds = giver.release_phases.get(key) or range(1, len(positions) + 1)
        if rounds[first] > observed:
            continue
        last = bisect_right(rounds, observed) - 1
        for index in {first, max(first, last)}:
            acquired = taker.first_acquire(key, rounds[index])
            if acquired is not None and acquired < until:
                yield SyncEdge(positions[index], acquired)


@dataclass(frozen=True, slots=True)
class UnorderedRelease:
    """What hands over to another thread without ordering what is asked about: relaxed, or too early."""

    step: Step
    is_relaxed: bool


def find_unordered_release(
    tid: int, events: Iterable[tuple[int, TraceEvent]], since: int, over: int, taker: ReleaseAcquirePoints, until: int
) -> UnorderedRelease | None:
    """The first release behind the position `since` of a thread, of which the taker knows before `until`, and which
    does not order `over` before that: a relaxed one, or one that comes before `over`; None where there is none.

    events: of the thread, with positions.
    """
    seen: dict[Hashable, int] = defaultdict(int)
    for position, event in events:
        effect = event.effect
        if isinstance(effect, Barrier):
            key, releases = barrier_key(effect, event, tid), effect.level != "warp" and effect.action != "wait"
        elif isinstance(effect, MbarrierArrive):
            key, releases = ("mbarrier", event.address), not effect.asynchronous
        else:
            continue
        if releases:
            seen[key] += 1
            is_relaxed = effect.order == "relaxed"
            if since < position and (position < over or is_relaxed) and taker.observed_phases(key, until) >= seen[key]:
                return UnorderedRelease(event.step, is_relaxed)
    return None
