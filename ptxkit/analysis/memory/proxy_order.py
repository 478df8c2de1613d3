"""Decides whether a proxy fence is between a generic write of shared memory and an async read of the same bytes.

Where the write and the read are in two threads, a fence may be in either of them: before the writing thread releases,
or after the reading one acquires. A third thread that comes between the two may have it as well. A pair of one-way
fences, one on each side, is equivalent.

Source: PTX ISA, "Async Proxy", "membar / fence", "Causality Order".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ptxkit.analysis.context.barrier_placement import (
    OrderingBarrier,
    PathPoint,
    find_ordering_barrier,
    path_point_of,
)
from ptxkit.analysis.context.happens_before import HappensBefore
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.races import Race
from ptxkit.analysis.context.thread_view import PairBudget, ThreadView
from ptxkit.analysis.context.warp_paths import WarpPath
from ptxkit.analysis.ir.interval_index import IntervalIndex
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.access_ranges import access_range, is_async_read, is_generic_write
from ptxkit.analysis.symexec.trace import GroupEvent, TraceEvent, UnknownCall
from ptxkit.analysis.sync.sync_edges import SyncEdge, find_unordered_release
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Barrier
from ptxkit.semantics.ordering import connects_proxies
from ptxkit.syntax.constants import WARP_SIZE


@dataclass(frozen=True, slots=True)
class MissingFence:
    """A write and a read that are ordered, without a proxy fence between them.

    sync: the step that orders the threads, or the last barrier between the two in one thread; None if there is no such
    step. since: the step after which the write is complete. release_half, acquire_half: a one-way fence whose
    counterpart is missing.
    """

    sync: Step | None
    since: Step
    release_half: Step | None = None
    acquire_half: Step | None = None


@dataclass(frozen=True, slots=True)
class MissingOrder:
    """The threads of a write and a read are not ordered.

    fence: the first proxy fence of the writing thread after its write, if any. barrier: the missing barrier.
    """

    fence: Step | None
    barrier: OrderingBarrier


@dataclass(frozen=True, slots=True)
class ProxyPair:
    """A generic write and an async read of its bytes, with their positions in the traces of their threads."""

    facts: ScenarioFacts
    writer: ThreadView
    write_position: int
    write: TraceEvent
    reader: ThreadView
    read_position: int
    read: TraceEvent

    def is_proven(self, missing: MissingFence | MissingOrder | bool) -> bool:
        """Returns whether a launch certainly takes the paths to both, and nothing unknown supplies what is missing."""
        if isinstance(missing, MissingOrder) and self.facts.may_guess_order(
            self.writer, self.write_position, self.reader, self.read_position
        ):
            return False
        return self.writer.trace.is_certain(self.write_position) and self.reader.trace.is_certain(self.read_position)

    def check_order(self) -> MissingFence | MissingOrder | bool | None:
        """Returns what is missing between the two; True where nothing is missing.

        The result is False where that is not known: where only something unknown orders the write first, and no thread
        has a fence between the two, or where another thread may have it. It is None where the pair shows nothing: the
        two are not ordered, or the bytes are replaced before they are read.
        """
        return self._check_same_thread() if self.writer is self.reader else self._check_two_threads()

    def _check_same_thread(self) -> MissingFence | bool | None:
        """Returns True if a fence is between the two, and None if the bytes are replaced before they are read."""
        if self.reader.may_fence_between(self.write_position, self.read_position):
            return True
        if self.may_be_overwritten(self.reader, self.write_position, self.read_position):
            return None
        released = self.writer.first_one_way_fence("release", self.write_position, self.read_position)
        if (
            released is not None
            and self.reader.first_one_way_fence("acquire", released, self.read_position) is not None
        ):
            return True
        syncs = [
            event.step for at, event in self.reader.positions(Barrier) if self.write_position < at < self.read_position
        ]
        half = (
            self.reader.first_one_way_fence("acquire", self.write_position, self.read_position)
            if released is None
            else released
        )
        there = None if half is None else self.reader.trace.events[half].step
        halves = (None, there) if released is None else (there, None)
        return self._missing_fence(syncs[-1] if syncs else None, *halves)

    def _check_two_threads(self) -> MissingFence | MissingOrder | bool | None:
        """Returns True if a fence precedes a release or follows its acquire.

        The result is None if the two are not ordered or the bytes are replaced; False as in `check_order`, or where a
        third thread may have a fence between the two.
        """
        edges = list(self.facts.sync_edges(self.writer, self.write_position, self.reader, self.read_position))
        if not edges:
            if not self._is_unordered_iteration():
                return False if self._may_follow_without_fence() else None
            there = self.writer.first_fence_since(self.write_position)
            return MissingOrder(there, self._missing_barrier())
        if any(
            self.writer.may_fence_between(self.write_position, edge.release_position)
            or self.reader.may_fence_between(edge.acquire_position, self.read_position)
            for edge in edges
        ):
            return True
        edge = edges[-1]
        halves = [self._one_way_fences(edge) for edge in edges]
        if any(released is not None and acquired is not None for released, acquired in halves):
            return True
        if self._may_be_fenced_by_third_thread():
            return False
        missing = self._missing_fence(self.reader.trace.events[edge.acquire_position].step, *halves[-1])
        replaced = self.may_be_overwritten(self.writer, self.write_position, edge.release_position)
        # A wait that acquires the write may itself be for a copy of a third thread into these bytes.
        since = min(each.acquire_position for each in edges) - 1
        if replaced or self.may_be_overwritten(self.reader, since, self.read_position):
            return None
        return missing

    def _one_way_fences(self, edge: SyncEdge) -> tuple[Step | None, Step | None]:
        """Returns the one-way fences of an edge: the writer's before its release, the reader's after its acquire."""
        released = self.writer.first_one_way_fence("release", self.write_position, edge.release_position)
        acquired = self.reader.first_one_way_fence("acquire", edge.acquire_position, self.read_position)
        return (
            None if released is None else self.writer.trace.events[released].step,
            None if acquired is None else self.reader.trace.events[acquired].step,
        )

    def _may_follow_without_fence(self) -> bool:
        """Returns whether the read may follow the write, and not precede it, and no fence of any thread may be between.

        What orders them is not known, such as a flag in memory.
        """
        order, (write, read) = self.facts.happens_before, self._points()
        if write.path is read.path or order.may_precede(read.path, read.position, write.path, write.position):
            return False
        return order.may_precede(write.path, write.position, read.path, read.position) and not any(
            (write.position < at if path is write.path else order.may_precede(write.path, write.position, path, at))
            and (at < read.position if path is read.path else order.may_precede(path, at, read.path, read.position))
            for path, at, _ in self._fences(None)
        )

    def _may_be_fenced_by_third_thread(self) -> bool:
        """Returns whether a fence may follow the write and precede the read, both by synchronization of its thread."""
        order, (write, read) = self.facts.happens_before, self._points()
        return any(
            _executes(path, event)
            and _may_be_ordered(order, write.path, write.position, path, at)
            and _may_be_ordered(order, path, at, read.path, read.position)
            for path, at, event in self._fences("both")
        )

    def _fences(self, direction: str | None) -> Iterator[tuple[WarpPath, int, TraceEvent | GroupEvent]]:
        """Yields the proxy fences of all paths. direction: as in `connects_proxies`."""
        for path in self.facts.happens_before.paths:
            for at, event in enumerate(path.group.events):
                if isinstance(event, UnknownCall):
                    continue
                if connects_proxies(event.effect, "async", "shared", direction):
                    yield path, at, event

    def _points(self) -> tuple[PathPoint, PathPoint]:
        """Returns where the threads write and read."""
        return (
            path_point_of(self.facts, self.writer, self.write_position),
            path_point_of(self.facts, self.reader, self.read_position),
        )

    def _is_unordered_iteration(self) -> bool:
        """Returns whether the reader executed its own part of this write and passed no barrier since.

        The position of the writer is then unknown.
        """
        own = self.reader.access_positions.get((self.write.step, self.write.visit), self.read_position)
        if own >= self.read_position or self.may_be_overwritten(self.reader, own, self.read_position):
            return False
        return not self.reader.release_acquire_points.acquires_between(own, self.read_position)

    def _missing_barrier(self) -> OrderingBarrier:
        """Returns the barrier between the read and the write of any thread, preferably one of another warp."""
        write, read = self._points()
        seen, tids = write.path.group.events[write.position], write.path.group.tids
        who = (
            seen.participants if isinstance(seen, GroupEvent) and seen.participants is not None else (True,) * len(tids)
        )
        for tid, does in zip(tids, who, strict=True):
            if does and tid // WARP_SIZE != self.reader.tid // WARP_SIZE:
                write = PathPoint(self.facts.happens_before.path_of(tid), tid, write.position)
                break
        return find_ordering_barrier(self.facts, write, read)

    def _missing_fence(self, sync: Step | None, released: Step | None, acquired: Step | None) -> MissingFence:
        return MissingFence(sync, self.writer.trace.events[self.write_position].step, released, acquired)

    def may_be_overwritten(self, thread: ThreadView, since: int, until: int) -> bool:
        """Returns whether other bytes may be written to this location between two positions of a thread."""
        return self.facts.async_overwrites.may_overwrite_between(
            thread, since, until, access_range(self.read) or (0, 1)
        )


def _executes(path: WarpPath, event: TraceEvent | GroupEvent) -> bool:
    """Returns whether some thread of a path takes part in an event of its group."""
    who = event.participants if isinstance(event, GroupEvent) else None
    return who is None or any(does for tid, does in zip(path.group.tids, who, strict=True) if tid in path.tids)


def _may_be_ordered(order: HappensBefore, first: WarpPath, since: int, second: WarpPath, until: int) -> bool:
    """Returns whether a position of some thread may be before one of another thread, perhaps in the same path."""
    if first is second:
        return since < until and first.release_acquire_points.acquires_between(since, until)
    return order.may_precede(first, since, second, until)


def find_unordered_reads(kernel: KernelFacts) -> Iterator[tuple[int, Race, MissingOrder]]:
    """Yields the races of generic writes with async reads of other threads, each with the number of its scenario."""
    for number, race in kernel.races:
        write, read = race.write, race.read
        if race.is_write_after_read or not (is_generic_write(write.event) and is_async_read(read.event)):
            continue
        if _is_overwritten_by_agreement(kernel.scenarios[number], race):
            continue
        points = (PathPoint(each.path, each.tid, each.position) for each in (write, read))
        fences = (
            event.step
            for event in write.path.group.events[write.end_position :]
            if isinstance(event, TraceEvent | GroupEvent) and connects_proxies(event.effect, "async", "shared", None)
        )
        barrier = find_ordering_barrier(kernel.scenarios[number], *points)
        yield number, race, MissingOrder(next(fences, None), barrier)


def _is_overwritten_by_agreement(facts: ScenarioFacts, race: Race) -> bool:
    """Returns whether a relaxed release after the read lets the writing thread continue to its write.

    The write then does not precede the read. Each thread of a warpgroup may release a collective read.
    """
    order, read, write = facts.happens_before, race.read, race.write
    for path in order.paths:
        at = order.positions_by_execution(path.group).get(read.execution)
        if at is None or path.warp // 4 != read.path.warp // 4:
            continue
        acquirer = write.path.release_acquire_points
        releases = (
            find_unordered_release(tid, PathPoint(path, tid, at).events, at, at, acquirer, write.position)
            for tid in path.tids
        )
        if any(each is not None for each in releases):
            return True
    return False


def _generic_writes_of(writer: ThreadView) -> IntervalIndex[tuple[int, TraceEvent]]:
    """Returns the thread's generic writes, each with the position at which it is complete."""
    done = {copy.position: copy.completion_position for copy in writer.copies if copy.group == "cp.async"}
    writes: IntervalIndex[tuple[int, TraceEvent]] = IntervalIndex()
    for position, event in writer.accesses:
        written = done.get(position, position)
        if is_generic_write(event) and written is not None:
            writes.add(*(access_range(event) or (0, 0)), (written, event))
    return writes


def find_proxy_pairs(facts: ScenarioFacts) -> Iterator[ProxyPair]:
    """Yields the pairs of a generic write and a later async read of its bytes, within the budget of the scenario."""
    readers = [
        (thread, position, event, *(access_range(event) or (0, 1)))
        for thread in facts.threads.values()
        for position, event in thread.accesses
        if is_async_read(event)
    ]
    indices_by_range: dict[tuple[int, int], list[int]] = defaultdict(list)
    for index, (_, _, _, low, high) in enumerate(readers):
        indices_by_range[(low, high)].append(index)
    pair_budget = PairBudget(facts.budget)
    for writer in facts.threads.values() if readers else ():
        writes = _generic_writes_of(writer)
        # The last write is reported first.
        written = {
            bytes_: sorted(found, key=lambda item: item[0], reverse=True)
            for bytes_ in indices_by_range
            if (found := writes.overlapping(*bytes_))
        }
        for index in sorted(index for bytes_ in written for index in indices_by_range[bytes_]):
            if facts.budget.is_exhausted:
                return
            reader, position, event, low, high = readers[index]
            for at, write in written[(low, high)]:
                key = (writer.tid, reader.tid, write.step, event.step)
                if (reader is not writer or at < position) and pair_budget.allow(key):
                    yield ProxyPair(facts, writer, at, write, reader, position, event)
