"""What makes a CTA of a cluster stay until others are done with its shared memory.

Known only for clusters of which all CTAs are walked, and without a guess. Only what surely nobody waits for counts: an
mbarrier that is waited for at all tells of the copies that complete on it, and what another thread signals may tell of
anything. Source: PTX ISA, "Cluster of Cooperative Thread Arrays", "barrier.cluster", "Completion Mechanisms for
Asynchronous Copy Operations".
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property

from ptxkit.analysis.clusters import CLUSTER, Reach, arrivals, reaches, signals_to_several
from ptxkit.analysis.kernel import World
from ptxkit.analysis.places import Place, places_of
from ptxkit.analysis.program import Step
from ptxkit.analysis.space import CTA_BITS
from ptxkit.analysis.thread import Thread
from ptxkit.analysis.trace import Event
from ptxkit.isa.effects import Access, Barrier, MbarrierArrive, MbarrierComplete, MbarrierTrack, MbarrierWait

_RANK = 0xFF << CTA_BITS


class Farewell:
    """A CTA, `own`, and the `others` of its cluster."""

    def __init__(self, own: World, others: Sequence[World]) -> None:
        self._own = own
        self._others = others

    @cached_property
    def is_known(self) -> bool:
        """Whether all threads of all CTAs are walked to their ends, without a guess."""
        ctas = [self._own, *self._others]
        groups = [group for cta in ctas for group in cta.groups]
        return (
            len(ctas) == self._own.scenario.launch.cluster_size
            and all(cta.is_whole for cta in ctas)
            and self._waiting is not None
            and not any(group.opaque or group.guessed is not None or group.ended != "exit" for group in groups)
        )

    def exposed(self) -> Iterator[tuple[Thread, int, Event]]:
        """Accesses to the own shared memory that may come, or last, when the CTA has ended: thread, position, event."""
        for reach in self._reaches:
            if not self._stays(reach.thread, reach.position) and not self._hears_of(reach):
                yield reach.thread, reach.position, reach.event
        for thread in self._own.threads.values():
            for position, event in thread.positions(Access):
                if _reads_for_another(event) and not self._stays(thread, position) and not self._is_answered(event):
                    yield thread, position, event

    @cached_property
    def _reaches(self) -> list[Reach]:
        rank = self._own.scenario.rank
        return [reach for other in self._others for reach in reaches(other) if reach.rank == rank]

    @cached_property
    def _signals(self) -> list[Reach]:
        """All that may tell the CTA of something: a signal to several CTAs at once, too."""
        rank = self._own.scenario.rank
        several = (signal for other in self._others for signal in signals_to_several(other) if signal.rank == rank)
        return [*self._reaches, *several]

    @cached_property
    def _waiting(self) -> list[Thread] | None:
        return self._own.everyone(Barrier, MbarrierWait)

    @cached_property
    def _rounds(self) -> int:
        """How many rounds of the cluster's barrier some thread of the CTA waits for."""
        return max((len(thread.marks.acquires.get(CLUSTER, ())) for thread in self._waiting or ()), default=0)

    def _told(self, mbarrier: int | None) -> int:
        """The last phase of an mbarrier that some thread of the CTA waits for."""
        key = ("mbarrier", mbarrier)
        return max((phase for thread in self._waiting or () for phase in thread.marks.phases.get(key, ())), default=0)

    def _stays(self, thread: Thread, position: int) -> bool:
        """Whether the CTA waits for a round of the cluster's barrier that a thread enters after a position."""
        return self._rounds > bisect_left(arrivals(thread), position)

    def _hears_of(self, reach: Reach) -> bool:
        """Whether the CTA may wait for a signal that stands for a reach, or comes after it."""
        if self._is_heard(reach):
            return True
        last = self._last_heard
        if last.get(reach.thread, -1) > reach.position:
            return True
        return any(thread is not reach.thread for thread in last) and self._tells(reach)

    @cached_property
    def _last_heard(self) -> dict[Thread, int]:
        """By thread of another CTA: where it last gives a signal that this one waits for."""
        found: dict[Thread, int] = {}
        for signal in self._signals:
            if self._is_heard(signal):
                found[signal.thread] = max(signal.position, found.get(signal.thread, -1))
        return found

    def _tells(self, reach: Reach) -> bool:
        """Whether other threads may know of a reach: its thread gives order after it, by whatever it does, or they wait
        for its completion elsewhere."""
        thread = reach.thread
        if thread not in self._last_telling:
            self._last_telling[thread] = self._last_order(thread)
        return self._last_telling[thread] > reach.position or self._completes_elsewhere(reach)

    @cached_property
    def _last_telling(self) -> dict[Thread, int]:
        """By thread, as far as it was asked: `_last_order`."""
        return {}

    def _last_order(self, thread: Thread) -> int:
        """Where a thread last gives order to others, by whatever it does; -1 where it never does."""
        last = -1
        for position, event in thread.positions(Barrier, MbarrierArrive, MbarrierTrack, Access):
            effect = event.effect
            if isinstance(effect, Barrier) and effect.level == "cluster":
                rounds = bisect_left(arrivals(thread), position)
                tells = effect.action != "wait" and self._most_rounds > rounds
            else:
                tells = not isinstance(effect, Access) or effect.completion == "mbarrier"
            if tells:
                last = max(last, position)
        return last

    def _completes_elsewhere(self, reach: Reach) -> bool:
        """Whether a copy completes on mbarriers of other CTAs alone, as one for a pair of CTAs may, and somebody there
        waits for that."""
        told = self._completions.get((id(reach.thread), reach.event.step, reach.event.visit), ())
        if any(rank == self._own.scenario.rank for rank, _ in told):
            return False
        return any(
            mbarrier in thread.waits
            for rank, mbarrier in told
            for other in self._others
            if other.scenario.rank == rank
            for thread in other.threads.values()
        )

    @cached_property
    def _completions(self) -> dict[tuple[int, Step, int], tuple[Place, ...]]:
        """Where the copies of the other CTAs complete, by thread, instruction and execution."""
        return {
            (id(thread), event.step, event.visit): places_of(other.scenario.rank, event) or ()
            for other in self._others
            for thread in other.threads.values()
            for _, event in thread.positions(MbarrierComplete)
        }

    @cached_property
    def _most_rounds(self) -> int:
        """How many rounds of the cluster's barrier some thread of the cluster waits for."""
        threads = [thread for cta in (self._own, *self._others) for thread in cta.threads.values()]
        return max((len(thread.marks.acquires.get(CLUSTER, ())) for thread in threads), default=0)

    def _is_heard(self, signal: Reach) -> bool:
        if signal.mbarrier is None:
            return False
        told = self._told(signal.mbarrier)
        if isinstance(signal.event.effect, MbarrierArrive):
            return told >= self._ordinals[(id(signal.thread), signal.position)]
        return told > 0

    @cached_property
    def _ordinals(self) -> dict[tuple[int, int], int]:
        """Of each arrival from another CTA, by thread and position: how many its thread has made by then."""
        found: dict[tuple[int, int], int] = {}
        counts: dict[tuple[int, int | None], int] = {}
        for reach in sorted(self._signals, key=lambda reach: reach.position):
            if isinstance(reach.event.effect, MbarrierArrive):
                key = (id(reach.thread), reach.mbarrier)
                counts[key] = found[(id(reach.thread), reach.position)] = counts.get(key, 0) + 1
        return found

    def _is_answered(self, copy: Event) -> bool:
        """Whether another CTA may signal, after it has seen a copy complete, what this one waits for."""
        place = copy.barrier & ~_RANK if isinstance(copy.barrier, int) else None
        heard = [signal for signal in self._signals if self._is_heard(signal)]
        return any(
            _may_follow(other, thread, thread.waits[place], signal)
            for other in self._others
            for thread in other.threads.values()
            if place in thread.waits
            for signal in heard
        )


def _may_follow(cta: World, thread: Thread, since: int, signal: Reach) -> bool:
    """Whether a signal may come after a position of a thread; one of a third CTA always may."""
    if signal.thread is thread:
        return since < signal.position
    if signal.thread not in cta.threads.values():
        return True
    return any(cta.order(thread, since, signal.thread, signal.position))


def _reads_for_another(event: Event) -> bool:
    """Whether a copy reads the own shared memory and completes on an mbarrier of another CTA."""
    effect = event.effect
    return (
        isinstance(effect, Access)
        and (effect.kind, effect.completion) == ("read", "mbarrier")
        and isinstance(event.address, int)
        and not event.address & _RANK
        and isinstance(event.barrier, int)
        and bool(event.barrier & _RANK)
    )
