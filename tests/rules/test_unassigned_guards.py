"""PTX652, on small kernels whose comments contain the expected verdict."""

from __future__ import annotations

from typing import NoReturn

import pytest

from ptxkit import lint
from ptxkit.rules import ptx652_unassigned_guard
from tests.rules.cases_unassigned_guards import CASES
from tests.rules.support import Case, each, holds


@each(CASES)
def test_the_verdict_is_that_of_the_comments(case: Case) -> None:
    holds(case)


def test_a_predicate_that_an_unknown_instruction_names_may_have_a_value() -> None:
    body = "@%p4 bra END;\nEND:"
    assert "PTX652" in {found.code for found in lint(Case("without", body).text).diagnostics}
    assert "PTX652" not in {found.code for found in lint(Case("with", f"unheard.of %p4;\n{body}").text).diagnostics}


def test_an_assignment_before_all_branches_is_found_without_a_search_of_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the time of a check would grow with the square of the number of guards."""

    def search(*_: object) -> NoReturn:
        raise AssertionError

    monkeypatch.setattr(ptx652_unassigned_guard, "_assignments", search)
    rounds = "".join(f"@%p2 bra NEXT{at};\n@%p1 st.global.u32 [%rd2], {at};\nNEXT{at}:\n" for at in range(20))
    assert "PTX652" not in {found.code for found in lint(Case("many", rounds).text).diagnostics}
