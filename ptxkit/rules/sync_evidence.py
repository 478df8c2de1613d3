"""What the rules about phases and barriers share: what their proofs rest on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ptxkit.analysis.cluster.cluster_facts import has_unknown_cluster_size
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.mbarrier.cluster_tx_count import find_tx_imbalances
from ptxkit.analysis.sync.bounded_wait import is_bounded_wait
from ptxkit.analysis.sync.mbarrier_location import MbarrierLocation
from ptxkit.analysis.sync.sync_schedule import BlockedThread, ScheduleResult
from ptxkit.analysis.values.scenario import SAMPLES, SMALL_SIZE
from ptxkit.isa.effects import Barrier, MbarrierInit
from ptxkit.rules.model import Finding, Observation, OpenObligation

#: The threads that a barrier is for, fewest first.
_BARRIER_LEVELS = ("cta", "warp", "cluster")


def make_observations(
    kernel: KernelFacts, number: int, steps: Iterable[Step], broken: Mapping[Step, Finding]
) -> Iterator[Observation | OpenObligation]:
    """What a rule has to say of one scenario, of the `steps` that it looked at.

    Where the kernel leaves its block's size open, every size that is tried must show it. A smaller block in which
    threads wait for ever shows nothing: it is not one that the kernel is meant for. Where all goes well in a block of
    some other size, this one may not be; where all does in none, the largest is. Few rounds in which all goes well
    show nothing, either. Where the block's size is said, a size of whole tiles that shows it is enough; of one that
    leaves a remainder nobody knows whether the kernel is meant for it.
    """
    world = kernel.scenarios[number]
    if broken and has_unknown_cluster_size(kernel.program):
        for step in broken:
            yield OpenObligation(step, "how many CTAs a cluster has is not said", "cluster")
        return
    if (
        broken
        and not world.scenario.launch.is_exact
        and any(_may_succeed(kernel, other) for other in _other_launches(kernel))
    ):
        for step in broken:
            yield OpenObligation(
                step, "how many threads a block has is not said: at another size all goes well", "block"
            )
        return
    exact, threads = observation_certainty(world)
    limit = kernel.scenarios[0].scenario.launch
    if broken and limit.is_limit and world.scenario.launch == limit:
        usual = limit.is_exact and world.scenario.sample == SAMPLES[0]
        exact = threads == 1 and (
            usual or all(_has_failure(w) or _is_inconclusive(w) for w in kernel.scenarios if w.scenario.launch == limit)
        )
    is_smaller = limit.is_limit and world.scenario.launch != limit
    silent = world.scenario.sample == SMALL_SIZE or (is_smaller and _has_failure(world))
    for step in steps:
        if step in broken or not silent:
            yield Observation((step, None), number, exact, broken.get(step), threads)


def format_cta(world: ScenarioFacts, rank: int) -> str:
    """Which CTA of a cluster is meant, in words."""
    return f" in CTA {rank} of the cluster" if world.simulation.size > 1 else ""


def find_initialization(world: ScenarioFacts, place: MbarrierLocation | None) -> Step | None:
    """Where the mbarrier at a place is made."""
    events = () if place is None else world.simulation.events_at(place)
    return next((event.step for event in events if isinstance(event.effect, MbarrierInit)), None)


def _other_launches(kernel: KernelFacts) -> Iterator[ScenarioFacts]:
    """The kernel in other blocks than the largest, where it says which one that is; else in others than were tried."""
    limit = kernel.scenarios[0].scenario.launch
    yield from (world for world in kernel.scenarios if limit.is_limit and world.scenario.launch != limit)
    yield from kernel.other_block_sizes


def _may_succeed(kernel: KernelFacts, other: ScenarioFacts) -> bool:
    """Whether all may go well in a block of another size: it does, or nobody knows and no thread's part is missing."""
    if other.schedules:
        return not _has_failure(other)
    steps, others = (
        {e.step for actor in w.simulation.thread_classes for e in actor.events} for w in (kernel.scenarios[0], other)
    )
    return steps <= others


def _is_inconclusive(world: ScenarioFacts) -> bool:
    """Whether threads wait for others whose walks were cut short, or few rounds were walked: that shows nothing."""
    cut = any(actor.end_reason != "exit" for actor in world.simulation.thread_classes)
    return world.scenario.sample == SMALL_SIZE or (
        cut and any(rehearsal.blocked_threads for rehearsal in world.schedules)
    )


def _has_failure(world: ScenarioFacts) -> bool:
    """Whether threads surely wait for ever, or arrive too often, or count differently; or bytes do not come."""
    return any(
        rehearsal.excess_arrivals
        or rehearsal.count_mismatches
        or find_root_blocked_thread(world, rehearsal) is not None
        or any(find_tx_imbalances(world.simulation, rehearsal))
        for rehearsal in (*world.schedules, *world.simulation.eager_async_schedules)
    )


def is_certain(world: ScenarioFacts) -> bool:
    """Whether no walk of the CTA, or of its cluster, guesses, and its block has the size that the kernel asks for."""
    return world.scenario.launch.is_exact and all(
        actor.first_guess is None for actor in world.simulation.thread_classes
    )


def observation_certainty(world: ScenarioFacts) -> tuple[bool, int]:
    """(exact, threads) of an observation: one scenario is proof where the walks and the size of the block are sure.

    Where the kernel leaves its block's size open, every size that is tried must show it. Guesses prove nothing.
    """
    guessed = any(actor.first_guess is not None for actor in world.simulation.thread_classes)
    return is_certain(world), 2 if guessed else 1


def find_root_blocked_thread(world: ScenarioFacts, rehearsal: ScheduleResult) -> BlockedThread | None:
    """What the others hang on, where everybody waits; None where somebody's walk was cut short before it waits, or
    gives up waiting, and where something else was wrong before.

    That is the phase which came nearest to its end and stopped first; a barrier only where no phase is waited for.
    """
    if rehearsal.excess_arrivals or rehearsal.count_mismatches:
        return None
    waiting = {stuck.thread_class for stuck in rehearsal.blocked_threads}
    if any(
        actor.end_reason != "exit" and number not in waiting
        for number, actor in enumerate(world.simulation.thread_classes)
    ):
        return None
    if any(
        is_bounded_wait(world.program, step)
        for step in {s.event.step for s in rehearsal.blocked_threads if s.mbarrier is not None}
    ):
        return None
    started = [s for s in rehearsal.blocked_threads if s.mbarrier is not None and s.mbarrier.arrivals]
    phases = [s for s in rehearsal.blocked_threads if s.mbarrier is not None]
    for found in (started, phases):
        if found:
            return min(found, key=lambda stuck: stuck.mbarrier.last_update if stuck.mbarrier is not None else 0)
    return min(rehearsal.blocked_threads, key=_barrier_level, default=None)


def _barrier_level(stuck: BlockedThread) -> int:
    """How many threads a barrier is for: those of the cluster may wait since those of a CTA do."""
    effect = stuck.event.effect
    return _BARRIER_LEVELS.index(effect.level) if isinstance(effect, Barrier) else len(_BARRIER_LEVELS)
