"""Finds synchronization between two CTAs of a cluster by an mbarrier, where one side orders only its own CTA, or
nothing.

An arrival counts whatever its scope is. It orders what precedes it only for a wait where neither is relaxed, and each
has a scope that includes the other's thread. Anything else that may order the two CTAs is treated as order: the barrier
of the cluster, another mbarrier with wider scopes, fences of such scopes, flags in memory.

The same holds where memory is only reused. Libraries that are considered correct signal the reuse at scope `.cta`,
which is the default of arrivals and waits; they use no relaxed operations for this.

Source: PTX ISA, "Morally strong operations", "Causality Order", "mbarrier.arrive", "mbarrier.test_wait,
mbarrier.try_wait".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from ptxkit.analysis.cluster.cluster_facts import may_poll_memory
from ptxkit.analysis.cluster.cta_pairs import CtaAccess, CtaPair, RemoteSyncEdge, cta_pairs_of
from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.ir.worklist import Worklist
from ptxkit.analysis.limits import MAX_EDGE_CHECKS
from ptxkit.analysis.symexec.trace import TraceEvent, UnknownCall
from ptxkit.analysis.sync.mbarrier_location import MbarrierLocation, locations_of
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.isa.effects import Access, MbarrierArrive, MbarrierWait
from ptxkit.semantics.ordering import CTA_LEVEL, fence_level, is_half_proxy_fence, sync_operation_of

#: The properties with which an operation orders nothing, and those with which it orders no other CTA.
_RELAXED, _INSUFFICIENT = ("relaxed",), ("relaxed", "cta")


@dataclass(frozen=True, slots=True)
class InsufficientScope:
    """Accesses of two CTAs to the same bytes that only a synchronization of too narrow a scope orders.

    is_data: whether the first access is a store and the other one a load or a store, so that contents are transferred;
    otherwise the memory is only reused. is_cta_scope_reuse: whether the reuse is signaled at scope `.cta`. is_sole:
    whether it is known that nothing else orders the CTAs.
    """

    before: CtaAccess
    edge: RemoteSyncEdge
    after: CtaAccess
    is_data: bool
    is_cta_scope_reuse: bool
    is_sole: bool = True

    @property
    def is_certain(self) -> bool:
        """Whether some input certainly leads to the accesses, and nothing else orders them."""
        return self.is_sole and all(
            touch.is_certain for touch in (self.before, self.edge.arrival, self.edge.wait, self.after)
        )


def find_insufficient_scopes(kernel: KernelFacts, number: int) -> Iterator[InsufficientScope]:
    """Yields the violations between the CTA of a scenario and the others of its cluster.

    Reuse that is signaled at scope `.cta` is yielded only under the policy `strict`.
    """
    facts = kernel.scenarios[number]
    if (
        facts.scenario.launch.cluster_size == 1
        or not _may_have_insufficient_scope(kernel)
        or may_poll_memory(kernel.program)
    ):
        return
    hazards = [(_RELAXED, ("reuse",)), (_INSUFFICIENT, ("data", "reuse") if kernel.policy == "strict" else ("data",))]
    for pair in cta_pairs_of(kernel, facts):
        found: set[tuple[Step, Step]] = set()
        for lacks, kinds in hazards:
            narrow = [handover for handover in pair.sync_edges if _has_insufficient_scope(handover, lacks)]
            is_ordered = _is_ordered_otherwise(kernel, number, pair, lacks) if narrow else True
            if is_ordered is not True:
                for each in _crossings_by_edges(pair, narrow, kinds, found, is_open=lacks is _INSUFFICIENT):
                    yield replace(each, is_sole=is_ordered is False)


def _crossings_by_edges(
    pair: CtaPair, narrow: list[RemoteSyncEdge], kinds: Collection[str], found: set[tuple[Step, Step]], *, is_open: bool
) -> Iterator[InsufficientScope]:
    """Yields accesses that only synchronization of insufficient scope orders, once for each pair of instructions.

    found: the pairs of instructions that were yielded before.
    """
    left = MAX_EDGE_CHECKS
    for before, after in pair.shared_accesses():
        kind = _conflict_kind(before.event, after.event)
        steps = (before.event.step, after.event.step)
        if kind not in kinds or steps in found or pair.may_be_ordered_by_cluster_barrier(before, after):
            continue
        for handover in narrow:
            left -= 1
            if pair.is_ordered_by_edge(before, handover, after):
                found.add(steps)
                yield InsufficientScope(before, handover, after, kind == "data", is_open and kind != "data")
                break
        if left < 0:
            return


def _may_have_insufficient_scope(kernel: KernelFacts) -> bool:
    effects = [effect for step in kernel.program.effectful_steps for effect in step.effects]
    if any((fence_level(e, restricted=False) or CTA_LEVEL) > CTA_LEVEL for e in effects):
        return False
    if any(is_half_proxy_fence(e) for e in effects):
        return False  # a pair of fences orders what a relaxed arrival counts
    gives = [_missing_scope(e) for e in effects if isinstance(e, MbarrierArrive) and not e.asynchronous]
    takes = [_missing_scope(e) for e in effects if isinstance(e, MbarrierWait)]
    return bool(gives) and bool(takes) and any(lack is not None for lack in (*gives, *takes))


def _is_ordered_otherwise(kernel: KernelFacts, number: int, pair: CtaPair, lacks: Collection[str]) -> bool | None:
    """Returns whether some mbarriers may order the second CTA of a pair after the first one.

    These are mbarriers with sufficient scopes, at which the first CTA arrives, and on which the second one waits, or
    CTAs between them. The result is None where not all uses of mbarriers are known.
    """
    if any(not _has_insufficient_scope(handover, lacks) for handover in pair.sync_edges):
        return True
    wide = [
        {
            step
            for step in kernel.program.effectful_steps
            for effect in step.effects
            if _has_sufficient_scope(effect, kind, lacks)
        }
        for kind in (MbarrierArrive, MbarrierWait)
    ]
    if not all(wide):
        return False
    seen: set[Step] = set()
    ranks: dict[type, dict[MbarrierLocation, set[int]]] = {
        MbarrierArrive: defaultdict(set),
        MbarrierWait: defaultdict(set),
    }
    cluster = kernel.cluster_of(number)
    for facts in cluster:
        known_threads = None if facts.has_unknown_call else facts.distinct_threads(MbarrierArrive, MbarrierWait)
        for thread in known_threads or ():
            for event in thread.trace.events:
                if isinstance(event, UnknownCall) or not _has_sufficient_scope(event.effect, type(event.effect), lacks):
                    continue
                places = locations_of(facts.scenario.rank, event)
                if places is None:
                    return None
                seen.add(event.step)
                for place in places:
                    ranks[type(event.effect)][place].add(facts.scenario.rank)
        if known_threads is None:
            return None
    first, last = pair.releaser.scenario.rank, pair.acquirer.scenario.rank
    if last in _ranks_ordered_after(first, ranks[MbarrierArrive], ranks[MbarrierWait]):
        return True
    is_known = len(cluster) == pair.releaser.scenario.launch.cluster_size and wide[0] | wide[1] <= seen
    return False if is_known else None


def _ranks_ordered_after(
    rank: int, arriving: Mapping[MbarrierLocation, set[int]], waiting: Mapping[MbarrierLocation, set[int]]
) -> set[int]:
    """Returns a CTA, and those that wait on an mbarrier at which it or another one of them arrives."""
    found = Worklist([rank])
    for each in found:
        for place, ranks in arriving.items():
            if each in ranks:
                found.add(waiting.get(place, ()))
    return found.seen


def _has_sufficient_scope(effect: object, kind: type, lacks: Collection[str]) -> bool:
    """Returns whether an arrival, or a wait, orders other CTAs."""
    if not isinstance(effect, kind) or not isinstance(effect, MbarrierArrive | MbarrierWait):
        return False
    return _missing_scope(effect) not in lacks and not getattr(effect, "asynchronous", False)


def _has_insufficient_scope(handover: RemoteSyncEdge, lacks: Collection[str]) -> bool:
    """Returns whether the arrival or the wait orders only its own CTA, or nothing."""
    return any(missing_scope(touch.event) in lacks for touch in (handover.arrival, handover.wait))


def _conflict_kind(before: TraceEvent, after: TraceEvent) -> str | None:
    """Returns `data` where stored contents are used, and `reuse` where memory that was read is written again."""
    first, second = before.effect, after.effect
    assert isinstance(first, Access)
    assert isinstance(second, Access)
    if first.kind == "read":
        is_plain = (first.proxy, first.completion) == ("generic", None)
        return "reuse" if second.kind != "read" and is_plain else None
    is_plain = all((each.proxy, each.completion) == ("generic", None) for each in (first, second))
    return "data" if is_plain and "weak" in (first.order, second.order) else None


def missing_scope(event: TraceEvent) -> str | None:
    """Returns the property that prevents an arrival or a wait from ordering two CTAs: `cta` or `relaxed`."""
    effect = event.effect
    assert isinstance(effect, MbarrierArrive | MbarrierWait)
    return _missing_scope(effect)


def _missing_scope(effect: MbarrierArrive | MbarrierWait) -> str | None:
    operation = sync_operation_of(effect)
    assert operation is not None
    if operation.is_relaxed:
        return "relaxed"
    return "cta" if operation.scope_level == CTA_LEVEL else None
