"""Values that an analysis does not know as numbers, kept so that equal ones are recognised as equal.

A value is a Python int (two's complement, already cut to its width) or a `SymbolicValue`: an unknown identified by how
it came
about, plus a constant. Terms are hash-consed in a `SymbolicValueTable` store: the same operation on the same operands
is the same
term, so two branches on one condition take the same side. What a register holds for a group of threads is a value that
all of them have, or `Lanes`, one value for each.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import repeat
from typing import Any, NamedTuple, TypeAlias


class _Unknown(NamedTuple):
    identity: int
    offset: int = 0
    pointer: bool = False


class SymbolicValue(_Unknown):
    """An unknown plus `offset`. pointer: it is an address of a live object, so it is not null. Never changed.

    space: the state space that it surely is an address in, `generic` for the generic address of something outside
    `global`, None where nobody knows; a view of the same unknown, so that it does not count in comparisons.

    (A tuple, since walks look up terms by terms all the time: Python compares and hashes those by itself.)
    """

    space: str | None = None

    def plus(self, amount: int) -> SymbolicValue:
        """This term, moved by a constant."""
        return self.with_offset(self.offset + amount) if amount else self

    def with_offset(self, offset: int) -> SymbolicValue:
        """The same unknown plus another constant."""
        moved = _new_value(SymbolicValue, (self.identity, offset, self.pointer))
        if self.space is not None:
            moved.space = self.space
        return moved

    def with_space(self, space: str | None) -> SymbolicValue:
        """This term as an address in a state space, or in none that is known."""
        if space == self.space:
            return self
        view = SymbolicValue(*self)
        view.space = space
        return view


#: Makes a term from its fields, faster than `SymbolicValue` with its defaults: walks make them by the million.
_new_value = tuple.__new__

Value: TypeAlias = int | SymbolicValue

#: Lanes that depend on so long a chain of others are not computed by recursion.
MAX_DEPTH = 100
_NUMBERS = frozenset((int, bool))
#: So many values are computed one by one; who asks for one more gets those of all threads.
_SMALL_GROUP = 6


class LaneValues:
    """One value for each of the `count` threads of a group, in its order; computed where somebody asks.

    Most threads' addresses are never asked for, so a value is kept as what makes it: a function and its arguments, some
    of them `Lanes` too. Who asks for several gets them made for all threads at once, which costs far less for each;
    least by a `bulk` function, which takes the arguments but for the first, where all lanes are numbers.
    """

    __slots__ = ("_all", "_arguments", "_bulk", "_depth", "_function", "_known", "_numbers", "_truths", "count")

    def __init__(
        self,
        count: int,
        function: Callable[..., Value],
        arguments: tuple[Any, ...],
        bulk: Callable[..., list[int] | None] | None = None,
    ) -> None:
        self.count = count
        self._function = function
        self._bulk = bulk
        self._numbers: bool | None = None
        self._arguments = arguments
        deepest = 0
        for each in arguments:
            if isinstance(each, LaneValues) and each._depth > deepest:
                deepest = each._depth
        self._depth: int = 1 + deepest
        self._known: dict[int, Value] = {}
        self._all: list[Value] | None = None
        self._truths: tuple[bool, ...] | None = None

    @property
    def predicate_values(self) -> tuple[bool, ...] | None:
        """What all threads have as a predicate; None where that is not known for each."""
        if self._truths is None:
            values = self.values
            if self.are_numbers:
                self._truths = tuple([value & 1 == 1 for value in values])  # type: ignore[operator]
        return self._truths

    @property
    def are_numbers(self) -> bool:
        """Whether all threads have numbers."""
        if self._numbers is None:
            self._numbers = _NUMBERS.issuperset(map(type, self.values))
        return self._numbers

    @property
    def is_computed(self) -> bool:
        """Whether what all threads have was asked for before."""
        return self._all is not None

    @property
    def values(self) -> list[Value]:
        """What all threads have; not to be changed."""
        if self._all is None:
            if self._depth > MAX_DEPTH:
                self._resolve_iteratively(lambda lanes: lanes._all is None, LaneValues._compute)
            self._compute()
        assert self._all is not None
        return self._all

    def at(self, index: int) -> Value:
        """What the thread at an index of the group has."""
        if self._all is not None:
            return self._all[index]
        known = self._known.get(index)
        if known is None:
            if len(self._known) >= _SMALL_GROUP:
                return self.values[index]
            if self._depth > MAX_DEPTH:
                self._resolve_iteratively(
                    lambda lanes: lanes._all is None and index not in lanes._known, lambda lanes: lanes.at(index)
                )
            own = [a.at(index) if isinstance(a, LaneValues) else a for a in self._arguments]
            known = self._known[index] = self._function(*own)
        return known

    def _compute(self) -> None:
        """Computes what all threads have, given that of the arguments."""
        if self._bulk is not None and all(not isinstance(a, LaneValues) or a.are_numbers for a in self._arguments):
            self._all = self._bulk(*[a.values if isinstance(a, LaneValues) else a for a in self._arguments[1:]])  # type: ignore[assignment]
            if self._all is not None:
                self._numbers = True
                return
        self._all = list(
            map(self._function, *(a.values if isinstance(a, LaneValues) else repeat(a) for a in self._arguments))
        )

    def _resolve_iteratively(
        self, is_open: Callable[[LaneValues], bool], close: Callable[[LaneValues], object]
    ) -> None:
        """Makes what this depends on known, without recursion: an address that a loop moves has a long past."""
        stack = [self]
        while stack:
            top = stack[-1]
            waiting = [a for a in top._arguments if type(a) is LaneValues and a._depth > 1 and is_open(a)]
            if waiting:
                stack.extend(waiting)
                continue
            stack.pop()
            if top is not self:
                close(top)


class _LaneIndices(LaneValues):
    """The index of each thread."""

    __slots__ = ()

    def _compute(self) -> None:
        self._all = list(range(self.count))

    def at(self, index: int) -> Value:
        return index


class _LaneSubset(LaneValues):
    """What a part of a group has, given the indices of its threads."""

    __slots__ = ("_indices",)

    def __init__(self, whole: LaneValues, indices: Sequence[int]) -> None:
        super().__init__(len(indices), value_of_lane, (whole,))
        self._indices = indices

    def _compute(self) -> None:
        values = self._arguments[0].values
        self._all = [values[index] for index in self._indices]

    def at(self, index: int) -> Value:
        return value_of_lane(self._arguments[0], self._indices[index])


#: What a register holds for a group of threads.
GroupValue: TypeAlias = Value | LaneValues


def lanes_by_index(count: int, function: Callable[[int], Value]) -> LaneValues:
    """The lanes that a function of the thread's index in the group gives."""
    return LaneValues(count, function, (_LaneIndices(count, value_of_lane, ()),))


def lift(function: Callable[..., Value], *arguments: Any) -> GroupValue:
    """What a function of values gives, for each thread where some arguments are `Lanes`."""
    for argument in arguments:
        if isinstance(argument, LaneValues):
            return LaneValues(argument.count, function, arguments)
    return function(*arguments)


def group_value_of(values: Sequence[Value]) -> GroupValue:
    """What threads with these values hold: one value where all have the same."""
    return (
        _common_value(values)
        if values.count(values[0]) == len(values)
        else lanes_by_index(len(values), values.__getitem__)
    )


def _common_value(values: Iterable[Value]) -> Value:
    """The one value that these all are: as an address in a state space only where all of them say so."""
    first, *others = values
    if isinstance(first, SymbolicValue) and any(
        isinstance(other, SymbolicValue) and other.space != first.space for other in others
    ):
        return first.with_space(None)
    return first


def select_lanes(held: GroupValue, indices: Sequence[int]) -> GroupValue:
    """What a part of a group holds, given the indices of its threads: one value where all have the same."""
    if not isinstance(held, LaneValues):
        return held
    if held.is_computed:
        values = held.values
        part = [values[index] for index in indices]
        return _common_value(part) if part.count(part[0]) == len(part) else _LaneSubset(held, indices)
    first = held.at(indices[0])
    if held.at(indices[-1]) == first and all(held.at(index) == first for index in indices):
        return _common_value(held.at(index) for index in indices)
    return _LaneSubset(held, indices)


def value_of_lane(held: GroupValue, index: int) -> Value:
    """What the thread at an index of the group holds."""
    return held.at(index) if isinstance(held, LaneValues) else held


class SymbolicValueTable:
    """The store of unknowns of one exploration."""

    def __init__(self) -> None:
        self._known: dict[Hashable, SymbolicValue] = {}
        self._keys: list[Hashable] = []

    def intern(self, key: Hashable, *, pointer: bool = False) -> SymbolicValue:
        """The term of that key, made on first sight."""
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = _new_value(SymbolicValue, (len(self._known), 0, pointer))
            self._keys.append(key)
        return found

    def __len__(self) -> int:
        return len(self._keys)

    def key_of(self, term: SymbolicValue) -> Hashable:
        """How an unknown came about, whatever was added to it since."""
        return self._keys[term.identity]


def to_signed(value: int, width: int) -> int:
    """The two's complement reading of an unsigned `width`-bit number."""
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


def bit_mask(width: int) -> int:
    """`width` ones."""
    return (1 << width) - 1
