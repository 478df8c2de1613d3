"""Values that are not known as numbers, represented so that equal ones are recognized as equal.

A value is a Python int (two's complement, already truncated to its width) or a `SymbolicValue`: an unknown identified
by its origin, plus a constant. Terms are hash-consed in a `SymbolicValueTable`: the same operation on the same operands
gives the same term, so two branches on one condition take the same side. The value of a register for a group of threads
is either one value for all threads, or `LaneValues`, one value for each thread.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import repeat
from typing import Any, NamedTuple, TypeAlias

from ptxkit.analysis.limits import MAX_VALUE_DEPTH


class _Unknown(NamedTuple):
    identity: int
    offset: int = 0
    pointer: bool = False


class SymbolicValue(_Unknown):
    """An unknown plus `offset`; immutable.

    pointer: whether it is the address of a live object, so that it is not null. space: the state space in which it
    certainly is an address, `generic` for the generic address of something outside `global`, None where it is unknown.
    The space does not take part in comparisons.

    (It is a tuple because executions look up terms by terms very often: Python compares and hashes tuples natively.)
    """

    space: str | None = None

    def plus(self, amount: int) -> SymbolicValue:
        """Returns this term plus a constant."""
        return self.with_offset(self.offset + amount) if amount else self

    def with_offset(self, offset: int) -> SymbolicValue:
        """Returns the same unknown plus another constant."""
        moved = _new_value(SymbolicValue, (self.identity, offset, self.pointer))
        if self.space is not None:
            moved.space = self.space
        return moved

    def with_space(self, space: str | None) -> SymbolicValue:
        """Returns this term as an address in a state space; None for an unknown space."""
        if space == self.space:
            return self
        view = SymbolicValue(*self)
        view.space = space
        return view


#: The state spaces whose addresses are not in shared memory.
_OTHER_SPACES = frozenset({"global", "local", "const", "param"})

#: Creates a term from its fields, faster than `SymbolicValue` with its defaults: executions create millions of them.
_new_value = tuple.__new__

Value: TypeAlias = int | SymbolicValue

_NUMBERS = frozenset((int, bool))
#: The number of values that are computed one by one; one further read computes the values of all threads. More than
#: the representative threads of a group: nothing else reads most addresses that are not numbers.
_SMALL_GROUP = 12
#: If the operands of this number of threads are all distinct, those of the others are expected to be.
_FIRST_LANES = 64


class LaneValues:
    """One value for each of the `count` threads of a group, in their order, computed on demand.

    The addresses of most threads are never read, so a value is stored as its computation: a function and its arguments,
    some of which may be `LaneValues` too. If several values are read, they are computed for all threads at once, which
    costs far less for each. This is cheapest with a `bulk` function, which takes all arguments except the first one,
    and is used where all lanes are numbers. `terms` is another one, for distinct operands of which some are terms.
    """

    __slots__ = (
        "_all",
        "_arguments",
        "_bulk",
        "_depth",
        "_function",
        "_known",
        "_numbers",
        "_terms",
        "_truths",
        "count",
    )

    def __init__(
        self,
        count: int,
        function: Callable[..., Value],
        arguments: tuple[Any, ...],
        bulk: Callable[..., list[int] | None] | None = None,
        terms: Callable[..., list[Value]] | None = None,
    ) -> None:
        self.count = count
        self._function = function
        self._bulk, self._terms = bulk, terms
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
        """The values of all threads as predicates; None where they are not all known."""
        if self._truths is None:
            values = self.values
            if self.are_numbers:
                self._truths = tuple([value & 1 == 1 for value in values])  # type: ignore[operator]
        return self._truths

    @property
    def are_numbers(self) -> bool:
        """Whether the values of all threads are numbers."""
        if self._numbers is None:
            self._numbers = _NUMBERS.issuperset(map(type, self.values))
        return self._numbers

    @property
    def is_computed(self) -> bool:
        """Whether the values of all threads were computed before."""
        return self._all is not None

    @property
    def values(self) -> list[Value]:
        """The values of all threads; callers must not modify the list."""
        if self._all is None:
            if self._depth > MAX_VALUE_DEPTH:
                self._resolve_iteratively(lambda lanes: lanes._all is None, LaneValues._compute)
            self._compute()
        assert self._all is not None
        return self._all

    def at(self, index: int) -> Value:
        """Returns the value of the thread at an index of the group."""
        if self._all is not None:
            return self._all[index]
        known = self._known.get(index)
        if known is None:
            if len(self._known) >= _SMALL_GROUP:
                return self.values[index]
            if self._depth > MAX_VALUE_DEPTH:
                self._resolve_iteratively(
                    lambda lanes: lanes._all is None and index not in lanes._known, lambda lanes: lanes.at(index)
                )
            own = [a.at(index) if isinstance(a, LaneValues) else a for a in self._arguments]
            known = self._known[index] = self._function(*own)
        return known

    def _compute(self) -> None:
        """Computes the values of all threads from those of the arguments."""
        if self._bulk is not None and all(not isinstance(a, LaneValues) or a.are_numbers for a in self._arguments):
            self._all = self._bulk(*[a.values if isinstance(a, LaneValues) else a for a in self._arguments[1:]])  # type: ignore[assignment]
            if self._all is not None:
                self._numbers = True
                return
        self._all = self._compute_distinct()

    def _compute_distinct(self) -> list[Value]:
        """Returns the values of all threads, computed once for threads with the same operands.

        Threads of one warp often have the very same operand, as a loaded word or a shared condition. Equal operands
        that are different objects may be views in different state spaces.
        """
        varying = [a.values for a in self._arguments if isinstance(a, LaneValues)]
        first = min(self.count, _FIRST_LANES)
        if len(set(zip(*(map(id, each[:first]) for each in varying), strict=True))) == first:
            if self._terms is not None:
                return self._terms(*[a.values if isinstance(a, LaneValues) else a for a in self._arguments])
            every = (a.values if isinstance(a, LaneValues) else repeat(a) for a in self._arguments)
            return list(map(self._function, *every))
        keys = list(zip(*(map(id, each) for each in varying), strict=True))
        place = dict(zip(reversed(keys), range(self.count - 1, -1, -1), strict=True))
        chosen = sorted(place.values())
        every = ([a.values[at] for at in chosen] if isinstance(a, LaneValues) else repeat(a) for a in self._arguments)
        found = dict(zip(map(keys.__getitem__, chosen), map(self._function, *every), strict=True))
        return list(map(found.__getitem__, keys))

    def _resolve_iteratively(
        self, is_open: Callable[[LaneValues], bool], close: Callable[[LaneValues], object]
    ) -> None:
        """Computes the arguments without recursion: an address in a loop depends on a long chain of values."""
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
    """The values of a part of a group, given the indices of its threads."""

    __slots__ = ("_indices",)

    def __init__(self, whole: LaneValues, indices: Sequence[int]) -> None:
        super().__init__(len(indices), value_of_lane, (whole,))
        self._indices = indices

    def _compute(self) -> None:
        values = self._arguments[0].values
        self._all = [values[index] for index in self._indices]

    def at(self, index: int) -> Value:
        return value_of_lane(self._arguments[0], self._indices[index])


#: The value of a register for a group of threads.
GroupValue: TypeAlias = Value | LaneValues


def lanes_by_index(count: int, function: Callable[[int], Value]) -> LaneValues:
    """Returns the lane values that a function computes from the thread's index in the group."""
    return LaneValues(count, function, (_LaneIndices(count, value_of_lane, ()),))


def lift(function: Callable[..., Value], *arguments: Any) -> GroupValue:
    """Applies a function to values, for each thread separately if some arguments are `LaneValues`."""
    for argument in arguments:
        if isinstance(argument, LaneValues):
            return LaneValues(argument.count, function, arguments)
    return function(*arguments)


def group_value_of(values: Sequence[Value]) -> GroupValue:
    """Returns the group value of threads with these values: one value where all are equal."""
    return (
        _common_value(values)
        if values.count(values[0]) == len(values)
        else lanes_by_index(len(values), values.__getitem__)
    )


def _common_value(values: Iterable[Value]) -> Value:
    """Returns the value that equals all of these; it has a state space only if all of them have it."""
    first, *others = values
    if isinstance(first, SymbolicValue) and any(
        isinstance(other, SymbolicValue) and other.space != first.space for other in others
    ):
        return first.with_space(None)
    return first


def select_lanes(held: GroupValue, indices: Sequence[int]) -> GroupValue:
    """Returns the group value of a part of a group, given the indices of its threads: one value where all are equal."""
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
    """Returns the value of the thread at an index of the group."""
    return held.at(index) if isinstance(held, LaneValues) else held


def is_outside_shared_memory(address: SymbolicValue) -> bool:
    """Returns whether an unknown generic address is certainly not in shared memory."""
    return address.pointer or address.space in _OTHER_SPACES


class SymbolicValueTable:
    """The table of the unknowns of one exploration."""

    def __init__(self) -> None:
        self._known: dict[Hashable, SymbolicValue] = {}
        self._keys: list[Hashable] = []
        self._given_count = 0

    def copy(self) -> SymbolicValueTable:
        """Returns a table for another exploration, in which the same unknowns have the same terms."""
        other = SymbolicValueTable()
        other._known, other._keys, other._given_count = dict(self._known), list(self._keys), len(self._keys)
        return other

    def intern(self, key: Hashable, *, pointer: bool = False) -> SymbolicValue:
        """Returns the term of a key, created on first use."""
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = _new_value(SymbolicValue, (len(self._known), 0, pointer))
            self._keys.append(key)
        return found

    def __len__(self) -> int:
        return len(self._keys)

    @property
    def created_count(self) -> int:
        """The number of unknowns that were created for this exploration."""
        return len(self._keys) - self._given_count

    def key_of(self, term: SymbolicValue) -> Hashable:
        """Returns the origin of an unknown, independent of its offset."""
        return self._keys[term.identity]

    def term_of(self, identity: int) -> SymbolicValue:
        """Returns the unknown of an identity."""
        return self._known[self._keys[identity]]
