"""What a guess hides between two threads is no proof."""

from __future__ import annotations

from tests.rules.cases_guessed_fences import CASES
from tests.rules.support import Case, each, holds


@each(CASES)
def test_the_verdict_is_that_of_the_comments(case: Case) -> None:
    holds(case)
