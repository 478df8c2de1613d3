"""Threads that synchronise alike: what a rehearsal moves about.

A group of threads takes one path; those of it whose barriers and mbarriers are the same at each event are one actor.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Set

from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.trace import GroupEvent, GroupTrace, TraceEvent, UnknownCall
from ptxkit.analysis.values.symbolic_values import LaneValues, Value
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.isa.effects import (
    Barrier,
    Effect,
    MbarrierArrive,
    MbarrierComplete,
    MbarrierExpect,
    MbarrierInit,
    MbarrierInvalidate,
    MbarrierTrack,
    MbarrierWait,
)

_MBARRIER_EFFECTS = (
    MbarrierArrive,
    MbarrierComplete,
    MbarrierExpect,
    MbarrierInit,
    MbarrierInvalidate,
    MbarrierTrack,
    MbarrierWait,
)


def is_sync_effect(effect: Effect, *, warp: bool = True) -> bool:
    """Whether an effect is about a barrier or an mbarrier. warp: barriers of a warp count, too."""
    if isinstance(effect, Barrier):
        return warp or effect.level != "warp"
    return isinstance(effect, _MBARRIER_EFFECTS)


@dataclass(frozen=True, slots=True, eq=False)
class ThreadClass:
    """Threads `tids` with the same synchronising `events`, in order.

    ended: as that of their walk. guessed: how many events there were when the walk began to guess, None where it never
    did. rank: of their CTA in its cluster. tested: the arrivals, by step and visit, before which they asked for a phase
    and did not wait.
    """

    tids: tuple[int, ...]
    events: tuple[TraceEvent, ...]
    end_reason: str
    first_guess: int | None
    rank: int = 0
    polled_arrivals: Set[tuple[Step, int]] = frozenset()

    @property
    def warps(self) -> frozenset[int]:
        """The warps that its threads are in."""
        return frozenset(tid // 32 for tid in self.tids)


def thread_classes_of(groups: Iterable[GroupTrace], rank: int = 0) -> list[ThreadClass]:
    """The actors of all threads of the CTA of a rank, in the order of their first thread.

    A warp whose lanes are in several actors is kept apart from others, as its lanes meet among themselves. Where all
    lanes of a warp act as one, their meetings are of no interest.
    """
    found = [actor for group in groups for actor in _split_by_behaviour(group, rank)]
    parted = {warp for warp, count in Counter(warp for actor in found for warp in actor.warps).items() if count > 1}
    return sorted((part for actor in found for part in _split_by_warp(actor, parted)), key=lambda actor: actor.tids[0])


def _split_by_behaviour(group: GroupTrace, rank: int) -> Iterator[ThreadClass]:
    """The threads of a group, by what they do."""
    events = [e for e in group.events if not isinstance(e, UnknownCall) and is_sync_effect(e.effect)]
    guessed = None
    if group.first_guess is not None:
        before = group.events[: group.first_guess]
        guessed = sum(not isinstance(event, UnknownCall) and is_sync_effect(event.effect) for event in before)
    by_story: dict[Hashable, list[int]] = defaultdict(list)
    # Who shares an event has no part in the difference.
    told = [event for event in events if isinstance(event, GroupEvent)]
    for index in range(len(group.tids)):
        by_story[tuple(_own_fields(event, index) for event in told)].append(index)
    for indices in by_story.values():
        own = [_own_event(event, indices[0]) for event in events]
        sure = None if guessed is None else sum(event is not None for event in own[:guessed])
        tids = tuple(group.tids[index] for index in indices)
        yield ThreadClass(
            tids,
            tuple(event for event in own if event is not None),
            group.end_reason,
            sure,
            rank,
            group.polled_arrivals,
        )


def _split_by_warp(actor: ThreadClass, parted: Set[int]) -> Iterator[ThreadClass]:
    """An actor without the lanes of parted warps, and one for each of these."""
    by_warp: dict[int | None, list[int]] = defaultdict(list)
    for tid in actor.tids:
        by_warp[tid // 32 if tid // 32 in parted else None].append(tid)
    for warp, tids in by_warp.items():
        if warp is not None:
            yield replace(actor, tids=tuple(tids))
            continue
        kept = [is_sync_effect(event.effect, warp=False) for event in actor.events]
        events = tuple(event for event, keep in zip(actor.events, kept, strict=True) if keep)
        sure = None if actor.first_guess is None else sum(kept[: actor.first_guess])
        yield replace(actor, tids=tuple(tids), events=events, first_guess=sure)


def _own_fields(event: GroupEvent, index: int) -> tuple[Value | None, ...] | None:
    """What of an event is one thread's own; None where it took no part."""
    if event.participants is not None and not event.participants[index]:
        return None
    return tuple(held.at(index) if isinstance(held, LaneValues) else None for held in event.fields)


def _own_event(event: TraceEvent | GroupEvent, index: int) -> TraceEvent | None:
    """What one thread saw; common events are the same object for all."""
    return event.for_thread(index) if isinstance(event, GroupEvent) else event
