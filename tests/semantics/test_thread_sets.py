"""Sets of threads as integers, compared with sets."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ptxkit.semantics.thread_sets import first_thread, lanes_of, thread_range, thread_set, warps_of
from ptxkit.syntax.constants import WARP_SIZE

THREADS = st.sets(st.integers(0, 1023), max_size=70)


@given(THREADS)
def test_the_warps_of_a_set_are_those_of_its_threads(threads: set[int]) -> None:
    assert warps_of(thread_set(threads)) == thread_set({each // WARP_SIZE * WARP_SIZE for each in threads})


@given(THREADS)
def test_the_lanes_of_warps_are_all_of_them(threads: set[int]) -> None:
    whole = {each // WARP_SIZE * WARP_SIZE + lane for each in threads for lane in range(WARP_SIZE)}
    assert lanes_of(warps_of(thread_set(threads))) == thread_set(whole)


@given(THREADS.filter(bool))
def test_the_first_thread_is_the_lowest(threads: set[int]) -> None:
    assert first_thread(thread_set(threads)) == min(threads)


def test_a_range_is_the_set_of_its_threads() -> None:
    assert thread_range(40, 3) == thread_set((40, 41, 42))
    assert thread_range(7, 0) == 0
