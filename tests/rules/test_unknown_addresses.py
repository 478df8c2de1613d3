"""The possible overlaps of an access at an unknown address are an open question until an order settles them."""

from __future__ import annotations

from tests.rules.cases_unknown_addresses import CASES
from tests.rules.support import Case, each, holds


@each(CASES)
def test_unknown_addresses_leave_questions_that_only_an_order_settles(case: Case) -> None:
    holds(case)
