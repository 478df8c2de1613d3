"""The steps that are left for the runs of one kernel, so that a verdict does not depend on the speed of a computer."""

from __future__ import annotations

import math
import time

from ptxkit.analysis.ir.budget import scale_limit
from ptxkit.emulator import RunBudget, RunResult
from ptxkit.verifier.limits import MAX_KERNEL_STEPS


class StepBudget:
    """The remaining steps of a kernel, and the remaining time if the user limits it.

    effort: the factor of all limits, as `--effort` gives it. seconds: the limit of processor time; None: any time.
    """

    def __init__(self, effort: float = 1.0, seconds: float | None = None) -> None:
        self._effort, self.total = effort, scale_limit(MAX_KERNEL_STEPS, effort)
        self.left, self._seconds = self.total, seconds
        self._deadline = math.inf if seconds is None else time.thread_time() + seconds

    def share(self, limit: int) -> int:
        """Returns a limit of this package times the effort, at most what is left."""
        return min(scale_limit(limit, self._effort), self.left)

    def for_run(self, most: int) -> RunBudget:
        """Returns the budget of a run of `most` steps at most."""
        if self._seconds is None:
            return RunBudget(max(min(most, self.left), 0))
        return RunBudget(max(min(most, self.left), 0), max(self._deadline - time.thread_time(), 0.0))

    def spend(self, steps: int) -> None:
        """Subtracts the steps of runs."""
        self.left -= steps

    def is_used_up(self, kept: int = 0) -> bool:
        """Returns whether no more than the kept steps are left, or no time."""
        return self.left <= kept or self._is_late

    @property
    def _is_late(self) -> bool:
        return self._seconds is not None and time.thread_time() >= self._deadline

    @property
    def limits_text(self) -> str:
        """The limit of time, in words, if there is one: runs on another computer may show something else."""
        return "" if self._seconds is None else f"at most {self._seconds:g} s"

    def question_of_runs(self, done: int, wanted: int, spent: int, given: int) -> str:
        """Returns the open question about runs that were left out.

        spent: the steps of those that were done. given: the steps that all of them had.
        """
        if self._is_late:
            return f"only {done} of {wanted} runs were made in the {self._seconds:g} s of --seconds: give more"
        remedy = self._remedy_for(done, wanted, spent, given)
        return f"only {done} of {wanted} runs were made within {self.total:,} steps: {remedy}"

    def question_of_inputs(self, done: int, wanted: int, spent: int, given: int) -> str:
        """Returns the open question about inputs of which it was not tried whether they lead to other questions.

        The arguments are those of `question_of_runs`.
        """
        remedy = self._remedy_for(done, wanted, spent, given)
        return f"only {done} of {wanted} inputs that may lead to other questions were tried: {remedy}"

    def _remedy_for(self, done: int, wanted: int, spent: int, given: int) -> str:
        return self._remedy(wanted * spent / (done * given) if done and given else 2.0)

    def question_of_run(self, outcome: RunResult) -> str:
        """Returns the open question about a run that was cut short."""
        if outcome.exceeded_limit == "seconds":
            return f"a run did not end in the {self._seconds:g} s of --seconds: give more"
        return f"a run did not end in {outcome.group_steps:,} steps: {self._remedy(2.0)}"

    def _remedy(self, factor: float) -> str:
        """Returns the option with which the limits are larger by a factor, which is rounded up to two digits."""
        effort = self._effort * max(factor, 1.0)
        digits = 10 ** (math.floor(math.log10(effort)) - 1)
        return f"try --effort {math.ceil(effort / digits - 1e-9) * digits:g}"
