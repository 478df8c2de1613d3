"""Accesses of the CTAs of a cluster to the shared memory of each other, and their order.

Each rank that a kernel's clusters have is executed in scenarios of its own; two of them are of one launch where sizes
and samples agree. Across CTAs only the cluster's barrier is followed; a CTA that may be synchronized otherwise (by an
mbarrier that another CTA signals, or by a flag in memory) counts as synchronized.
Source: PTX ISA, "Cluster of Cooperative Thread Arrays", "barrier.cluster", "membar / fence" (`fence.mbarrier_init`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.shared_window import CTA_BITS
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.sync.mbarrier_location import locations_of
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Access, Barrier, MbarrierArrive, MbarrierComplete, MbarrierExpect, MemoryFence, Value
from ptxkit.isa.expressions import CallExpr
from ptxkit.syntax.tree import Name

#: The cluster's barrier among a thread's marks.
CLUSTER_BARRIER_KEY = ("cluster", 0)
#: What signals an mbarrier, maybe of another CTA.
SIGNAL_EFFECTS = (MbarrierArrive, MbarrierComplete, MbarrierExpect)
#: The bits of an address that say which other CTA it is in.
_RANK_BITS = 0xFF << CTA_BITS


@dataclass(frozen=True, slots=True)
class RemoteAccess:
    """An access to another CTA's shared memory, or an operation on an mbarrier there.

    rank: of that CTA. mbarrier: the one that is operated on, as that CTA sees it; None where none is.
    """

    thread: ThreadView
    position: int
    event: TraceEvent
    rank: int
    mbarrier: int | None


def find_remote_accesses(facts: ScenarioFacts) -> Iterator[RemoteAccess]:
    """The accesses of a CTA's traced threads to the other CTAs of its cluster."""
    ranks = facts.scenario.launch.cluster_size
    for thread in facts.threads.values():
        for position, event in thread.positions(Access, *SIGNAL_EFFECTS):
            signals = event.address if isinstance(event.effect, SIGNAL_EFFECTS) else event.barrier
            mbarrier = signals & ~_RANK_BITS if isinstance(signals, int) else None
            for rank in _target_ranks(event):
                if rank != facts.scenario.rank and rank < ranks:
                    yield RemoteAccess(thread, position, event, rank, mbarrier)


def find_multicast_arrivals(facts: ScenarioFacts) -> Iterator[RemoteAccess]:
    """The arrivals of a CTA's traced threads at the mbarriers of several CTAs at once, in each other CTA."""
    own, ranks = facts.scenario.rank, facts.scenario.launch.cluster_size
    for thread in facts.threads.values():
        for position, event in thread.positions(MbarrierArrive):
            if getattr(event.effect, "multicast", None) is not None:
                for rank, mbarrier in locations_of(own, event) or ():
                    if rank != own and rank < ranks:
                        yield RemoteAccess(thread, position, event, rank, mbarrier)


def _target_ranks(event: TraceEvent) -> Iterator[int]:
    """The ranks of the CTAs that an event reaches, as far as they are known; without the own one."""
    if isinstance(event.effect, Access) and event.effect.multicast is not None and isinstance(event.amount, int):
        yield from (rank for rank in range(event.amount.bit_length()) if event.amount >> rank & 1)
    elif isinstance(event.address, int) and event.address & _RANK_BITS:
        yield (event.address >> CTA_BITS & 0xFF) - 1


def scenario_of_rank(scenarios: Sequence[ScenarioFacts], facts: ScenarioFacts, rank: int) -> ScenarioFacts | None:
    """The explored CTA of a rank in the cluster of another; None where none was explored."""
    return next((other for other in _ctas_of_cluster(scenarios, facts) if other.scenario.rank == rank), None)


def other_ctas_of(scenarios: Sequence[ScenarioFacts], facts: ScenarioFacts) -> list[ScenarioFacts]:
    """The other explored CTAs of the cluster of one, by their ranks: few, however many the cluster has."""
    found: dict[int, ScenarioFacts] = {}
    for other in _ctas_of_cluster(scenarios, facts):
        found.setdefault(other.scenario.rank, other)
    return [found[rank] for rank in sorted(found) if rank != facts.scenario.rank]


def _ctas_of_cluster(scenarios: Sequence[ScenarioFacts], facts: ScenarioFacts) -> Iterator[ScenarioFacts]:
    """The explored CTAs of the cluster of one, itself among them."""
    own = facts.scenario
    return (other for other in scenarios if (other.scenario.sample, other.scenario.launch) == (own.sample, own.launch))


def find_signalled_mbarriers(scenarios: Sequence[ScenarioFacts]) -> frozenset[int]:
    """The mbarriers, as their own CTA sees them, that some explored CTA signals in another, or in several."""
    found = {
        reach.mbarrier for facts in scenarios for reach in find_remote_accesses(facts) if reach.mbarrier is not None
    }
    for facts in scenarios:
        for thread in facts.threads.values():
            for _, event in thread.positions(*SIGNAL_EFFECTS):
                if getattr(event.effect, "multicast", None) is not None and isinstance(event.address, int):
                    found.add(event.address & ~_RANK_BITS)
    return frozenset(found)


def may_poll_memory(program: Program) -> bool:
    """Whether a kernel reads anything that another thread may signal with: strong loads and atomics."""
    effects = (effect for step in program.effectful_steps for effect in step.effects)
    return any(
        isinstance(e, Access) and e.kind != "write" and e.order != "weak" and e.completion is None for e in effects
    )


def has_unknown_cluster_size(program: Program) -> bool:
    """Whether a kernel has to do with the CTAs of its cluster, and does not say how many there are."""
    if program.function.directive("reqnctapercluster") is not None:
        return False
    return any(_uses_cluster(step) for step in program.steps)


def _uses_cluster(step: Step) -> bool:
    for effect in step.effects:
        if isinstance(effect, Barrier) and effect.level == "cluster":
            return True
        if getattr(effect, "multicast", None) is not None:
            return True
        if isinstance(effect, Value) and isinstance(effect.value, CallExpr) and effect.value.function == "map_rank":
            return True
    return any(isinstance(e, Name) and e.text[0] == "%" and "cluster" in e.text for e in step.instruction.operands)


def has_observed_cluster_start(facts: ScenarioFacts, thread: ThreadView, position: int) -> bool:
    """Whether a thread has learnt before a position, of the cluster's barrier, that all CTAs have begun."""
    return _is_after_cluster_phase(facts, 1, thread, position)


def has_observed_signal(thread: ThreadView, position: int, mbarriers: frozenset[int]) -> bool:
    """Whether a thread has learnt before a position that a phase is over of an mbarrier that another CTA may signal."""
    return any(at < position for at in signal_observations(thread, mbarriers))


def signal_observations(thread: ThreadView, mbarriers: frozenset[int]) -> Iterator[int]:
    """Where a thread learns that a phase is complete of one of some mbarriers, or of an unknown one.

    A wait that passes before the first phase is complete shows nothing.
    """
    for key, positions in thread.release_acquire_points.acquires.items():
        match key:
            case ("mbarrier", address) if not isinstance(address, int) or address in mbarriers:
                yield from (
                    at
                    for at, phase in zip(positions, thread.release_acquire_points.acquire_phases[key], strict=True)
                    if phase
                )


def is_init_ordered_by_cluster_barrier(
    releaser: ThreadView, since: int, facts: ScenarioFacts, acquirer: ThreadView, until: int
) -> bool:
    """Whether the cluster's barrier orders an initialisation of an mbarrier in one CTA before a position in another.

    facts: of the acquiring thread. A `fence.mbarrier_init` before a relaxed arrival orders it, too.
    """
    strict = releaser.release_acquire_points.releases.get(CLUSTER_BARRIER_KEY, [])
    fences = [at for at, e in releaser.positions(MemoryFence) if _is_mbarrier_init_fence(e) and at > since]
    for index, (arrival, ordered) in enumerate(zip(cluster_barrier_arrivals(releaser), strict, strict=True)):
        if arrival > since and (ordered >= since or bisect_left(fences, arrival)):
            return _is_after_cluster_phase(facts, index + 1, acquirer, until)
    return False


def cluster_barrier_arrivals(thread: ThreadView) -> list[int]:
    """Where a thread arrives at the cluster's barrier, relaxed or not."""
    return [at for at, e in thread.positions(Barrier) if _is_cluster_barrier(e, "arrive")]


def _is_after_cluster_phase(facts: ScenarioFacts, ordinal: int, thread: ThreadView, position: int) -> bool:
    """Whether round `ordinal` (from 1) of the cluster's barrier is over before a position of a thread."""
    for other in facts.threads.values():
        acquired = other.release_acquire_points.first_acquire(CLUSTER_BARRIER_KEY, ordinal)
        if acquired is None:
            continue
        if acquired < position if other is thread else any(facts.sync_edges(other, acquired, thread, position)):
            return True
    return False


def _is_mbarrier_init_fence(event: TraceEvent) -> bool:
    effect = event.effect
    return isinstance(effect, MemoryFence) and effect.only == "mbarrier.init"


def _is_cluster_barrier(event: TraceEvent, action: str) -> bool:
    effect = event.effect
    return isinstance(effect, Barrier) and effect.level == "cluster" and effect.action in (action, "sync")
