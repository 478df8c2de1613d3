"""What the rules about phases and barriers share: what their proofs rest on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ptxkit.analysis.cluster_bytes import imbalances
from ptxkit.analysis.clusters import leaves_clusters_open
from ptxkit.analysis.kernel import Kernel, World
from ptxkit.analysis.patience import gives_up
from ptxkit.analysis.places import Place
from ptxkit.analysis.program import Step
from ptxkit.analysis.rehearsal import Rehearsal, Stuck
from ptxkit.analysis.scenario import FEW, SAMPLES
from ptxkit.isa.effects import Barrier, MbarrierInit
from ptxkit.rules.finding import Doubt, Finding, Observation

#: The threads that a barrier is for, fewest first.
_LEVELS = ("cta", "warp", "cluster")


def told(
    kernel: Kernel, number: int, steps: Iterable[Step], broken: Mapping[Step, Finding]
) -> Iterator[Observation | Doubt]:
    """What a rule has to say of one scenario, of the `steps` that it looked at.

    Where the kernel leaves its block's size open, every size that is tried must show it. A smaller block in which
    threads wait for ever shows nothing: it is not one that the kernel is meant for. Where all goes well in a block of
    some other size, this one may not be; where all does in none, the largest is. Few rounds in which all goes well
    show nothing, either. Where the block's size is said, a size of whole tiles that shows it is enough; of one that
    leaves a remainder nobody knows whether the kernel is meant for it.
    """
    world = kernel.worlds[number]
    if broken and leaves_clusters_open(kernel.program):
        for step in broken:
            yield Doubt(step, "how many CTAs a cluster has is not said", "cluster")
        return
    if broken and not world.scenario.launch.is_exact and any(_may_work(kernel, other) for other in _smaller(kernel)):
        for step in broken:
            yield Doubt(step, "how many threads a block has is not said: at another size all goes well", "block")
        return
    exact, threads = proof(world)
    limit = kernel.worlds[0].scenario.launch
    if broken and limit.is_limit and world.scenario.launch == limit:
        usual = limit.is_exact and world.scenario.sample == SAMPLES[0]
        exact = threads == 1 and (
            usual or all(_fails(w) or _is_open(w) for w in kernel.worlds if w.scenario.launch == limit)
        )
    is_smaller = limit.is_limit and world.scenario.launch != limit
    silent = world.scenario.sample == FEW or (is_smaller and _fails(world))
    for step in steps:
        if step in broken or not silent:
            yield Observation((step, None), number, exact, broken.get(step), threads)


def of_cta(world: World, rank: int) -> str:
    """Which CTA of a cluster is meant, in words."""
    return f" in CTA {rank} of the cluster" if world.cast.size > 1 else ""


def initialisation(world: World, place: Place | None) -> Step | None:
    """Where the mbarrier at a place is made."""
    events = () if place is None else world.cast.at(place)
    return next((event.step for event in events if isinstance(event.effect, MbarrierInit)), None)


def _smaller(kernel: Kernel) -> Iterator[World]:
    """The kernel in other blocks than the largest, where it says which one that is; else in others than were tried."""
    limit = kernel.worlds[0].scenario.launch
    yield from (world for world in kernel.worlds if limit.is_limit and world.scenario.launch != limit)
    yield from kernel.other_sizes


def _may_work(kernel: Kernel, other: World) -> bool:
    """Whether all may go well in a block of another size: it does, or nobody knows and no thread's part is missing."""
    if other.rehearsals:
        return not _fails(other)
    steps, others = ({e.step for actor in w.cast.actors for e in actor.events} for w in (kernel.worlds[0], other))
    return steps <= others


def _is_open(world: World) -> bool:
    """Whether threads wait for others whose walks were cut short, or few rounds were walked: that shows nothing."""
    cut = any(actor.ended != "exit" for actor in world.cast.actors)
    return world.scenario.sample == FEW or (cut and any(rehearsal.stuck for rehearsal in world.rehearsals))


def _fails(world: World) -> bool:
    """Whether threads surely wait for ever, or arrive too often, or count differently; or bytes do not come."""
    return any(
        rehearsal.excess
        or rehearsal.uneven
        or first_to_stick(world, rehearsal) is not None
        or any(imbalances(world.cast, rehearsal))
        for rehearsal in (*world.rehearsals, *world.cast.hasty)
    )


def is_sure(world: World) -> bool:
    """Whether no walk of the CTA, or of its cluster, guesses, and its block has the size that the kernel asks for."""
    return world.scenario.launch.is_exact and all(actor.guessed is None for actor in world.cast.actors)


def proof(world: World) -> tuple[bool, int]:
    """(exact, threads) of an observation: one scenario is proof where the walks and the size of the block are sure.

    Where the kernel leaves its block's size open, every size that is tried must show it. Guesses prove nothing.
    """
    guessed = any(actor.guessed is not None for actor in world.cast.actors)
    return is_sure(world), 2 if guessed else 1


def first_to_stick(world: World, rehearsal: Rehearsal) -> Stuck | None:
    """What the others hang on, where everybody waits; None where somebody's walk was cut short before it waits, or
    gives up waiting, and where something else was wrong before.

    That is the phase which came nearest to its end and stopped first; a barrier only where no phase is waited for.
    """
    if rehearsal.excess or rehearsal.uneven:
        return None
    waiting = {stuck.actor for stuck in rehearsal.stuck}
    if any(actor.ended != "exit" and number not in waiting for number, actor in enumerate(world.cast.actors)):
        return None
    if any(gives_up(world.program, step) for step in {s.event.step for s in rehearsal.stuck if s.state is not None}):
        return None
    started = [s for s in rehearsal.stuck if s.state is not None and s.state.arrivals]
    phases = [s for s in rehearsal.stuck if s.state is not None]
    for found in (started, phases):
        if found:
            return min(found, key=lambda stuck: stuck.state.touched if stuck.state is not None else 0)
    return min(rehearsal.stuck, key=_reach, default=None)


def _reach(stuck: Stuck) -> int:
    """How many threads a barrier is for: those of the cluster may wait since those of a CTA do."""
    effect = stuck.event.effect
    return _LEVELS.index(effect.level) if isinstance(effect, Barrier) else len(_LEVELS)
