"""The units of memory that the threads of a CTA use in one access, and which of them two accesses have in common.

Source: PTX ISA, "Conflict and Data-races".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ptxkit.analysis.values.uniform_terms import Numbers

#: Represents several threads that use the same unit.
_SEVERAL = -1


class ThreadUnits:
    """The units that the threads use, each with the only thread that does, or `_SEVERAL`.

    lows: the address in each thread, or in all of them. size: in bytes. threads: those that use memory, as a bit mask.
    count: the number of threads of the CTA. unit: the size of a unit in bytes, which divides all addresses and sizes.
    """

    def __init__(self, lows: Numbers, size: int, threads: int, count: int, unit: int) -> None:
        if isinstance(lows, int):
            user = threads.bit_length() - 1 if threads.bit_count() == 1 else _SEVERAL
            self.users = dict.fromkeys(range(lows, lows + size, unit), user)
            self.is_shared = user == _SEVERAL
            return
        whole = threads == (1 << count) - 1
        own = list(enumerate(lows)) if whole else [(tid, low) for tid, low in enumerate(lows) if threads >> tid & 1]
        self.users = {}
        for part in range(0, size, unit):
            self.users.update({low + part: tid for tid, low in own})
        self.is_shared = len(self.users) < len(own) * (size // unit)
        if self.is_shared:
            first: dict[int, int] = {}
            for tid, low in own:
                for at in range(low, low + size, unit):
                    if first.setdefault(at, tid) != tid:
                        self.users[at] = _SEVERAL

    def meets(self, other: ThreadUnits) -> bool:
        """Returns whether two threads use the same unit, each in one of these accesses."""
        users, others = self.users, other.users
        return any(users[at] != others[at] or users[at] == _SEVERAL for at in users.keys() & others.keys())


class UsedUnits:
    """The units of several accesses, for the search of those that overlap with another access."""

    def __init__(self) -> None:
        self._first: dict[int, ThreadUnits] = {}
        self._further: dict[int, list[ThreadUnits]] = defaultdict(list)

    def add(self, units: ThreadUnits) -> None:
        """Adds the units of an access."""
        common = self._common(units)
        self._first.update(dict.fromkeys(units.users.keys() - common if common else units.users, units))
        for at in common:
            self._further[at].append(units)

    def overlapping(self, units: ThreadUnits) -> Iterator[ThreadUnits]:
        """Yields the added accesses that use the same units as an access in other threads."""
        common = self._common(units)
        found = dict.fromkeys(self._first[at] for at in common)
        for at in common if self._further else ():
            found.update(dict.fromkeys(self._further.get(at, ())))
        yield from (each for each in found if each.meets(units))

    def _common(self, units: ThreadUnits) -> set[int]:
        if self._first.keys().isdisjoint(units.users):
            return set()
        return self._first.keys() & units.users.keys()
