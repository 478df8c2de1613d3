"""Relations as bit masks, compared with sets of pairs."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from ptxkit.memory_model.relations import Relation, members, set_of

COUNT = 5
PAIRS = st.frozensets(st.tuples(st.integers(0, COUNT - 1), st.integers(0, COUNT - 1)), max_size=12)
Pairs = frozenset[tuple[int, int]]


def relation(pairs: Pairs) -> Relation:
    return Relation.of_pairs(COUNT, pairs)


def pairs_of(found: Relation) -> set[tuple[int, int]]:
    return set(found.pairs())


def compose(one: Pairs, other: Pairs) -> set[tuple[int, int]]:
    return {(a, d) for (a, b), (c, d) in product(one, other) if b == c}


@given(PAIRS, PAIRS)
def test_the_operators_are_those_of_sets_of_pairs(one: Pairs, other: Pairs) -> None:
    first, second = relation(one), relation(other)
    assert pairs_of(first | second) == one | other
    assert pairs_of(first & second) == one & other
    assert pairs_of(first - second) == one - other
    assert pairs_of(first @ second) == compose(one, other)
    assert pairs_of(first.inverse) == {(b, a) for a, b in one}
    assert pairs_of(first.optional) == one | {(at, at) for at in range(COUNT)}
    assert bool(first) == bool(one)
    assert pairs_of(first.between(0b00111, 0b11100)) == {(a, b) for a, b in one if a < 3 and b > 1}
    assert pairs_of(first.loops) == {(a, b) for a, b in one if a == b}


@given(PAIRS)
def test_the_closure_is_the_least_transitive_relation(pairs: Pairs) -> None:
    wanted: set[tuple[int, int]] = set(pairs)
    while not (more := compose(frozenset(wanted), frozenset(wanted))) <= wanted:
        wanted |= more
    assert pairs_of(relation(pairs).closure) == wanted


def test_members_are_in_ascending_order() -> None:
    assert list(members(set_of([4, 1, 3]))) == [1, 3, 4]
    assert relation(frozenset({(1, 2)})).has(1, 2)
    assert not relation(frozenset({(1, 2)})).has(2, 1)
