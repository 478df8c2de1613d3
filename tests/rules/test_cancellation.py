"""PTX614, cancel-after-failure."""

from __future__ import annotations

from tests.rules.cases_cancellation import CASES
from tests.rules.support import Case, each, holds


@each(CASES)
def test_the_verdict_is_what_the_comments_say(case: Case) -> None:
    holds(case)
