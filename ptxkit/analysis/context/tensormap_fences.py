"""Collects the tensor maps in global memory that a kernel modifies: the changes, the copies that use them, and the
fences.

A map is identified by the term of its address. Whether two addresses are equal or different is certain if they derive
from one unknown; otherwise they may be equal.

Source: PTX ISA, "membar / fence" (`.proxy.tensormap::generic`), "tensormap.cp_fenceproxy", "Async proxy".
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from operator import itemgetter

from ptxkit.analysis.context.happens_before import HappensBefore
from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.context.warp_paths import WarpPath
from ptxkit.analysis.dataflow.slicing import is_tensor_map_change
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.access_ranges import is_generic_write
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.sync.async_groups import AsyncCopy
from ptxkit.analysis.sync.sync_edges import SyncEdge
from ptxkit.analysis.values.symbolic_values import SymbolicValue
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Access, ProxyFence
from ptxkit.semantics.ordering import proxy_fence_direction

#: The size in bytes of a tensor map.
TENSOR_MAP_BYTES = 128


@dataclass(frozen=True, slots=True, eq=False)
class MapWrite:
    """A write of a thread to global memory."""

    thread: ThreadView
    position: int
    event: TraceEvent
    address: SymbolicValue

    @property
    def is_map_update(self) -> bool:
        """Whether the writing instruction is specific to tensor maps.

        Another write may store other data at the same address.
        """
        return any(is_tensor_map_change(effect) for effect in self.event.step.effects)


@dataclass(frozen=True, slots=True, eq=False)
class MapUse:
    """A tensor copy's read of its tensor map."""

    thread: ThreadView
    copy: AsyncCopy
    address: SymbolicValue

    @property
    def is_global_pointer(self) -> bool:
        """Whether the address is certainly a pointer to global memory, since it derives from a pointer parameter."""
        return self.address.pointer and self.address.space in (None, "global")


class ModifiedTensorMaps:
    """The tensor maps of one scenario that its threads change."""

    def __init__(self, facts: ScenarioFacts) -> None:
        self._facts = facts

    @cached_property
    def uses(self) -> list[MapUse]:
        """The tensor copies by maps outside shared memory, whose completion is signaled to some thread."""
        threads = self._facts.threads.values()
        return [
            MapUse(thread, copy, copy.event.address)
            for thread in threads
            for copy in thread.map_reads
            if isinstance(copy.event.address, SymbolicValue)
        ]

    def writes_to(self, use: MapUse) -> Iterator[MapWrite]:
        """Yields the writes that certainly change the map of a copy, later ones first."""
        for change in reversed(self._writes_by_map.get(use.address.identity, ())):
            if _overlap(change, use):
                yield change

    @cached_property
    def _writes_by_map(self) -> dict[int, list[MapWrite]]:
        wanted = {use.address.identity for use in self.uses}
        found: dict[int, list[MapWrite]] = defaultdict(list)
        for thread in self._facts.threads.values() if wanted else ():
            for position, event in thread.positions(Access):
                if (
                    isinstance(event.address, SymbolicValue)
                    and event.address.identity in wanted
                    and is_generic_write(event)
                ):
                    found[event.address.identity].append(MapWrite(thread, position, event, event.address))
        return found

    def first_release(self, thread: ThreadView, place: SymbolicValue, since: int, until: int) -> int | None:
        """Returns the first position at which a thread has a fence that releases, or may release, a map.

        since, until: the position is between these.
        """
        fences, places = self._fences_between(thread, "release", since, until)
        return next((fences[at][0] for at in places if _may_cover(fences[at][1], place)), None)

    def last_acquire(self, thread: ThreadView, place: SymbolicValue, since: int, until: int) -> int | None:
        """Returns the last position at which a thread has a fence that acquires, or may acquire, a map.

        since, until: the position is between these.
        """
        fences, places = self._fences_between(thread, "acquire", since, until)
        return next((fences[at][0] for at in reversed(places) if _may_cover(fences[at][1], place)), None)

    def _fences_between(
        self, thread: ThreadView, direction: str, since: int, until: int
    ) -> tuple[list[tuple[int, TraceEvent]], range]:
        if thread not in self._fences_by_thread:
            by_direction: dict[str, list[tuple[int, TraceEvent]]] = defaultdict(list)
            for position, event in thread.positions(ProxyFence):
                if (found := proxy_fence_direction(event.effect, "tensormap")) is not None:
                    by_direction[found].append((position, event))
            self._fences_by_thread[thread] = by_direction
        fences = self._fences_by_thread[thread][direction]
        first, last = (bisect_left(fences, position, key=itemgetter(0)) for position in (since, until))
        return fences, range(first, last)

    @cached_property
    def _fences_by_thread(self) -> dict[ThreadView, dict[str, list[tuple[int, TraceEvent]]]]:
        """The fences for tensor maps with their positions, by thread and direction, for queried threads."""
        return {}

    def may_fence_elsewhere(self, direction: str, change: MapWrite, use: MapUse) -> bool:
        """Returns whether threads on other paths than the two may have such a fence between a change and a copy."""
        fences = self._fences_by_direction[direction]
        self._facts.budget.pair_checks -= len(fences)
        return self._facts.budget.is_exhausted or any(
            _may_cover(fence, use.address) and self._may_execute_between(tids, fence, change, use)
            for tids, fence in fences
        )

    def may_acquire(self, use: MapUse) -> bool:
        """Returns whether any thread has a fence that acquires, or may acquire, the map of a copy."""
        return any(_may_cover(fence, use.address) for _, fence in self._fences_by_direction["acquire"])

    @cached_property
    def _fences_by_direction(self) -> dict[str, list[tuple[frozenset[int], TraceEvent]]]:
        """The fences for tensor maps of all groups by direction, each with the threads that execute it together."""
        found: dict[str, list[tuple[frozenset[int], TraceEvent]]] = defaultdict(list)
        for group in self._facts.groups:
            together: dict[tuple[Step, int, object, str], tuple[set[int], TraceEvent]] = {}
            for tid, event in group.thread_events(
                lambda each: proxy_fence_direction(each.effect, "tensormap") is not None
            ):
                direction = proxy_fence_direction(event.effect, "tensormap")
                key = (event.step, event.visit, event.address, direction or "")
                together.setdefault(key, (set(), event))[0].add(tid)
            for (*_, direction), (tids, event) in together.items():
                found[direction].append((frozenset(tids), event))
        return found

    def _may_execute_between(self, tids: frozenset[int], fence: TraceEvent, change: MapWrite, use: MapUse) -> bool:
        """Returns whether a fence of other threads may come after a change and before a copy."""
        if change.thread.tid in tids or use.thread.tid in tids:
            return False
        first = change.thread.tid, change.event
        last = use.thread.tid, use.copy.event
        return any(self._may_precede(*first, t, fence) and self._may_precede(t, fence, *last) for t in tids)

    def are_unordered(self, change: MapWrite, use: MapUse) -> bool:
        """Returns whether a change and a copy are certainly not ordered, in either direction."""
        first = change.thread.tid, change.event
        last = use.thread.tid, use.copy.event
        return not self._may_precede(*first, *last) and not self._may_precede(*last, *first)

    def _may_precede(self, releaser: int, event: TraceEvent, acquirer: int, other: TraceEvent) -> bool:
        """Returns whether an event of one thread may be ordered before another thread's; true if unknown."""
        causality, paths = self._happens_before, self._path_by_thread
        if releaser not in paths or acquirer not in paths or self._facts.budget.is_exhausted:
            return True
        since = causality.positions_by_execution(paths[releaser].group).get((event.step, event.visit))
        until = causality.positions_by_execution(paths[acquirer].group).get((other.step, other.visit))
        return since is None or until is None or causality.may_precede(paths[releaser], since, paths[acquirer], until)

    @cached_property
    def _happens_before(self) -> HappensBefore:
        return HappensBefore(self._facts, self._facts.budget)

    @cached_property
    def _path_by_thread(self) -> dict[int, WarpPath]:
        return {tid: path for path in self._happens_before.paths for tid in path.tids}

    def sync_edges(self, change: MapWrite, use: MapUse) -> list[SyncEdge]:
        """Returns the edges that order a change before a copy by another thread."""
        return list(self._facts.sync_edges(change.thread, change.position, use.thread, use.copy.position))


def _overlap(change: MapWrite, use: MapUse) -> bool:
    size = change.event.size if isinstance(change.event.size, int) else 1
    low, start = change.address.offset, use.address.offset
    return low < start + TENSOR_MAP_BYTES and start < low + size


def _may_cover(fence: TraceEvent, place: SymbolicValue) -> bool:
    """Returns whether a fence for tensor maps orders, or may order, accesses to a map."""
    address = fence.address
    return (
        not isinstance(address, SymbolicValue) or address.identity != place.identity or address.offset == place.offset
    )
