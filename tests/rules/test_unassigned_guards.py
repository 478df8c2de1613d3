"""PTX652, on small kernels whose comments contain the expected verdict."""

from __future__ import annotations

from ptxkit import lint
from tests.rules.cases_unassigned_guards import CASES
from tests.rules.support import Case, each, holds


@each(CASES)
def test_the_verdict_is_that_of_the_comments(case: Case) -> None:
    holds(case)


def test_a_predicate_that_an_unknown_instruction_names_may_have_a_value() -> None:
    body = "@%p4 bra END;\nEND:"
    assert "PTX652" in {found.code for found in lint(Case("without", body).text).diagnostics}
    assert "PTX652" not in {found.code for found in lint(Case("with", f"unheard.of %p4;\n{body}").text).diagnostics}
