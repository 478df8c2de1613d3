"""PTX302, PTX504, PTX505, PTX601 and PTX602 on small kernels: what is wrong is found, and its near misses are not."""

from __future__ import annotations

from tests.rules.cases_phases import CASES
from tests.rules.support import Case, each, holds


@each(CASES)
def test_the_verdict_is_what_the_comments_say(case: Case) -> None:
    holds(case)
