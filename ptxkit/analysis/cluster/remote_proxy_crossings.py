"""Finds bytes of shared memory that pass from one CTA of a cluster to another and are accessed through the async proxy.

Within one CTA, synchronization orders accesses of one proxy; between two CTAs, it needs a proxy fence as well. A wait
for the completion of a bulk copy or an asynchronous multiplication implies such a fence. Any fence of other threads of
a CTA is assumed to suffice; if some fence is executed by no examined thread, nothing is reported.

Source: PTX ISA, "Async Proxy", "Causality Order", "membar / fence".
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import TypeAlias

from ptxkit.analysis.cluster.cta_pairs import CtaAccess, CtaPair, cta_pairs_of
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.limits import MAX_CROSSING_CHECKS
from ptxkit.analysis.symexec.access_ranges import (
    is_async_read,
    is_async_write,
    is_generic_write,
    orders_shared_before_async,
)
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Access, MbarrierWait, ProxyFence, WaitGroup
from ptxkit.semantics.ordering import IMPLICIT_FENCE_GROUPS

_END = 1 << 62


@dataclass(frozen=True, slots=True)
class RemoteProxyCrossing:
    """Accesses of two CTAs to the same bytes, where the later one is asynchronous and certainly ordered.

    kind: `generic` where the first is a store and the later one reads, `async` where both are asynchronous and one of
    them writes. may_fence_in_releaser, may_fence_in_acquirer: whether there may be a proxy fence in the CTA of the
    first access, and in that of the later one. is_certain: whether some input certainly leads to both accesses, and no
    guess hides a fence between them.
    """

    before: CtaAccess
    after: CtaAccess
    kind: str
    may_fence_in_releaser: bool
    may_fence_in_acquirer: bool
    is_certain: bool


def find_remote_proxy_crossings(kernel: KernelFacts, facts: ScenarioFacts) -> Iterator[RemoteProxyCrossing]:
    """Yields the crossings from a CTA to the others of its cluster, one for each pair of instructions."""
    for pair in cta_pairs_of(kernel, facts):
        if _has_unexecuted_fences(kernel, pair):
            continue
        found: set[tuple[Step, Step]] = set()
        left = MAX_CROSSING_CHECKS
        for before, after in pair.shared_accesses(_is_asynchronous):
            kind = _crossing_kind(before.event, after.event)
            steps = (before.event.step, after.event.step)
            if kind is None or steps in found:
                continue
            left -= 1
            spans = _fence_spans(pair, before, after)
            if spans is not None:
                found.add(steps)
                yield RemoteProxyCrossing(
                    before,
                    after,
                    kind,
                    _may_fence_before_release(pair, before, spans[0]),
                    _may_fence_after_acquire(pair, after, spans[1], kind),
                    _are_certain(pair, before, after, *spans),
                )
            if left < 0:
                break


def _has_unexecuted_fences(kernel: KernelFacts, pair: CtaPair) -> bool:
    """Returns whether some proxy fence is executed by no examined thread, so that its position is unknown."""
    steps = {step for step in kernel.program.effectful_steps if any(isinstance(e, ProxyFence) for e in step.effects)}
    for facts in (pair.releaser, pair.acquirer):
        steps -= {event.step for thread in facts.threads.values() for _, event in thread.positions(ProxyFence)}
    return bool(steps)


def _is_asynchronous(event: TraceEvent) -> bool:
    return is_async_read(event) or is_async_write(event)


def _crossing_kind(before: TraceEvent, after: TraceEvent) -> str | None:
    effect = before.effect
    if is_async_read(after) and is_generic_write(before) and isinstance(effect, Access) and effect.completion is None:
        return "generic"
    is_write = is_async_write(before) or is_async_write(after)
    return "async" if is_write and _is_asynchronous(before) and _is_asynchronous(after) else None


_Positions: TypeAlias = dict[ThreadView, int]
"""The positions of the threads of a CTA at which it releases to another CTA, or acquires from it."""


def _fence_spans(pair: CtaPair, before: CtaAccess, after: CtaAccess) -> tuple[_Positions, _Positions] | None:
    """Returns the positions up to which the first CTA may fence, and those from which the second one may.

    The result is None where the two accesses are not certainly ordered.
    """
    if pair.is_ordered_by_cluster_barrier(before, after):
        return pair.barrier_positions_around(before)
    handover = pair.first_ordering_edge(before, after)
    if handover is None:
        return None
    given = dict.fromkeys(pair.releaser.threads.values(), _END) | {handover.arrival.thread: handover.arrival.position}
    taken = dict.fromkeys(pair.acquirer.threads.values(), -1) | {handover.wait.thread: handover.wait.position}
    return given, taken


def _are_certain(pair: CtaPair, before: CtaAccess, after: CtaAccess, until: _Positions, since: _Positions) -> bool:
    """Returns whether no guess decides the accesses, nor what threads do before the release and after the acquire."""
    return (
        before.is_certain
        and after.is_certain
        and all(thread.trace.is_certain(min(at, len(thread.trace.events))) for thread, at in until.items())
        and not any(
            pair.acquirer.may_guess_between(thread, max(at, 0), after.thread, after.position)
            for thread, at in since.items()
            if at < len(thread.trace.events)
        )
    )


def _may_fence_before_release(pair: CtaPair, before: CtaAccess, until: _Positions) -> bool:
    """Returns whether there may be a fence between an access and the release."""
    own = before.thread
    return any(
        _is_fenced(pair.releaser, t, before.position if t is own else -1, at, t is own) for t, at in until.items()
    )


def _may_fence_after_acquire(pair: CtaPair, after: CtaAccess, since: _Positions, kind: str) -> bool:
    """Returns whether there may be a fence between the acquire and an access.

    For a stored value this includes any copy that a thread waits for, since the copy may have replaced the value.
    """
    own = after.thread
    return any(
        _is_fenced(pair.acquirer, t, at, after.position if t is own else _END, t is own or kind == "generic")
        for t, at in since.items()
    )


def _is_fenced(facts: ScenarioFacts, thread: ThreadView, since: int, until: int, waits: bool) -> bool:
    """Returns whether a thread executes a fence between two positions.

    waits: whether operations for which it waits may imply a fence.
    """
    barriers = facts.analysis(_copy_barriers)
    kinds = (ProxyFence, WaitGroup, MbarrierWait) if waits else (ProxyFence,)
    return any(since < at < until and _is_fence(event, barriers) for at, event in thread.positions(*kinds))


def _copy_barriers(facts: ScenarioFacts) -> frozenset[object]:
    """Returns the mbarriers on which the copies of a CTA complete."""
    return frozenset(copy.event.barrier for other in facts.threads.values() for copy in other.copies)


def _is_fence(event: TraceEvent, barriers: Set[object]) -> bool:
    if isinstance(event.effect, WaitGroup):
        return event.effect.group in IMPLICIT_FENCE_GROUPS
    if isinstance(event.effect, MbarrierWait):
        return event.address in barriers or not isinstance(event.address, int)
    return orders_shared_before_async(event, None)
