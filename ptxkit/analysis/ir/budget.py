"""The remaining part of the limits on the work of the analyses (`ptxkit.analysis.limits`)."""

from __future__ import annotations

from ptxkit.analysis.limits import (
    MAX_MODULE_PAIR_CHECKS,
    MAX_MODULE_STEPS,
    MAX_TOTAL_PAIR_CHECKS,
    MAX_TOTAL_STEPS,
)
from ptxkit.fast_dataclasses import dataclass


@dataclass(slots=True)
class AnalysisBudget:
    """The remaining budget of a module or of one kernel."""

    steps: int = MAX_MODULE_STEPS
    pair_checks: int = MAX_MODULE_PAIR_CHECKS

    def for_kernel(self) -> AnalysisBudget:
        """Returns the budget of one kernel as a part of this one."""
        return AnalysisBudget(
            min(self.steps, MAX_TOTAL_STEPS),
            min(self.pair_checks, MAX_TOTAL_PAIR_CHECKS),
        )

    def consume(self, given: AnalysisBudget, left: AnalysisBudget) -> None:
        """Subtracts the part of its budget that a kernel has used."""
        self.steps -= given.steps - left.steps
        self.pair_checks -= given.pair_checks - left.pair_checks

    def reset(self) -> None:
        """Restores the initial budget of a kernel, for other analyses than those that exhausted it."""
        self.steps, self.pair_checks = MAX_TOTAL_STEPS, MAX_TOTAL_PAIR_CHECKS

    @property
    def is_used_up(self) -> bool:
        """Whether an analysis was cut short: no steps or no lookups remain."""
        return self.is_exhausted or self.steps <= 0

    @property
    def is_exhausted(self) -> bool:
        """Whether some obligation was left undecided because no lookups remained."""
        return self.pair_checks <= 0
