"""What each group of threads knows to be complete, in one state of the schedule of a CTA.

Source: PTX ISA, "Causality order", "Contents of the mbarrier object", "Phase of the mbarrier object".
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import cache
from typing import TypeAlias

from ptxkit.analysis.abstract_interpretation.value_graph import ValueNode
from ptxkit.analysis.intervals.cta_states import IntervalState
from ptxkit.analysis.phase_order.access_batches import PROXY_FENCE, TENSOR_FENCE, AccessBatch
from ptxkit.analysis.phase_order.comparisons import bounds, is_possible
from ptxkit.analysis.phase_order.iteration_counts import IterationCount, LoopExit
from ptxkit.analysis.phase_order.uniform_branches import BranchOutcomes, UniformBranch
from ptxkit.analysis.values.uniform_terms import Atom, UniformTerm
from ptxkit.fast_dataclasses import dataclass, field, replace
from ptxkit.syntax.constants import WARP_SIZE

#: How much of an event is ordered before what a group does next: nothing, the part of the same thread, of the same
#: warp, or all of it.
NOTHING, THREAD, WARP, ALL = range(4)
#: The group of the operations that `tcgen05.commit` commits.
_TCGEN05 = "tcgen05"

SharedBranch: TypeAlias = LoopExit | UniformBranch
Event: TypeAlias = "tuple[object, ...]"
"""Accesses by a group, `("access", batch, group)`, or the completion of a phase, `("phase", barrier, age)`, of which
the last one has age 0 and the one before it age 1.
"""


@dataclass(frozen=True, slots=True)
class EventOrder:
    """What is known of the last occurrence of an event.

    levels: how much of it is ordered before each group. fenced: the same for a fence that follows it. mask: the
    threads. pending: the group of operations that must be waited for, the barrier whose phase completes it, or several
    of which one suffices; None if the event is complete. commits: the commits since, for a group of operations.
    """

    levels: tuple[int, ...]
    fenced: tuple[int, ...]
    mask: int = 0
    pending: object = None
    commits: int = 0

    def with_level(self, group: int, level: int, *, fenced: int = NOTHING) -> EventOrder:
        """Returns the same event, of which a group knows at least so much."""
        return replace(
            self, levels=_raise_level(self.levels, group, level), fenced=_raise_level(self.fenced, group, fenced)
        )

    def with_commit(self, barrier: object) -> EventOrder:
        """Returns the same event, which a phase of one more barrier completes."""
        before = self.pending if isinstance(self.pending, frozenset) else frozenset[object]()
        return replace(self, pending=before | {barrier})

    def is_completed_by(self, barrier: object) -> bool:
        """Returns whether the current phase of a barrier completes the event."""
        return self.pending == barrier or (isinstance(self.pending, frozenset) and barrier in self.pending)

    def as_complete(self) -> EventOrder:
        """Returns the same event, complete."""
        return self if self.pending is None else replace(self, pending=None, commits=0)


def _raise_level(levels: tuple[int, ...], group: int, level: int) -> tuple[int, ...]:
    if levels[group] >= level:
        return levels
    return (*levels[:group], level, *levels[group + 1 :])


@dataclass(frozen=True, slots=True)
class Known:
    """The events that a release publishes, and those of them that a proxy fence follows."""

    events: frozenset[Event] = frozenset()
    fenced: frozenset[Event] = frozenset()

    def __or__(self, other: Known) -> Known:
        return Known(self.events | other.events, self.fenced | other.fenced)

    def without_accesses(self) -> Known:
        """Returns what an operation that orders no memory publishes: that phases are complete."""
        return Known(frozenset(event for event in self.events if event[0] != "access"))

    def of_phases(self) -> Known:
        """Returns that phases are complete."""
        return Known(frozenset(event for event in self.events if event[0] == "phase"))

    def of_operations(self) -> Known:
        """Returns what an operation publishes that completes later: phases, and bulk copies that it may have read."""
        copies = (e for e in self.events if isinstance(e[1], AccessBatch) and e[1].group == "mbarrier")
        return self.without_accesses() | Known(frozenset(copies))

    def without(self, event: Event) -> Known:
        if event not in self.events:
            return self
        return Known(self.events - {event}, self.fenced - {event})


@dataclass(frozen=True, slots=True)
class PhaseState:
    """The state of an mbarrier or of another barrier.

    expected: the arrivals of a phase. remaining: those that are missing. parity: of the current phase. expects: whether
    the phase waits for bytes. due: the expected bytes that no copy has brought; negative if copies come first. arrived:
    the threads that have arrived. entered: those that have arrived at a barrier of the cluster and not waited yet.
    released: what the arrivals of this phase publish, and completed what those of the last one did. waiting: the groups
    that wait for this phase, if arriving and waiting are one step.
    """

    expected: int
    remaining: int
    parity: int = 0
    expects: bool = False
    due: int = 0
    arrived: int = 0
    entered: int = 0
    released: Known = Known()
    completed: Known = Known()
    waiting: frozenset[int] = frozenset()


@dataclass(slots=True, eq=False)
class ScheduleState:
    """One state of the schedule.

    at: the state of each group whose ordering step is next; None where the group has left the kernel. passed:
    the groups that a barrier has released. assumed: the unknown predicates that were assumed. tokens: the value
    that each group's last arrival with a token returned, and the parity of its phase. counts: the outcomes of
    shared branches. left: what the groups of each CTA publish that have left the kernel, for which barriers of all
    threads do not wait. fences: what a group published with its last memory fence, `("released", group)`, and what it
    has observed by relaxed operations since then, `("observed", group)`. is_repeated: whether a group has gone back in
    the code to come here. tested: the keys of the states since which no group could continue, and all
    tests for phases failed.
    """

    at: list[IntervalState | None]
    passed: frozenset[int] = frozenset()
    assumed: dict[tuple[Atom, int], int] = field(default_factory=dict)
    events: dict[Event, EventOrder] = field(default_factory=dict)
    barriers: dict[object, PhaseState] = field(default_factory=dict)
    tokens: dict[tuple[int, object], tuple[ValueNode | None, int]] = field(default_factory=dict)
    counts: dict[Hashable, IterationCount | BranchOutcomes] = field(default_factory=dict)
    left: dict[int, Known] = field(default_factory=dict)
    fences: dict[tuple[str, int], Known] = field(default_factory=dict)
    is_repeated: bool = False
    tested: frozenset[object] = frozenset()

    def copy(self) -> ScheduleState:
        return ScheduleState(
            list(self.at),
            self.passed,
            dict(self.assumed),
            dict(self.events),
            dict(self.barriers),
            dict(self.tokens),
            dict(self.counts),
            dict(self.left),
            dict(self.fences),
        )

    def assume(self, predicates: Mapping[tuple[Atom, int], int]) -> bool:
        """Assumes the values of predicates; returns whether they are possible together with what is known."""
        if not predicates:
            return True
        self.assumed.update(predicates)
        assumed = frozenset(self.assumed.items())
        return is_possible(self.assumed) and all(
            known.is_possible(bounds(number, assumed))
            for number, known in self.counts.items()
            if isinstance(number, UniformTerm) and isinstance(known, IterationCount)
        )

    def decide(self, group: int, branches: Iterable[tuple[SharedBranch, bool]]) -> bool:
        """Lets a group pass branches whose outcomes it shares; returns whether it can take these sides."""
        for branch, stays in branches:
            if not (
                self._pass_exit(group, branch, stays=stays)
                if isinstance(branch, LoopExit)
                else self._pass_branch(group, branch, stays=stays)
            ):
                return False
        return True

    def _pass_branch(self, group: int, branch: UniformBranch, *, stays: bool) -> bool:
        known = self.counts.get(branch.index)
        assert not isinstance(known, IterationCount)
        after = (known or branch.start(len(self.at))).decide(group, stays=stays)
        if after is not None:
            self.counts[branch.index] = after
        return after is not None

    def _pass_exit(self, group: int, leaving: LoopExit, *, stays: bool) -> bool:
        assumed = frozenset(self.assumed.items())
        actual = leaving.under(assumed)
        limits = actual.limits(assumed)
        known = self._count_of(actual)
        if actual.alone is not None and not known.continues(group, actual.continues, limits[1]):
            actual = actual.alone
            known, limits = self._count_of(actual), actual.limits(assumed)
        after = known.decide(group, actual, limits, stays=stays)
        if after is None:
            return False
        self.counts[actual.number] = after
        for number, step in actual.others if actual.advances else ():
            if number != actual.number:
                held = self.counts.get(number) or actual.start(len(self.at))
                assert isinstance(held, IterationCount)
                self.counts[number] = held.follow(group, step, stays=stays)
        return True

    def _count_of(self, leaving: LoopExit) -> IterationCount:
        known = self.counts.get(leaving.number) or leaving.start(len(self.at))
        assert isinstance(known, IterationCount)
        return known

    def key(self) -> object:
        """Returns what two equal states have in common."""
        return (
            tuple(self.at),
            self.passed,
            frozenset(self.assumed.items()),
            frozenset(self.events.items()),
            frozenset(self.barriers.items()),
            frozenset(self.tokens.items()),
            frozenset(self.counts.items()),
            frozenset(self.left.items()),
            frozenset(self.fences.items()),
        )

    # Events.

    def occur(self, event: Event, order: EventOrder) -> None:
        """Adds an event; what was known of an earlier occurrence is not known of it."""
        self.events[event] = order
        self._forget(event)

    def _forget(self, event: Event) -> None:
        for rank, known in self.left.items():
            self.left[rank] = known.without(event)
        for fence, known in self.fences.items():
            self.fences[fence] = known.without(event)
        for key, barrier in self.barriers.items():
            if event in barrier.released.events or event in barrier.completed.events:
                self.barriers[key] = replace(
                    barrier, released=barrier.released.without(event), completed=barrier.completed.without(event)
                )

    def batches(self) -> Iterator[tuple[AccessBatch, int, EventOrder]]:
        """Yields the accesses that are remembered, with the group that executed them and what is known of them."""
        for event, order in self.events.items():
            if isinstance(event[1], AccessBatch) and isinstance(event[2], int):
                yield event[1], event[2], order

    def learn(self, group: int, known: Known) -> None:
        """Orders what was published before what a group does next."""
        for event in known.events:
            order = self.events.get(event)
            if order is not None:
                fenced = ALL if event in known.fenced else NOTHING
                self.events[event] = order.with_level(group, ALL, fenced=fenced).as_complete()

    def published_by(self, group: int, threads: int) -> Known:
        """Returns the events that are ordered before a release by all of these threads of a group."""
        warps = warps_of(threads)

        def is_whole(level: int, event: Event, order: EventOrder) -> bool:
            if level == ALL:
                return True
            if level == WARP:
                return not warps_of(order.mask) & ~warps
            return level == THREAD and event[2] == group and not order.mask & ~threads

        events = {each for each, order in self.events.items() if is_whole(order.levels[group], each, order)}
        # A fence for Tensor Memory orders only what its own thread does.
        awaiting = (each for each in events if fence_after(each) == PROXY_FENCE)
        fenced = {each for each in awaiting if is_whole(self.events[each].fenced[group], each, self.events[each])}
        return Known(frozenset(events), frozenset(fenced))

    def commit_operations(self, group: int, threads: int, barrier: object) -> Known:
        """Lets a barrier complete the tcgen05 operations of a group that are pending, and returns those that are not.

        threads: those that commit them. Each commit covers all earlier operations of its thread.
        """
        found: list[Event] = []
        for event, order in list(self.events.items()):
            batch = event[1]
            if not isinstance(batch, AccessBatch) or event[2] != group or batch.group != _TCGEN05:
                continue
            if order.pending is not None:
                self.events[event] = order.with_commit(barrier)
            elif not order.mask & ~threads:
                found.append(event)
        return Known(frozenset(found))

    def observe(self, group: int, known: Known, order: str) -> None:
        """Orders what was published as a wait or a barrier of a group orders it; a relaxed one needs a fence later."""
        if order != "relaxed":
            self.learn(group, known)
            return
        self.learn(group, known.without_accesses())
        self.fences["observed", group] = self.fences.get(("observed", group), Known()) | known

    def released_by(self, group: int, threads: int, whole: int, order: str) -> Known:
        """Returns what an arrival of some threads of a group publishes; a relaxed one needs a fence before.

        whole: all threads of the group.
        """
        known = self.published_by(group, threads)
        if order != "relaxed":
            return known
        fenced = self.fences.get(("released", group), Known()) if threads == whole else Known()
        return known.without_accesses() | fenced

    def fence_memory(self, group: int, threads: int) -> None:
        """Adds a memory fence of a group."""
        self.learn(group, self.fences.pop(("observed", group), Known()))
        self.fences["released", group] = self.published_by(group, threads)

    def fence(self, group: int, kind: str) -> None:
        """Adds a fence of a group; one for Tensor Memory also orders what relaxed waits observed."""
        observed = self.fences.get(("observed", group), Known()) if kind == TENSOR_FENCE else Known()
        self.learn(group, Known(frozenset(event for event in observed.events if fence_after(event) == kind)))
        for event, order in self.events.items():
            if fence_after(event) == kind:
                self.events[event] = order.with_level(group, NOTHING, fenced=order.levels[group])

    def forget_settled(self) -> None:
        """Removes the events that are ordered before whatever any group does next."""
        live = [group for group, at in enumerate(self.at) if at is not None]
        everywhere = (ALL,) * len(self.at)

        def is_everywhere(levels: tuple[int, ...]) -> bool:
            return levels == everywhere or all(levels[group] == ALL for group in live)

        def is_settled(event: Event, order: EventOrder) -> bool:
            is_known = order.pending is None and is_everywhere(order.levels)
            return is_known and (not fence_after(event) or is_everywhere(order.fenced))

        self.forget([event for event, order in self.events.items() if is_settled(event, order)])

    def forget(self, events: Iterable[Event]) -> None:
        """Removes events."""
        for event in list(events):
            del self.events[event]
            self._forget(event)

    # Phases.

    def knows_last_phase(self, barrier: object, group: int, *, age: int = 0) -> bool:
        """Returns whether a group knows that the last phase, or the one before it, is complete, if there was one."""
        order = self.events.get(("phase", barrier, age))
        return order is None or order.levels[group] == ALL

    def complete(self, key: object, extra: Iterable[Event] = ()) -> None:
        """Completes the current phase of a barrier. extra: the events that its completion publishes in addition."""
        barrier = self.barriers[key]
        is_awaited = isinstance(key, tuple) and key[0] != "cta"
        last, before = ("phase", key, 0), ("phase", key, 1)
        known = barrier.released | Known(frozenset(extra))
        if not barrier.expected and isinstance(key, tuple) and key[0] != "mbarrier":
            for rank, left in self.left.items():
                known |= left if cta_of(key) in (None, rank) else Known()
        if last in self.events and is_awaited:
            self.occur(before, self.events[last])
            for other, each in list(self.barriers.items()):
                self.barriers[other] = replace(
                    each,
                    released=_with_age(each.released, last, before),
                    completed=_with_age(each.completed, last, before),
                )
            known = _with_age(known, last, before)
        count = len(self.at)
        self.occur(last, EventOrder((NOTHING,) * count, (NOTHING,) * count))
        known = known | Known(frozenset((last,)))
        self.barriers[key] = replace(
            barrier,
            remaining=barrier.expected,
            parity=1 - barrier.parity if is_awaited else 0,
            expects=False,
            due=0,
            arrived=0,
            released=Known(),
            completed=known if is_awaited else Known(),
            waiting=frozenset(),
        )
        for group in barrier.waiting:
            self.learn(group, known)
        self.passed |= barrier.waiting


def cta_of(key: object) -> int | None:
    """Returns the rank of the CTA whose threads a barrier has, given its key; None for one of several CTAs."""
    rank = key[-1] if isinstance(key, tuple) and key[0] == "cta" else None
    return rank if isinstance(rank, int) else None


def fence_after(event: Event) -> str:
    """Returns the kind of fence that must follow an event; empty if none must."""
    return event[1].fence if isinstance(event[1], AccessBatch) else ""


def _with_age(known: Known, last: Event, before: Event) -> Known:
    if last not in known.events:
        return known.without(before)
    return Known(known.events - {last} | {before}, known.fenced)


@cache
def warps_of(threads: int) -> int:
    """Returns the warps of some threads, as a bit mask."""
    found, warp = 0, 0
    while threads:
        if threads & ((1 << WARP_SIZE) - 1):
            found |= 1 << warp
        threads >>= WARP_SIZE
        warp += 1
    return found
