"""Faults in executions that do not know the value of a register."""

from __future__ import annotations

from tests.rules.cases_unspecified import CASES
from tests.rules.support import Case, each, holds


@each(CASES)
def test_the_verdict_is_that_of_the_comments(case: Case) -> None:
    holds(case)
