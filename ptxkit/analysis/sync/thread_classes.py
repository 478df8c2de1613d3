"""Groups threads that synchronize identically: they are the actors of a simulated schedule.

A group of threads takes one path. Its threads whose barriers and mbarriers are the same at each event form one actor.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Set
from functools import cached_property
from typing import get_args

from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.trace import GroupEvent, GroupTrace, TraceEvent, UnknownCall, differences_of_lanes
from ptxkit.analysis.sync.mbarrier_location import MbarrierLocation, location_of, locations_of
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.isa.effects import Barrier, Effect, MbarrierComplete, MbarrierEffect
from ptxkit.semantics.ordering import is_warp_convergence
from ptxkit.syntax.constants import WARP_SIZE

#: The classes of effects that concern mbarriers, none of which has subclasses: each event is looked up in it.
_MBARRIER_EFFECTS = frozenset(get_args(MbarrierEffect))


def is_sync_effect(effect: Effect, *, warp: bool = True) -> bool:
    """Returns whether an effect concerns a barrier or an mbarrier.

    warp: whether barriers of a warp count.
    """
    if isinstance(effect, Barrier):
        return warp or effect.level != "warp"
    return type(effect) in _MBARRIER_EFFECTS


def warp_operation_of(event: TraceEvent) -> str:
    """Returns what lanes have to execute together: an instruction with its modifiers, or nothing but a barrier."""
    match = event.step.match
    return match.canonical if match is not None and is_warp_convergence(event.effect) else ""


@dataclass(frozen=True, eq=False)
class ThreadClass:
    """The threads `tids` with the same synchronizing `events`, in order.

    end_reason: how their exploration ended. first_guess: the number of events before their first guess; None if they
    made no guess. rank: the rank of their CTA in its cluster. polled_arrivals: the arrivals, by step and visit, before
    which they tested a phase without waiting for it.
    """

    tids: tuple[int, ...]
    events: tuple[TraceEvent, ...]
    end_reason: str
    first_guess: int | None
    rank: int = 0
    polled_arrivals: Set[tuple[Step, int]] = frozenset()

    @cached_property
    def warps(self) -> frozenset[int]:
        """The warps of its threads."""
        return frozenset(tid // WARP_SIZE for tid in self.tids)

    @cached_property
    def ordered_warps(self) -> list[int]:
        """The warps of its threads, in ascending order."""
        return sorted(self.warps)

    @cached_property
    def lanes(self) -> int:
        """The lanes of its threads in their warps, as a mask."""
        found = 0
        for tid in self.tids:
            found |= 1 << tid % WARP_SIZE
        return found

    @cached_property
    def locations(self) -> list[tuple[MbarrierLocation, ...] | None]:
        """The mbarriers that each event uses; None where they are not known. A barrier uses none."""
        return [() if isinstance(each.effect, Barrier) else locations_of(self.rank, each) for each in self.events]

    @cached_property
    def named_locations(self) -> list[MbarrierLocation | None]:
        """The location that the operand of each event names; None where it is unknown. It is that of no barrier."""
        return [location_of(self.rank, each) for each in self.events]

    @cached_property
    def highest_rank(self) -> int:
        """The highest rank of a CTA whose mbarriers an event uses."""
        return max((rank for places in self.locations for rank, _ in places or ()), default=0)

    @cached_property
    def steps_by_effect(self) -> Mapping[type, Set[Step]]:
        """The instructions of its events, by the class of their effect."""
        found: dict[type, set[Step]] = defaultdict(set)
        for each in self.events:
            found[type(each.effect)].add(each.step)
        return found

    @cached_property
    def indices_without_warps(self) -> list[int]:
        """The indices of the events other than the barriers of a warp."""
        return [index for index, each in enumerate(self.events) if is_sync_effect(each.effect, warp=False)]

    @cached_property
    def unsized_copies(self) -> Set[MbarrierLocation]:
        """The mbarriers on which its copies of unknown size complete."""
        return frozenset(
            place
            for event, places in zip(self.events, self.locations, strict=True)
            if isinstance(event.effect, MbarrierComplete) and not isinstance(event.size, int)
            for place in places or ()
        )


def thread_classes_of(groups: Iterable[GroupTrace], rank: int = 0) -> list[ThreadClass]:
    """Returns the actors of all threads of the CTA with a rank, in the order of their first thread.

    A warp whose lanes belong to several actors is separated from other warps, because its warp barriers synchronize
    those actors. Where all lanes of a warp belong to one actor, the barriers of that warp are irrelevant.
    """
    found = [actor for group in groups for actor in _split_by_behavior(group, rank)]
    parted = {warp for warp, count in Counter(warp for actor in found for warp in actor.warps).items() if count > 1}
    return sorted((part for actor in found for part in _split_by_warp(actor, parted)), key=lambda actor: actor.tids[0])


def _split_by_behavior(group: GroupTrace, rank: int) -> Iterator[ThreadClass]:
    """Yields the classes of a group's threads, by their synchronizing events."""
    events = [e for e in group.events if not isinstance(e, UnknownCall) and is_sync_effect(e.effect)]
    guessed = None
    if group.first_guess is not None:
        before = group.events[: group.first_guess]
        guessed = sum(not isinstance(event, UnknownCall) and is_sync_effect(event.effect) for event in before)
    by_story: dict[Hashable, list[int]] = defaultdict(list)
    # An event that all threads share does not distinguish them.
    differing = [event for event in events if isinstance(event, GroupEvent)]
    for index, story in enumerate(differences_of_lanes(differing, len(group.tids))):
        by_story[story].append(index)
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
    """Yields an actor without the lanes of divergent warps, and one actor for each of these warps."""
    by_warp: dict[int | None, list[int]] = defaultdict(list)
    for tid in actor.tids:
        by_warp[tid // WARP_SIZE if tid // WARP_SIZE in parted else None].append(tid)
    for warp, tids in by_warp.items():
        if warp is not None:
            yield replace(actor, tids=tuple(tids))
            continue
        kept = [is_sync_effect(event.effect, warp=False) for event in actor.events]
        events = tuple(event for event, keep in zip(actor.events, kept, strict=True) if keep)
        sure = None if actor.first_guess is None else sum(kept[: actor.first_guess])
        yield replace(actor, tids=tuple(tids), events=events, first_guess=sure)


def _own_event(event: TraceEvent | GroupEvent, index: int) -> TraceEvent | None:
    """Returns the event of one thread; an event without per-thread fields is the same object for all threads."""
    return event.for_thread(index) if isinstance(event, GroupEvent) else event
