"""An order that only some paths have, or that a flag without a release is taken for, is an open question."""

from __future__ import annotations

from tests.rules.cases_guarded_orders import CASES
from tests.rules.support import Case, each, holds


@each(CASES)
def test_an_order_that_data_decides_is_an_open_question(case: Case) -> None:
    holds(case)
