"""Determines whether a CTA of a cluster exits only after the other CTAs have finished with its shared memory.

The result is known only for clusters of which all CTAs are explored to their ends. An access is reported only if
certainly no thread waits for it: any wait on an mbarrier is assumed to observe the copies on it, and a signal of
another thread is assumed to follow any access.

Source: PTX ISA, "Cluster of Cooperative Thread Arrays", "barrier.cluster", "Completion Mechanisms for Asynchronous Copy
Operations".
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property

from ptxkit.analysis.cluster.cluster_facts import (
    CLUSTER_BARRIER_KEY,
    SIGNAL_EFFECTS,
    RemoteAccess,
    cluster_barrier_arrivals,
    find_multicast_arrivals,
    find_remote_accesses,
)
from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.ir.shared_window import CTA_BITS
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.sync.mbarrier_location import MbarrierLocation, locations_of
from ptxkit.analysis.values.symbolic_values import Value
from ptxkit.isa.effects import Access, Barrier, MbarrierArrive, MbarrierComplete, MbarrierTrack, MbarrierWait
from ptxkit.semantics.ordering import is_warp_convergence

_RANK_BITS = 0xFF << CTA_BITS


class ExitSafety:
    """The accesses to the memory of a CTA, `own`, by the `others` of its cluster."""

    def __init__(self, own: ScenarioFacts, others: Sequence[ScenarioFacts]) -> None:
        self._own = own
        self._others = others

    @cached_property
    def is_known(self) -> bool:
        """Whether the traces of all threads of all CTAs reach their ends."""
        ctas = [self._own, *self._others]
        return (
            len(ctas) == self._own.scenario.launch.cluster_size
            and all(cta.is_complete for cta in ctas)
            and self._waiting_threads is not None
            and not any(group.has_unknown_call or group.end_reason != "exit" for cta in ctas for group in cta.groups)
        )

    @cached_property
    def is_certain(self) -> bool:
        """Whether no guess leads to the traces."""
        return all(group.first_guess is None for cta in (self._own, *self._others) for group in cta.groups)

    def unprotected_accesses(self) -> Iterator[tuple[ThreadView, int, TraceEvent]]:
        """Yields the accesses to the CTA's memory that may happen after its exit, as (thread, position, event)."""
        for reach in self._remote_accesses:
            if not self._outlives(reach.thread, reach.position) and not self._may_await_signal_after(reach):
                yield reach.thread, reach.position, reach.event
        for thread in self._own.threads.values():
            for position, event in thread.positions(Access):
                if (
                    _completes_on_remote_mbarrier(event)
                    and not self._outlives(thread, position)
                    and not self._may_be_acknowledged(event)
                ):
                    yield thread, position, event

    def converging_accesses(self) -> Iterator[TraceEvent]:
        """Yields the accesses that precede an awaited signal only because lanes converge, which orders no memory."""
        for reach in self._remote_accesses:
            if (
                not self._outlives(reach.thread, reach.position)
                and not self._is_signal_of_own_thread(reach)
                and self._may_await_signal_after(reach)
                and self._last_releases(reach.thread)[1] <= reach.position
                and not self._completes_remotely(reach)
            ):
                yield reach.event

    @cached_property
    def may_await_unknown_signal(self) -> bool:
        """Whether some thread of the CTA may wait for a signal of another CTA at an mbarrier that is not known."""
        waits = [event for thread in self._waiting_threads or () for _, event in thread.positions(MbarrierWait)]
        if any(not isinstance(event.address, int) for event in waits):
            return True
        return bool(waits) and any(
            not isinstance(mbarrier, int)
            for other in self._others
            for thread in other.threads.values()
            for mbarrier in _signaled_mbarriers(thread)
        )

    @cached_property
    def _remote_accesses(self) -> list[RemoteAccess]:
        rank = self._own.scenario.rank
        return [reach for other in self._others for reach in find_remote_accesses(other) if reach.rank == rank]

    @cached_property
    def _signals(self) -> list[RemoteAccess]:
        """All events that may signal the CTA, including signals to several CTAs at once."""
        rank = self._own.scenario.rank
        several = (signal for other in self._others for signal in find_multicast_arrivals(other) if signal.rank == rank)
        return [*self._remote_accesses, *several]

    @cached_property
    def _waiting_threads(self) -> list[ThreadView] | None:
        return self._own.distinct_threads(Barrier, MbarrierWait)

    @cached_property
    def _awaited_cluster_phases(self) -> int:
        """The number of rounds of the cluster's barrier for which some thread of the CTA waits."""
        return max(
            (
                len(thread.release_acquire_points.acquires.get(CLUSTER_BARRIER_KEY, ()))
                for thread in self._waiting_threads or ()
            ),
            default=0,
        )

    def _last_awaited_phase(self, mbarrier: int | None) -> int:
        """Returns the last phase of an mbarrier for which some thread of the CTA waits."""
        return self._last_awaited_phases.get(("mbarrier", mbarrier), 0)

    @cached_property
    def _last_awaited_phases(self) -> dict[Hashable, int]:
        found: dict[Hashable, int] = {}
        for thread in self._waiting_threads or ():
            for key, phases in thread.release_acquire_points.acquire_phases.items():
                found[key] = max(found.get(key, 0), *phases)
        return found

    def _outlives(self, thread: ThreadView, position: int) -> bool:
        """Returns whether the CTA waits for a round of the cluster's barrier that a thread enters after a position."""
        return self._awaited_cluster_phases > bisect_left(cluster_barrier_arrivals(thread), position)

    def _may_await_signal_after(self, reach: RemoteAccess) -> bool:
        """Returns whether the CTA may wait for a signal that is, or follows, a remote access."""
        if self._is_signal_of_own_thread(reach):
            return True
        is_signaled = any(thread is not reach.thread for thread in self._last_awaited_signal)
        return is_signaled and self._may_notify_others(reach)

    def _is_signal_of_own_thread(self, reach: RemoteAccess) -> bool:
        """Returns whether a remote access is an awaited signal, or its thread sends one afterwards."""
        return self._is_awaited_signal(reach) or self._last_awaited_signal.get(reach.thread, -1) > reach.position

    @cached_property
    def _last_awaited_signal(self) -> dict[ThreadView, int]:
        """The position of the last signal of each thread of another CTA for which this CTA waits."""
        found: dict[ThreadView, int] = {}
        for signal in self._signals:
            if self._is_awaited_signal(signal):
                found[signal.thread] = max(signal.position, found.get(signal.thread, -1))
        return found

    def _may_notify_others(self, reach: RemoteAccess) -> bool:
        """Returns whether other threads may learn about a remote access.

        They may if its thread releases afterwards, or if they wait for its completion in another CTA.
        """
        return self._last_releases(reach.thread)[0] > reach.position or self._completes_remotely(reach)

    @cached_property
    def _last_releases_cache(self) -> dict[ThreadView, tuple[int, int]]:
        """The results of `_last_releases`."""
        return {}

    def _last_releases(self, thread: ThreadView) -> tuple[int, int]:
        """Returns the last position at which a thread may release to others, with or without the convergence of lanes.

        A position is -1 if the thread never releases.
        """
        if thread not in self._last_releases_cache:
            self._last_releases_cache[thread] = self._find_last_releases(thread)
        return self._last_releases_cache[thread]

    def _find_last_releases(self, thread: ThreadView) -> tuple[int, int]:
        last = ordered = -1
        for position, event in thread.positions(Barrier, MbarrierArrive, MbarrierTrack, Access):
            effect = event.effect
            if isinstance(effect, Barrier) and effect.level == "cluster":
                rounds = bisect_left(cluster_barrier_arrivals(thread), position)
                signals = effect.action != "wait" and self._max_cluster_phases > rounds
            else:
                signals = not isinstance(effect, Access) or effect.completion == "mbarrier"
            if signals:
                last = max(last, position)
                ordered = ordered if is_warp_convergence(effect) else max(ordered, position)
        return last, ordered

    def _completes_remotely(self, reach: RemoteAccess) -> bool:
        """Returns whether a copy completes only on mbarriers of other CTAs, and a thread there waits for it.

        A copy for a pair of CTAs may complete in this manner.
        """
        completions = self._completions.get((id(reach.thread), reach.event.step, reach.event.visit), ())
        if any(rank == self._own.scenario.rank for rank, _ in completions):
            return False
        return any(
            mbarrier in thread.first_waits
            for rank, mbarrier in completions
            for other in self._others
            if other.scenario.rank == rank
            for thread in other.threads.values()
        )

    @cached_property
    def _completions(self) -> dict[tuple[int, Step, int], tuple[MbarrierLocation, ...]]:
        """The mbarriers on which the copies of the other CTAs complete, by thread, instruction and execution."""
        return {
            (id(thread), event.step, event.visit): locations_of(other.scenario.rank, event) or ()
            for other in self._others
            for thread in other.threads.values()
            for _, event in thread.positions(MbarrierComplete)
        }

    @cached_property
    def _max_cluster_phases(self) -> int:
        """The number of rounds of the cluster's barrier for which some thread of the cluster waits."""
        threads = [thread for cta in (self._own, *self._others) for thread in cta.threads.values()]
        return max(
            (len(thread.release_acquire_points.acquires.get(CLUSTER_BARRIER_KEY, ())) for thread in threads), default=0
        )

    def _is_awaited_signal(self, signal: RemoteAccess) -> bool:
        if signal.mbarrier is None:
            return False
        completions = self._last_awaited_phase(signal.mbarrier)
        if isinstance(signal.event.effect, MbarrierArrive):
            return completions >= self._arrival_numbers[(id(signal.thread), signal.position)]
        return completions > 0

    @cached_property
    def _arrival_numbers(self) -> dict[tuple[int, int], int]:
        """The number of arrivals of a thread up to each arrival from another CTA, by thread and position."""
        found: dict[tuple[int, int], int] = {}
        counts: dict[tuple[int, int | None], int] = {}
        for reach in sorted(self._signals, key=lambda reach: reach.position):
            if isinstance(reach.event.effect, MbarrierArrive):
                key = (id(reach.thread), reach.mbarrier)
                counts[key] = found[(id(reach.thread), reach.position)] = counts.get(key, 0) + 1
        return found

    def _may_be_acknowledged(self, copy: TraceEvent) -> bool:
        """Returns whether another CTA may send an awaited signal after it has observed a copy's completion."""
        place = copy.barrier & ~_RANK_BITS if isinstance(copy.barrier, int) else None
        awaited = [signal for signal in self._signals if self._is_awaited_signal(signal)]
        return any(
            _may_follow(other, thread, thread.first_waits[place], signal)
            for other in self._others
            for thread in other.threads.values()
            if place in thread.first_waits
            for signal in awaited
        )


def _signaled_mbarriers(thread: ThreadView) -> Iterator[Value | None]:
    """Yields the address of the mbarrier of each signal of a thread."""
    for _, event in thread.positions(*SIGNAL_EFFECTS, MbarrierTrack):
        yield event.address
    for _, event in thread.positions(Access):
        if isinstance(event.effect, Access) and event.effect.completion == "mbarrier":
            yield event.barrier


def _may_follow(cta: ScenarioFacts, thread: ThreadView, since: int, signal: RemoteAccess) -> bool:
    """Returns whether a signal may follow a position of a thread; a signal of a third CTA always may."""
    if signal.thread is thread:
        return since < signal.position
    if signal.thread not in cta.threads.values():
        return True
    return cta.is_ordered(thread, since, signal.thread, signal.position)


def _completes_on_remote_mbarrier(event: TraceEvent) -> bool:
    """Returns whether a copy reads the CTA's own shared memory and completes on an mbarrier of another CTA."""
    effect = event.effect
    return (
        isinstance(effect, Access)
        and (effect.kind, effect.completion) == ("read", "mbarrier")
        and isinstance(event.address, int)
        and not event.address & _RANK_BITS
        and isinstance(event.barrier, int)
        and bool(event.barrier & _RANK_BITS)
    )
