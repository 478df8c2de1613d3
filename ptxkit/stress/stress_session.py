"""Runs a kernel under stress until the time is used up or a run fails, and reduces the delays of that run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from random import Random

from ptxkit.device_runs.output_comparison import AllowedDifferences
from ptxkit.device_runs.unspecified_bits import unspecified_bits
from ptxkit.emulator import RunBudget
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.stress.delay_plan import DelayPlan, choose_plan
from ptxkit.stress.limits import (
    BATCH_TRIALS,
    CONFIRMING_TRIALS,
    MINIMIZE_SECONDS,
    PLAIN_SHARE,
    REFERENCE_SECONDS,
    REPEATED_TRIALS,
)
from ptxkit.stress.minimization import minimize_sites
from ptxkit.stress.stress_trial import (
    FAILED,
    SAME,
    StressBackend,
    StressSubject,
    StressTrial,
    TrialOutcome,
)

_PREFERRED_SHARE = 2
"""One of this number of trials delays the preferred sites only, where there are any."""

_ATOMICS = "atomics"


@dataclass(frozen=True, slots=True)
class StressEffort:
    """The limits of a session. seconds: without the reduction of the delays. runs: the most trials; 0 for no limit.

    minimize_seconds: for the reduction; 0 for none. seed: of the random plans. preferred: the sites to which half of
    the trials restrict the delays.
    """

    seconds: float = 60.0
    runs: int = 0
    seed: int = 0
    preferred: tuple[int, ...] = ()
    minimize_seconds: float = MINIMIZE_SECONDS


@dataclass(frozen=True, slots=True)
class StressFailure:
    """A trial that failed, after the reduction of its delays.

    trial: with the fewest delayed sites. outcome: of one such trial. failing, repeated: the number of trials with these
    sites that failed, of those that ran; both are 0 if the original kernel fails without delays.
    """

    trial: StressTrial
    outcome: TrialOutcome
    failing: int = 0
    repeated: int = 0


@dataclass(frozen=True, slots=True)
class StressReport:
    """The result of a session. reference: where the expected results come from. plain, delayed: the number of trials.

    notes: why the reference machine has no results, or why no delays can be inserted.
    """

    reference: str
    plain: int
    delayed: int
    failure: StressFailure | None
    notes: tuple[str, ...] = ()


def with_reference(subject: StressSubject, backend: StressBackend) -> tuple[StressSubject, str, TrialOutcome | None]:
    """Returns the subject with the expected outputs, where they come from, and the outcome of a failed plain run.

    They are those of the reference machine, unless it has a finding, does not support the kernel, or the manual leaves
    bits of the results open; then they are those of a plain run. Sums by atomics may differ from run to run.
    """
    open_bits = unspecified_bits(subject.text)
    if not open_bits:
        found = subject.launch.emulate(subject.text, budget=RunBudget(seconds=REFERENCE_SECONDS))
        if found.is_clean:
            return replace(subject, expected=found.outputs), "the reference machine", None
        finding = f"{found.findings[0].code}: {found.findings[0].message}" if found.findings else ""
        reason = f"the reference machine reports {finding}" if finding else "the reference machine cannot run it: "
        reason += found.unsupported_reason or found.incomplete_reason
    else:
        reason = f"the manual leaves bits of the results open: {open_bits}"
    (outcome,) = backend.run(subject, [StressTrial(None)])
    allowed = AllowedDifferences(open_bits if _ATOMICS in open_bits else "", left="expected", right="in this run")
    known = replace(subject, expected=outcome.outputs, allowed=allowed)
    return known, f"a plain run ({reason})", outcome if outcome.kind != SAME else None


Clock = Callable[[], float]
"""Returns seconds."""


def stress_kernel(
    subject: StressSubject,
    backend: StressBackend,
    effort: StressEffort,
    notes: Sequence[str] = (),
    clock: Clock = time.monotonic,
) -> tuple[StressSubject, StressReport]:
    """Returns the subject with its expected outputs, and the report of the runs. notes: for the report.

    Raises DeviceError, and InvalidLaunchError for a launch that the kernel does not allow.
    """
    known, reference, failed = with_reference(subject, backend)
    if failed is not None:
        return known, StressReport(reference, 1, 0, StressFailure(StressTrial(None), failed), tuple(notes))
    return known, StressSession(known, backend, effort, clock).run(reference, notes)


class StressSession:
    """Runs trials of one subject, whose expected outputs are known."""

    def __init__(
        self, subject: StressSubject, backend: StressBackend, effort: StressEffort, clock: Clock = time.monotonic
    ) -> None:
        self._subject, self._backend, self._effort = subject, backend, effort
        self._clock = clock
        self._chance = Random(effort.seed)
        self._plain = self._delayed = 0

    def run(self, reference: str = "", notes: Sequence[str] = ()) -> StressReport:
        """Runs until the effort is used up or a trial fails. The subject has its expected outputs."""
        deadline = self._clock() + self._effort.seconds
        failure: StressFailure | None = None
        while failure is None and self._clock() < deadline and not self._has_run_all():
            trials = self._next_trials()
            tried = list(zip(trials, self._backend.run(self._subject, trials), strict=False))
            self._plain += sum(trial.plan is None for trial, _ in tried)
            self._delayed += sum(trial.plan is not None for trial, _ in tried)
            wrong = next((pair for pair in tried if pair[1].kind != SAME), None)
            failure = self._reduce(*wrong) if wrong is not None else None
        return StressReport(reference, self._plain, self._delayed, failure, tuple(notes))

    def _has_run_all(self) -> bool:
        return 0 < self._effort.runs <= self._plain + self._delayed

    def _next_trials(self) -> list[StressTrial]:
        most = self._effort.runs - self._plain - self._delayed if self._effort.runs else BATCH_TRIALS
        return [self._next_trial(number) for number in range(min(BATCH_TRIALS, most))]

    def _next_trial(self, number: int) -> StressTrial:
        delayed = self._subject.delayed
        contends = self._chance.random() < 0.5
        if delayed is None or number % PLAIN_SHARE == 0:
            return StressTrial(None, contends)
        preferred = self._effort.preferred if number % _PREFERRED_SHARE else ()
        return StressTrial(choose_plan(self._chance, len(delayed.sites), preferred), contends)

    def _reduce(self, trial: StressTrial, outcome: TrialOutcome) -> StressFailure:
        """Returns the failure with the fewest sites; without contention, poison and prefetches if possible."""
        if trial.plan is None or not self._effort.minimize_seconds:
            return StressFailure(trial, outcome)
        deadline = self._clock() + self._effort.minimize_seconds
        best, shown = trial, outcome

        def shows(candidate: StressTrial) -> bool:
            nonlocal best, shown
            if self._clock() > deadline:
                return False
            failed = next((each for each in self._repeat(candidate, REPEATED_TRIALS) if each.kind != SAME), None)
            if failed is not None:
                best, shown = candidate, failed
            return failed is not None

        if trial.contends:
            shows(replace(best, contends=False))
        plan = trial.plan
        for plainer in ({"poisons": False}, {"prefetched": 0}):
            changed = replace(plan, **plainer)
            if changed != plan and shows(replace(best, plan=changed)):
                plan = changed
        start = best
        minimize_sites(sorted(plan.delays), lambda sites: shows(replace(start, plan=plan.only(sites))))
        repeated = list(self._repeat(best, CONFIRMING_TRIALS))
        return StressFailure(best, shown, sum(each.kind != SAME for each in repeated), len(repeated))

    def _repeat(self, trial: StressTrial, times: int) -> Iterator[TrialOutcome]:
        """Yields outcomes of a trial, half of them with its seed and half with others, until one faults or hangs."""
        assert trial.plan is not None
        for at in range(times):
            plan: DelayPlan = trial.plan if at % 2 == 0 else replace(trial.plan, seed=self._chance.getrandbits(32))
            (outcome,) = self._backend.run(self._subject, [replace(trial, plan=plan)])
            yield outcome
            if outcome.kind == FAILED:
                break
