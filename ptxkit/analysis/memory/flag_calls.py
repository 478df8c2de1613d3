"""Determines what the functions that a function calls do for the synchronization by flags in global memory.

A called function may poll a flag or write it, and it may order the accesses of the caller on all of its paths. A
function without a body is assumed to do none of this, so that what may be missing becomes a question.

Source: PTX ISA, "Release and Acquire Patterns", "Control Flow Instructions: call".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property

from ptxkit.analysis.cfg.control_flow_graph import step_successors
from ptxkit.analysis.ir.called_functions import called_functions
from ptxkit.analysis.ir.program import Program, Step, callee_of
from ptxkit.analysis.ir.worklist import Worklist
from ptxkit.isa.effects import Control

StepTest = Callable[[Step], bool]
EdgeTest = Callable[[Step, int], bool]
"""Returns whether control may pass from a step to the one with an index."""


def any_edge(step: Step, index: int) -> bool:  # noqa: ARG001 (an `EdgeTest`)
    """Returns that control may take each edge."""
    return True


class FlagCalls:
    """The calls of one function."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._open: set[str] = set()
        self.calls = [step for step in program.own_effectful_steps if step.is_opaque_call]

    def entering(self, wanted: Callable[[Program], Collection[Step]]) -> list[Step]:
        """Returns the calls that may enter a function in which some steps are wanted."""
        return [call for call in self.calls if any(map(wanted, called_functions(self._program, call)))]

    def is_preceded(self, call: Step, wanted: Callable[[Program], Collection[Step]], is_between: StepTest) -> bool:
        """Returns whether, in the functions that a call enters, each path to a wanted step has a step of a kind."""
        functions = called_functions(self._program, call)
        return not any(step in wanted(code) for code in functions for step in self._steps_from(code, [0], is_between))

    def is_followed(self, call: Step, wanted: Callable[[Program], Collection[Step]], is_between: StepTest) -> bool:
        """Returns whether, in the functions that a call enters, each path from a wanted step has a step of a kind."""
        return all(
            is_between(step) or not self._returns(code, step_successors(code, step), is_between)
            for code in called_functions(self._program, call)
            for step in wanted(code)
        )

    def steps_before(self, goals: Iterable[Step], is_between: StepTest, may_pass: EdgeTest = any_edge) -> set[int]:
        """Returns the indices of the steps that a path to a goal may start with, without a step of a kind before it."""
        indices = Worklist(goal.index for goal in goals)
        for index in indices:
            before = (self._program.steps[each] for each in self._predecessors[index])
            indices.add(each.index for each in before if may_pass(each, index) and not self._stops(each, is_between))
        return indices.seen

    @cached_property
    def _predecessors(self) -> Mapping[int, list[int]]:
        found: dict[int, list[int]] = defaultdict(list)
        for step in self._program.steps:
            for index in step_successors(self._program, step):
                found[index].append(step.index)
        return found

    def steps_after(
        self, starts: Iterable[Step], is_between: StepTest, may_pass: EdgeTest = any_edge
    ) -> Iterator[Step]:
        """Yields the steps to which a path leads from the start of one without a step of a kind before them."""
        edges = ((step, index) for step in starts for index in step_successors(self._program, step))
        indices = [index for step, index in edges if may_pass(step, index)]
        return self._steps_from(self._program, indices, is_between, may_pass)

    def _steps_from(
        self, code: Program, starts: Iterable[int], is_between: StepTest, may_pass: EdgeTest = any_edge
    ) -> Iterator[Step]:
        indices = Worklist(starts)
        for index in indices:
            step = code.steps[index]
            yield step
            if not self._stops(step, is_between):
                indices.add(after for after in step_successors(code, step) if may_pass(step, after))

    def _stops(self, step: Step, is_between: StepTest) -> bool:
        return is_between(step) or (step.is_opaque_call and self._passes(step, is_between))

    def _passes(self, call: Step, is_between: StepTest) -> bool:
        """Returns whether each path through the functions that a call enters has a step of a kind."""
        name = callee_of(call)
        entered = self._program.callees
        codes = [entered[name]] if name is not None and name in entered else list(entered.values())
        return bool(codes) and all(self._passes_through(code, is_between) for code in codes)

    def _passes_through(self, code: Program, is_between: StepTest) -> bool:
        name = code.function.name
        if name in self._open:
            return False  # a function that calls itself
        self._open.add(name)
        try:
            return not self._returns(code, [0], is_between)
        finally:
            self._open.discard(name)

    def _returns(self, code: Program, starts: Iterable[int], is_between: StepTest) -> bool:
        """Returns whether a path leads to the end of a function without a step of a kind."""
        return any(
            not is_between(step) and not any(map(_ends_thread, step.effects)) and not step_successors(code, step)
            for step in self._steps_from(code, starts, is_between)
        )


def _ends_thread(effect: object) -> bool:
    return isinstance(effect, Control) and effect.kind in ("exit", "trap")
