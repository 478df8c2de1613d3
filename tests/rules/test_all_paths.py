"""Races that data cannot prevent, although they decide branches before the accesses."""

from __future__ import annotations

from tests.rules.cases_all_paths import CONDITIONAL, RIGHT, WRONG
from tests.rules.support import Case, each, holds


@each((*WRONG, *CONDITIONAL, *RIGHT))
def test_the_verdict_is_that_of_the_comments(case: Case) -> None:
    holds(case)
