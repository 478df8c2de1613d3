"""Finds accesses of the CTAs of a cluster to each other's shared memory, and their order.

Each rank of a kernel's clusters is executed in its own scenarios. Two scenarios are of one launch if their sizes and
samples are equal. Across CTAs, only the barrier of the cluster is followed. A CTA that may be synchronized otherwise,
by an mbarrier that another CTA signals or by a flag in memory, is assumed to be synchronized.

Source: PTX ISA, "Cluster of Cooperative Thread Arrays", "barrier.cluster", "membar / fence" (`fence.mbarrier_init`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from ptxkit.analysis.abstract_interpretation.register_values import AbstractRegisters
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.shared_window import CTA_BITS
from ptxkit.analysis.ir.step_registers import is_result_used
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.sync.mbarrier_location import locations_of
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import (
    Access,
    Barrier,
    CtaGroup,
    Effect,
    MbarrierArrive,
    MbarrierComplete,
    MbarrierExpect,
    MemoryFence,
    Value,
)
from ptxkit.isa.expressions import CallExpr
from ptxkit.syntax.tree import Name

#: The key of the cluster's barrier among the release and acquire points of a thread.
CLUSTER_BARRIER_KEY = ("cluster", 0)
#: The effects that signal an mbarrier, possibly one of another CTA.
SIGNAL_EFFECTS = (MbarrierArrive, MbarrierComplete, MbarrierExpect)
#: The bits of an address that identify the CTA.
_RANK_BITS = 0xFF << CTA_BITS


@dataclass(frozen=True, slots=True)
class RemoteAccess:
    """An access to another CTA's shared memory, or an operation on an mbarrier in it.

    rank: the rank of that CTA. mbarrier: the offset of the mbarrier in that CTA; None if there is no mbarrier
    operation.
    """

    thread: ThreadView
    position: int
    event: TraceEvent
    rank: int
    mbarrier: int | None


def find_remote_accesses(facts: ScenarioFacts) -> Iterator[RemoteAccess]:
    """Yields the accesses of a CTA's traced threads to the other CTAs of its cluster."""
    ranks = facts.scenario.launch.cluster_size
    for thread in facts.threads.values() if ranks > 1 else ():
        for position, event in thread.analysis(_events_of_several_ctas):
            signals = event.address if isinstance(event.effect, SIGNAL_EFFECTS) else event.barrier
            mbarrier = signals & ~_RANK_BITS if isinstance(signals, int) else None
            for rank in _target_ranks(event):
                if rank != facts.scenario.rank and rank < ranks:
                    yield RemoteAccess(thread, position, event, rank, mbarrier)


def _events_of_several_ctas(thread: ThreadView) -> list[tuple[int, TraceEvent]]:
    """Returns the accesses and signals of a thread that may be of another CTA, with positions."""
    return [each for each in thread.positions(Access, *SIGNAL_EFFECTS) if any(True for _ in _target_ranks(each[1]))]


def find_accesses_of_unknown_ctas(facts: ScenarioFacts) -> Iterator[tuple[ThreadView, int, TraceEvent]]:
    """Yields (thread, position, event) of the synchronous accesses of a CTA's traced threads to shared memory of the
    cluster whose addresses are not numbers, so that they may be of any CTA."""
    for thread in facts.threads.values():
        for position, event in thread.positions(Access):
            if not isinstance(event.address, int) and _may_be_of_cluster(facts.program, event):
                yield thread, position, event


def _may_be_of_cluster(program: Program, event: TraceEvent) -> bool:
    """Returns whether a synchronous access is of shared memory of the cluster, by its form or its generic address."""
    effect = event.effect
    if not isinstance(effect, Access) or effect.completion is not None:
        return False
    if effect.space != "generic":
        return effect.space == "shared::cluster"
    registers = program.analysis(AbstractRegisters)
    return registers.may_be_remote(event.step, event.step.operand(effect.address))


def find_multicast_arrivals(facts: ScenarioFacts) -> Iterator[RemoteAccess]:
    """Yields the arrivals of a CTA's traced threads at the mbarriers of several CTAs at once, in each other CTA."""
    own, ranks = facts.scenario.rank, facts.scenario.launch.cluster_size
    for thread in facts.threads.values():
        for position, event in thread.positions(MbarrierArrive):
            if getattr(event.effect, "multicast", None) is not None:
                for rank, mbarrier in locations_of(own, event) or ():
                    if rank != own and rank < ranks:
                        yield RemoteAccess(thread, position, event, rank, mbarrier)


def _target_ranks(event: TraceEvent) -> Iterator[int]:
    """Yields the known ranks of the other CTAs that an event accesses."""
    if isinstance(event.effect, Access) and event.effect.multicast is not None and isinstance(event.amount, int):
        yield from (rank for rank in range(event.amount.bit_length()) if event.amount >> rank & 1)
    elif isinstance(event.address, int) and event.address & _RANK_BITS:
        yield (event.address >> CTA_BITS & 0xFF) - 1


def scenario_of_rank(scenarios: Sequence[ScenarioFacts], facts: ScenarioFacts, rank: int) -> ScenarioFacts | None:
    """Returns the explored CTA with a rank in the cluster of another CTA; None where it was not explored."""
    return next((other for other in _ctas_of_cluster(scenarios, facts) if other.scenario.rank == rank), None)


def other_ctas_of(scenarios: Sequence[ScenarioFacts], facts: ScenarioFacts) -> list[ScenarioFacts]:
    """Returns the other explored CTAs of a CTA's cluster, by their ranks. Only a few are explored in any cluster."""
    found: dict[int, ScenarioFacts] = {}
    for other in _ctas_of_cluster(scenarios, facts):
        found.setdefault(other.scenario.rank, other)
    return [found[rank] for rank in sorted(found) if rank != facts.scenario.rank]


def _ctas_of_cluster(scenarios: Sequence[ScenarioFacts], facts: ScenarioFacts) -> Iterator[ScenarioFacts]:
    """Yields the explored CTAs of a CTA's cluster, including the CTA itself."""
    return (other for other in scenarios if other.simulation is facts.simulation)


def find_signaled_mbarriers(scenarios: Sequence[ScenarioFacts]) -> frozenset[int]:
    """Returns the offsets of the mbarriers that some explored CTA signals in another CTA, or in several CTAs."""
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
    """Returns whether a kernel uses the result of a strong load or an atomic, by which another thread may signal."""
    return any(
        isinstance(e, Access)
        and e.kind != "write"
        and e.order != "weak"
        and e.completion is None
        and is_result_used(program, step)
        for step in program.effectful_steps
        for e in step.effects
    )


def has_unknown_cluster_size(kernel: KernelFacts) -> bool:
    """Returns whether a kernel interacts with the CTAs of its cluster, and nothing determines how many there are."""
    if kernel.assumes_cluster_size or kernel.program.function.directive("reqnctapercluster") is not None:
        return False
    return any(_uses_cluster(step) for code in kernel.program.functions for step in code.steps)


def is_alone_in_cluster(facts: ScenarioFacts) -> bool:
    """Returns whether no CTA of the cluster accesses the memory or the mbarriers of another one.

    Otherwise a thread of another CTA may have observed what a thread of the CTA did, and may signal the CTA's threads.
    """
    if facts.scenario.launch.cluster_size == 1:
        return True
    return not facts.program.analysis(_reaches_other_ctas) and not any(True for _ in find_remote_accesses(facts))


def _reaches_other_ctas(program: Program) -> bool:
    """Returns whether an instruction works in several CTAs at once, or computes an address of another one."""
    return any(
        getattr(effect, "multicast", None) is not None
        or (isinstance(effect, CtaGroup) and effect.ctas > 1)
        or _maps_rank(effect)
        for step in program.effectful_steps
        for effect in step.effects
    )


def _maps_rank(effect: Effect) -> bool:
    return isinstance(effect, Value) and isinstance(effect.value, CallExpr) and effect.value.function == "map_rank"


def _uses_cluster(step: Step) -> bool:
    for effect in step.effects:
        if isinstance(effect, Barrier) and effect.level == "cluster":
            return True
        if getattr(effect, "multicast", None) is not None:
            return True
        if _maps_rank(effect):
            return True
    return any(isinstance(e, Name) and e.text[0] == "%" and "cluster" in e.text for e in step.instruction.operands)


def has_observed_cluster_start(facts: ScenarioFacts, thread: ThreadView, position: int) -> bool:
    """Returns whether a thread has observed before a position, at the cluster's barrier, that all CTAs have started."""
    return _is_after_cluster_phase(facts, 1, thread, position)


def has_observed_signal(thread: ThreadView, position: int, mbarriers: frozenset[int]) -> bool:
    """Returns whether a thread has observed before a position a phase of an mbarrier that another CTA may signal."""
    return any(at < position for at in signal_observations(thread, mbarriers))


def signal_observations(thread: ThreadView, mbarriers: frozenset[int]) -> Iterator[int]:
    """Yields the positions at which a thread observes a complete phase of one of some mbarriers, or of an unknown one.

    A wait that succeeds before the first phase is complete observes nothing.
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
    """Returns whether the cluster's barrier orders an mbarrier's initialization before a position in another CTA.

    facts: the scenario of the acquiring thread. A `fence.mbarrier_init` before a relaxed arrival also orders the
    initialization.
    """
    strict = releaser.release_acquire_points.releases.get(CLUSTER_BARRIER_KEY, [])
    fences = [at for at, e in releaser.positions(MemoryFence) if _is_mbarrier_init_fence(e) and at > since]
    for index, (arrival, ordered) in enumerate(zip(cluster_barrier_arrivals(releaser), strict, strict=True)):
        if arrival > since and (ordered >= since or bisect_left(fences, arrival)):
            return _is_after_cluster_phase(facts, index + 1, acquirer, until)
    return False


def last_arrival_before(releaser: ThreadView, facts: ScenarioFacts, acquirer: ThreadView, until: int) -> int:
    """Returns the last position at which a thread arrives at a round of the cluster's barrier that precedes a position.

    facts: the scenario of the acquiring thread, which is in another CTA. The result is -1 if there is no such round.
    """
    rounds = enumerate(cluster_barrier_arrivals(releaser), 1)
    return max((at for number, at in rounds if _is_after_cluster_phase(facts, number, acquirer, until)), default=-1)


def cluster_barrier_arrivals(thread: ThreadView) -> list[int]:
    """Returns the positions at which a thread arrives at the cluster's barrier, relaxed or not."""
    return thread.analysis(_cluster_barrier_arrivals)


def _cluster_barrier_arrivals(thread: ThreadView) -> list[int]:
    return [at for at, e in thread.positions(Barrier) if _is_cluster_barrier(e, "arrive")]


def count_observed_rounds(facts: ScenarioFacts, thread: ThreadView, position: int) -> int:
    """Returns how many rounds of the cluster's barrier a thread has observed to be complete before a position.

    A thread that has arrived and not waited yet knows the round only if another thread has signaled it.
    """
    own = thread.release_acquire_points.observed_phases(CLUSTER_BARRIER_KEY, position)
    arrived = sum(at < position for at in cluster_barrier_arrivals(thread))
    later = (number for number in range(arrived, own, -1) if _is_after_cluster_phase(facts, number, thread, position))
    return next(later, own)


def _is_after_cluster_phase(facts: ScenarioFacts, ordinal: int, thread: ThreadView, position: int) -> bool:
    """Returns whether round `ordinal` (from 1) of the cluster's barrier is complete before a position of a thread."""
    for other in facts.threads.values():
        acquired = other.release_acquire_points.first_acquire(CLUSTER_BARRIER_KEY, ordinal)
        if acquired is None:
            continue
        if acquired < position if other is thread else facts.is_ordered(other, acquired, thread, position):
            return True
    return False


def _is_mbarrier_init_fence(event: TraceEvent) -> bool:
    effect = event.effect
    return isinstance(effect, MemoryFence) and effect.only == "mbarrier.init"


def _is_cluster_barrier(event: TraceEvent, action: str) -> bool:
    effect = event.effect
    return isinstance(effect, Barrier) and effect.level == "cluster" and effect.action in (action, "sync")
