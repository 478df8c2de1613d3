"""The short form of `scripts/pipelines`: the rules against the machine on a few dozen generated pipelines."""

from __future__ import annotations

import pytest

from ptxkit.fast_dataclasses import replace
from ptxkit.testing.pipelines import campaign
from ptxkit.testing.pipelines.campaign import PipelineJob, PipelineResult, pipeline_jobs, run_jobs


def test_rules_and_machine_agree_and_tables_count_the_findings_of_each() -> None:
    """One test, since each process that got one of several would run the whole campaign for itself."""
    answers = run_jobs(pipeline_jobs(8, 24, 20261121, "sm_90a", (8, 7)))
    assert [f"{each.job}: {each.disagreement}" for each in answers if each.disagreement] == []
    broken = [each for each in answers if each.family]
    assert len(broken) == 24
    assert all(each.emulator_codes for each in broken)
    assert sum(bool(each.rule_errors) for each in broken) >= 19
    *_, total = campaign.mechanism_table(answers)
    assert total.split()[:5] == ["all", "8", "8", "24", "24"]
    assert sum(int(line.split()[1]) for line in list(campaign.fault_table(answers))[1:]) == 24
    silent = [each for each in answers if each.silence_reason]
    assert sum(int(line.split()[0]) for line in campaign.silence_reasons(answers)) == len(silent)


def test_an_example_is_the_same_whenever_it_is_requested() -> None:
    question = PipelineJob(7, 3, is_broken=True)
    assert question.pipeline() == question.pipeline()
    assert question.pipeline() != replace(question, seed=8).pipeline()


def test_a_verdict_that_crashes_is_a_disagreement(monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down(_: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr(campaign, "compute_verdicts", break_down)
    (answer,) = run_jobs([PipelineJob(0, 0, is_broken=False)])
    assert isinstance(answer, PipelineResult)
    assert answer.disagreement == "broke down: RecursionError: too deep"
