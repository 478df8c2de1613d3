"""A condition and the instruction from which it follows."""

from __future__ import annotations

from ptxkit.analysis.ir.program import Step
from ptxkit.fast_dataclasses import dataclass
from ptxkit.model.launch_contract import ConditionScope, Requirement


@dataclass(frozen=True, slots=True)
class DerivedCondition:
    """A condition.

    step: the instruction; None for a directive of the kernel. scope: the launches that it is about. is_declared:
    whether the module declares it.
    """

    requirement: Requirement
    step: Step | None
    scope: ConditionScope = ConditionScope.LAUNCH
    is_declared: bool = False


def scope_of(is_certain: bool) -> ConditionScope:
    """Returns the scope of a condition of an instruction, given whether each launch executes it."""
    return ConditionScope.LAUNCH if is_certain else ConditionScope.LINE
