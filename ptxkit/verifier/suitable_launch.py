"""Finds the blocks and boxes with which a kernel can be run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from ptxkit.verifier.argument_choice import VerifierRun
from ptxkit.verifier.launch_inference import LaunchPlan
from ptxkit.verifier.limits import MAX_PROBE_STEPS, PROBE_SHARE
from ptxkit.verifier.step_budget import StepBudget
from ptxkit.verifier.tensormap_inference import InferredMaps


class LaunchProbe(Protocol):
    """The runs of one kernel with a launch."""

    is_crowded: bool

    def is_suitable(self, trial: VerifierRun, steps: int) -> bool: ...


def are_probes_over(budget: StepBudget) -> bool:
    """Returns whether probes have used their share of a kernel's steps."""
    return budget.is_used_up(int(budget.total * (1 - PROBE_SHARE)))


SessionT = TypeVar("SessionT", bound=LaunchProbe)


def find_suitable(
    candidates: Sequence[tuple[LaunchPlan, InferredMaps]],
    session_of: Callable[[LaunchPlan, InferredMaps], SessionT],
    first_of: Callable[[InferredMaps], VerifierRun],
    budget: StepBudget,
    *,
    exact: bool,
) -> tuple[SessionT, InferredMaps] | None:
    """Returns the first blocks and boxes that are suitable; None where none are, or the steps for probes are used up.

    exact: whether only boxes of one size are suitable.
    """
    crowded: LaunchPlan | None = None
    for plan, maps in candidates:
        if plan is crowded:
            continue
        if are_probes_over(budget):
            return None
        session = session_of(plan, maps)
        if session.is_suitable(first_of(maps), budget.share(MAX_PROBE_STEPS)):
            return session, maps
        if session.is_crowded and exact:
            crowded = plan  # the box is the expected one, so another box is certainly wrong
    return None
