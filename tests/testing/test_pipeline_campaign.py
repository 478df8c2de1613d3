"""The short form of `scripts/pipelines`: the rules against the machine on a few dozen generated pipelines."""

from __future__ import annotations

import pytest

from ptxkit.records import replace
from ptxkit.testing.arrangements import campaign
from ptxkit.testing.arrangements.campaign import Answer, Question, asked, questions


def test_rules_and_machine_agree_and_tables_count_who_found_what() -> None:
    """One test, since each process that got one of several would ask all questions for itself."""
    answers = asked(questions(8, 24, 20261121, "sm_90a", (8, 7)))
    assert [f"{each.question}: {each.wrong}" for each in answers if each.wrong] == []
    broken = [each for each in answers if each.family]
    assert len(broken) == 24
    assert all(each.seen for each in broken)
    assert sum(bool(each.static) for each in broken) >= 19
    *_, total = campaign.by_mechanism(answers)
    assert total.split()[:5] == ["all", "8", "8", "24", "24"]
    assert sum(int(line.split()[1]) for line in list(campaign.by_fault(answers))[1:]) == 24
    silent = [each for each in answers if each.silence]
    assert sum(int(line.split()[0]) for line in campaign.reasons(answers)) == len(silent)


def test_an_example_is_the_same_whenever_it_is_asked_for() -> None:
    question = Question(7, 3, broken=True)
    assert question.pipeline() == question.pipeline()
    assert question.pipeline() != replace(question, seed=8).pipeline()


def test_a_verdict_that_breaks_down_is_a_disagreement(monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down(_: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr(campaign, "verdicts_of", break_down)
    (answer,) = asked([Question(0, 0, broken=False)])
    assert isinstance(answer, Answer)
    assert answer.wrong == "broke down: RecursionError: too deep"
