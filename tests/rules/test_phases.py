"""PTX302, PTX504, PTX505, PTX601 and PTX602 on small kernels: faults are found, and similar correct kernels have no
findings."""

from __future__ import annotations

from tests.rules.cases_phases import CASES
from tests.rules.support import Case, each, holds


@each(CASES)
def test_the_verdict_is_that_of_the_comments(case: Case) -> None:
    holds(case)
