"""One kernel's facts, made on demand: what the rules read."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import cached_property
from typing import TypeAlias

from ptxkit.analysis.actors import Actor, actors_of, synchronises
from ptxkit.analysis.budget import (
    FIRST_VISITS,
    LAST_VISITS,
    LOOK,
    MAX_ACTORS,
    MAX_EVERYONE,
    MAX_LOOKS,
    MAX_REHEARSALS,
    Budget,
)
from ptxkit.analysis.explore import Exploration, Explorer
from ptxkit.analysis.inflight import Copy, copies_of
from ptxkit.analysis.neighbours import neighbours
from ptxkit.analysis.order import Handover, Marks, handovers, marks_of
from ptxkit.analysis.program import Program, Step
from ptxkit.analysis.ranges import RangeIndex
from ptxkit.analysis.rehearsal import Rehearsal, rehearse
from ptxkit.analysis.rewrites import Rewrites
from ptxkit.analysis.scenario import Scenario, representatives
from ptxkit.analysis.trace import Event, GroupTrace, Opaque, Trace
from ptxkit.isa.effects import Access, Barrier, Effect, MbarrierInit, ProxyFence
from ptxkit.records import dataclass, field

#: Characters of a variable's name that a message repeats; mangled names can be longer than any line.
MAX_NAME = 60
#: An access of unknown extent touches at least this much: the smallest bulk copy, one row of a core matrix.
LEAST_ACCESS = 16

#: The one-way fences between proxies: what one orders needs the other as well.
_HALVES = ("release", "acquire")

Fills: TypeAlias = tuple[tuple[Step, list[Copy]], ...]
"""Asynchronous copies into shared memory, by instruction."""


class Looks:
    """Bounds how often a rule looks at what repeats itself, and how much it looks at in all."""

    def __init__(self, budget: Budget) -> None:
        self._counts: dict[Hashable, int] = defaultdict(int)
        self._budget = budget

    def allow(self, key: Hashable) -> bool:
        """Whether to look once more at this pair of places."""
        self._counts[key] += 1
        self._budget.lookups -= LOOK
        return self._counts[key] <= MAX_LOOKS and not self._budget.is_over


class Thread:
    """A trace with its derived facts."""

    def __init__(self, trace: Trace, rehearsed: Callable[[Trace], Mapping[int, int]] | None = None) -> None:
        self.trace = trace
        self.tid = trace.tid
        self._rehearsed = rehearsed
        self._reads_of: dict[int, list[tuple[int, Event, Fills]]] = {}

    @cached_property
    def marks(self) -> Marks:
        """Where the thread gives and takes order."""
        return marks_of(self.trace, self.phases)

    @cached_property
    def phases(self) -> Mapping[int, int]:
        """By position: the phase of an mbarrier in which an arrival or a copy counts, or of which a wait tells."""
        return {} if self._rehearsed is None else self._rehearsed(self.trace)

    @cached_property
    def copies(self) -> list[Copy]:
        """Its asynchronous accesses to shared memory, those that rules look at."""
        looked_at = {position for position, _ in self.accesses}
        copies = copies_of(self.trace, self.phases)
        return [copy for copy in copies if copy.position in looked_at or not isinstance(copy.event.address, int)]

    @cached_property
    def accesses(self) -> list[tuple[int, Event]]:
        """Its accesses to shared memory by number, with positions: of each instruction the first and last ones."""
        known = [(position, event) for position, event in self.positions(Access) if extent(event) is not None]
        last = {event.step: event.visit for _, event in known}
        return [(position, event) for position, event in known if _is_looked_at(event, last[event.step])]

    @cached_property
    def accesses_at(self) -> dict[tuple[Step, int], int]:
        """The first position among its `accesses` by instruction and visit."""
        return {(event.step, event.visit): position for position, event in reversed(self.accesses)}

    @cached_property
    def copies_at(self) -> dict[tuple[Step, int], list[Copy]]:
        """Its `copies` by instruction and visit."""
        found: dict[tuple[Step, int], list[Copy]] = defaultdict(list)
        for copy in self.copies:
            found[(copy.event.step, copy.event.visit)].append(copy)
        return found

    @cached_property
    def _fences(self) -> list[int]:
        events = self.trace.events
        return [at for at, event in enumerate(events) if isinstance(event, Opaque) or covers_shared(event)]

    @cached_property
    def _half_fences(self) -> dict[str, list[int]]:
        fences = {
            direction: [at for at, e in self.positions(ProxyFence) if covers_shared(e, direction)]
            for direction in _HALVES
        }
        return {direction: sorted(found) for direction, found in fences.items()}

    def may_fence_between(self, since: int, until: int) -> bool:
        """Whether a fence orders its accesses to shared memory before async ones, or may, at one of the positions from
        `since` on and before `until`."""
        first = bisect_left(self._fences, since)
        return first < len(self._fences) and self._fences[first] < until

    def half_fence(self, direction: str, since: int, until: int) -> int | None:
        """The first of the one-way fences (`release` or `acquire`) from `since` on and before `until`."""
        fences = self._half_fences[direction]
        first = bisect_left(fences, since)
        return fences[first] if first < len(fences) and fences[first] < until else None

    @cached_property
    def generic_reads(self) -> list[tuple[int, Event]]:
        """Its reads of shared memory through the generic proxy."""
        return [(position, event) for position, event in self.accesses if is_generic_read(event)]

    @cached_property
    def reads(self) -> list[tuple[int, Event]]:
        """Its reads of shared memory, through either proxy."""
        return [(at, event) for at, event in self.accesses if is_generic_read(event) or is_async_read(event)]

    @cached_property
    def reads_by_place(self) -> dict[tuple[int, int], list[tuple[int, Event]]]:
        """Its `reads` by the bytes they touch: loops come back to the same few places."""
        found: dict[tuple[int, int], list[tuple[int, Event]]] = defaultdict(list)
        for position, event in self.reads:
            place = extent(event)
            if place is not None:
                found[place].append((position, event))
        return found

    @cached_property
    def generic_reads_at(self) -> dict[tuple[Step, int], int]:
        """The positions of its `generic_reads` by instruction and visit."""
        return {(event.step, event.visit): at for at, event in self.generic_reads}

    @cached_property
    def fills(self) -> RangeIndex[Copy]:
        """Its asynchronous copies into shared memory, by the bytes they write."""
        index: RangeIndex[Copy] = RangeIndex()
        for copy in self.copies:
            effect, touched = copy.event.effect, extent(copy.event)
            if isinstance(effect, Access) and effect.kind != "read" and touched is not None:
                index.add(*touched, copy)
        return index

    def reads_of(self, issuer: Thread, budget: Budget) -> list[tuple[int, Event, Fills]]:
        """Its reads of bytes that another thread's `fills` write, in order, each with these copies."""
        known = self._reads_of.get(issuer.tid)
        if known is None:
            known = self._reads_of[issuer.tid] = []
            budget.lookups -= len(self.reads_by_place)
            if budget.is_over:
                return known
            for (low, high), reads in self.reads_by_place.items():
                copies = issuer.fills.overlapping(low, high)
                if copies:
                    by_step: dict[Step, list[Copy]] = defaultdict(list)
                    for copy in copies:
                        by_step[copy.event.step].append(copy)
                    fills = tuple(by_step.items())
                    known.extend((position, event, fills) for position, event in reads)
            known.sort(key=lambda read: read[0])
        return known

    @cached_property
    def async_writes(self) -> list[tuple[int, Event]]:
        """Its asynchronous writes of shared memory by number, with positions."""
        return [(position, event) for position, event in self.accesses if is_async_write(event)]

    @cached_property
    def _by_effect(self) -> dict[type, list[tuple[int, Event]]]:
        found: dict[type, list[tuple[int, Event]]] = defaultdict(list)
        for position, event in enumerate(self.trace.events):
            if isinstance(event, Event):
                found[type(event.effect)].append((position, event))
        return found

    def positions(self, *kinds: type) -> list[tuple[int, Event]]:
        """The events whose effect is of one of these classes, with positions, class by class."""
        return [item for kind in kinds for item in self._by_effect.get(kind, ())]

    def visit_at(self, position: int) -> int:
        """Which execution of its instruction stands at a position."""
        return self.trace.events[position].visit

    @cached_property
    def waits(self) -> dict[int | None, int]:
        """By mbarrier (None for one at an unknown address): from where on the thread's first wait on it orders."""
        found: dict[int | None, int] = {}
        for key, positions in self.marks.acquires.items():
            match key:
                case ("mbarrier", address):
                    place = address if isinstance(address, int) else None
                    found[place] = min(positions[0], found.get(place, positions[0]))
        return found

    def knows(self, barrier: int, phase: int, until: int) -> bool:
        """Whether the thread has learnt before a position, by its own waits, that a phase of an mbarrier is over."""
        return self.marks.observed(("mbarrier", barrier), until) >= phase


@dataclass(frozen=True)
class World:
    """One scenario with its threads. `exact`: no decision was guessed, so an input surely takes these paths."""

    scenario: Scenario
    threads: dict[int, Thread]
    program: Program
    groups: list[GroupTrace]
    is_whole: bool
    budget: Budget = field(default_factory=Budget)

    @cached_property
    def is_exact(self) -> bool:
        return all(thread.trace.is_sure() for thread in self.threads.values())

    def name_of(self, event: Event) -> str:
        """The shared variable that an access or mbarrier operation is about, in words."""
        variable = self.program.variable_at(event.address) if isinstance(event.address, int) else None
        return f"`{variable.name}`" if variable is not None and len(variable.name) <= MAX_NAME else "shared memory"

    @property
    def is_opaque(self) -> bool:
        """Whether some thread calls code that is not here."""
        return any(thread.trace.opaque for thread in self.threads.values())

    @cached_property
    def rewrites(self) -> Rewrites:
        """The asynchronous writes of the CTA's walked threads."""
        return Rewrites(self.threads)

    def everyone(self, *kinds: type) -> list[Thread] | None:
        """All threads of the CTA with their events whose effects are of these classes; None where that is too much."""
        groups = [group.only(*kinds) for group in self.groups]
        if not self.is_whole or sum(len(group.tids) * len(group.events) for group in groups) > MAX_EVERYONE:
            return None
        return [Thread(group.of(tid)) for group in groups for tid in group.tids]

    @cached_property
    def setup(self) -> list[Thread] | None:
        """All threads of the CTA with their initialisations of mbarriers.

        None where one of them may do something else that nobody knows before the barrier behind which no thread
        initialises any.
        """
        barriers = max((_meetings(group, _last_init(group)) for group in self.groups), default=0)
        for group in self.groups:
            if group.guessed is not None and _meetings(group, group.guessed) <= barriers:
                return None
            if group.ended == "budget" and _meetings(group, len(group.events)) <= barriers:
                return None
        return self.everyone(MbarrierInit)

    @cached_property
    def actors(self) -> list[Actor]:
        """The threads of the CTA by how they synchronise."""
        return actors_of(self.groups)

    @cached_property
    def rehearsals(self) -> list[Rehearsal]:
        """How the threads of the CTA synchronise, played with each kind of actor first.

        Empty where not all of it is known: threads that nobody walked, code that is not here, other CTAs of a cluster,
        addresses or parities that are not numbers.
        """
        return list(self._rehearsals.values())

    @cached_property
    def _rehearsals(self) -> dict[int, Rehearsal]:
        """By the actor that comes first."""
        if not self.is_whole or self.is_opaque or self.scenario.launch.cluster_size > 1:
            return {}
        if not 0 < len(self.actors) <= MAX_ACTORS:
            return {}
        found: dict[int, Rehearsal] = {}
        for first in dict.fromkeys(self._alike[:MAX_REHEARSALS]):
            found[first] = rehearse(self.actors, first)
            if found[first].vague or not found[first].finished:
                return {}
        return found

    @cached_property
    def _alike(self) -> list[int]:
        """By actor: the first one that does the same, but for meetings of its warp."""
        seen: dict[tuple[int, ...], int] = {}
        told = [tuple(id(e) for e in actor.events if synchronises(e.effect, warp=False)) for actor in self.actors]
        return [seen.setdefault(events, number) for number, events in enumerate(told)]

    def phases_of(self, trace: Trace) -> Mapping[int, int]:
        """What a rehearsal with its threads first says of the phases in a thread's trace, by position."""
        number = next((n for n, actor in enumerate(self.actors) if trace.tid in actor.tids), None)
        first = None if number is None else self._alike[number]
        if first is None or first not in self._rehearsals:
            return {}
        phases = self._rehearsals[first].phases
        events = enumerate(self.actors[first].events)
        told = [phases.get((first, index)) for index, e in events if synchronises(e.effect, warp=False)]
        own = [at for at, e in enumerate(trace.events) if isinstance(e, Event) and synchronises(e.effect, warp=False)]
        return {position: phase for position, phase in zip(own, told, strict=True) if phase is not None}

    def is_clear_about(self, *kinds: type) -> bool:
        """Whether what is missing among the effects of these classes is missing indeed: no guess was made either."""
        return self.is_exact and self.executes_all(*kinds)

    def executes_all(self, *kinds: type) -> bool:
        """Whether the walked threads executed every instruction that has an effect of these classes."""
        known = self._executed.get(kinds)
        if known is None:
            steps = self.program.steps
            wanted = {step for step in steps if step.match and any(isinstance(e, kinds) for e in step.match.effects)}
            known = all(any(step in thread.trace.covered for thread in self.threads.values()) for step in wanted)
            self._executed[kinds] = known
        return known

    @cached_property
    def _executed(self) -> dict[tuple[type, ...], bool]:
        return {}

    def order(self, giver: Thread, since: int, taker: Thread, until: int) -> Iterator[Handover]:
        """The ways that order the giver's position `since` before the taker's `until`."""
        return handovers(giver.marks, since, taker.marks, until)


class Kernel:
    """A kernel, explored. policy: `isa`, or `strict` where rules should warn of what the manual leaves open."""

    def __init__(self, explorer: Explorer, policy: str = "isa") -> None:
        self.explorer = explorer
        self.policy = policy
        self.program: Program = explorer.program
        self.worlds = [world_of(exploration, self.program, explorer.budget) for exploration in explorer.explorations]


def world_of(exploration: Exploration, program: Program, budget: Budget) -> World:
    """The facts of one scenario: threads that stand for its groups, and those whose copies these read."""
    groups = exploration.groups
    by_tid = {tid: group for group in groups for tid in group.tids}
    chosen = [tid for group in groups for tid in representatives(group.tids)]
    traces = {tid: by_tid[tid].of(tid) for tid in sorted(chosen)}
    traces.update((tid, by_tid[tid].of(tid)) for tid in neighbours(traces, groups))
    world = World(exploration.scenario, {}, program, groups, exploration.is_whole, budget)
    world.threads.update((tid, Thread(trace, world.phases_of)) for tid, trace in traces.items())
    return world


def _last_init(group: GroupTrace) -> int:
    inits = [
        at for at, e in enumerate(group.events) if not isinstance(e, Opaque) and isinstance(e.effect, MbarrierInit)
    ]
    return max(inits, default=0)


def _meetings(group: GroupTrace, until: int) -> int:
    """How many barriers of the CTA a group meets before a position."""
    return sum(not isinstance(event, Opaque) and _is_meeting(event.effect) for event in group.events[:until])


def _is_meeting(effect: Effect) -> bool:
    """Whether a thread meets its whole CTA, or cluster, there."""
    return isinstance(effect, Barrier) and effect.level != "warp" and effect.action != "arrive" and not effect.threads


def _is_looked_at(event: Event, last: int) -> bool:
    return event.visit < FIRST_VISITS or event.visit > last - LAST_VISITS


def extent(event: Event) -> tuple[int, int] | None:
    """The range of shared memory that an access surely touches; None where its place is not known."""
    if not isinstance(event.address, int):
        return None
    size = event.size if isinstance(event.size, int) and event.size > 0 else LEAST_ACCESS
    return event.address, event.address + size


def covers_shared(event: Event, direction: str | None = "both") -> bool:
    """Whether a fence of a direction (None: of any) orders generic accesses to shared memory before async ones."""
    effect = event.effect
    if not isinstance(effect, ProxyFence) or effect.proxy != "async" or direction not in (None, effect.direction):
        return False
    return not effect.spaces or any(space.startswith("shared") for space in effect.spaces)


def is_generic_write(event: Event) -> bool:
    """Whether an access writes shared memory through the generic proxy."""
    effect = event.effect
    return isinstance(effect, Access) and effect.kind != "read" and effect.proxy == "generic"


def is_generic_read(event: Event) -> bool:
    """Whether an access reads shared memory through the generic proxy, at once."""
    effect = event.effect
    return (
        isinstance(effect, Access)
        and effect.kind != "write"
        and effect.proxy == "generic"
        and effect.completion is None
    )


def is_async_read(event: Event) -> bool:
    """Whether an access reads shared memory through the async proxy."""
    effect = event.effect
    return isinstance(effect, Access) and effect.kind != "write" and effect.proxy == "async"


def is_async_write(event: Event) -> bool:
    """Whether an access writes shared memory through the async proxy."""
    effect = event.effect
    return isinstance(effect, Access) and effect.kind != "read" and effect.proxy == "async"
