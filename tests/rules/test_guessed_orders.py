"""Order by a barrier that is not known, or that a thread reaches after a guess."""

from __future__ import annotations

from tests.rules.cases_guessed_orders import CASES
from tests.rules.support import Case, each, holds


@each(CASES)
def test_the_verdict_is_that_of_the_comments(case: Case) -> None:
    holds(case)
