"""Determines which instructions every launch of a kernel executes.

An instruction is certainly executed if some thread that exists in each launch executes it, and neither data nor
arguments decide the path to it. The threads of the first CTA exist in each launch: all threads of a declared block, and
thread 0 of any other.
"""

from __future__ import annotations

from functools import cached_property

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.exploration import Exploration
from ptxkit.analysis.symexec.trace import UnknownCall
from ptxkit.analysis.values.scenario import SAMPLES, LaunchConfig, Scenario
from ptxkit.syntax.tree import Operand


class CertainSteps:
    """The instructions of one kernel that every launch executes; the kernel is executed once more on first use."""

    def __init__(self, kernel: KernelFacts) -> None:
        self._explorer = kernel.explorer
        self._independence = kernel.explorer.input_independence

    def is_certain(self, step: Step, operand: Operand | None = None) -> bool:
        """Returns whether each launch executes a step, with the operand of the explored threads if one is given."""
        return (
            self._has_known_calls
            and self._independence.program.contains(step)
            and self._independence.is_input_independent(step, operand)
            and step in self._executed
        )

    @cached_property
    def exploration(self) -> Exploration:
        """The execution of the threads that exist in each launch."""
        launch = self._explorer.launch
        if not launch.is_exact:
            launch = LaunchConfig((1, 1, 1), launch.cluster, is_exact=False)
        return self._explorer.execute_outside(Scenario(launch, SAMPLES[0]), 0, 0)

    @cached_property
    def _has_known_calls(self) -> bool:
        """Whether no called function can end the thread."""
        return not any(step.is_opaque_call for step in self._explorer.program.steps)

    @cached_property
    def _executed(self) -> set[Step]:
        """The steps that the threads executed.

        A guarded step without a recorded effect counts as reached even if its guard is false, so that it is left out.
        """
        groups = self.exploration.groups
        events = {event.step for group in groups for event in group.events if not isinstance(event, UnknownCall)}
        reached = set[Step]().union(*(group.covered_steps for group in groups))
        return events | {step for step in reached if step.instruction.guard is None}
