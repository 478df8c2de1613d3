"""The facts of one kernel that the rules read, computed on demand."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.cfg.reachability import reachable_steps
from ptxkit.analysis.context.access_extents import AccessExtents
from ptxkit.analysis.context.all_threads import AllThreads
from ptxkit.analysis.context.async_overwrites import AsyncOverwrites
from ptxkit.analysis.context.box_size_conflicts import BoxSizeConflict, find_box_size_conflicts
from ptxkit.analysis.context.equal_executions import are_equal_clusters
from ptxkit.analysis.context.happens_before import GuessedOrder, HappensBefore
from ptxkit.analysis.context.initialization_phase import are_initializations_known
from ptxkit.analysis.context.races import Race, find_races
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.context.warp_order import WarpOrder
from ptxkit.analysis.context.warp_paths import WarpPath
from ptxkit.analysis.context.writer_threads import select_traces
from ptxkit.analysis.ir.budget import AnalysisBudget
from ptxkit.analysis.ir.interval_index import IntervalIndex
from ptxkit.analysis.ir.program import Program, Step, is_unknown_code
from ptxkit.analysis.limits import MAX_FLIPPED_PAIR_CHECKS
from ptxkit.analysis.symexec.access_ranges import access_range, is_async_access, is_generic_write
from ptxkit.analysis.symexec.exploration import Exploration
from ptxkit.analysis.symexec.explorer import Explorer
from ptxkit.analysis.symexec.trace import GroupTrace, ThreadTrace, TraceEvent
from ptxkit.analysis.sync.block_sizes import alternative_launches
from ptxkit.analysis.sync.sync_edges import SyncEdge, find_sync_edges
from ptxkit.analysis.sync.sync_schedule import ScheduleResult
from ptxkit.analysis.sync.sync_simulation import SyncSimulation
from ptxkit.analysis.sync.thread_classes import ThreadClass
from ptxkit.analysis.values.scenario import WHOLE_TILES, Scenario
from ptxkit.fast_dataclasses import dataclass, field, replace
from ptxkit.isa.effects import MbarrierInit
from ptxkit.semantics.object_names import quote_variable

AnalysisT = TypeVar("AnalysisT")


@dataclass(frozen=True, eq=False)
class ScenarioFacts:
    """One scenario with its threads. It is exact if no decision was guessed: some input certainly takes these paths.

    is_of_global_memory: whether the addresses of accesses are those of buffers in global memory (`place_buffers`).
    equal: the facts of an earlier execution that is equal event for event.
    """

    scenario: Scenario
    threads: dict[int, ThreadView]
    program: Program
    groups: list[GroupTrace]
    is_complete: bool
    simulation: SyncSimulation
    budget: AnalysisBudget = field(default_factory=AnalysisBudget)
    is_of_global_memory: bool = False
    equal: ScenarioFacts | None = None

    def analysis(self, kind: Callable[[ScenarioFacts], AnalysisT]) -> AnalysisT:
        """Returns the result of an analysis of the execution only, which is computed once for equal executions."""
        return self.own_analysis(kind) if self.equal is None else self.equal.analysis(kind)

    def own_analysis(self, kind: Callable[[ScenarioFacts], AnalysisT]) -> AnalysisT:
        """Returns the result of an analysis of the execution and its threads, which is computed once for it."""
        if kind not in self._analyses:
            self._analyses[kind] = kind(self)
        found: AnalysisT = self._analyses[kind]
        return found

    @cached_property
    def _analyses(self) -> dict[Callable[[ScenarioFacts], Any], Any]:
        return {}

    @cached_property
    def is_exact(self) -> bool:
        return all(thread.trace.is_certain() for thread in self.threads.values())

    def name_of(self, event: TraceEvent) -> str:
        """Returns the name of the shared variable that an access or mbarrier operation uses, as text for a message."""
        if self.is_of_global_memory:
            return "global memory"
        variable = self.program.variable_at(event.address) if isinstance(event.address, int) else None
        return (quote_variable(variable.name) if variable is not None else None) or "shared memory"

    @cached_property
    def has_unknown_call(self) -> bool:
        """Whether some thread calls an external function."""
        return any(thread.trace.has_unknown_call for thread in self.threads.values())

    @cached_property
    def async_overwrites(self) -> AsyncOverwrites:
        return AsyncOverwrites(self.threads)

    @cached_property
    def generic_stores(self) -> IntervalIndex[tuple[ThreadView, int]]:
        """The synchronous generic writes of the explored threads, with positions, by the shared memory they write."""
        found: IntervalIndex[tuple[ThreadView, int]] = IntervalIndex()
        for thread in self.threads.values():
            for at, event in thread.accesses:
                if is_generic_write(event) and not is_async_access(event):
                    found.add(*(access_range(event) or (0, 0)), (thread, at))
        return found

    def all_threads(self, *kinds: type) -> list[ThreadView] | None:
        """Returns all threads of the CTA with their events of these effect classes; None where there are too many."""
        return self._all_threads.with_effects(kinds)

    def distinct_threads(self, *kinds: type) -> list[ThreadView] | None:
        """Returns one of `all_threads` for each sequence of events, in the order of the threads."""
        return self._all_threads.with_distinct_effects(kinds)

    @cached_property
    def _all_threads(self) -> AllThreads:
        return AllThreads(self.groups, is_complete=self.is_complete)

    @cached_property
    def init_phase_threads(self) -> list[ThreadView] | None:
        """All threads of the CTA with their initializations of mbarriers.

        The result is None where one of them may execute something unknown before the barrier after which no thread
        initializes an mbarrier.
        """
        return self.all_threads(MbarrierInit) if are_initializations_known(self.groups) else None

    @property
    def cfg(self) -> ControlFlowGraph:
        return self.program.analysis(ControlFlowGraph)

    @cached_property
    def thread_classes(self) -> list[ThreadClass]:
        """The threads of the CTA, classified by their synchronizing events."""
        return [actor for actor in self.simulation.thread_classes if actor.rank == self.scenario.rank]

    @property
    def schedules(self) -> list[ScheduleResult]:
        """The simulated schedules of the CTA, or of all CTAs of its cluster, one with priority for each kind of actor.

        The list is empty where something is unknown.
        """
        return list(self.simulation.schedules.values())

    @property
    def warp_order(self) -> WarpOrder:
        """The paths of the threads of the CTA, and the order of the paths of each warp."""
        return self.analysis(WarpOrder)

    @property
    def happens_before(self) -> HappensBefore:
        """The relation of all events that may order the threads of the CTA."""
        return self.analysis(HappensBefore.of)

    @property
    def guessed_order(self) -> GuessedOrder:
        """What may order the threads of the CTA in the executions that differ after a guess."""
        return self.analysis(GuessedOrder.of)

    def may_guess_order(self, first: ThreadView, since: int, second: ThreadView, until: int) -> bool:
        """Returns whether an execution that differs after a guess may order one thread's event before another's."""
        if not self.guessed_order.has_guesses or first is second:
            return False
        places = self._places_of(first, since, second, until)
        return places is None or self.guessed_order.may_precede(*places)

    def may_guess_between(self, first: ThreadView, since: int, second: ThreadView, until: int) -> bool:
        """Returns whether a guess may hide what some thread does between one event and a later one."""
        if not self.guessed_order.has_guesses:
            return False
        places = self._places_of(first, since, second, until)
        return places is None or self.guessed_order.may_act_between(*places)

    def may_guess_before(self, thread: ThreadView, position: int) -> bool:
        """Returns whether a guess may hide what some other thread does before an event."""
        if not self.guessed_order.has_guesses:
            return False
        places = self._places_of(thread, position, thread, position)
        return places is None or self.guessed_order.may_act_before(*places[2:])

    def _places_of(
        self, first: ThreadView, since: int, second: ThreadView, until: int
    ) -> tuple[WarpPath, int, WarpPath, int] | None:
        """Returns the paths of two threads and the positions of their events there; None where one is not known."""
        order = self.guessed_order
        paths = order.path_of(first.tid), order.path_of(second.tid)
        start, end = (
            order.positions_by_execution(path.group).get((event.step, event.visit))
            for path, event in zip(paths, (first.trace.events[since], second.trace.events[until]), strict=True)
        )
        return None if start is None or end is None else (paths[0], start, paths[1], end)

    def is_certain_pair(self, first: ThreadView, since: int, second: ThreadView, until: int) -> bool:
        """Returns whether some input takes two threads to two positions, and a guess of no thread orders these."""
        return (
            first.trace.is_certain(since)
            and second.trace.is_certain(until)
            and not self.may_guess_order(first, since, second, until)
            and not self.may_guess_order(second, until, first, since)
        )

    def are_certain_spans(self, spans: Iterable[tuple[ThreadView, int, int]]) -> bool:
        """Returns whether some input takes each thread through its part of a path, given by `spans_between`."""
        return all(thread.trace.is_certain(end) for thread, _, end in spans)

    def phases_of(self, trace: ThreadTrace) -> Mapping[int, int]:
        """Returns the phases of a thread's trace, by position, in the schedule that gives its threads priority."""
        return self.simulation.phases_of(self.scenario.rank, trace)

    def is_exhaustive_for(self, *kinds: type) -> bool:
        """Returns whether an unobserved effect of these classes certainly does not occur, which excludes guesses."""
        return self.is_exact and self.executes_all(*kinds)

    def executes_all(self, *kinds: type) -> bool:
        """Returns whether the explored threads executed every reachable instruction with an effect of these classes.

        The instructions of functions that the kernel calls count, too. Code that is unknown may have the effect.
        """
        known = self._executes_all_cache.get(kinds)
        if known is None:
            functions = self.program.functions
            known = not self.has_unknown_call and not any(self._misses_some(code, kinds) for code in functions)
            self._executes_all_cache[kinds] = known
        return known

    def _misses_some(self, code: Program, kinds: tuple[type, ...]) -> bool:
        """Returns whether no explored thread executed some reachable instruction of a function, of these effects."""
        wanted = {
            step
            for step in code.own_effectful_steps
            if is_unknown_code(code, step) or any(isinstance(each, kinds) for each in step.effects)
        }
        missed = wanted.difference(*(thread.trace.covered_steps for thread in self.threads.values()))
        live = reachable_steps(code) if missed else ()
        return any(step in live for step in missed)

    @cached_property
    def _executes_all_cache(self) -> dict[tuple[type, ...], bool]:
        return {}

    def sync_edges(self, releaser: ThreadView, since: int, acquirer: ThreadView, until: int) -> Iterator[SyncEdge]:
        """Yields the edges that order the releasing thread's `since` before the acquiring thread's `until`."""
        if not self.is_ordered(releaser, since, acquirer, until):
            return iter(())
        return find_sync_edges(releaser.release_acquire_points, since, acquirer.release_acquire_points, until)

    def is_ordered(self, releaser: ThreadView, since: int, acquirer: ThreadView, until: int) -> bool:
        """Returns whether one of the `sync_edges` between two positions exists."""
        return releaser.release_acquire_points.first_ordered_position(since, acquirer.release_acquire_points) < until

    def spans_between(
        self, first: ThreadView, since: int, second: ThreadView, until: int
    ) -> list[tuple[ThreadView, int, int]]:
        """Returns the parts of the threads' paths between two ordered positions, as (thread, start, end).

        These are the parts before each release and after each acquire; none exist where the positions are not
        ordered.
        """
        if first is second:
            return [(first, since, until)]
        edges = list(self.sync_edges(first, since, second, until))
        before = [(first, since, edge.release_position) for edge in edges]
        return [*before, *((second, edge.acquire_position, until) for edge in edges)]

    def may_acquire_from_truncated(self, thread: ThreadView, position: int) -> bool:
        """Returns whether a thread may acquire, before a position, from an unexplored part of a truncated thread.

        This is possible where it takes part in a barrier round, or observes a phase, that the truncated thread has not
        reached.
        """
        if all(group.end_reason != "budget" for group in self.groups):
            return False
        event = thread.trace.events[position]
        acquirer = self.happens_before.path_of(thread.tid)
        used = self.happens_before.positions_by_execution(acquirer.group).get((event.step, event.visit))
        return any(
            used is None or self.happens_before.may_precede(path, len(path.group.events), acquirer, used)
            for path in self.happens_before.paths
            if path is not acquirer and path.group.end_reason == "budget"
        )

    def is_cyclic_edge(self, releaser: ThreadView, edge: SyncEdge, acquirer: ThreadView) -> bool:
        """Returns whether the release of an edge is ordered after its own acquire, so that neither ever executes."""
        return self.is_ordered(acquirer, edge.acquire_position, releaser, edge.release_position)


class KernelFacts:
    """An explored kernel.

    policy: `isa`, or `strict` where rules also warn about what the manual does not specify. assumes_cluster_size:
    whether the clusters of a launch have the explored size, though the kernel does not declare it. known: the facts of
    other executions of the kernel, which are shared with equal ones.
    """

    def __init__(
        self,
        explorer: Explorer,
        policy: str = "isa",
        *,
        assumes_cluster_size: bool = False,
        known: Sequence[ScenarioFacts] = (),
    ) -> None:
        self.explorer = explorer
        self.policy = policy
        self.assumes_cluster_size = assumes_cluster_size
        self.program: Program = explorer.program
        self.first_uncompared_access: Step | None = None
        """The first access that `races` did not compare with all others because there are too many."""
        self.scenarios = build_all_scenario_facts(explorer.explorations, self.program, explorer.budget, known)
        self._extents_by_rank: dict[int, AccessExtents] = {}
        self._further_scenarios: dict[Hashable, ScenarioFacts] = {}
        self._facts_by_exploration = {
            id(e): facts for e, facts in zip(explorer.explorations, self.scenarios, strict=True)
        }

    def cluster_of(self, number: int) -> list[ScenarioFacts]:
        """Returns all explored CTAs of a scenario's cluster, by rank; number: the index of the scenario."""
        cluster = self.explorer.explorations[number].cluster
        for each in cluster:
            if id(each) not in self._facts_by_exploration:  # by default, rules examine only the first ranks
                cast = self.scenarios[number].simulation
                self._facts_by_exploration[id(each)] = build_scenario_facts(
                    each, self.program, self.explorer.budget, cast
                )
        return [self._facts_by_exploration[id(each)] for each in cluster]

    @cached_property
    def races(self) -> list[tuple[int, Race]]:
        """The races, each with the number of its scenario: unordered accesses of two threads to the same bytes.

        A scenario that differs from an earlier one by a guess, and executes nothing else, is omitted.
        """
        found: list[tuple[int, Race]] = []
        for number, facts in self.complete_scenarios:
            races, first_dropped = facts.analysis(find_races)
            found += [(number, conflict) for conflict in races]
            self.first_uncompared_access = self.first_uncompared_access or first_dropped
        return found

    def extents_of(self, facts: ScenarioFacts) -> AccessExtents:
        """Returns the bytes that the accesses of a scenario's CTA may use, also at unknown addresses."""
        rank = facts.scenario.rank
        if rank not in self._extents_by_rank:
            self._extents_by_rank[rank] = AccessExtents(self.explorer, rank)
        return self._extents_by_rank[rank]

    def analysis(self, kind: Callable[[KernelFacts], AnalysisT]) -> AnalysisT:
        """Returns the result of an analysis of the kernel, which is computed once for it."""
        if kind not in self._analyses:
            self._analyses[kind] = kind(self)
        found: AnalysisT = self._analyses[kind]
        return found

    @cached_property
    def _analyses(self) -> dict[Callable[[KernelFacts], Any], Any]:
        return {}

    @cached_property
    def box_size_conflicts(self) -> list[BoxSizeConflict]:
        """The conflicts that depend on the unknown box sizes of tensor copies."""
        found = (facts.analysis(find_box_size_conflicts) for _, facts in self.complete_scenarios)
        return [question for each in found for question in each]

    @cached_property
    def complete_scenarios(self) -> list[tuple[int, ScenarioFacts]]:
        """The first scenario of each launch, with its number, where its threads are completely known.

        The scenarios that take the other sides of guesses which decide an order are added, and those with instructions
        that no scenario before them executes.
        """
        seen: set[Hashable] = set()
        covered: set[Step] = set()
        found: list[tuple[int, ScenarioFacts]] = []
        for number, facts in enumerate(self.scenarios):
            given = (facts.scenario.launch, facts.scenario.arguments, facts.scenario.rank)
            steps = set().union(*(group.covered_steps for group in facts.groups))
            is_new = facts.scenario.is_flipped or given not in seen or not steps <= covered
            if not facts.has_unknown_call and facts.is_complete and is_new:
                seen.add(given)
                covered |= steps
                found.append((number, facts))
        return found

    def other_block_sizes(self, given: Scenario) -> Iterator[ScenarioFacts]:
        """Yields the scenarios of other block sizes with the arguments of a scenario.

        Nothing is yielded where the kernel fixes its block size. Each is explored when it is asked for, and once.
        """
        first = self.scenarios[0]
        if first.scenario.launch.is_exact:
            return
        same = [facts.scenario for facts in self.scenarios if facts.scenario.arguments == given.arguments]
        tried = {each.launch.threads for each in same}
        for launch in alternative_launches(first.scenario.launch, first.thread_classes, tried):
            yield self._explore_once(Scenario(launch, given.sample, first.scenario.rank, overrides=given.overrides))

    def with_whole_tiles(self, given: Scenario) -> ScenarioFacts:
        """Returns the scenario in which all arguments are the largest size of whole tiles; it is explored once."""
        arguments = (max(WHOLE_TILES), ())
        for facts in self.scenarios:
            if (facts.scenario.launch, facts.scenario.arguments) == (given.launch, arguments):
                return facts
        return self._explore_once(Scenario(given.launch, arguments[0]))

    def _explore_once(self, scenario: Scenario) -> ScenarioFacts:
        key = (scenario.launch, scenario.arguments)
        if key not in self._further_scenarios:
            exploration = self.explorer.execute(scenario)
            self._further_scenarios[key] = build_scenario_facts(exploration, self.program, self.explorer.budget)
        return self._further_scenarios[key]


def build_all_scenario_facts(
    explorations: Iterable[Exploration],
    program: Program,
    budget: AnalysisBudget,
    known: Sequence[ScenarioFacts] = (),
) -> list[ScenarioFacts]:
    """Returns the facts of some scenarios; the CTAs of a cluster share one simulation, and equal clusters all results.

    known: the facts of earlier executions.
    """
    casts: dict[int, SyncSimulation] = {}
    found: list[ScenarioFacts] = []
    casting = {id(facts.simulation): facts.simulation for facts in known}
    for exploration in explorations:
        if id(exploration.cluster) not in casts:
            same = (each for each in casting.values() if are_equal_clusters(each.ctas, exploration.cluster))
            cast = next(same, None) or SyncSimulation(exploration.cluster)
            casts[id(exploration.cluster)] = casting[id(cast)] = cast
        cast = casts[id(exploration.cluster)]
        own = (
            AnalysisBudget(pair_checks=program.scale_limit(MAX_FLIPPED_PAIR_CHECKS))
            if exploration.scenario.is_flipped
            else budget
        )
        earlier = (each for each in (*known, *found) if each.simulation is cast and each.equal is None)
        equal = next((each for each in earlier if each.scenario.rank == exploration.scenario.rank), None)
        if equal is None:
            found.append(build_scenario_facts(exploration, program, own, cast))
        else:
            wrong = {tid: group.operand_violations for group in exploration.groups for tid in group.tids}
            threads = {tid: thread.with_violations(wrong[tid]) for tid, thread in equal.threads.items()}
            scenario = exploration.scenario
            found.append(replace(equal, scenario=scenario, threads=threads, program=program, budget=own, equal=equal))
    return found


def build_scenario_facts(
    exploration: Exploration,
    program: Program,
    budget: AnalysisBudget,
    cast: SyncSimulation | None = None,
    *,
    is_of_global_memory: bool = False,
    with_threads: bool = True,
) -> ScenarioFacts:
    """Returns the facts of one scenario: representative threads of its groups, and those whose copies they read.

    is_of_global_memory: as for `ScenarioFacts`. with_threads: whether single threads are followed; without them, there
    are only groups and their order.
    """
    cast = cast or SyncSimulation(exploration.cluster or [exploration])
    scenario, groups = exploration.scenario, exploration.groups
    facts = ScenarioFacts(scenario, {}, program, groups, exploration.is_complete, cast, budget, is_of_global_memory)
    traces = select_traces(exploration) if with_threads else {}
    facts.threads.update((tid, ThreadView(trace, facts.phases_of)) for tid, trace in traces.items())
    return facts
