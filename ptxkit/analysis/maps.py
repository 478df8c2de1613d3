"""Tensor maps in global memory that a kernel changes itself: the changes, the copies by them, and the fences for them.

A map is known by the term of its address: two places are surely the same, or apart, where they come from one unknown,
and may be the same otherwise.
Source: PTX ISA, "membar / fence" (`.proxy.tensormap::generic`), "tensormap.cp_fenceproxy", "Async proxy".
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from operator import itemgetter

from ptxkit.analysis.causality import Causality, Path
from ptxkit.analysis.inflight import Copy
from ptxkit.analysis.kernel import World
from ptxkit.analysis.order import Handover
from ptxkit.analysis.program import Step
from ptxkit.analysis.slicing import changes_map
from ptxkit.analysis.terms import Term
from ptxkit.analysis.thread import Thread
from ptxkit.analysis.trace import Event, GroupEvent
from ptxkit.isa.effects import Access, ProxyFence
from ptxkit.records import dataclass

#: Bytes of a tensor map.
MAP_SIZE = 128


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """A write of a thread to global memory."""

    thread: Thread
    position: int
    event: Event
    place: Term

    @property
    def is_of_map(self) -> bool:
        """Whether what writes is made for tensor maps; else other data may only seem to lie where a map is."""
        return any(changes_map(effect) for effect in self.event.step.effects)


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """A tensor copy's read of its tensor map."""

    thread: Thread
    copy: Copy
    place: Term

    @property
    def is_pointer(self) -> bool:
        """Whether the address surely came as one of global memory: by a pointer among the parameters."""
        return self.place.pointer and self.place.space in (None, "global")


class Maps:
    """The tensor maps of one world that its threads change."""

    def __init__(self, world: World) -> None:
        self._world = world

    @cached_property
    def uses(self) -> list[Use]:
        """The tensor copies by maps outside shared memory, whose completion somebody is told of."""
        threads = self._world.threads.values()
        return [
            Use(thread, copy, copy.event.address)
            for thread in threads
            for copy in thread.map_reads
            if isinstance(copy.event.address, Term)
        ]

    def changes_of(self, use: Use) -> Iterator[Change]:
        """The writes that surely change the map of a copy, later ones first."""
        for change in reversed(self._changes.get(use.place.identity, ())):
            if _overlap(change, use):
                yield change

    @cached_property
    def _changes(self) -> dict[int, list[Change]]:
        wanted = {use.place.identity for use in self.uses}
        found: dict[int, list[Change]] = defaultdict(list)
        for thread in self._world.threads.values() if wanted else ():
            for position, event in thread.positions(Access):
                if isinstance(event.address, Term) and event.address.identity in wanted and _writes(event):
                    found[event.address.identity].append(Change(thread, position, event, event.address))
        return found

    def release(self, thread: Thread, place: Term, since: int, until: int) -> int | None:
        """Where a thread first has a fence that releases a map, or may do so, between two positions."""
        fences, places = self._fences_between(thread, "release", since, until)
        return next((fences[at][0] for at in places if _is_for(fences[at][1], place)), None)

    def acquire(self, thread: Thread, place: Term, since: int, until: int) -> int | None:
        """Where a thread last has a fence that acquires a map, or may do so, between two positions."""
        fences, places = self._fences_between(thread, "acquire", since, until)
        return next((fences[at][0] for at in reversed(places) if _is_for(fences[at][1], place)), None)

    def _fences_between(
        self, thread: Thread, direction: str, since: int, until: int
    ) -> tuple[list[tuple[int, Event]], range]:
        if thread not in self._fences_of:
            by_direction: dict[str, list[tuple[int, Event]]] = defaultdict(list)
            for position, event in thread.positions(ProxyFence):
                if (found := _direction_for_maps(event)) is not None:
                    by_direction[found].append((position, event))
            self._fences_of[thread] = by_direction
        fences = self._fences_of[thread][direction]
        first, last = (bisect_left(fences, position, key=itemgetter(0)) for position in (since, until))
        return fences, range(first, last)

    @cached_property
    def _fences_of(self) -> dict[Thread, dict[str, list[tuple[int, Event]]]]:
        """By thread, as far as it was asked, and direction: its fences for tensor maps, with positions."""
        return {}

    def may_fence_elsewhere(self, direction: str, change: Change, use: Use) -> bool:
        """Whether threads on other paths than the two may have such a fence between a change and a copy."""
        fences = self._fences[direction]
        self._world.budget.lookups -= len(fences)
        return self._world.budget.is_over or any(
            _is_for(fence, use.place) and self._may_lie(tids, fence, change, use) for tids, fence in fences
        )

    def may_acquire(self, use: Use) -> bool:
        """Whether any thread has a fence that acquires the map of a copy, or may do so."""
        return any(_is_for(fence, use.place) for _, fence in self._fences["acquire"])

    @cached_property
    def _fences(self) -> dict[str, list[tuple[frozenset[int], Event]]]:
        """By direction: the fences for tensor maps of all groups of threads, each with the threads that execute it as
        one."""
        found: dict[str, list[tuple[frozenset[int], Event]]] = defaultdict(list)
        for group in self._world.groups:
            together: dict[tuple[Step, int, object, str], tuple[set[int], Event]] = {}
            for tid, event in group.each(lambda each: _direction_for_maps(each) is not None):
                key = (event.step, event.visit, event.address, _direction_for_maps(event) or "")
                together.setdefault(key, (set(), event))[0].add(tid)
            for (*_, direction), (tids, event) in together.items():
                found[direction].append((frozenset(tids), event))
        return found

    def _may_lie(self, tids: frozenset[int], fence: Event, change: Change, use: Use) -> bool:
        """Whether a fence of other threads may come after a change and before a copy."""
        if change.thread.tid in tids or use.thread.tid in tids:
            return False
        first = change.thread.tid, change.event
        last = use.thread.tid, use.copy.event
        return any(self._may_precede(*first, t, fence) and self._may_precede(t, fence, *last) for t in tids)

    def are_unordered(self, change: Change, use: Use) -> bool:
        """Whether surely nothing orders a change and a copy, in either way."""
        first = change.thread.tid, change.event
        last = use.thread.tid, use.copy.event
        return not self._may_precede(*first, *last) and not self._may_precede(*last, *first)

    def _may_precede(self, giver: int, event: Event, taker: int, other: Event) -> bool:
        """Whether what a thread does may be ordered before what another one does; yes, where nobody knows."""
        causality, paths = self._causality, self._paths
        if giver not in paths or taker not in paths or self._world.budget.is_over:
            return True
        since = causality.places(paths[giver].group).get((event.step, event.visit))
        until = causality.places(paths[taker].group).get((other.step, other.visit))
        return since is None or until is None or causality.may_precede(paths[giver], since, paths[taker], until)

    @cached_property
    def _causality(self) -> Causality:
        return Causality(self._world, self._world.budget)

    @cached_property
    def _paths(self) -> dict[int, Path]:
        return {tid: path for path in self._causality.paths for tid in path.tids}

    def handovers(self, change: Change, use: Use) -> list[Handover]:
        """The ways by which a change comes before a copy by another thread."""
        return list(self._world.order(change.thread, change.position, use.thread, use.copy.position))


def _writes(event: Event) -> bool:
    effect = event.effect
    return isinstance(effect, Access) and effect.kind != "read" and effect.proxy == "generic"


def _overlap(change: Change, use: Use) -> bool:
    size = change.event.size if isinstance(change.event.size, int) else 1
    low, start = change.place.offset, use.place.offset
    return low < start + MAP_SIZE and start < low + size


def _direction_for_maps(event: Event | GroupEvent) -> str | None:
    """`release`, `acquire` or `both` of a fence for tensor maps; None of anything else."""
    effect = event.effect
    return effect.direction if isinstance(effect, ProxyFence) and effect.proxy == "tensormap" else None


def _is_for(fence: Event, place: Term) -> bool:
    """Whether a fence for tensor maps orders accesses to one, or may do so."""
    address = fence.address
    return not isinstance(address, Term) or address.identity != place.identity or address.offset == place.offset
