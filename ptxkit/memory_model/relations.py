"""Binary relations between the events of an execution, as bit masks.

An event is a number, and a set of events is an integer in which each of them has a bit. A relation has one such set for
each event: the events that it relates this one to. The operators are those of the literature on memory models: `|`, `&`
and `-` of sets of pairs, and `a @ b` for the composition "first a, then b".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence


def members(events: int) -> Iterator[int]:
    """Yields the events of a set, in ascending order."""
    while events:
        lowest = events & -events
        yield lowest.bit_length() - 1
        events ^= lowest


def set_of(events: Iterable[int]) -> int:
    """Returns the set of some events."""
    found = 0
    for each in events:
        found |= 1 << each
    return found


class Relation:
    """A relation between the events of one execution. rows: by event, the set of those that it precedes."""

    __slots__ = ("rows",)

    def __init__(self, rows: Sequence[int]) -> None:
        self.rows = rows

    @classmethod
    def of_pairs(cls, count: int, pairs: Iterable[tuple[int, int]]) -> Relation:
        """Returns a relation between `count` events with some pairs."""
        rows = [0] * count
        for one, other in pairs:
            rows[one] |= 1 << other
        return cls(rows)

    @classmethod
    def identity(cls, count: int, events: int = -1) -> Relation:
        """Returns the relation of each event of a set, or of all events, to itself."""
        return cls([1 << at & events for at in range(count)])

    def __or__(self, other: Relation) -> Relation:
        return Relation([one | another for one, another in zip(self.rows, other.rows, strict=True)])

    def __and__(self, other: Relation) -> Relation:
        return Relation([one & another for one, another in zip(self.rows, other.rows, strict=True)])

    def __sub__(self, other: Relation) -> Relation:
        return Relation([one & ~another for one, another in zip(self.rows, other.rows, strict=True)])

    def __matmul__(self, other: Relation) -> Relation:
        second, found = other.rows, []
        for row in self.rows:
            left, reached = row, 0
            while left:
                lowest = left & -left
                reached |= second[lowest.bit_length() - 1]
                left ^= lowest
            found.append(reached)
        return Relation(found)

    def __bool__(self) -> bool:
        return any(self.rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Relation) and list(self.rows) == list(other.rows)

    def __hash__(self) -> int:
        return hash(tuple(self.rows))

    @property
    def inverse(self) -> Relation:
        """The relation with each pair turned around."""
        rows = [0] * len(self.rows)
        for at, row in enumerate(self.rows):
            for other in members(row):
                rows[other] |= 1 << at
        return Relation(rows)

    @property
    def optional(self) -> Relation:
        """The relation, or nothing: each event also to itself."""
        return Relation([row | 1 << at for at, row in enumerate(self.rows)])

    @property
    def closure(self) -> Relation:
        """The transitive closure: one step or more."""
        rows = list(self.rows)
        for middle, _ in enumerate(rows):
            bit, reached = 1 << middle, rows[middle]
            if reached:
                for at, row in enumerate(rows):
                    if row & bit:
                        rows[at] = row | reached
                reached = rows[middle]
        return Relation(rows)

    def between(self, sources: int = -1, targets: int = -1) -> Relation:
        """Returns the pairs from one set of events to another."""
        return Relation([row & targets if sources >> at & 1 else 0 for at, row in enumerate(self.rows)])

    def has(self, one: int, other: int) -> bool:
        """Returns whether a pair is in the relation."""
        return bool(self.rows[one] >> other & 1)

    @property
    def loops(self) -> Relation:
        """The pairs of an event with itself."""
        return Relation([row & 1 << at for at, row in enumerate(self.rows)])

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Yields the pairs in ascending order."""
        for at, row in enumerate(self.rows):
            for other in members(row):
                yield at, other
