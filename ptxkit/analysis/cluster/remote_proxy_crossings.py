"""Where bytes of shared memory pass from one CTA of a cluster to another, and through the async proxy there.

Accesses of one proxy are ordered by synchronisation where they are of one CTA; between two CTAs a proxy fence belongs
to it. Where a thread learns that a bulk copy or an asynchronous multiplication is complete, there is such a fence, too.
Any fence of other threads of a CTA counts; where one is executed by no thread that is looked at, nothing is reported.

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
    """Two accesses of the same bytes by two CTAs, one surely ordered after the other, the later one asynchronous.

    kind: `generic` where the first is a store and the later one reads, `async` where both are asynchronous and one of
    them writes. may_fence_in_releaser, may_fence_in_acquirer: whether there may be a proxy fence in the CTA of the
    first, and in that of the later one.
    """

    before: CtaAccess
    after: CtaAccess
    kind: str
    may_fence_in_releaser: bool
    may_fence_in_acquirer: bool


def find_remote_proxy_crossings(kernel: KernelFacts, facts: ScenarioFacts) -> Iterator[RemoteProxyCrossing]:
    """The passages from a CTA to the others of its cluster, one for each two instructions."""
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
                )
            if left < 0:
                break


def _has_unexecuted_fences(kernel: KernelFacts, pair: CtaPair) -> bool:
    """Whether a proxy fence is executed by none of the threads that are looked at: it may be anywhere."""
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
"""By thread of a CTA, where it is when one of two CTAs releases, or acquires."""


def _fence_spans(pair: CtaPair, before: CtaAccess, after: CtaAccess) -> tuple[_Positions, _Positions] | None:
    """Up to where threads of the one CTA may fence for the other, and from where on threads of that one may; None where
    the two accesses are not surely ordered."""
    if pair.is_ordered_by_cluster_barrier(before, after):
        return pair.barrier_positions_around(before)
    for handover in pair.sync_edges:
        if pair.is_ordered_by_edge(before, handover, after):
            given = dict.fromkeys(pair.releaser.threads.values(), _END) | {
                handover.arrival.thread: handover.arrival.position
            }
            taken = dict.fromkeys(pair.acquirer.threads.values(), -1) | {handover.wait.thread: handover.wait.position}
            return given, taken
    return None


def _may_fence_before_release(pair: CtaPair, before: CtaAccess, until: _Positions) -> bool:
    """Whether there may be a fence between an access and the release."""
    own = before.thread
    return any(
        _is_fenced(pair.releaser, t, before.position if t is own else -1, at, t is own) for t, at in until.items()
    )


def _may_fence_after_acquire(pair: CtaPair, after: CtaAccess, since: _Positions, kind: str) -> bool:
    """Whether there may be a fence between the acquire and an access. Of what was stored, a copy that any thread waits
    for may have replaced it."""
    own = after.thread
    return any(
        _is_fenced(pair.acquirer, t, at, after.position if t is own else _END, t is own or kind == "generic")
        for t, at in since.items()
    )


def _is_fenced(facts: ScenarioFacts, thread: ThreadView, since: int, until: int, waits: bool) -> bool:
    """Whether a thread fences between two positions. waits: what it waits for may do so, too."""
    barriers = frozenset(copy.event.barrier for other in facts.threads.values() for copy in other.copies)
    kinds = (ProxyFence, WaitGroup, MbarrierWait) if waits else (ProxyFence,)
    return any(since < at < until and _is_fence(event, barriers) for at, event in thread.positions(*kinds))


def _is_fence(event: TraceEvent, barriers: Set[object]) -> bool:
    if isinstance(event.effect, WaitGroup):
        return event.effect.group in IMPLICIT_FENCE_GROUPS
    if isinstance(event.effect, MbarrierWait):
        return event.address in barriers or not isinstance(event.address, int)
    return orders_shared_before_async(event, None)
