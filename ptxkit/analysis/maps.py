"""Tensor maps in global memory that a kernel changes itself: the changes, the copies by them, and the fences for them.

A map is known by the term of its address: two places are surely the same, or apart, where they come from one unknown,
and may be the same otherwise.
Source: PTX ISA, "membar / fence" (`.proxy.tensormap::generic`), "tensormap.cp_fenceproxy", "Async proxy".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

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

    def fences(self, thread: Thread, direction: str, place: Term, since: int, until: int) -> list[int]:
        """Where a thread has a fence of a direction that is for a map, or may be, between two positions."""
        return [
            position
            for position, event in thread.positions(ProxyFence)
            if since <= position < until and _is_for(event, direction, place)
        ]

    def may_fence_elsewhere(self, direction: str, change: Change, use: Use) -> bool:
        """Whether threads on other paths than the two may have such a fence between a change and a copy."""
        return any(
            _is_for(fence, direction, use.place) and self._may_lie(tids, fence, change, use)
            for tids, fence in self._fences
        )

    def may_acquire(self, use: Use) -> bool:
        """Whether any thread has a fence that acquires the map of a copy, or may do so."""
        return any(_is_for(fence, "acquire", use.place) for _, fence in self._fences)

    @cached_property
    def _fences(self) -> list[tuple[frozenset[int], Event]]:
        """The fences for tensor maps of all groups of threads, each with the threads that execute it as one."""
        found: list[tuple[frozenset[int], Event]] = []
        for group in self._world.groups:
            together: dict[tuple[Step, int, object], tuple[set[int], Event]] = {}
            for tid, event in group.each(_is_for_maps):
                tids, _ = together.setdefault((event.step, event.visit, event.address), (set(), event))
                tids.add(tid)
            found.extend((frozenset(tids), event) for tids, event in together.values())
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


def _is_for_maps(event: Event | GroupEvent) -> bool:
    return isinstance(event.effect, ProxyFence) and event.effect.proxy == "tensormap"


def _is_for(event: Event, direction: str, place: Term) -> bool:
    """Whether a fence orders accesses to a map in a direction, or may do so."""
    effect, address = event.effect, event.address
    if not _is_for_maps(event) or not isinstance(effect, ProxyFence) or effect.direction != direction:
        return False
    return not isinstance(address, Term) or address.identity != place.identity or address.offset == place.offset
