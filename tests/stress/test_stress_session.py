"""Sessions with a replacement of the GPU: what is run, reduced and reported."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy
import pytest

from ptxkit.device_runs.device_launch import DeviceLaunch
from ptxkit.linter import lint
from ptxkit.report import diagnostic_lines, plain
from ptxkit.stress.delay_instrument import insert_delays
from ptxkit.stress.delay_plan import STYLES, choose_plan
from ptxkit.stress.lint_sites import sites_of_verdict
from ptxkit.stress.machine_backend import MachineBackend
from ptxkit.stress.stress_finding import stress_finding
from ptxkit.stress.stress_session import StressEffort, StressSession, stress_kernel
from ptxkit.stress.stress_trial import DIFFERENT, FAILED, SAME, StressSubject, StressTrial, TrialOutcome
from ptxkit.syntax import parse

TEXT = """.version 8.0
.target sm_90
.address_size 64
.file 1 "k.cu"
.visible .entry k(.param .u64 out) .reqntid 64
{
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    .shared .align 4 .b8 s[256];
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, s;
    add.u32 %r4, %r3, %r2;
    .loc 1 7 3
    st.shared.u32 [%r4], %r1;
    bar.sync 0;
    xor.b32 %r2, %r2, 252;
    add.u32 %r4, %r3, %r2;
    .loc 1 9 3
    ld.shared.u32 %r5, [%r4];
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd2, %rd1, %rd2;
    st.global.u32 [%rd2], %r5;
    ret;
}
"""
RACY = TEXT.replace("    bar.sync 0;\n", "")
STORE, BARRIER, LOAD = 0, 1, 2


class ReplacedGpu:
    """A backend whose trials fail if `fails` holds."""

    name = "a replacement"

    def __init__(self, fails: Callable[[StressTrial], bool], kind: str = DIFFERENT) -> None:
        self._fails, self._kind = fails, kind
        self.trials: list[StressTrial] = []

    def run(self, subject: StressSubject, trials: Sequence[StressTrial]) -> list[TrialOutcome]:
        assert subject.delayed is not None
        self.trials += trials
        return [
            TrialOutcome(self._kind, "argument 0 differs") if self._fails(e) else TrialOutcome(SAME) for e in trials
        ]


class StepClock:
    """Each reading is a second later."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


def subject(text: str = TEXT) -> StressSubject:
    launch = DeviceLaunch("k", 1, None, (numpy.zeros(64, numpy.uint32),))
    return StressSubject(text, launch, insert_delays(parse(text)))


def delays(trial: StressTrial, *sites: int) -> bool:
    return trial.plan is not None and set(sites) <= set(trial.plan.delays)


def run_session(backend: ReplacedGpu, **effort: int | float | tuple[int, ...]) -> str:
    """Returns the printed finding of a session, or an empty text."""
    given = subject()
    report = StressSession(given, backend, StressEffort(**effort), StepClock()).run("the reference machine")  # type: ignore[arg-type]
    found = stress_finding(report, given, "k.ptx", lint(TEXT))
    return "" if found is None else plain(diagnostic_lines([found]))


def test_a_session_ends_with_its_time() -> None:
    backend = ReplacedGpu(lambda _: False)
    assert run_session(backend, seconds=5) == ""
    assert len(backend.trials) == 4 * 16
    assert sum(each.plan is None for each in backend.trials) == 4 * 2
    assert {each.contends for each in backend.trials} == {False, True}


def test_a_session_ends_with_its_number_of_runs() -> None:
    backend = ReplacedGpu(lambda _: False)
    assert run_session(backend, seconds=1000, runs=21) == ""
    assert len(backend.trials) == 21


def test_a_difference_is_reduced_to_the_sites_that_it_needs() -> None:
    backend = ReplacedGpu(lambda trial: delays(trial, STORE, LOAD))
    printed = run_session(backend, seconds=1000, minimize_seconds=1000)
    assert "the results differ if warps are delayed before this instruction and 1 more" in printed
    assert "k.cu:7:3" in printed
    assert "k.ptx:17" in printed
    assert "st.shared.u32 [%r4], %r1;" in printed
    assert "this is delayed as well" in printed
    assert "48 of 48 runs fail" in printed
    assert "contended" not in printed


def test_a_difference_that_needs_contention_keeps_it() -> None:
    backend = ReplacedGpu(lambda trial: delays(trial, LOAD) and trial.contends)
    printed = run_session(backend, seconds=1000, minimize_seconds=1000)
    assert "if warps are delayed before this instruction\n" in printed
    assert "while other CTAs contended for memory" in printed


def test_a_fault_in_a_plain_run_is_a_finding_at_the_kernel() -> None:
    printed = run_session(ReplacedGpu(lambda trial: trial.plan is None, FAILED), seconds=1000)
    assert "the kernel fails without any delay" in printed
    assert ".visible .entry k" in printed


def test_a_run_that_faults_under_delays_is_repeated_only_once_to_confirm_it() -> None:
    backend = ReplacedGpu(lambda trial: delays(trial, BARRIER), FAILED)
    assert "1 of 1 runs fail" in run_session(backend, seconds=1000, minimize_seconds=1000)


def test_preferred_sites_are_delayed_by_themselves_in_half_of_the_runs() -> None:
    backend = ReplacedGpu(lambda _: False)
    run_session(backend, seconds=20, preferred=(LOAD,))
    plans = [each.plan for each in backend.trials if each.plan is not None]
    only = [each for each in plans if set(each.delays) == {LOAD}]
    assert len(plans) / 2 <= len(only) < len(plans)


def test_the_sites_of_the_linter_are_those_of_its_findings() -> None:
    given = subject(RACY)
    assert given.delayed is not None
    assert sites_of_verdict(given.delayed.sites, lint(RACY)) == (0, 1)
    assert sites_of_verdict(subject().delayed.sites, lint(TEXT)) == ()  # type: ignore[union-attr]


def test_a_correct_kernel_agrees_with_the_machine_under_its_policies() -> None:
    known, report = stress_kernel(subject(), MachineBackend(), StressEffort(runs=32), clock=StepClock())
    assert report.failure is None
    assert report.reference == "the reference machine"
    assert known.expected is not None
    assert known.expected[0].tolist() == list(range(63, -1, -1))


def test_a_kernel_that_the_machine_reports_is_compared_with_a_plain_run() -> None:
    _, report = stress_kernel(subject(RACY), MachineBackend(), StressEffort(runs=16), clock=StepClock())
    assert "a plain run (the reference machine reports PTX621" in report.reference


@pytest.mark.parametrize("style", STYLES)
def test_a_plan_of_each_style_has_its_factors(style: str) -> None:
    from random import Random

    plans = [each for seed in range(60) if (each := choose_plan(Random(seed), 9)).style == style]
    assert plans
    for each in plans:
        assert all(site.mask < 1 << 15 for site in each.delays.values())
        assert (each.warp_factor == 0) == (style in ("by CTA", "by site"))
        assert len(each.delays) == 9 or (style == "few sites" and len(each.delays) <= 3)
