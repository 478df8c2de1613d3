"""Tensor copies whose boxes are unknown, together with accesses of other warps."""

from __future__ import annotations

from tests.rules.cases_boxes import CASES
from tests.rules.support import Case, each, holds


@each(CASES)
def test_a_fault_that_depends_on_a_box_is_a_question(case: Case) -> None:
    holds(case)
