"""Finds the accesses of two threads between the same barriers that use the same bytes, and may be in either order.

Source: PTX ISA, "Conflict and Data-races", "bar, barrier".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from math import gcd
from typing import TypeAlias

from ptxkit.analysis.intervals.cta_states import CtaStates
from ptxkit.analysis.intervals.interval_accesses import IntervalAccesses, StateAccess
from ptxkit.analysis.intervals.thread_units import ThreadUnits, UsedUnits
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.limits import MAX_INTERVAL_PAIRS, MAX_INTERVAL_UNITS
from ptxkit.analysis.values.uniform_terms import Numbers

_Range: TypeAlias = tuple[int, int]


class TooManyAccessesError(Exception):
    """The accesses exceed the limit."""


class IntervalConflicts:
    """The pairs of accesses of one kernel that are not proven to be ordered or apart.

    ranges_of: the bytes that an instruction may access, as ranges of offsets in shared memory.
    """

    def __init__(
        self,
        states: CtaStates,
        accesses: IntervalAccesses,
        threads: int,
        ranges_of: Callable[[StateAccess], Sequence[_Range]],
    ) -> None:
        self._accesses, self._threads, self._ranges_of = accesses, threads, ranges_of
        self._work, self._pairs_left = states.scale_limit(MAX_INTERVAL_UNITS), states.scale_limit(MAX_INTERVAL_PAIRS)
        self.pairs: dict[Step, set[tuple[StateAccess, StateAccess]]] = defaultdict(set)
        for root in dict.fromkeys(states.roots):
            inside = [access for state in states.reachable(root) for access in accesses.of_state(state)]
            self._compare_threads(inside, list(accesses.before.get(root, ())))
        for state in states.states:
            for access, pending in accesses.with_pending(state):
                for other, (_, own) in pending.items():
                    if (access.writes or other.writes) and self._may_meet_in_thread(access, other, own):
                        self._add(access, other)

    def _add(self, first: StateAccess, second: StateAccess) -> None:
        self._pairs_left -= 1
        if self._pairs_left < 0:
            raise TooManyAccessesError
        self.pairs[first.step].add((first, second))
        self.pairs[second.step].add((second, first))

    # Two threads.

    def _compare_threads(self, inside: Sequence[StateAccess], carried: Sequence[StateAccess]) -> None:
        """Compares all accesses between two barriers, and those that are in progress at the first one."""
        if not any(each.writes for each in (*inside, *carried)):
            return
        by_atom: dict[object, list[StateAccess]] = defaultdict(list)
        unlocated: list[StateAccess] = []
        earlier = set(carried)  # what is unknown in their addresses may have another value now
        for access in (*inside, *carried):
            is_old = access.atom is not None and access in earlier
            is_known = access.lows is not None and access.size is not None and not is_old
            (by_atom[access.atom] if is_known else unlocated).append(access)
        for each in by_atom.values():
            self._compare_exactly(each)
        groups = list(by_atom.values())
        for number, own in enumerate(groups):
            for others in groups[number + 1 :]:
                self._compare_ranges(own, others)
            self._compare_ranges(own, unlocated)
        for number, access in enumerate(unlocated):
            self._compare_ranges([access], unlocated[number:])

    def _compare_ranges(self, first: Iterable[StateAccess], second: Iterable[StateAccess]) -> None:
        for one in first:
            for other in second:
                self._spend(1)
                is_alone = one.threads == other.threads and one.threads.bit_count() == 1
                is_race = not is_alone and (one.writes or other.writes) and not one.is_compatible_with(other)
                if is_race and self._may_overlap(one, other):
                    self._add(one, other)

    def _may_overlap(self, one: StateAccess, other: StateAccess) -> bool:
        return any(a < d and c < b for a, b in self._extent(one) for c, d in self._extent(other))

    def _extent(self, access: StateAccess) -> Sequence[_Range]:
        if access.atom is None and access.lows is not None and access.size is not None:
            lows = (access.lows,) if isinstance(access.lows, int) else access.lows
            return [(min(lows), max(lows) + access.size)]
        return self._ranges_of(access)

    def _compare_exactly(self, accesses: Sequence[StateAccess]) -> None:
        """Compares accesses whose addresses are known, or known relative to one unknown.

        Those of the same bytes by the same threads are compared with others as one.
        """
        if not any(each.writes for each in accesses):
            return
        unit = 0
        by_place: dict[tuple[Numbers, int, int], list[StateAccess]] = defaultdict(list)
        for access in accesses:
            lows, size = access.lows, access.size
            assert lows is not None
            assert size is not None
            by_place[lows, size, access.threads].append(access)
        for lows, size, _ in by_place:
            unit = gcd(unit, size, *((lows,) if isinstance(lows, int) else lows))
        used = UsedUnits()
        written: dict[ThreadUnits, list[StateAccess]] = {}
        reads: list[tuple[ThreadUnits, list[StateAccess]]] = []
        for (lows, size, threads), same in by_place.items():
            self._spend(len(same) * (1 if isinstance(lows, int) else threads.bit_count()) * (size // unit))
            units = ThreadUnits(lows, size, threads, self._threads, unit)
            writes = [each for each in same if each.writes]
            reads.append((units, [each for each in same if not each.writes]))
            if writes:
                for other in used.overlapping(units):
                    self._add_all(writes, written[other])
                if units.is_shared:
                    self._add_all(writes, writes, with_itself=not isinstance(lows, int))
                used.add(units)
                written[units] = writes
        for units, own in reads:
            for other in used.overlapping(units) if own else ():
                self._add_all(own, written[other])

    def _add_all(
        self, first: Sequence[StateAccess], second: Sequence[StateAccess], *, with_itself: bool = False
    ) -> None:
        """Adds the pairs of accesses that are not compatible."""
        for access in first:
            for other in second:
                if (access is not other or with_itself) and not access.is_compatible_with(other):
                    self._add(access, other)

    # One thread.

    def _may_meet_in_thread(self, access: StateAccess, other: StateAccess, threads: int) -> bool:
        """Returns whether an access may use bytes of an asynchronous one of the same thread that is in progress.

        threads: those whose operation may be in progress.
        """
        both = access.threads & threads
        placed = _with_same_base(access, other)
        if not both or placed is None:
            return bool(both) and self._may_overlap(access, other)
        (lows, size), (others, other_size) = placed
        self._spend(both.bit_count())
        return any(
            both >> tid & 1 and low < there + other_size and there < low + size
            for tid, (low, there) in enumerate(zip(self._of_threads(lows), self._of_threads(others), strict=True))
        )

    def may_share_bytes(self, access: StateAccess, other: StateAccess) -> bool:
        """Returns whether some threads may use the same bytes with two accesses."""
        placed = _with_same_base(access, other)
        if placed is None:
            return self._may_overlap(access, other)
        (lows, size), (others, other_size) = placed
        first, second = _distinct(lows), _distinct(others)
        self._spend(len(first) * len(second))
        return any(low < there + other_size and there < low + size for low in first for there in second)

    def _of_threads(self, lows: Numbers) -> Iterable[int]:
        return (lows,) * self._threads if isinstance(lows, int) else lows

    def _spend(self, amount: int) -> None:
        self._work -= amount
        if self._work < 0:
            raise TooManyAccessesError


_Place: TypeAlias = tuple[Numbers, int]


def _with_same_base(access: StateAccess, other: StateAccess) -> tuple[_Place, _Place] | None:
    """Returns the addresses and the sizes of two accesses; None where their distance is not known."""
    if access.atom is not other.atom or not (access.atom is None or access.atom.is_stable):
        return None
    if access.lows is None or other.lows is None or access.size is None or other.size is None:
        return None
    return (access.lows, access.size), (other.lows, other.size)


def _distinct(lows: Numbers) -> Sequence[int]:
    return (lows,) if isinstance(lows, int) else tuple(dict.fromkeys(lows))
