"""The evidence for findings about phases and barriers, which several rules share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ptxkit.analysis.cluster.cluster_facts import has_unknown_cluster_size
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.mbarrier.cluster_tx_count import find_tx_imbalances
from ptxkit.analysis.sync.bounded_wait import is_bounded_wait
from ptxkit.analysis.sync.mbarrier_location import MbarrierLocation
from ptxkit.analysis.sync.sync_schedule import BlockedThread, ScheduleResult
from ptxkit.analysis.sync.sync_simulation import SimulationObstacle
from ptxkit.analysis.values.scenario import SMALL_SIZE, Scenario
from ptxkit.diagnostics import Message
from ptxkit.diagnostics.catalogue import ptx3xx
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.isa.effects import Barrier, MbarrierInit
from ptxkit.rules.model import Finding, Observation, OpenObligation

#: The levels of barriers, those with the fewest threads first.
_BARRIER_LEVELS = ("cta", "warp", "cluster")


_OBSTACLES = {
    SimulationObstacle.CLUSTER: ptx3xx.CLUSTER_TOO_LARGE,
    SimulationObstacle.UNEXPLORED: ptx3xx.THREADS_NOT_EXECUTED,
    SimulationObstacle.CLASSES: ptx3xx.TOO_MANY_THREAD_CLASSES,
    SimulationObstacle.EVENTS: ptx3xx.TOO_MANY_SYNC_EVENTS,
    SimulationObstacle.OTHER_CLUSTER: ptx3xx.CLUSTER_TOO_SMALL,
    SimulationObstacle.UNKNOWN: ptx3xx.SYNC_OPERAND_NOT_KNOWN,
}


@dataclass(slots=True)
class ScheduleFindings:
    """The findings of a rule in the schedules of one scenario, by step.

    certain: the steps that a schedule shows to be wrong without a guess before that.
    """

    broken: dict[Step, Finding] = field(default_factory=dict)
    certain: set[Step] = field(default_factory=set)

    def add(self, step: Step, finding: Finding, is_certain: bool) -> None:
        """Adds a finding, unless the step has one."""
        self.broken.setdefault(step, finding)
        if is_certain:
            self.certain.add(step)


def make_observations(
    kernel: KernelFacts, number: int, steps: Iterable[Step], judge: Callable[[ScenarioFacts], ScheduleFindings]
) -> Iterator[Observation | OpenObligation]:
    """Yields the results of a rule for one scenario: of the `steps` that it checked, and of those it finds to be wrong.

    judge: finds what is wrong in a scenario.

    If the kernel does not declare its block size, the violation must occur at every size that is tried. A smaller block
    in which threads deadlock proves nothing, because the kernel may not support it. If a block of another size is
    correct, this one may be incorrect; if none is, the largest one is. A few correct iterations prove nothing either.
    If the block size is known, one size of whole tiles suffices; for a size with a remainder it is unknown whether the
    kernel supports it, and the largest size of whole tiles is tried.
    """
    facts = kernel.scenarios[number]
    found = judge(facts)
    broken, certain = found.broken, found.certain
    if broken and has_unknown_cluster_size(kernel):
        for step in broken:
            yield OpenObligation(step, ptx3xx.CLUSTER_SIZE_NOT_KNOWN(), "cluster")
        return
    if (
        broken
        and not facts.scenario.launch.is_exact
        and any(_may_succeed(kernel, other) for other in _other_launches(kernel, facts.scenario))
    ):
        for step in broken:
            yield OpenObligation(step, ptx3xx.BLOCK_SIZE_NOT_KNOWN(), "block")
        return
    proven = certain if facts.scenario.launch.is_exact else set()
    limit = kernel.scenarios[0].scenario.launch
    if broken and limit.is_limit and facts.scenario.launch == limit:
        always = all(_has_failure(w) or _is_inconclusive(w) for w in kernel.scenarios if w.scenario.launch == limit)
        if always or facts.scenario.has_whole_tiles:
            proven = certain
        elif certain:
            proven = certain & _wrong_with_whole_tiles(kernel, facts.scenario, judge)
    is_smaller = limit.is_limit and facts.scenario.launch != limit
    silent = facts.scenario.sample == SMALL_SIZE or (is_smaller and _has_failure(facts))
    for step in dict.fromkeys((*steps, *broken)):
        if step in broken or not silent:
            yield Observation((step, None), number, step in proven, broken.get(step), step in certain)


def _wrong_with_whole_tiles(
    kernel: KernelFacts, given: Scenario, judge: Callable[[ScenarioFacts], ScheduleFindings]
) -> set[Step]:
    """Returns the steps that are certainly wrong if all arguments are the largest size of whole tiles."""
    whole = kernel.with_whole_tiles(given)
    found = judge(whole).certain
    is_open = found and any(_may_succeed(kernel, other) for other in _other_launches(kernel, whole.scenario))
    return set() if is_open else found


def ask_without_schedule(kernel: KernelFacts, kind: type) -> Iterator[OpenObligation]:
    """Yields one question at the first instruction with effects of a kind that no scenario with a schedule executes.

    The rules about phases and barriers report nothing for it. A kernel that does not declare the size of its cluster
    may need more CTAs than were executed.
    """
    simulated: set[Step] = set()
    left: dict[Step, SimulationObstacle] = {}
    # First those with a schedule: an obstacle is looked for, in further schedules, only if it is asked about.
    for facts in sorted(kernel.scenarios, key=lambda facts: not facts.schedules):
        steps = facts.simulation.steps_of(kind) - simulated
        obstacle = facts.simulation.obstacle if steps else None
        if obstacle is None:
            simulated |= steps
        else:
            left.update(dict.fromkeys(steps - left.keys(), obstacle))
    for step in sorted(left.keys() - simulated, key=lambda step: step.start)[:1]:
        if left[step] is SimulationObstacle.OTHER_CLUSTER and has_unknown_cluster_size(kernel):
            yield OpenObligation(step, ptx3xx.CLUSTER_SIZE_NOT_KNOWN(), "cluster")
        else:
            yield OpenObligation(step, ptx3xx.NO_SCHEDULE(cause=_OBSTACLES[left[step]]()))


def format_cta(facts: ScenarioFacts, rank: int) -> Message | str:
    """Returns the CTA of a cluster, in words."""
    return ptx3xx.IN_CTA_OF_CLUSTER(rank=rank) if facts.simulation.size > 1 else ""


def find_initialization(facts: ScenarioFacts, place: MbarrierLocation | None) -> Step | None:
    """Returns the initialization of the mbarrier at a location."""
    events = () if place is None else facts.simulation.events_at(place)
    return next((event.step for event in events if isinstance(event.effect, MbarrierInit)), None)


def _other_launches(kernel: KernelFacts, given: Scenario) -> Iterator[ScenarioFacts]:
    """Yields the scenarios of other block sizes with the same arguments.

    These are explored scenarios if the kernel declares only the maximum size of its blocks, and further sizes.
    """
    limit = kernel.scenarios[0].scenario.launch
    for facts in kernel.scenarios if limit.is_limit else ():
        if facts.scenario.launch != limit and facts.scenario.arguments == given.arguments:
            yield facts
    yield from kernel.other_block_sizes(given)


def _may_succeed(kernel: KernelFacts, other: ScenarioFacts) -> bool:
    """Returns whether a block of another size may be correct: it is, or it is unknown and no thread is missing.

    A block whose threads end in a trap is none that the kernel supports.
    """
    if any(actor.end_reason == "trap" for actor in other.simulation.thread_classes):
        return False
    if other.schedules or _has_failure(other):
        return not _has_failure(other)
    return kernel.scenarios[0].simulation.steps_of() <= other.simulation.steps_of()


def _is_inconclusive(facts: ScenarioFacts) -> bool:
    """Returns whether the result proves nothing.

    This is so where threads wait for others whose traces are incomplete, or few iterations were executed.
    """
    cut = any(actor.end_reason != "exit" for actor in facts.simulation.thread_classes)
    return facts.scenario.sample == SMALL_SIZE or (
        cut and any(schedule.blocked_threads for schedule in facts.schedules)
    )


def _has_failure(facts: ScenarioFacts) -> bool:
    """Returns whether threads certainly deadlock, arrive too often, or use different counts, or bytes are missing."""
    return any(each.first_excess_arrival for each in facts.simulation.interrupted_schedules) or any(
        schedule.excess_arrivals
        or schedule.count_mismatches
        or find_root_blocked_thread(facts, schedule) is not None
        or any(find_tx_imbalances(facts.simulation, schedule))
        for schedule in _play_schedules(facts)
    )


def _play_schedules(facts: ScenarioFacts) -> Iterator[ScheduleResult]:
    """Yields the schedules of a scenario. Those with eager operations are simulated only if they are reached."""
    yield from facts.schedules
    yield from facts.simulation.eager_async_schedules


def find_root_blocked_thread(facts: ScenarioFacts, schedule: ScheduleResult) -> BlockedThread | None:
    """Returns the blocked thread for which the other threads wait, if all threads wait.

    It is the thread at the phase that was nearest to its completion and blocked first, or at a barrier only if no
    thread waits for a phase. The result is None if the trace of a thread is incomplete before its wait, or a thread
    stops waiting, or an earlier violation exists.
    """
    if schedule.excess_arrivals or schedule.count_mismatches:
        return None
    waiting = {blocked.thread_class for blocked in schedule.blocked_threads}
    if any(
        actor.end_reason != "exit" and number not in waiting
        for number, actor in enumerate(facts.simulation.thread_classes)
    ):
        return None
    if any(
        is_bounded_wait(facts.program, step)
        for step in {s.event.step for s in schedule.blocked_threads if s.mbarrier is not None}
    ):
        return None
    started = [s for s in schedule.blocked_threads if s.mbarrier is not None and s.mbarrier.arrivals]
    phases = [s for s in schedule.blocked_threads if s.mbarrier is not None]
    for found in (started, phases):
        if found:
            return min(found, key=lambda blocked: blocked.mbarrier.last_update if blocked.mbarrier is not None else 0)
    return min(schedule.blocked_threads, key=_barrier_level, default=None)


def _barrier_level(blocked: BlockedThread) -> int:
    """Returns the level of a barrier by its number of threads.

    The threads of a cluster may wait because those of a CTA do.
    """
    effect = blocked.event.effect
    return _BARRIER_LEVELS.index(effect.level) if isinstance(effect, Barrier) else len(_BARRIER_LEVELS)
