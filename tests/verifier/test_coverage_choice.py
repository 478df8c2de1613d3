"""The runs that are chosen reach all that any of them reaches."""

from __future__ import annotations

import pytest

from ptxkit.verifier.coverage_choice import ReachingRun, choose_runs

A, B, C, D = (ReachingRun(name, frozenset(reached), steps) for name, reached, steps in (
    ("a", {1, 2}, 50), ("b", {2, 3}, 10), ("c", {1, 2, 3}, 90), ("d", {9}, 1),
))  # fmt: skip


@pytest.mark.parametrize(
    ("tried", "asked", "wanted"),
    [
        ((A, B, C, D), {1, 2, 3}, ["c"]),
        ((A, B, D), {1, 2, 3}, ["b", "a"]),
        ((A, B), {2}, ["b"]),
        ((D,), {1, 2}, []),
        ((), {1}, []),
        ((A, B), set(), []),
    ],
)
def test_the_fewest_runs_that_reach_everything_are_chosen_those_with_few_steps_first(
    tried: tuple[ReachingRun[str], ...], asked: set[int], wanted: list[str]
) -> None:
    assert [each.inputs for each in choose_runs(tried, frozenset(asked))] == wanted
