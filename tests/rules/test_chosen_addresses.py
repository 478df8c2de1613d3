"""Accesses at addresses that loaded data decide, and accesses of other threads to the same bytes."""

from __future__ import annotations

from tests.rules.cases_chosen_addresses import RIGHT, WRONG
from tests.rules.support import Case, each, holds


@each((*WRONG, *RIGHT))
def test_the_verdict_is_that_of_the_comments(case: Case) -> None:
    holds(case)
