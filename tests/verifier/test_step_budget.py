"""The limits of the runs of a kernel are steps, scaled by the effort, and time only where the user limits it."""

from __future__ import annotations

import re
import time
from types import SimpleNamespace

import pytest

from ptxkit.emulator import RunResult
from ptxkit.results import FileResult
from ptxkit.settings.model import Settings
from ptxkit.source import SourceFile
from ptxkit.verifier import VerifyRequest, step_budget, verify_source
from ptxkit.verifier.step_budget import StepBudget

COUNTING = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a) .reqntid 32
{
 .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %d<2>;
 ld.param.u64 %d0, [a]; mov.u32 %r1, 0;
L: add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, 1000; @%p0 bra L;
 st.global.u32 [%d0], %r1;
 ret;
}
"""
RUN_STEPS = 3 * 1000


def verify(effort: float, seconds: float | None = None, schedules: int = 10) -> FileResult:
    settings = Settings(effort=effort)
    request = VerifyRequest(schedules=schedules, grid=(1,), seconds=seconds, settings=settings)
    return verify_source(SourceFile("k.ptx", COUNTING), request)


def asked_of(result: FileResult) -> list[str]:
    return [each.reason for each in result.undecided]


def test_the_effort_scales_the_steps_of_all_runs() -> None:
    total = StepBudget().total
    assert StepBudget(4.0).total == 4 * total
    assert StepBudget(0.25).total == total // 4


def test_runs_that_were_left_out_are_a_question_with_the_effort_that_makes_them() -> None:
    effort = 8.5 * RUN_STEPS / StepBudget().total
    (reason,) = asked_of(verify(effort))
    assert re.search(r"only \d of 10 runs were made within 25,500 steps", reason)
    needed = float(reason.rpartition("--effort ")[2])
    assert effort < needed < 3 * effort
    assert asked_of(verify(needed)) == []


def test_a_run_that_was_cut_short_is_a_question_with_its_steps() -> None:
    effort = 0.5 * RUN_STEPS / StepBudget().total
    reasons = asked_of(verify(effort, schedules=1))
    assert any(f"a run did not end in 1,500 steps: try --effort {2 * effort:g}" in each for each in reasons)


def test_no_time_is_measured_unless_the_user_limits_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> float:
        raise AssertionError

    monkeypatch.setattr(step_budget, "time", SimpleNamespace(thread_time=refuse))
    budget = StepBudget()
    budget.spend(10)
    assert budget.for_run(5).seconds is None
    assert not budget.is_used_up()


def test_the_limit_of_the_user_is_stated_even_where_it_was_not_exceeded() -> None:
    result = verify(1.0, seconds=1000.0, schedules=2)
    assert asked_of(result) == []
    assert result.runs[0].limits == "at most 1000 s"
    assert verify(1.0, schedules=2).runs[0].limits == ""


def test_a_question_names_the_limit_of_time_that_was_exceeded(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter([0.0, 20.0, 30.0])
    monkeypatch.setattr(step_budget, "time", SimpleNamespace(thread_time=lambda: next(now)))
    assert time.thread_time is not step_budget.time.thread_time
    budget = StepBudget(seconds=7.0)
    assert budget.is_used_up()
    assert budget.question_of_runs(1, 2, 3, 4) == "only 1 of 2 runs were made in the 7 s of --seconds: give more"
    assert budget.question_of_run(RunResult(exceeded_limit="seconds")).endswith("in the 7 s of --seconds: give more")


@pytest.mark.parametrize(("effort", "wanted"), [(1.0, "2"), (0.25, "0.5"), (0.0033, "0.0066"), (1234.0, "2500")])
def test_the_effort_of_a_remedy_is_rounded_up(effort: float, wanted: str) -> None:
    text = StepBudget(effort).question_of_run(RunResult(exceeded_limit="steps", group_steps=1))
    assert text.endswith(f"--effort {wanted}")
