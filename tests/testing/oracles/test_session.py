"""The budget of a test ends a run of the machine that would not end, and hides no earlier finding."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ptxkit.device_runs.device_launch import DeviceLaunch
from ptxkit.testing.oracles import assertions, session
from ptxkit.testing.oracles.session import BudgetSpentError, OracleSession

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() .reqntid 1 { .reg .b32 %r<3>;\n"
ENDLESS = f"{HEAD}mov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1; bra L; }}\n"
WRONG = f"{HEAD}.shared .b32 s; mov.u32 %r1, s; st.shared.u32 [%r1+400000], %r1; ret; }}\n"
LAUNCH = DeviceLaunch("k", 1, 1, ())


@pytest.fixture
def judging() -> Iterator[OracleSession]:
    now = OracleSession(budget=0.02)
    session.begin_session(now)
    yield now
    session.begin_session(OracleSession())


def test_a_run_that_does_not_end_ends_with_the_budget(judging: OracleSession) -> None:
    printed = "the budget of 0.02 s is used up after 0 examples, and one that did not finish"
    with pytest.raises(BudgetSpentError, match=printed):
        assertions.on_machine(ENDLESS, LAUNCH)
    assert judging.failure is None
    assert not judging.has_failed


def test_a_finding_of_an_example_does_not_end_the_budget(judging: OracleSession) -> None:
    judging.budget = 3600.0  # a limit that no machine reaches
    with pytest.raises(AssertionError, match="the machine: "):
        assertions.on_machine(WRONG, LAUNCH)
    assert judging.has_failed
