"""The rules that give notes, on small kernels whose comments contain the expected verdict."""

from __future__ import annotations

from ptxkit import Severity, lint
from ptxkit.rules import RULES
from tests.rules.cases_notes import CASES
from tests.rules.support import Case, each, holds


@each(CASES)
def test_the_verdict_is_that_of_the_comments(case: Case) -> None:
    holds(case)


@each(tuple(case for case in CASES if case.notes))
def test_notes_are_reported_only_if_selected(case: Case) -> None:
    assert lint(case.text).diagnostics == ()
    assert {found.severity for found in lint(case.text, notes=True).diagnostics} <= {Severity.NOTE}


def test_the_rules_that_are_off_by_default_are_those_of_ptx9() -> None:
    assert {rule.code for rule in RULES if rule.on_request} == {r.code for r in RULES if r.code.startswith("PTX9")}
