"""Finds the accesses of two threads between the same barriers that use the same bytes, and may be in either order.

Source: PTX ISA, "Conflict and Data-races", "bar, barrier".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import gcd
from typing import TypeAlias

from ptxkit.analysis.intervals.cta_states import CtaStates
from ptxkit.analysis.intervals.interval_accesses import IntervalAccesses, StateAccess
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.limits import MAX_INTERVAL_PAIRS, MAX_INTERVAL_UNITS
from ptxkit.analysis.values.uniform_terms import Numbers

_Range: TypeAlias = tuple[int, int]
#: Represents several threads that access the same bytes.
_SEVERAL = -1
#: The largest number of writes that are kept for one unit of memory, if they are of two threads.
_MOST_WRITERS = 16


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
        self._work, self._pairs_left = MAX_INTERVAL_UNITS, MAX_INTERVAL_PAIRS
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
        """Compares accesses whose addresses are known, or known relative to one unknown."""
        writes = [each for each in accesses if each.writes]
        if not writes:
            return
        unit = 0
        for access in accesses:
            lows = (access.lows,) if isinstance(access.lows, int) else access.lows
            assert lows is not None
            unit = gcd(unit, access.size or 0, *lows)
        writers: dict[int, list[tuple[int, StateAccess]]] = {}
        for access in writes:
            for at, tid in self._units(access, unit):
                known = writers.get(at)
                if known is None:
                    writers[at] = [(tid, access)]
                    continue
                self._compare_with(known, access, tid)
                if len(known) < _MOST_WRITERS or all(other == known[0][0] != tid for other, _ in known):
                    known.append((tid, access))
        for access in accesses:
            if not access.writes:
                for at, tid in self._units(access, unit):
                    known = writers.get(at)
                    if known is not None:
                        self._compare_with(known, access, tid)

    def _compare_with(self, known: Sequence[tuple[int, StateAccess]], access: StateAccess, tid: int) -> None:
        for other_tid, other in known:
            if (other_tid != tid or tid == _SEVERAL) and not access.is_compatible_with(other):
                self._add(access, other)

    def _units(self, access: StateAccess, unit: int) -> Iterator[tuple[int, int]]:
        """Yields the units of memory that each thread accesses, with the thread, or once for several threads."""
        size, lows = access.size, access.lows
        assert size is not None
        assert lows is not None
        if isinstance(lows, int):
            self._spend(size // unit)
            tid = access.threads.bit_length() - 1 if access.threads.bit_count() == 1 else _SEVERAL
            yield from ((at, tid) for at in range(lows, lows + size, unit))
            return
        self._spend(access.threads.bit_count() * (size // unit))
        whole = access.threads == (1 << self._threads) - 1
        for tid, low in enumerate(lows):
            if whole or access.threads >> tid & 1:
                for at in range(low, low + size, unit):
                    yield at, tid

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
