"""The order in which waiting texts are checked."""

from __future__ import annotations

from ptxkit.batch.limits import MAX_OVERTAKEN
from ptxkit.batch.longest_first_queue import LongestFirstQueue


def order(*lengths: int) -> list[int]:
    """Returns the indices of some lengths, in the order of removal."""
    turns: LongestFirstQueue[int] = LongestFirstQueue()
    for place, length in enumerate(lengths):
        turns.put(length, place)
    return [turns.take() for _ in lengths]


def test_the_longest_comes_first() -> None:
    assert order(3, 9, 1, 5) == [1, 3, 0, 2]


def test_of_equal_lengths_the_first_comes_first() -> None:
    assert order(2, 2, 5, 2) == [2, 0, 1, 3]


def test_a_short_one_waits_for_a_limited_number() -> None:
    assert order(1, *[9] * (3 * MAX_OVERTAKEN)).index(0) == MAX_OVERTAKEN
