"""Kernels that use more shared memory than a CTA can have."""

from __future__ import annotations

from tests.rules.cases_capacity import CASES
from tests.rules.support import Case, each, holds


@each(CASES)
def test_launches_that_fail_prove_nothing(case: Case) -> None:
    holds(case)
