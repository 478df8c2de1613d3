"""Look-ups of overlapping ranges, compared with a test of each range."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ptxkit.analysis.ir.interval_index import IntervalIndex

ranges = st.tuples(st.integers(0, 2000), st.integers(1, 700)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@settings(max_examples=80, deadline=None)
@given(st.lists(ranges, max_size=12), ranges)
def test_every_overlapping_item_is_found_and_no_other(held: list[tuple[int, int]], asked: tuple[int, int]) -> None:
    index: IntervalIndex[int] = IntervalIndex()
    for number, (low, high) in enumerate(held):
        index.add(low, high, number)
    expected = {number for number, (low, high) in enumerate(held) if low < asked[1] and asked[0] < high}
    assert sorted(index.overlapping(*asked)) == sorted(expected)
    assert bool(index) == bool(held)


def test_adjacent_ranges_do_not_overlap() -> None:
    index: IntervalIndex[str] = IntervalIndex()
    index.add(16, 32, "a")
    assert index.overlapping(32, 48) == index.overlapping(0, 16) == ()
    assert index.overlapping(31, 33) == ("a",)


def test_an_empty_range_covers_nothing() -> None:
    index: IntervalIndex[str] = IntervalIndex()
    index.add(16, 16, "a")
    assert index.overlapping(0, 64) == ()


def test_an_item_over_several_buckets_is_found_once_and_a_later_one_too() -> None:
    index: IntervalIndex[str] = IntervalIndex()
    index.add(0, 3000, "a")
    assert index.overlapping(0, 3000) == ("a",)
    index.add(2000, 2001, "b")
    assert index.overlapping(0, 3000) == ("a", "b")


def test_ranges_of_any_size_cost_no_more_than_the_number_of_items() -> None:
    index: IntervalIndex[str] = IntervalIndex()
    index.add(16, 20, "near")
    index.add(0, 1 << 64, "all")
    index.add(1 << 40, (1 << 40) + 4, "far")
    assert sorted(index.overlapping(0, 1 << 63)) == ["all", "far", "near"]
    assert index.overlapping(17, 18) == ("all", "near")
    assert index.overlapping(1 << 50, (1 << 50) + 1) == ("all",)
