"""Finds accesses of two CTAs of a cluster to the same bytes of shared memory that nothing is known to order.

An asynchronous copy into another CTA must start after the reads of what an earlier one has copied there, and be ordered
with the stores to the same bytes. Otherwise, the cluster barrier is followed, and the phases of the mbarriers by which
one CTA signals another one; a signal to a third CTA may order them, too. A `cp.async` copy that its thread waits for
counts as a write at that wait. Whatever else may order them makes no difference: nothing is proven, the question is
left open.

Source: PTX ISA, "Conflict and Data-races", "Causality Order", "barrier.cluster".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from ptxkit.analysis.cluster.cluster_facts import (
    find_accesses_of_unknown_ctas,
    find_signaled_mbarriers,
    may_poll_memory,
    signal_observations,
)
from ptxkit.analysis.cluster.cta_pairs import CtaAccess, CtaPair, cta_pairs_of
from ptxkit.analysis.cluster.remote_copies import OutgoingSignals, find_remote_overwrites, find_remote_refills
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.thread_view import PairBudget, ThreadView
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.limits import MAX_CROSSING_CHECKS
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.sync.async_groups import AsyncCopy
from ptxkit.analysis.sync.sync_edges import NEVER
from ptxkit.isa.effects import Access

#: The signals of each of two CTAs, by the identity of its facts.
_Signals: TypeAlias = dict[int, OutgoingSignals]


def find_cluster_races(kernel: KernelFacts) -> Iterator[Step]:
    """Yields the instructions with an access that another CTA's access may conflict with, each once."""
    if not kernel.scenarios or kernel.scenarios[0].scenario.launch.cluster_size == 1:
        return
    found = {
        event.step: None
        for facts in kernel.scenarios
        for event in (*find_remote_refills(kernel, facts), *find_remote_overwrites(kernel, facts))
    }
    yield from found
    signaled = find_signaled_mbarriers(kernel.scenarios)
    for facts in kernel.scenarios:
        for pair in cta_pairs_of(kernel, facts):
            signals = _signals_of(pair, signaled)
            if signals and may_poll_memory(kernel.program):
                continue
            for access in _unordered_accesses(pair, signals):
                if access.event.step not in found:
                    found[access.event.step] = None
                    yield access.event.step


def _signals_of(pair: CtaPair, signaled: frozenset[int]) -> _Signals:
    """Returns the signals by which one of two CTAs may learn of the other; none if neither observes any."""
    ctas = pair.releaser, pair.acquirer
    is_observed = any(
        True for cta in ctas for thread in cta.threads.values() for _ in signal_observations(thread, signaled)
    )
    return {id(cta): OutgoingSignals(cta) for cta in ctas} if is_observed else {}


def _unordered_accesses(pair: CtaPair, signals: _Signals) -> Iterator[CtaAccess]:
    left = MAX_CROSSING_CHECKS
    pair_budget = PairBudget(pair.acquirer.budget)
    seen: set[tuple[Step, Step]] = set()
    for one, other in pair.shared_accesses(_is_plain):
        steps = one.event.step, other.event.step
        if steps in seen or not _is_plain(one.event) or not _conflict(one.event, other.event):
            continue
        if signals and not pair_budget.allow(steps):
            continue
        left -= 1
        if left < 0:
            return
        if not _may_be_ordered(pair, signals, one, other):
            seen.add(steps)
            yield other
    for one in _accesses_of_unknown_ctas(pair.releaser):
        for other in _plain_accesses(pair.acquirer):
            left -= 1
            if left < 0:
                return
            if _conflict(one.event, other.event) and not _may_be_ordered(pair, signals, one, other):
                yield one
                break


def _may_be_ordered(pair: CtaPair, signals: _Signals, one: CtaAccess, other: CtaAccess) -> bool:
    return any(
        pair.may_be_ordered_by_cluster_barrier(_at_completion(before), after)
        or (signals and _may_be_signaled(pair, signals, _at_completion(before), after))
        for before, after in ((one, other), (other, one))
    )


def _may_be_signaled(pair: CtaPair, signals: _Signals, before: CtaAccess, after: CtaAccess) -> bool:
    """Returns whether the thread of an access may have observed that the other thread has passed the other access."""
    own, source = pair.cta_of(before.thread), pair.cta_of(after.thread)
    return signals[id(own)].may_be_observed(before.thread, before.position, (source, after.thread, after.position))


def _at_completion(access: CtaAccess) -> CtaAccess:
    """Returns an access at the position where its thread has observed that it is complete, which may be never.

    For a copy that an mbarrier tracks this is the position of the arrival, since other threads may observe it.
    """
    copy = _copy_of(access.thread, access.event)
    if copy is None:
        return access
    known = (at for at in (copy.completion_position, copy.track_position) if at is not None)
    return CtaAccess(access.thread, next(known, NEVER), access.event)


def _copy_of(thread: ThreadView, event: TraceEvent) -> AsyncCopy | None:
    copies = thread.copies_by_execution.get((event.step, event.visit), ())
    return next((copy for copy in copies if copy.event is event), None)


def _accesses_of_unknown_ctas(facts: ScenarioFacts) -> Iterator[CtaAccess]:
    return (CtaAccess(*each) for each in find_accesses_of_unknown_ctas(facts))


def _plain_accesses(facts: ScenarioFacts) -> Iterator[CtaAccess]:
    return (
        CtaAccess(thread, position, event)
        for thread in facts.threads.values()
        for position, event in thread.accesses
        if _is_plain(event)
    )


def _is_plain(event: TraceEvent) -> bool:
    """Returns whether an access uses the generic proxy, and only its own thread observes its completion."""
    effect = event.effect
    return isinstance(effect, Access) and effect.proxy == "generic" and effect.completion in (None, "cp.async")


def _conflict(one: TraceEvent, other: TraceEvent) -> bool:
    """Returns whether one of two accesses writes and one is weak; two strong ones are no data race."""
    effects = [each for each in (one.effect, other.effect) if isinstance(each, Access)]
    return any(each.kind != "read" for each in effects) and any(each.order == "weak" for each in effects)
