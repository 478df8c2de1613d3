"""The remaining part of the limits on the work of the analyses (`ptxkit.analysis.limits`)."""

from __future__ import annotations

from ptxkit.analysis.limits import (
    MAX_MODULE_PAIR_CHECKS,
    MAX_MODULE_STEPS,
    MAX_TOTAL_PAIR_CHECKS,
    MAX_TOTAL_STEPS,
)
from ptxkit.fast_dataclasses import dataclass


def scale_limit(limit: int, effort: float) -> int:
    """Returns a limit times the effort of the settings, at least 1."""
    return limit if effort == 1 else max(round(limit * effort), 1)


@dataclass(slots=True)
class AnalysisBudget:
    """The remaining budget of a module or of one kernel. effort: the factor of the limits of its kernels."""

    steps: int = MAX_MODULE_STEPS
    pair_checks: int = MAX_MODULE_PAIR_CHECKS
    effort: float = 1.0

    @classmethod
    def of_module(cls, effort: float = 1.0) -> AnalysisBudget:
        """Returns the budget of a module."""
        return cls(scale_limit(MAX_MODULE_STEPS, effort), scale_limit(MAX_MODULE_PAIR_CHECKS, effort), effort)

    def for_kernel(self) -> AnalysisBudget:
        """Returns the budget of one kernel as a part of this one."""
        return AnalysisBudget(
            min(self.steps, scale_limit(MAX_TOTAL_STEPS, self.effort)),
            min(self.pair_checks, scale_limit(MAX_TOTAL_PAIR_CHECKS, self.effort)),
            self.effort,
        )

    def consume(self, given: AnalysisBudget, left: AnalysisBudget) -> None:
        """Subtracts the part of its budget that a kernel has used."""
        self.steps -= given.steps - left.steps
        self.pair_checks -= given.pair_checks - left.pair_checks

    def reset(self) -> None:
        """Restores the initial budget of a kernel, for other analyses than those that exhausted it."""
        self.steps = scale_limit(MAX_TOTAL_STEPS, self.effort)
        self.pair_checks = scale_limit(MAX_TOTAL_PAIR_CHECKS, self.effort)

    @property
    def exceeded_limit(self) -> str:
        """What is used up, in words."""
        what, limit = ("steps", MAX_TOTAL_STEPS) if self.steps <= 0 else ("lookups", MAX_TOTAL_PAIR_CHECKS)
        return f"its {scale_limit(limit, self.effort):,} {what}, or those of the module, are used up"

    @property
    def is_used_up(self) -> bool:
        """Whether an analysis was cut short: no steps or no lookups remain."""
        return self.is_exhausted or self.steps <= 0

    @property
    def is_exhausted(self) -> bool:
        """Whether some obligation was left undecided because no lookups remained."""
        return self.pair_checks <= 0
