"""Barriers of a grid through a counter in global memory."""

from __future__ import annotations

from tests.rules.cases_grid_barriers import CASES
from tests.rules.support import Case, each, holds


@each(CASES)
def test_the_verdict_is_that_of_the_comments(case: Case) -> None:
    holds(case)
