"""The reduction of delayed sites."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from ptxkit.stress.minimization import minimize_sites


@given(st.sets(st.integers(0, 40), min_size=1, max_size=4))
def test_the_sites_that_are_needed_together_remain(needed: set[int]) -> None:
    assert minimize_sites(range(41), needed.issubset) == sorted(needed)


def test_no_site_remains_if_the_failure_needs_none() -> None:
    assert minimize_sites(range(8), lambda _: True) == []


def test_one_of_several_sufficient_sites_remains() -> None:
    assert len(minimize_sites(range(16), lambda sites: not {3, 9}.isdisjoint(sites))) == 1


def test_the_launches_are_few() -> None:
    tried: list[Sequence[int]] = []

    def shows(sites: Sequence[int]) -> bool:
        tried.append(sites)
        return 77 in sites

    assert minimize_sites(range(128), shows) == [77]
    assert len(tried) < 20
