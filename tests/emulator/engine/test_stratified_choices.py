"""Choices that consecutive seeds divide among them."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest

from ptxkit.emulator.engine.stratified_choices import StratifiedChoices, reverse_low_bits


def _make_choices(seed: int, weights: list[list[int]]) -> tuple[int, ...]:
    choices = StratifiedChoices(seed)
    return tuple(choices.choose(each) for each in weights)


@pytest.mark.parametrize("first", [0, 5, 60, 1_000_003, -7])
def test_consecutive_seeds_make_every_combination_once(first: int) -> None:
    found = {_make_choices(seed, [[1, 1], [1, 1, 1], [1, 1]]) for seed in range(first, first + 12)}
    assert found == set(product(range(2), range(3), range(2)))


def test_weights_are_shares_of_the_seeds() -> None:
    found = Counter(_make_choices(seed, [[2, 3], [1, 1]]) for seed in range(20))
    assert found == {(0, 0): 4, (0, 1): 4, (1, 0): 6, (1, 1): 6}


def test_a_seed_makes_the_same_choices_again() -> None:
    weights = [[1] * count for count in (2, 3, 4, 5, 6)] * 4
    found = [_make_choices(77, weights) for _ in range(2)]
    assert found[0] == found[1]
    assert len({_make_choices(seed, weights) for seed in range(100)}) == 100


def test_choices_of_the_reversed_seed_are_independent_of_those_of_the_seed() -> None:
    weights = [[1, 1], [1, 1], [1, 1]]
    found = {(_make_choices(seed, weights), _make_choices(reverse_low_bits(seed), weights)) for seed in range(64)}
    assert len(found) == 64
