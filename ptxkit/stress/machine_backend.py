"""Trials on the reference machine: its policies take the place of the delays, which have no effect on it."""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.device_runs.output_comparison import compare_arrays
from ptxkit.emulator import POLICIES, RunBudget
from ptxkit.stress.limits import REFERENCE_SECONDS
from ptxkit.stress.stress_trial import DIFFERENT, FAILED, SAME, StressSubject, StressTrial, TrialOutcome


class MachineBackend:
    """The reference machine, without its check for races: only results, faults and deadlocks count, as on a GPU.

    seconds: of processor time for a trial; one that takes longer hangs.
    """

    name = "the reference machine"

    def __init__(self, seconds: float = REFERENCE_SECONDS) -> None:
        self._budget = RunBudget(seconds=seconds)

    def run(self, subject: StressSubject, trials: Sequence[StressTrial]) -> list[TrialOutcome]:
        """Returns the outcomes until a trial fails."""
        outcomes: list[TrialOutcome] = []
        for each in trials:
            outcomes.append(_run_trial(subject, each, self._budget))
            if outcomes[-1].kind == FAILED:
                break
        return outcomes


def _run_trial(subject: StressSubject, trial: StressTrial, budget: RunBudget) -> TrialOutcome:
    text, policy, seed = subject.text, "eager", 0
    if trial.plan is not None and subject.delayed is not None:
        text, seed = subject.delayed.text, trial.plan.seed
        policy = POLICIES[seed % len(POLICIES)]
    found = subject.launch.emulate(text, policy=policy, seed=seed, races=False, budget=budget)
    if not found.is_clean:
        reason = found.findings[0].message if found.findings else found.unsupported_reason or found.incomplete_reason
        return TrialOutcome(FAILED, reason)
    if subject.expected is None:
        return TrialOutcome(SAME, outputs=found.outputs)
    verdict = compare_arrays(subject.expected, found.outputs, subject.allowed)
    return TrialOutcome(SAME) if verdict.is_right else TrialOutcome(DIFFERENT, verdict.description)
