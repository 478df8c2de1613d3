"""The rules that give notes, on small kernels whose comments say what is to be found."""

from __future__ import annotations

from ptxkit import Severity, lint
from ptxkit.rules import RULES
from tests.rules.cases_notes import CASES
from tests.rules.support import Case, each, holds


@each(CASES)
def test_the_verdict_is_what_the_comments_say(case: Case) -> None:
    holds(case)


@each(tuple(case for case in CASES if case.notes))
def test_who_does_not_ask_gets_no_note_and_who_asks_gets_nothing_else(case: Case) -> None:
    assert lint(case.text).diagnostics == ()
    assert {found.severity for found in lint(case.text, notes=True).diagnostics} <= {Severity.NOTE}


def test_the_rules_that_wait_to_be_asked_are_those_of_the_nines() -> None:
    assert {rule.code for rule in RULES if rule.on_request} == {r.code for r in RULES if r.code.startswith("PTX9")}
