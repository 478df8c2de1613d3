"""Bulk copies of buffers in global memory, on small kernels whose comments contain the expected verdict."""

from __future__ import annotations

from tests.rules.cases_global_copies import CASES
from tests.rules.support import Case, each, holds


@each(CASES)
def test_the_verdict_is_that_of_the_comments(case: Case) -> None:
    holds(case)
