"""Paths that data of the host decide are proofs, as far as such data exist."""

from __future__ import annotations

from tests.rules.cases_input_data import CASES
from tests.rules.support import Case, each, holds


@each(CASES)
def test_the_verdict_is_that_of_the_comments(case: Case) -> None:
    holds(case)
