"""A launch is explored once for all trials, unless the budget ended it."""

from __future__ import annotations

from ptxkit.analysis.ir.budget import AnalysisBudget
from ptxkit.rules.launch_trials import LaunchTrials
from tests.analysis.support import kernel_of, module_of

BODY = "mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x;"


def test_each_launch_is_explored_once() -> None:
    module = module_of(BODY)
    kernel, trials = kernel_of(module), LaunchTrials(module, "isa", AnalysisBudget().for_kernel())
    first = trials.explore(kernel, "reqntid", (64, 1, 1))
    assert trials.explore(kernel, "reqntid", (32, 1, 1)) is not first
    left = trials.budget.steps
    trials.refill(AnalysisBudget().for_kernel())
    assert trials.budget.steps > left
    assert trials.explore(kernel, "reqntid", (64, 1, 1)) is first


def test_an_exploration_that_the_budget_ended_is_repeated() -> None:
    module = module_of(BODY)
    kernel, trials = kernel_of(module), LaunchTrials(module, "isa", AnalysisBudget(steps=1))
    cut = trials.explore(kernel, "reqntid", (64, 1, 1))
    assert trials.budget.is_used_up
    trials.refill(AnalysisBudget().for_kernel())
    assert trials.explore(kernel, "reqntid", (64, 1, 1)) is not cut


def test_an_exploration_whose_check_the_budget_ended_is_repeated() -> None:
    module = module_of(BODY)
    kernel, trials = kernel_of(module), LaunchTrials(module, "isa", AnalysisBudget().for_kernel())
    facts = trials.explore(kernel, "reqntid", (64, 1, 1))
    trials.budget.pair_checks = 0
    trials.check(facts, ())
    trials.refill(AnalysisBudget().for_kernel())
    assert trials.explore(kernel, "reqntid", (64, 1, 1)) is not facts


def test_the_steps_of_an_exploration_count_for_each_trial() -> None:
    module = module_of(BODY)
    kernel, trials = kernel_of(module), LaunchTrials(module, "isa", AnalysisBudget().for_kernel())
    given = trials.budget.steps
    trials.explore(kernel, "reqntid", (64, 1, 1))
    taken = given - trials.budget.steps
    trials.explore(kernel, "reqntid", (32, 1, 1))
    left = trials.budget.steps
    trials.explore(kernel, "reqntid", (64, 1, 1))
    assert trials.budget.steps == left - taken < left
