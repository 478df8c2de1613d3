"""Finds data races: two threads access the same bytes of shared memory, one access is a write, and nothing orders them.

The manual does not state whether lanes of one warp execute in lockstep; only a barrier of the warp or of more threads
orders them. The analysis also treats collective instructions, and everything else that may order two lanes, as order.

Source: PTX ISA, "Conflict and Data-races", "Causality Order".
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from ptxkit.analysis.context.access_extents import AccessExtents, are_apart, has_unknown_lane
from ptxkit.analysis.context.access_instances import AccessInstance, LocatedInstance
from ptxkit.analysis.context.access_sampling import (
    FIRST_EXECUTIONS,
    execution_count_for,
    first_lane_of_paths,
    first_lanes_of_warps,
    is_mbarrier_copy,
    is_one_store,
    warp_edge_lanes,
)
from ptxkit.analysis.context.happens_before import HappensBefore
from ptxkit.analysis.context.race_accesses import FEWER_EXECUTIONS, RaceAccesses
from ptxkit.analysis.context.race_filter import AccessFootprint, RaceFilter, SharingAccesses
from ptxkit.analysis.context.unproven_accesses import UnprovenAccesses
from ptxkit.analysis.context.warp_order import WarpOrder
from ptxkit.analysis.context.warp_paths import WarpPath
from ptxkit.analysis.ir.budget import AnalysisBudget
from ptxkit.analysis.ir.interval_index import IntervalIndex
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.limits import MAX_ACCESS_INSTANCES, MAX_RACE_PAIR_CHECKS
from ptxkit.analysis.symexec.access_ranges import access_range_of_lane, is_operand_read
from ptxkit.analysis.symexec.trace import GroupTrace, TraceEvent, UnknownCall
from ptxkit.analysis.sync.warp_convergence import ConvergencePoints
from ptxkit.analysis.values.symbolic_values import LaneValues
from ptxkit.fast_dataclasses import dataclass, field, replace

if TYPE_CHECKING:
    from ptxkit.analysis.context.kernel_facts import ScenarioFacts

#: The kinds of accesses that conflict with each other, as `is_access_of_kind` defines them.
_CONFLICTING_KINDS = (("write", "read"), ("copy", "store"), ("store", "update"))
#: Two stores conflict only if their values differ: those at unknown addresses, and by one instruction, are left out.
_STORES = ("store", "store")


@dataclass(frozen=True, slots=True)
class Race:
    """A write and a read of the same bytes by different threads that nothing may order.

    The first access may also be an asynchronous write of a group of the thread itself, with a store instead of the
    read. is_write_after_read: the read is of the previous contents, and the write belongs to a later round.
    completes_late: the two instructions are ordered, but the first one starts an operation for whose completion its
    thread waits only later. is_certain: whether some input certainly leads to the race.
    """

    write: AccessInstance
    read: AccessInstance
    is_write_after_read: bool
    completes_late: bool = False
    is_certain: bool = False

    @property
    def steps(self) -> tuple[Step, Step]:
        """The two instructions; the first one should be ordered before the other."""
        first, second = (self.read, self.write) if self.is_write_after_read else (self.write, self.read)
        return first.group_event.step, second.group_event.step

    @property
    def is_early_release(self) -> bool:
        """Whether the writer is ordered after the instruction that starts the read, and not after the wait for it."""
        return self.completes_late and self.is_write_after_read and self.read.completion_wait is not None

    @property
    def is_intra_warp(self) -> bool:
        """Whether both threads are lanes of one warp."""
        return self.write.path.warp == self.read.path.warp


_PathAccesses: TypeAlias = tuple[WarpPath, tuple[int, ...], dict[int, AccessInstance]]
"""The accesses of a path to one range, by position, after their positions."""


@dataclass()
class _RangeAccesses:
    """All accesses to one range of bytes, by path and position, each by one representative thread of the path.

    other_reads: the access of a second thread that reads the range there.
    """

    writes: dict[WarpPath, dict[int, AccessInstance]] = field(default_factory=lambda: defaultdict(dict))
    reads: dict[WarpPath, dict[int, AccessInstance]] = field(default_factory=lambda: defaultdict(dict))
    other_reads: dict[WarpPath, dict[int, AccessInstance]] = field(default_factory=lambda: defaultdict(dict))

    def add_read(self, touch: AccessInstance) -> None:
        """Records a read."""
        first = self.reads[touch.path].setdefault(touch.position, touch)
        if first is not touch:
            self.other_reads[touch.path].setdefault(touch.position, touch)

    @cached_property
    def writers(self) -> list[_PathAccesses]:
        """The writes of each path, once all are known."""
        return [(path, tuple(each), each) for path, each in self.writes.items()]

    @cached_property
    def readers(self) -> list[_PathAccesses]:
        """The reads of each path, once all are known."""
        return [(path, tuple(each), each) for path, each in self.reads.items()]


class RaceAnalysis:
    """The races of one scenario, between threads of different warps and between lanes that take the same path."""

    def __init__(
        self,
        facts: ScenarioFacts,
        warps: WarpOrder | None = None,
        *,
        volatile_orders: bool = True,
        within_warps: bool = False,
    ) -> None:
        """Takes the facts of a scenario, and what orders threads (`HappensBefore`).

        within_warps: whether only lanes of one warp are compared.
        """
        self._within_warps = within_warps
        self._facts, self._accesses = facts, facts.analysis(_accesses_of)
        self._volatile_orders = volatile_orders
        self._warps, self._max_instances = warps, facts.program.scale_limit(MAX_ACCESS_INSTANCES)
        self._budget = AnalysisBudget(
            pair_checks=min(facts.program.scale_limit(MAX_RACE_PAIR_CHECKS), facts.budget.pair_checks)
        )
        self._seen_pairs: set[tuple[WarpPath, tuple[int, ...], WarpPath, tuple[int, ...]]] = set()
        self._reported_keys: set[tuple[Step, Step, bool, bool, bool, bool]] = set()
        self.first_dropped: Step | None = None
        """The first access that was not compared with all others because there are too many."""
        self._paths_cache: dict[int, list[WarpPath]] = {}
        self._order_of_lanes: dict[tuple[ConvergencePoints, int, int], bool] = {}

    @cached_property
    def _happens_before(self) -> HappensBefore:
        return HappensBefore(self._facts, self._budget, volatile_orders=self._volatile_orders, warps=self._warps)

    def __iter__(self) -> Iterator[Race]:
        for writing, reading in (*_CONFLICTING_KINDS, _STORES):
            yield from self._find_races(writing, reading)

    def unlocated_races(self, extents: AccessExtents) -> Iterator[Race]:
        """Yields the pairs of which one access has an unknown address, and the other may be to the same bytes."""
        for writing, reading in _CONFLICTING_KINDS:
            writes, reads = self._unlocated_instances(writing, extents), self._unlocated_instances(reading, extents)
            if writes:
                yield from self._races_between([*writes], [*self._access_instances(reading), *reads])
            if reads:
                yield from self._races_between([*self._access_instances(writing)], [*reads])

    def _unlocated_instances(self, kind: str, extents: AccessExtents) -> list[LocatedInstance]:
        """Returns the accesses at unknown addresses, each with every range of which it may use bytes."""
        found: list[LocatedInstance] = []
        for group in self._facts.groups:
            paths = self._paths_of(group)
            for position, event in self._accesses.sample(group, kind, FIRST_EXECUTIONS):
                if not has_unknown_lane(event, len(group.tids)):
                    continue
                lanes = warp_edge_lanes(group.tids)[
                    ::-1
                ]  # of equal ranges, the last lane writes and the first one reads
                over = self._accesses.completion_wait_of(group, position, event)
                found.extend(
                    (touched, AccessInstance(paths[index], group.tids[index], position, event, index, over))
                    for index in lanes
                    if access_range_of_lane(event, index) is None
                    for touched in extents.of_lane(event, index)
                )
        return found

    def _find_unproven(self, writing: str, reading: str) -> UnprovenAccesses | None:
        """Returns the accesses of two kinds that a comparison of whole groups does not prove free of races.

        The comparison covers at least the executions that `_access_instances` yields, or as many as can be compared.
        The result is None where even few are too many.
        """
        found = self._accesses.intervals_of(writing, reading)
        return None if found is None else UnprovenAccesses(self._race_filter.find_unproven(found), self._budget)

    @cached_property
    def _race_filter(self) -> RaceFilter:
        causality = self._happens_before
        return RaceFilter(causality.path_of, self._convergence_of_all, self._need_no_order)

    def _convergence_of_all(self, group: GroupTrace) -> ConvergencePoints:
        return self._happens_before.convergence_points_of(group, group.tids)

    def _need_no_order(self, write: AccessFootprint, writer: WarpPath, read: AccessFootprint, reader: WarpPath) -> bool:
        """Returns whether a write on one path and a read on another path cannot be a race that is searched for."""
        is_left_out = self._within_warps and writer.warp != reader.warp
        return is_left_out or self._are_ordered(write, writer, read, reader)

    def _are_ordered(self, write: AccessFootprint, writer: WarpPath, read: AccessFootprint, reader: WarpPath) -> bool:
        """Returns whether a write on one path and a read on another path may be ordered in either direction."""
        if self._happens_before.may_converge(writer, write.end_position, reader, read.position):
            return True
        barrier = write.event.barrier if isinstance(write.event, TraceEvent) else write.event.fields[3]
        ordered_until = self._happens_before.first_ordered_position(
            writer, write.end_position, reader, None if isinstance(barrier, LaneValues) else barrier
        )
        return ordered_until <= read.position or self._happens_before.may_precede(
            reader, read.end_position, writer, write.position
        )

    def _find_races(self, writing: str, reading: str) -> Iterator[Race]:
        """Yields the races of accesses of one kind with those of another."""
        unproven = self._find_unproven(writing, reading)
        if unproven is not None and unproven.is_empty:
            return
        if unproven is not None and None in map(self._choose_execution_count, (writing, reading)):
            for written, seen in unproven.sharing():
                yield from self._races_between(self._instances_of(written), self._instances_of(seen))
                if self._budget.is_exhausted:
                    return
            return
        writes = list(self._access_instances(writing))
        fills = {touch.group_event.step for _, touch in writes if is_mbarrier_copy(touch.group_event)}
        if writes:
            yield from self._races_between(writes, self._access_instances(reading, len(fills)))

    def _races_between(self, writes: Iterable[LocatedInstance], reads: Iterable[LocatedInstance]) -> Iterator[Race]:
        """Yields the races of writes with reads of the same bytes."""
        places: dict[tuple[int, int], _RangeAccesses] = defaultdict(_RangeAccesses)
        for touched, touch in writes:
            places[touched].writes[touch.path].setdefault(touch.position, touch)
        self._seen_pairs.clear()
        for touched, touch in reads:
            places[touched].add_read(touch)
        index: IntervalIndex[_RangeAccesses] = IntervalIndex()
        for touched, place in places.items():
            if place.reads:
                index.add(*touched, place)
        for touched, place in places.items():
            for near in index.overlapping(*touched) if place.writes else ():
                yield from self._races_between_ranges(place, near)
                if self._budget.is_exhausted:
                    self._drop(next(at.group_event.step for each in place.writes.values() for at in each.values()))
                    return

    def _instances_of(self, accesses: SharingAccesses) -> Iterator[LocatedInstance]:
        """Yields some accesses of an interval by threads that share bytes: by at most two threads of each warp."""
        left = self._max_instances
        for each, sharing in accesses:
            group, paths, chosen = each.group, self._paths_of(each.group), set(sharing)
            if chosen.isdisjoint(group.tids):  # all threads access the same bytes
                lanes: Iterable[int] = first_lane_of_paths(paths)
            else:
                own = [index for index, tid in enumerate(group.tids) if tid in chosen]
                lanes = (own[at] for at in first_lanes_of_warps([group.tids[index] for index in own]))
            for index in lanes:
                touched = access_range_of_lane(each.event, index)
                if touched is not None:
                    over = self._accesses.completion_wait_of(group, each.position, each.event)
                    tid = group.tids[index]
                    yield touched, AccessInstance(paths[index], tid, each.position, each.event, index, over)
                    left -= 1
            if left <= 0:
                self._drop(each.event.step)
                return

    def _access_instances(self, kind: str, fills: int = 0) -> Iterator[LocatedInstance]:
        """Yields the accesses, with their bytes, of all threads that write or store, or of some that read or copy.

        fills: the number of instructions that fill memory asynchronously. In an unrolled loop, each of them belongs to
        its own round, and as many rounds of the reading loop are examined.
        """
        left, rounds = self._max_instances, self._choose_execution_count(kind, execution_count_for(fills))
        for group in self._facts.groups:
            tids, paths, chosen = group.tids, self._paths_of(group), self._sampled_lanes(group, kind)
            for position, event in self._accesses.sample(group, kind, rounds or FEWER_EXECUTIONS[-1]):
                for index in chosen[isinstance(event, TraceEvent)]:
                    touched = access_range_of_lane(event, index)
                    if touched is not None:
                        over = self._accesses.completion_wait_of(group, position, event)
                        yield touched, AccessInstance(paths[index], tids[index], position, event, index, over)
                        left -= 1
                if left <= 0:
                    self._drop(event.step)
                    return

    def _drop(self, step: Step) -> None:
        self.first_dropped = self.first_dropped or step

    def _paths_of(self, group: GroupTrace) -> list[WarpPath]:
        found = self._paths_cache.get(id(group))
        if found is None:
            found = self._paths_cache[id(group)] = [self._happens_before.path_of(tid) for tid in group.tids]
        return found

    def _sampled_lanes(self, group: GroupTrace, kind: str) -> tuple[Sequence[int], Sequence[int]]:
        """Returns the indices of the examined threads of a group.

        The first sequence is for accesses in which threads differ, the second one for accesses in which they do not.
        """
        return warp_edge_lanes(group.tids) if kind == "read" else range(len(group.tids)), first_lane_of_paths(
            self._paths_of(group)
        )

    def _choose_execution_count(self, kind: str, wanted: int = FIRST_EXECUTIONS) -> int | None:
        """Returns how many first executions of each instruction to examine; None where even a few are too many."""
        chosen = [(group, [len(each) for each in self._sampled_lanes(group, kind)]) for group in self._facts.groups]
        for rounds in (wanted, *FEWER_EXECUTIONS):
            touches = sum(
                threads[isinstance(event, TraceEvent)]
                for group, threads in chosen
                for _, event in self._accesses.sample(group, kind, rounds)
            )
            if touches <= self._max_instances:
                return rounds
        return None

    def _races_between_ranges(self, written: _RangeAccesses, read: _RangeAccesses) -> Iterator[Race]:
        """Yields the races between the writes of one range and the reads of a range that overlaps it."""
        budget, within_warps = self._budget, self._within_warps
        for writer, write_positions, writes in written.writers:
            for reader, read_positions, reads in read.readers:
                is_of_warp = writer.warp == reader.warp
                if within_warps and not is_of_warp:
                    continue
                if budget.is_exhausted:
                    return
                budget.pair_checks -= 1
                if is_of_warp and writer.group is reader.group:
                    yield from self._intra_warp_races(writes, reads, read.other_reads.get(reader, {}))
                    continue
                key = (writer, write_positions, reader, read_positions)
                if key not in self._seen_pairs:
                    self._seen_pairs.add(key)
                    yield from self._inter_warp_races(list(writes.values()), list(reads.values()))

    def _intra_warp_races(
        self, writes: dict[int, AccessInstance], reads: dict[int, AccessInstance], others: dict[int, AccessInstance]
    ) -> Iterator[Race]:
        """Yields the races between lanes of one group: each write with the nearest reads before and after it."""
        positions = list(reads)
        for at, write in writes.items():
            following = bisect_left(positions, at)
            for near in positions[max(following - 1, 0) : following + 1]:
                read = next((r for r in (reads[near], others.get(near)) if r is not None and r.tid != write.tid), None)
                if read is None:
                    continue
                self._budget.pair_checks -= 1
                if not (self._may_order_between(read, write) if near < at else self._may_order_between(write, read)):
                    yield from self._report_once(Race(write, read, near < at))

    def _may_order_between(self, earlier: AccessInstance, later: AccessInstance) -> bool:
        """Returns whether anything after one access and up to a later one may order two lanes of a group."""
        group, end = earlier.path.group, earlier.end_position
        met = self._happens_before.convergence_points_of(group, (earlier.tid, later.tid))
        key = (met, end, later.position)
        found = self._order_of_lanes.get(key)
        if found is None:
            until = later.position
            while until + 1 < len(group.events) and group.events[until + 1].step is later.group_event.step:
                until += 1
            found = self._order_of_lanes[key] = end <= until and met.may_order_between(end, until)
        return found

    def _report_once(self, conflict: Race) -> Iterator[Race]:
        write, read = conflict.write, conflict.read
        is_sure = write.is_certain and read.is_certain and not self._may_be_ordered_otherwise(write, read)
        key = (
            write.group_event.step,
            read.group_event.step,
            conflict.is_write_after_read,
            conflict.completes_late,
            is_sure,
            conflict.is_intra_warp,
        )
        if key not in self._reported_keys and not (is_one_store(*key[:2]) or are_apart(write.event, read.event)):
            self._reported_keys.add(key)
            yield replace(conflict, is_certain=is_sure)

    def _may_be_ordered_otherwise(self, write: AccessInstance, read: AccessInstance) -> bool:
        """Returns whether executions that differ after a guess may order two accesses of different paths."""
        order = self._facts.guessed_order
        if not order.has_guesses or write.path is read.path:
            return False
        learned = order.first_ordered_position(write.path, write.end_position, read.path, write.barrier)
        return learned <= read.position or any(
            order.may_precede(first.path, first.end_position, second.path, second.position)
            for first, second in ((write, read), (read, write))
        )

    def _inter_warp_races(self, writes: list[AccessInstance], reads: list[AccessInstance]) -> Iterator[Race]:
        """Yields the races between the writes of one thread and the reads of another."""
        writer, reader = writes[0].path, reads[0].path
        positions = [read.position for read in reads]
        horizons = [
            self._happens_before.first_ordered_position(writer, w.end_position, reader, w.barrier) for w in writes
        ]
        for number, write in enumerate(writes):
            until = bisect_left(positions, horizons[number])
            for read in reversed(reads[:until]):
                if _is_warpgroup_read_of_writer(write, read):
                    continue
                self._budget.pair_checks -= 1
                if self._may_precede(read, write):
                    break
                refills = any(ordered_until <= read.position for ordered_until in horizons[:number])
                returns, late = self._is_write_after_read(write, read, refills), self._completes_late(write, read)
                yield from self._report_once(Race(write, read, returns, late))

    def _completes_late(self, write: AccessInstance, read: AccessInstance) -> bool:
        """Returns whether one instruction may be ordered before the other while its operation is pending."""
        causality = self._happens_before
        if write.completion_wait is not None:
            learned = causality.first_ordered_position(write.path, write.position, read.path, write.barrier)
            if learned <= read.position:
                return True
        return read.completion_wait is not None and causality.may_precede(
            read.path, read.position, write.path, write.position
        )

    def _may_precede(self, read: AccessInstance, write: AccessInstance) -> bool:
        """Returns whether a read may be complete before a write.

        Each warp of a warpgroup releases its collective reads.
        """
        if self._happens_before.may_precede(read.path, read.end_position, write.path, write.position):
            return True
        if not is_operand_read(read.group_event):
            return False
        for path in self._happens_before.paths:
            if path.warp != read.path.warp and path.warp // 4 == read.path.warp // 4:
                end = self._end_on_path(read, path)
                if end is not None and self._happens_before.may_precede(path, end, write.path, write.position):
                    return True
        return False

    def _end_on_path(self, read: AccessInstance, path: WarpPath) -> int | None:
        """Returns the position on another path of the same team from which it may release a collective read."""
        own, other = (self._happens_before.positions_by_execution(each.group) for each in (read.path, path))
        first = other.get(read.execution)
        if first is None:
            return None
        at = first + read.position - own[read.execution]
        event = path.group.events[at] if at < len(path.group.events) else None
        if event is None or isinstance(event, UnknownCall) or event.effect is not read.group_event.effect:
            return first
        over = self._accesses.completion_wait_of(path.group, at, event)
        return first if over is None else over

    def _is_write_after_read(self, write: AccessInstance, read: AccessInstance, refills: bool) -> bool:
        """Returns whether the write belongs to a later round than the read.

        Where one thread executes both, its program order decides; otherwise an earlier write is required, whose bytes
        are read.
        """
        own = self._happens_before.positions_by_execution(write.path.group).get(read.execution)
        if own is not None:
            return own < write.position
        own = self._happens_before.positions_by_execution(read.path.group).get(write.execution)
        return refills if own is None else own > read.position


def _is_warpgroup_read_of_writer(write: AccessInstance, read: AccessInstance) -> bool:
    """Returns whether the read is a collective operation of the writer's warpgroup, which observes its end."""
    return is_operand_read(read.group_event) and write.path.warp // 4 == read.path.warp // 4


def find_races(facts: ScenarioFacts) -> tuple[list[Race], Step | None]:
    """Returns the races of an execution, and the first access that was not compared with all others."""
    analysis = RaceAnalysis(facts)
    return list(analysis), analysis.first_dropped


def _accesses_of(facts: ScenarioFacts) -> RaceAccesses:
    return RaceAccesses(facts.groups)
