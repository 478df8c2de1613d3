"""Whether two accesses to shared memory by threads of a CTA or a cluster may use the same bytes."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import groupby
from math import gcd

from ptxkit.analysis.intervals.cluster_threads import ClusterThreads
from ptxkit.analysis.intervals.interval_accesses import StateAccess
from ptxkit.analysis.ir.shared_window import CTA_BITS, SHARED_END
from ptxkit.analysis.limits import MAX_INTERVAL_UNITS
from ptxkit.analysis.phase_order.order_state import NOTHING, THREAD, WARP
from ptxkit.analysis.phase_order.segments import UnknownOrderError
from ptxkit.syntax.constants import WARP_SIZE

_Range = tuple[int, int]


class Overlaps:
    """The overlaps of the accesses of one kernel.

    ranges_of: the bytes that an instruction may access, as ranges of offsets in shared memory of one CTA. accesses: all
    of them.
    The box of a tensor of unknown size is taken to end where the next one begins.
    """

    def __init__(
        self,
        cluster: ClusterThreads,
        ranges_of: Callable[[StateAccess], Sequence[_Range]],
        accesses: Sequence[StateAccess],
        max_units: int = MAX_INTERVAL_UNITS,
    ) -> None:
        self._cluster, self._ranges_of = cluster, ranges_of
        boxes = (each for each in accesses if is_box(each) and each.lows is not None)
        self._box_starts = sorted({low for each in boxes for low in self._lows(each, each.threads)})
        self._left = max_units
        everyone = (1 << cluster.count) - 1
        self._extents = {each: tuple(self._extent(each, everyone)) for each in accesses}
        self._partners = {each: frozenset(others) for each, others in self._find_partners().items()}
        numbers: dict[Hashable, int] = {}
        self._places = {each: numbers.setdefault(_place_of(each), len(numbers)) for each in accesses}
        self._known: dict[tuple[int, int, int, int, int], bool] = {}

    def partners(self, access: StateAccess) -> frozenset[StateAccess]:
        """Returns the accesses that may use the same bytes, and are not compatible with one."""
        return self._partners.get(access, frozenset())

    def _find_partners(self) -> dict[StateAccess, list[StateAccess]]:
        found: dict[StateAccess, list[StateAccess]] = defaultdict(list)
        by_extent: dict[tuple[_Range, ...], list[StateAccess]] = defaultdict(list)
        for access, extent in self._extents.items():
            by_extent[extent].append(access)
        places = sorted((low, high, extent) for extent in by_extent for low, high in extent)
        overlapping: set[tuple[tuple[_Range, ...], tuple[_Range, ...]]] = set()
        open_places: list[tuple[int, tuple[_Range, ...]]] = []
        for low, high, extent in places:
            open_places = [each for each in open_places if each[0] > low]
            open_places.append((high, extent))
            overlapping.update(pair for _, other in open_places for pair in ((extent, other), (other, extent)))
            self._spend(len(open_places))
        writing = {extent: [each for each in own if each.writes] for extent, own in by_extent.items()}
        for first, second in overlapping:
            for one in by_extent[first]:
                for other in by_extent[second] if one.writes else writing[second]:
                    self._spend(1)
                    if not one.is_compatible_with(other):
                        found[one].append(other)
        return found

    def may_meet(self, one: StateAccess, own: int, other: StateAccess, others: int, level: int) -> bool:
        """Returns whether two threads may use the same bytes that are not ordered at a level.

        own, others: the threads that execute the accesses. level: `NOTHING` for any pair of threads, `THREAD` for
        pairs of different threads, `WARP` for pairs of different warps.
        """
        key = (self._places[one], own, self._places[other], others, level)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._compare(one, own, other, others, level)
        return found

    def _compare(self, one: StateAccess, own: int, other: StateAccess, others: int, level: int) -> bool:
        if level == THREAD and own == others and own.bit_count() == 1:
            return False
        if level == WARP and _is_one_warp(own | others):
            return False
        if not any(a < d and c < b for a, b in self._extent(one, own) for c, d in self._extent(other, others)):
            return False
        is_located = None not in (one.lows, other.lows, one.size, other.size)
        if not is_located or one.atom is not other.atom or not (one.atom is None or one.atom.is_stable):
            return True
        unit = gcd(*self._lows(one, own), *self._lows(other, others), one.size or 0, other.size or 0)
        first, second = self._units(one, own, unit), self._units(other, others, unit)
        return any(_may_differ(first[at], second[at], level) for at in first.keys() & second.keys())

    def _lows(self, access: StateAccess, threads: int) -> list[int]:
        if isinstance(access.lows, int):
            return [access.lows]
        assert access.lows is not None
        return [low for tid, low in enumerate(access.lows) if threads >> tid & 1]

    def _extent(self, access: StateAccess, threads: int) -> Sequence[_Range]:
        threads &= access.threads
        if access.atom is None and access.lows is not None and access.size is not None:
            lows = sorted(self._lows(access, threads))
            by_cta = (list(own) for _, own in groupby(lows, key=lambda low: low >> CTA_BITS))
            return [(own[0], own[-1] + access.size) for own in by_cta]
        ranges = self._ranges_in_cluster(access, threads)
        if not is_box(access) or access.lows is None:
            return ranges
        return [each for low in set(self._lows(access, threads)) for each in self._box_at(low, ranges)]

    def _box_at(self, low: int, ranges: Sequence[_Range]) -> Iterator[_Range]:
        after = bisect_right(self._box_starts, low)
        end = self._box_starts[after] if after < len(self._box_starts) else (low >> CTA_BITS << CTA_BITS) + SHARED_END
        return ((low, min(end, above)) for below, above in ranges if below <= low < above)

    def _ranges_in_cluster(self, access: StateAccess, threads: int) -> Sequence[_Range]:
        ranges, cluster = self._ranges_of(access), self._cluster
        if cluster.ctas == 1:
            return ranges
        ranks: Iterable[int] = range(cluster.ctas)  # the address may be one of another CTA
        if access.target is not None:
            ranks = (access.target,)
        elif access.effect.space == "shared::cta":
            ranks = cluster.ranks_of(threads)
        return [each for rank in ranks for each in cluster.shift(ranges, rank)]

    def _units(self, access: StateAccess, threads: int, unit: int) -> dict[int, int]:
        """Returns the units of memory of an access, each with the threads that access it."""
        size = access.size
        assert size is not None
        found: dict[int, int] = {}
        if isinstance(access.lows, int):
            self._spend(size // unit)
            return dict.fromkeys(range(access.lows, access.lows + size, unit), threads)
        assert access.lows is not None
        self._spend(threads.bit_count() * (size // unit))
        for tid, low in enumerate(access.lows):
            if threads >> tid & 1:
                for at in range(low, low + size, unit):
                    found[at] = found.get(at, 0) | 1 << tid
        return found

    def _spend(self, amount: int) -> None:
        self._left -= amount
        if self._left < 0:
            raise UnknownOrderError("the accesses exceed the limit")


def _place_of(access: StateAccess) -> Hashable:
    """Returns what accesses to the same bytes have in common, whatever their instructions are."""
    is_located = None not in (access.lows, access.size) and access.atom is None
    return (access.lows, access.size, access.threads) if is_located else access


def is_box(access: StateAccess) -> bool:
    """Returns whether an access is a copy whose size a tensor map determines."""
    return access.size is None and access.effect.size is None and access.group is not None


def _may_differ(own: int, others: int, level: int) -> bool:
    if level == NOTHING:
        return True
    if level == THREAD:
        return own != others or own.bit_count() > 1
    return not _is_one_warp(own | others)


def _is_one_warp(threads: int) -> bool:
    first = (threads & -threads).bit_length() - 1
    last = threads.bit_length() - 1
    return first // WARP_SIZE == last // WARP_SIZE
