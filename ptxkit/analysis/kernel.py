"""One kernel's facts, made on demand: what the rules read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from ptxkit.analysis.actors import Actor
from ptxkit.analysis.block_sizes import launches
from ptxkit.analysis.budget import MAX_EVERYONE, MAX_RANKS, Budget
from ptxkit.analysis.cast import Cast
from ptxkit.analysis.causality import Causality
from ptxkit.analysis.conflicts import Conflict, Conflicts
from ptxkit.analysis.explore import Exploration, Explorer
from ptxkit.analysis.flow import Flow
from ptxkit.analysis.neighbours import neighbours, remote_neighbours, writes_abroad
from ptxkit.analysis.order import Handover, handovers
from ptxkit.analysis.program import Program
from ptxkit.analysis.ranges import RangeIndex
from ptxkit.analysis.reach import reachable
from ptxkit.analysis.rehearsal import Rehearsal
from ptxkit.analysis.rewrites import Rewrites
from ptxkit.analysis.scenario import Launch, Scenario, representatives
from ptxkit.analysis.thread import Thread
from ptxkit.analysis.touches import extent, is_generic_write, is_under_way
from ptxkit.analysis.trace import Event, GroupTrace, Opaque, Trace
from ptxkit.analysis.unknown_boxes import Question, questions
from ptxkit.isa.effects import Barrier, Effect, MbarrierInit
from ptxkit.records import dataclass, field

#: Characters of a variable's name that a message repeats; mangled names can be longer than any line.
MAX_NAME = 60


@dataclass(frozen=True, eq=False)
class World:
    """One scenario with its threads. `exact`: no decision was guessed, so an input surely takes these paths."""

    scenario: Scenario
    threads: dict[int, Thread]
    program: Program
    groups: list[GroupTrace]
    is_whole: bool
    cast: Cast
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

    @cached_property
    def stores(self) -> RangeIndex[tuple[Thread, int]]:
        """By the shared memory that they fill: the walked threads' generic writes that are done at once, and where."""
        found: RangeIndex[tuple[Thread, int]] = RangeIndex()
        for thread in self.threads.values():
            for at, event in thread.accesses:
                if is_generic_write(event) and not is_under_way(event):
                    found.add(*(extent(event) or (0, 0)), (thread, at))
        return found

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
    def flow(self) -> Flow:
        """The kernel's basic blocks."""
        return Flow(self.program)

    @cached_property
    def actors(self) -> list[Actor]:
        """The threads of the CTA by how they synchronise."""
        return [actor for actor in self.cast.actors if actor.rank == self.scenario.rank]

    @property
    def rehearsals(self) -> list[Rehearsal]:
        """How the threads of the CTA, or of all CTAs of its cluster, synchronise, played with each kind of actor first.

        Empty where not all of it is known.
        """
        return list(self.cast.rehearsals.values())

    @cached_property
    def causality(self) -> Causality:
        """What may order the threads of the CTA, by whatever way."""
        return Causality(self, self.budget)

    def phases_of(self, trace: Trace) -> Mapping[int, int]:
        """What a rehearsal with its threads first says of the phases in a thread's trace, by position."""
        return self.cast.phases_of(self.scenario.rank, trace)

    def is_clear_about(self, *kinds: type) -> bool:
        """Whether what is missing among the effects of these classes is missing indeed: no guess was made either."""
        return self.is_exact and self.executes_all(*kinds)

    def executes_all(self, *kinds: type) -> bool:
        """Whether the walked threads executed every instruction that has an effect of these classes and that some path
        through the kernel leads to."""
        known = self._executed.get(kinds)
        if known is None:
            wanted = {step for step in self.program.acting if any(isinstance(e, kinds) for e in step.effects)}
            missed = wanted.difference(*(thread.trace.covered for thread in self.threads.values()))
            live = reachable(self.program) if missed else ()
            known = not any(step in live for step in missed)
            self._executed[kinds] = known
        return known

    @cached_property
    def _executed(self) -> dict[tuple[type, ...], bool]:
        return {}

    def order(self, giver: Thread, since: int, taker: Thread, until: int) -> Iterator[Handover]:
        """The ways that order the giver's position `since` before the taker's `until`."""
        return handovers(giver.marks, since, taker.marks, until)

    def may_hear_behind_a_cut(self, thread: Thread, position: int) -> bool:
        """Whether threads whose walk was cut short may tell a thread something before a position, in what nobody
        walked: it takes part in a round of a barrier, or knows of a phase, that they have not come to."""
        if all(group.ended != "budget" for group in self.groups):
            return False
        event = thread.trace.events[position]
        taker = self.causality.path_of(thread.tid)
        used = self.causality.places(taker.group).get((event.step, event.visit))
        return any(
            used is None or self.causality.may_precede(path, len(path.group.events), taker, used)
            for path in self.causality.paths
            if path is not taker and path.group.ended == "budget"
        )

    def is_circular(self, giver: Thread, way: Handover, taker: Thread) -> bool:
        """Whether what gives order comes behind what takes it, so that neither ever happens."""
        return any(True for _ in self.order(taker, way.acquired, giver, way.released))


class Kernel:
    """A kernel, explored. policy: `isa`, or `strict` where rules should warn of what the manual leaves open."""

    def __init__(self, explorer: Explorer, policy: str = "isa") -> None:
        self.explorer = explorer
        self.policy = policy
        self.program: Program = explorer.program
        self.worlds = worlds_of(explorer.explorations, self.program, explorer.budget)
        self._made = {id(e): world for e, world in zip(explorer.explorations, self.worlds, strict=True)}

    def cluster_of(self, number: int) -> list[World]:
        """All walked CTAs of the cluster that a world is in, by rank; number: its place in `worlds`."""
        cluster = self.explorer.explorations[number].cluster
        for each in cluster:
            if id(each) not in self._made:  # rules look at the first ranks alone, where nothing else is asked
                cast = self.worlds[number].cast
                self._made[id(each)] = world_of(each, self.program, self.explorer.budget, cast)
        return [self._made[id(each)] for each in cluster]

    @cached_property
    def conflicts(self) -> list[tuple[int, Conflict]]:
        """Each with the number of its world: accesses of two threads to the same bytes that nothing orders.

        Worlds that differ from one seen before are left out: the difference is guessed, and proves nothing.
        """
        return [(number, conflict) for number, world in self._known_worlds for conflict in Conflicts(world)]

    @cached_property
    def questions(self) -> list[Question]:
        """The conflicts that hang on how large the boxes of tensor copies are, which nobody knows."""
        return [question for _, world in self._known_worlds for question in questions(world)]

    @cached_property
    def _known_worlds(self) -> list[tuple[int, World]]:
        """The first world of each launch, with its number, where all that its threads do is known."""
        seen: set[tuple[Launch, int, int]] = set()
        found: list[tuple[int, World]] = []
        for number, world in enumerate(self.worlds):
            given = (world.scenario.launch, world.scenario.sample, world.scenario.rank)
            if not world.is_opaque and world.is_whole and given not in seen:
                seen.add(given)
                found.append((number, world))
        return found

    @cached_property
    def other_sizes(self) -> list[World]:
        """The kernel in blocks of other sizes, where it does not say which size its blocks have; walked on demand."""
        first = self.worlds[0]
        if first.scenario.launch.is_exact:
            return []
        tried = {world.scenario.launch.threads for world in self.worlds}
        scenarios = [
            Scenario(launch, first.scenario.sample, first.scenario.rank)
            for launch in launches(first.scenario.launch, first.actors, tried)
        ]
        explored = [self.explorer.walked(scenario) for scenario in scenarios]
        return [world_of(exploration, self.program, self.explorer.budget) for exploration in explored]


def worlds_of(explorations: Iterable[Exploration], program: Program, budget: Budget) -> list[World]:
    """The facts of some scenarios; the CTAs of a cluster share what is rehearsed."""
    casts: dict[int, Cast] = {}
    found: list[World] = []
    for exploration in explorations:
        cast = casts.setdefault(id(exploration.cluster), Cast(exploration.cluster))
        found.append(world_of(exploration, program, budget, cast))
    return found


def world_of(exploration: Exploration, program: Program, budget: Budget, cast: Cast | None = None) -> World:
    """The facts of one scenario: threads that stand for its groups, and those whose copies these read."""
    groups = exploration.groups
    by_tid = {tid: group for group in groups for tid in group.tids}
    traces = _chosen(groups)
    traces.update((tid, by_tid[tid].of(tid)) for tid in neighbours(traces, groups))
    if len(exploration.cluster) > 1 and writes_abroad(groups):
        rank = exploration.scenario.rank
        read = {each.scenario.rank: _chosen(each.groups).values() for each in exploration.cluster[:MAX_RANKS]}
        traces.update((tid, by_tid[tid].of(tid)) for tid in remote_neighbours(rank, groups, read, traces))
    cast = cast or Cast(exploration.cluster or [exploration])
    world = World(exploration.scenario, {}, program, groups, exploration.is_whole, cast, budget)
    world.threads.update((tid, Thread(trace, world.phases_of)) for tid, trace in traces.items())
    return world


def _chosen(groups: Iterable[GroupTrace]) -> dict[int, Trace]:
    """The traces of threads that stand for their groups."""
    by_tid = {tid: group for group in groups for tid in representatives(group.tids)}
    return {tid: by_tid[tid].of(tid) for tid in sorted(by_tid)}


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
