"""Determines whether the executions of a kernel are all that a launch may have, so that what they satisfy is proven.

The executions are samples: of arguments, of the launch, and of the sides of unknown conditions. They cover everything
only where nothing of this kind decides the order of events of any thread.
"""

from __future__ import annotations

from functools import cached_property

from ptxkit.analysis.cfg.reachability import StepSet, reachable_steps
from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.trace import GroupEvent, GroupTrace
from ptxkit.isa.effects import Access, CommitGroup, Control, Effect, MbarrierTrack, WaitGroup

#: The special registers that have the same values in every launch with a declared block size.
_FIXED_REGISTERS = ("%tid", "%laneid", "%lanemask", "%ntid", "%nwarpid", "WARP_SZ")


class ExecutionCoverage:
    """The coverage of one kernel."""

    def __init__(self, kernel: KernelFacts) -> None:
        self._kernel = kernel

    def is_unreachable(self, step: Step) -> bool:
        """Returns whether no path through the text of the kernel leads to a step."""
        return step not in self._reachable

    @cached_property
    def _reachable(self) -> StepSet:
        return reachable_steps(self._kernel.program)

    @cached_property
    def covers_paths(self) -> bool:
        """Whether each thread of each launch has the events of a thread that the rules examined, in the same order."""
        groups = (group for each in self._kernel.explorer.explorations for group in each.groups)
        return self.is_same_in_all_launches and not any(map(_has_partial_events, groups)) and self._examines_all

    @cached_property
    def is_same_in_all_launches(self) -> bool:
        """Whether each thread of each launch has the same events in the same order, up to its exit."""
        explorer = self._kernel.explorer
        launch = explorer.launch
        if not launch.is_exact or launch.cluster_size > 1 or self._kernel.program.callees:
            return False
        if explorer.infeasible_scenarios or explorer.budget.is_used_up:
            return False
        explorations = explorer.explorations
        if not all(each.is_complete and not each.scenario.reads_sample for each in explorations):
            return False
        groups = (group for each in explorations for group in each.groups)
        return all(map(_is_certain, groups)) and self._is_input_independent

    @property
    def _examines_all(self) -> bool:
        """Whether the rules examine each asynchronous access of the representative threads."""
        threads = (thread for facts in self._kernel.scenarios for thread in facts.threads.values())
        return all(len(thread.copies) == len(thread.shared_copies) for thread in threads)

    @property
    def _is_input_independent(self) -> bool:
        """Whether neither arguments nor data nor the number of the CTA decide the order of events of a thread."""
        program, independence = self._kernel.program, self._kernel.explorer.input_independence
        return program.is_fully_matched and all(
            source.kind == "variable" or (source.kind == "special" and source.name.startswith(_FIXED_REGISTERS))
            for step in program.own_effectful_steps
            if any(map(_decides_order, step.effects))
            for source in independence.dependence_sources(step, None)
        )


def _is_certain(group: GroupTrace) -> bool:
    """Returns whether the threads of a group were executed to their exit, without guesses."""
    return group.end_reason == "exit" and group.first_guess is None and not group.has_unknown_call


def _has_partial_events(group: GroupTrace) -> bool:
    """Returns whether only some threads of a group have some event."""
    return any(isinstance(event, GroupEvent) and event.participants is not None for event in group.events)


def _decides_order(effect: Effect) -> bool:
    is_async = isinstance(effect, Access) and effect.completion is not None
    return is_async or isinstance(effect, Control | CommitGroup | WaitGroup | MbarrierTrack)
