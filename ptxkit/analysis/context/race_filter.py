"""A fast filter over all accesses of a CTA to shared memory that proves most kernels free of races.

Barriers of the whole CTA divide execution into intervals, and accesses in different intervals are ordered. Within an
interval, most threads access only their own bytes, or share bytes within a warp with something in between that may
order its lanes. Where this holds for all accesses, `ptxkit.analysis.context.races` need not examine pairs of threads.

Source: PTX ISA, "Conflict and Data-races", "bar, barrier".
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import gcd
from typing import TypeAlias

from ptxkit.analysis.context.warp_paths import WarpPath
from ptxkit.analysis.limits import MAX_ACCESS_BYTES, MAX_EXACT_CHECKS
from ptxkit.analysis.symexec.access_ranges import access_ranges_of_lanes
from ptxkit.analysis.symexec.trace import GroupEvent, GroupTrace, TraceEvent, UnknownCall
from ptxkit.analysis.sync.warp_convergence import ConvergencePoints
from ptxkit.analysis.values.symbolic_values import LaneValues
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Barrier

#: Represents a thread, or the lanes of a warp, where several of them access the same bytes.
_MULTIPLE = -1
#: Represents an unknown barrier number.
_UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class FootprintPart:
    """The accesses of `size` bytes from each of `lows` on.

    threads: the accessing threads. warps: for each thread, a number that identifies its warp within the group. Where
    all threads of the group access the same bytes, one entry represents them: `_MULTIPLE` if there are several.
    """

    size: int
    lows: list[int]
    threads: list[int]
    warps: list[int]

    @property
    def key(self) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
        """What equal parts have in common: loops repeat the same few."""
        return self.size, tuple(self.lows), tuple(self.threads)

    def addresses_by_unit(self, unit: int) -> Iterator[list[int]]:
        """Yields the accessed units of `unit` bytes, one for each thread at a time."""
        yield self.lows
        for moved in range(unit, self.size, unit):
            yield [low + moved for low in self.lows]


@dataclass(frozen=True, slots=True, eq=False)
class AccessFootprint:
    """An access of a group.

    end_position: the first position from which its threads may release the completed access. low, high: the range of
    its bytes over all threads.
    """

    group: GroupTrace
    position: int
    end_position: int
    event: TraceEvent | GroupEvent
    parts: tuple[FootprintPart, ...]
    low: int
    high: int


#: A read with the units that other threads write, and the thread that reads each unit.
ForeignRead: TypeAlias = tuple[AccessFootprint, list[tuple[int, int]]]
#: Accesses, each with its threads that share bytes with another thread; `_MULTIPLE` for all threads of the group.
SharingAccesses: TypeAlias = Sequence[tuple[AccessFootprint, Collection[int]]]


class AccessInterval:
    """The writes and the reads of one interval between barriers, with what does not depend on the order of threads.

    owners: the threads of the writes that were examined, by unit.
    """

    def __init__(self, writes: Sequence[AccessFootprint], reads: Sequence[AccessFootprint]) -> None:
        self.writes, self.reads = writes, reads
        self.owners: dict[AccessFootprint, Mapping[int, set[int]]] = {}

    @cached_property
    def unit(self) -> int:
        """The largest unit, in bytes, such that all accesses consist of whole units."""
        return gcd(*(n for each in (*self.writes, *self.reads) for part in each.parts for n in (part.size, *part.lows)))

    @cached_property
    def suspects(self) -> list[AccessFootprint]:
        """The reads of bytes that another thread writes."""
        writers = _writer_by_unit(self.writes, self.unit, _threads_of)
        known: dict[Hashable, bool] = {}

        def is_foreign(part: FootprintPart) -> bool:
            key = part.key
            if key not in known:
                known[key] = any(True for _ in _units_of_others(writers, part, part.threads, self.unit))
            return known[key]

        return [read for read in self.reads if any(map(is_foreign, read.parts))]

    @cached_property
    def reads_of_other_warps(self) -> list[ForeignRead]:
        """The reads of bytes that another warp or group writes, with these bytes."""
        warps = _writer_by_unit(self.writes, self.unit, _warps_of)
        found = ((read, list(_foreign_units(warps, read, self.unit, _warps_of))) for read in self.suspects)
        return [(read, places) for read, places in found if places]

    @cached_property
    def sharing(self) -> tuple[SharingAccesses, SharingAccesses]:
        """The writes and the reads of bytes that one thread writes and another one reads."""
        unit = self.unit
        owners = _writer_by_unit(self.writes, unit, _threads_of)
        shared = [(read, list(_foreign_units(owners, read, unit, _threads_of))) for read in self.suspects]
        readers = [(read, {tid for _, tid in places}) for read, places in shared if places]
        writers: dict[AccessFootprint, set[int]] = defaultdict(set)
        places = {place for _, places in shared for place, _ in places}
        for found in _writers_by_unit(self.writes, places, unit).values():
            for write, tid in found:
                writers[write].add(tid)
        return list(writers.items()), readers


def divide_into_intervals(
    groups: Sequence[GroupTrace], writes: Sequence[AccessFootprint], reads: Sequence[AccessFootprint]
) -> list[AccessInterval]:
    """Returns the accesses of some groups of each interval that has both writes and reads."""
    if not writes or not reads:
        return []
    stretches = BarrierIntervals(groups, {id(each.group): each.group for each in (*writes, *reads)}.values())
    near, own = _group_by_interval(stretches, reads), _group_by_interval(stretches, writes)
    return [AccessInterval(written, near[number]) for number, written in own.items() if near[number]]


def compute_footprints(
    group: GroupTrace, accesses: Iterable[tuple[int, TraceEvent | GroupEvent, int | None]]
) -> Iterator[AccessFootprint]:
    """Yields the footprints of accesses, without the accesses whose addresses are unknown for every thread.

    accesses: the events, each with its position and the position of the wait that completes it; None where it is
    synchronous.
    """
    threads = list(group.tids)
    warps = [threads[0] << 10 | tid >> 5 for tid in threads]
    one = [threads[0] if len(threads) == 1 else _MULTIPLE]
    for position, event, over in accesses:
        parts = (
            _footprint_parts(event, one, one)
            if isinstance(event, TraceEvent)
            else _footprint_parts(event, threads, warps)
        )
        if parts:
            low = min(min(part.lows) for part in parts)
            high = max(max(part.lows) + part.size for part in parts)
            yield AccessFootprint(group, position, position if over is None else over, event, parts, low, high)


def _footprint_parts(event: TraceEvent | GroupEvent, threads: list[int], warps: list[int]) -> tuple[FootprintPart, ...]:
    address, size = (event.address, event.size) if isinstance(event, TraceEvent) else event.fields[:2]
    if (
        isinstance(event, GroupEvent)
        and event.participants is None
        and isinstance(address, LaneValues)
        and isinstance(size, int)
        and size > 0
        and address.are_numbers
    ):
        return (FootprintPart(min(size, MAX_ACCESS_BYTES), address.values, threads, warps),)  # type: ignore[arg-type]
    found: dict[int, FootprintPart] = {}
    for tid, warp, touched in zip(threads, warps, access_ranges_of_lanes(event, len(threads)), strict=True):
        if touched is not None:
            low, high = touched
            part = found.get(high - low)
            if part is None:
                part = found[high - low] = FootprintPart(high - low, [], [], [])
            part.lows.append(low)
            part.threads.append(tid)
            part.warps.append(warp)
    return tuple(found.values())


class BarrierIntervals:
    """Counts, by position in the events of a group, the barriers of the whole CTA that its threads have executed."""

    def __init__(self, groups: Sequence[GroupTrace], acting: Iterable[GroupTrace]) -> None:
        """Finds the barriers of some groups.

        acting: the groups with relevant accesses. The counted barrier is the first one at which each of them waits for
        all other threads at every use.
        """
        met = {id(group): _barrier_positions_by_number(group) for group in groups}
        imprecise = {number for found in met.values() for number, positions in found.items() if None in positions}
        common = set.intersection(*(set(met[id(group)]) for group in acting)) - imprecise
        number = min(common, default=_UNKNOWN) if _UNKNOWN not in imprecise else _UNKNOWN
        self._barrier_positions = {
            key: [at for at in found.get(number, ()) if at is not None] for key, found in met.items()
        }

    def interval_at(self, group: GroupTrace, position: int) -> int:
        """Returns the number of an interval; accesses of two groups in different intervals are ordered."""
        return bisect_left(self._barrier_positions[id(group)], position)


def _barrier_positions_by_number(group: GroupTrace) -> Mapping[int, list[int | None]]:
    """Returns the positions of a group's CTA barriers by number; None where a barrier is not of all threads."""
    found: dict[int, list[int | None]] = defaultdict(list)
    for position, event in enumerate(group.events):
        if isinstance(event, UnknownCall) or not isinstance(event.effect, Barrier) or event.effect.level != "cta":
            continue
        effect = event.effect
        amount = event.amount if isinstance(event, TraceEvent) else event.fields[2]
        number = 0 if amount is None else amount if isinstance(amount, int) else _UNKNOWN
        whole = isinstance(event, TraceEvent) and (effect.action, effect.order, effect.threads) == (
            "sync",
            "acq_rel",
            None,
        )
        found[number].append(position if whole else None)
    return found


class RaceFilter:
    """Proves that the accesses of a CTA's groups do not race, in all intervals or in some.

    The functions that are passed to it return the path of a thread, the convergence points of a group, and whether a
    write on one path and a read on another path may be ordered.
    """

    def __init__(
        self,
        path_of: Callable[[int], WarpPath],
        meetings: Callable[[GroupTrace], ConvergencePoints],
        are_ordered: Callable[[AccessFootprint, WarpPath, AccessFootprint, WarpPath], bool],
    ) -> None:
        self._path_of = path_of
        self._convergence_points = meetings
        self._are_ordered = are_ordered
        self._remaining_checks = MAX_EXACT_CHECKS

    def find_unproven(self, intervals: Iterable[AccessInterval]) -> Iterator[AccessInterval]:
        """Yields the intervals in which a write may race with a read of the same bytes."""
        return (each for each in intervals if not self._is_free_of_races(each))

    def _is_free_of_races(self, interval: AccessInterval) -> bool:
        if not interval.suspects:
            return True
        writes: dict[int, _GroupWrites] = {}
        for read in interval.suspects:
            group = read.group
            if id(group) not in writes:
                writes[id(group)] = _GroupWrites(interval.writes, group, self._convergence_points(group))
            if not all(self._lanes_may_be_apart(write, read, interval) for write in writes[id(group)].near(read)):
                return False
        return self._paths_may_be_ordered(interval)

    def _lanes_may_be_apart(self, write: AccessFootprint, read: AccessFootprint, interval: AccessInterval) -> bool:
        """Returns whether the lanes of each warp access separate bytes; also false where that is not examined."""
        self._remaining_checks -= 1
        owners = interval.owners
        if write not in owners:
            owners[write] = _threads_by_unit(write, interval.unit)
        return self._remaining_checks > 0 and not _lanes_share(owners[write], read, interval.unit)

    def _paths_may_be_ordered(self, interval: AccessInterval) -> bool:
        """Returns whether the paths of accesses that share bytes may be ordered. Lanes of one path are left out."""
        reads = interval.reads_of_other_warps
        shared = {place for _, places in reads for place, _ in places}
        writers = _writers_by_unit(interval.writes, shared, interval.unit)
        writing_paths: dict[int, tuple[tuple[AccessFootprint, WarpPath], ...]] = {
            place: tuple((write, path) for write, tid in found for path in self._paths_of(write, tid))
            for place, found in writers.items()
        }
        for read, places in reads:
            meeting = dict.fromkeys(
                (other, writing_paths[place]) for place, reader in places for other in self._paths_of(read, reader)
            )
            pairs = dict.fromkeys((write, one, other) for other, found in meeting for write, one in found)
            for write, one, other in pairs:
                if one.warp == other.warp and one.group is other.group:
                    continue
                self._remaining_checks -= 1
                if self._remaining_checks < 0 or not self._are_ordered(write, one, read, other):
                    return False
        return True

    def _paths_of(self, access: AccessFootprint, thread: int) -> Iterable[WarpPath]:
        return {self._path_of(tid) for tid in access.group.tids} if thread == _MULTIPLE else (self._path_of(thread),)


class _GroupWrites:
    """The writes of one group, with how many points at which its lanes converge precede each of them.

    Whether such a point separates two accesses is then a comparison of integers.
    """

    def __init__(self, writes: Iterable[AccessFootprint], group: GroupTrace, points: ConvergencePoints) -> None:
        self._points = points
        self._writes = [(each.low, each.high, *self._span_of(each), each) for each in writes if each.group is group]

    def _span_of(self, access: AccessFootprint) -> tuple[int, int]:
        """Returns how many points precede the end of an access, and how many precede its start or are there."""
        return self._points.count_before(access.end_position), self._points.count_before(access.position + 1)

    def near(self, read: AccessFootprint) -> Iterator[AccessFootprint]:
        """Yields the writes near the bytes of a read of the group whose lanes nothing may order with it."""
        low, high, position = read.low, read.high, read.position
        end, start = self._span_of(read)
        for write in [
            write
            for write_low, write_high, write_end, write_start, write in self._writes
            if write_low < high
            and low < write_high
            and write_end >= start
            and (end >= write_start or position >= write.position)
        ]:
            first, last = (write, read) if write.position <= position else (read, write)
            is_complete = first.end_position <= last.position
            if not (is_complete and self._points.may_order_between(first.end_position, last.position)):
                yield write


def _group_by_interval(
    stretches: BarrierIntervals, accesses: Iterable[AccessFootprint]
) -> defaultdict[int, list[AccessFootprint]]:
    found: defaultdict[int, list[AccessFootprint]] = defaultdict(list)
    for each in accesses:
        first, last = (stretches.interval_at(each.group, at) for at in (each.position, each.end_position))
        for number in range(first, last + 1):
            found[number].append(each)
    return found


def _threads_of(part: FootprintPart) -> list[int]:
    return part.threads


def _warps_of(part: FootprintPart) -> list[int]:
    return part.warps


def _writer_by_unit(
    writes: Iterable[AccessFootprint], unit: int, who: Callable[[FootprintPart], list[int]]
) -> dict[int, int]:
    """Maps each unit to its writer, by thread or by warp."""
    owner: dict[int, int] = {}
    for part in {part.key: part for write in writes for part in write.parts}.values():
        own = who(part)
        for units in part.addresses_by_unit(unit):
            before = list(map(owner.get, units))
            if before == own:
                continue
            if len(set(units)) == len(units) and before.count(None) == len(units):
                owner.update(zip(units, own, strict=True))
                continue
            for place, one in zip(units, own, strict=True):
                if owner.setdefault(place, one) != one:
                    owner[place] = _MULTIPLE
    return owner


def _foreign_units(
    owner: Mapping[int, int], read: AccessFootprint, unit: int, who: Callable[[FootprintPart], list[int]]
) -> Iterator[tuple[int, int]]:
    """Yields the units of a read that another thread or warp writes, each with the thread that reads it."""
    return (place for part in read.parts for place in _units_of_others(owner, part, who(part), unit))


def _units_of_others(
    owner: Mapping[int, int], part: FootprintPart, own: list[int], unit: int
) -> Iterator[tuple[int, int]]:
    """Yields the units that another thread or warp writes, each with the thread that reads it."""
    for units in part.addresses_by_unit(unit):
        has = list(map(owner.get, units))
        if has != own or _MULTIPLE in own:
            for place, other, one, tid in zip(units, has, own, part.threads, strict=True):
                if other is not None and (other != one or one == _MULTIPLE):
                    yield place, tid


def _writers_by_unit(
    writes: Iterable[AccessFootprint], places: set[int], unit: int
) -> Mapping[int, list[tuple[AccessFootprint, int]]]:
    """Maps each of some units to the writes that access it, each with its thread."""
    found: dict[int, list[tuple[AccessFootprint, int]]] = defaultdict(list)
    for write in writes:
        for part in write.parts:
            for units in part.addresses_by_unit(unit):
                for place, tid in zip(units, part.threads, strict=True) if not places.isdisjoint(units) else ():
                    if place in places:
                        found[place].append((write, tid))
    return found


def _threads_by_unit(access: AccessFootprint, unit: int) -> Mapping[int, set[int]]:
    found: dict[int, set[int]] = defaultdict(set)
    for part in access.parts:
        for units in part.addresses_by_unit(unit):
            for place, tid in zip(units, part.threads, strict=True):
                found[place].add(tid)
    return found


def _lanes_share(owners: Mapping[int, set[int]], read: AccessFootprint, unit: int) -> bool:
    """Returns whether a thread reads a unit that another thread of its warp owns."""
    return any(
        tid >> 5 == other >> 5 and (other != tid or tid == _MULTIPLE)
        for part in read.parts
        for units in part.addresses_by_unit(unit)
        if not owners.keys().isdisjoint(units)
        for place, tid in zip(units, part.threads, strict=True)
        for other in owners.get(place, ())
    )
