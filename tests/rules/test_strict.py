"""The rules of policy `strict`, on small kernels whose comments contain the expected verdict."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ptxkit import Severity, lint
from tests.rules.cases_strict import CASES
from tests.rules.support import Case, each, holds

STRICT = tuple(case for case in CASES if case.policy == "strict")


@each(CASES)
def test_the_verdict_is_that_of_the_comments(case: Case) -> None:
    holds(case)


@each(STRICT)
def test_the_default_policy_reports_only_errors_of_these_cases(case: Case) -> None:
    default = lint(replace(case, policy="isa").text)
    strict = lint(case.text, policy="strict")
    errors = [found.code for found in strict.diagnostics if found.severity is Severity.ERROR]
    assert [found.code for found in default.diagnostics] == errors


def test_an_unknown_policy_is_rejected() -> None:
    with pytest.raises(ValueError, match="isa, strict"):
        lint("", policy="lax")  # type: ignore[arg-type]
