"""Determines under which conditions on the position of a thread or CTA a step is executed."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator

from ptxkit.analysis.abstract_interpretation.guard_values import GuardValue, GuardValues
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.dataflow.dependence import Dependence
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.step_registers import guard_registers
from ptxkit.analysis.ir.worklist import Worklist
from ptxkit.analysis.memory.first_threads import first_axes, is_implied
from ptxkit.isa.effects import Value
from ptxkit.isa.expressions import CallExpr

#: The special registers that distinguish the threads of a CTA, and those that distinguish the CTAs of a grid.
_THREAD_REGISTERS, _CTA_REGISTERS = ("%tid", "%laneid", "%lanemask", "%warpid"), ("%ctaid", "%cluster")


class PositionGuards:
    """The conditions of a function's steps that depend on a position: pairs of a predicate and its value."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._flow, self._dependence = program.analysis(ControlFlowGraph), program.analysis(Dependence)
        self._values = GuardValues(program, self._flow)
        self._distinguishing: dict[Step, bool] = {}
        self._needed: dict[Step, list[tuple[GuardValue, Step]]] = {}
        self._of_thread: dict[Step, frozenset[GuardValue]] = {}

    def of_thread(self, step: Step) -> frozenset[GuardValue]:
        """Returns the conditions that distinguish threads of one CTA."""
        if step not in self._of_thread:
            found = (key for key, guard in self._conditions(step) if self._distinguishes_threads(guard))
            self._of_thread[step] = frozenset(found)
        return self._of_thread[step]

    def of_cta(self, step: Step) -> frozenset[Hashable]:
        """Returns the conditions that distinguish CTAs."""
        return frozenset(key for key, guard in self._conditions(step) if self._reads(guard, _CTA_REGISTERS))

    def edges_of(self, step: Step, *, of_cta: bool = False) -> Callable[[Step, int], bool]:
        """Returns a test of whether a thread that executes a step may take an edge of the graph.

        of_cta: whether it is any thread of the CTA of such a thread. Only predicates count whose value never changes in
        a thread, and with whose opposite value it does not come to the step.
        """
        known = (
            each for each in self._needed_conditions(step) if not (of_cta and self._distinguishes_threads(each[1]))
        )
        excluded = [(value, not is_true) for (value, is_true), _ in known]
        return lambda branch, index: not excluded or self._value_at_edge(branch, index) not in excluded

    def runs_in_threads_of(self, step: Step, other: Step) -> bool:
        """Returns whether only threads that satisfy the conditions of another step execute a step."""
        missing = self.of_thread(other) - self.of_thread(step)
        if not missing:
            return True
        axes = first_axes(condition for condition, _ in self._needed_conditions(step))
        return all(is_implied(each, axes) for each in missing)

    def _needed_conditions(self, step: Step) -> list[tuple[GuardValue, Step]]:
        """Returns the conditions of a step that a thread never changes, and without which it does not execute it."""
        if step in self._needed:
            return self._needed[step]
        known = [each for each in set(self._conditions(step)) if self._values.value_of_guard(each[1]) is not None]
        self._needed[step] = [
            ((value, is_true), guard)
            for (value, is_true), guard in known
            if guard is step or not self._is_reached(step, (value, not is_true))
        ]
        return self._needed[step]

    def _is_reached(self, step: Step, condition: GuardValue) -> bool:
        """Returns whether a thread in which a predicate has a value may come to a step."""
        opposite = (condition[0], not condition[1])
        blocks = Worklist([0])
        for block in blocks:
            last = self._flow.steps_of_block(block)[-1]
            blocks.add(
                each
                for each in self._flow.successors[block]
                if self._value_at_edge(last, self._flow.steps_of_block(each)[0].index) != opposite
            )
        return self._flow.block_of(step) in blocks.seen

    def _value_at_edge(self, branch: Step, index: int) -> GuardValue | None:
        """Returns the predicate of a branch with its value where control passes to the step with an index."""
        is_taken = index in branch.targets
        if len(branch.targets) != 1 or (is_taken and index == branch.index + 1):
            return None
        value = self._values.value_of_guard(branch)
        return None if value is None else (value[0], value[1] == is_taken)

    def _conditions(self, step: Step) -> Iterator[tuple[GuardValue, Step]]:
        """Yields the conditions of a step and of the branches on which it is control dependent, with the guarded step.

        A condition is a predicate and the value that it has.
        """
        if step.instruction.guard is not None:
            yield self._condition(step, is_executed=True), step
        blocks = Worklist(self._edges_to(self._flow.block_of(step)))
        for block, is_taken in blocks:
            branch = self._flow.steps_of_block(block)[-1]
            if branch.instruction.guard is not None:
                yield self._condition(branch, is_executed=is_taken), branch
            blocks.add(self._edges_to(block))

    def _edges_to(self, block: int) -> Iterator[tuple[int, bool]]:
        """Yields the blocks whose branch decides whether a block is executed, and whether the branch is then taken."""
        after = self._flow.post_dominators
        for other in self._flow.control_dependences[block]:
            branch = self._flow.steps_of_block(other)[-1]
            targets = {self._flow.block_of(self._program.steps[at]) for at in branch.targets if at in self._indices}
            yield other, any(block == target or after.dominates(block, target) for target in targets)

    @property
    def _indices(self) -> range:
        return range(len(self._program.steps))

    def _condition(self, step: Step, *, is_executed: bool) -> GuardValue:
        known = self._values.value_of_guard(step)
        if known is not None:
            return known[0], known[1] == is_executed
        guard = step.instruction.guard
        return guard_registers(step), guard is not None and guard.negated != is_executed

    def _distinguishes_threads(self, guard: Step) -> bool:
        if guard not in self._distinguishing:
            self._distinguishing[guard] = self._reads(guard, _THREAD_REGISTERS) or self._is_elected(guard)
        return self._distinguishing[guard]

    def _is_elected(self, guard: Step) -> bool:
        registers = self._dependence.source_registers(guard_registers(guard))
        definitions = (step for name in registers for step in self._program.definitions.get(name, ()))
        return any(_elects(effect) for step in definitions for effect in step.effects)

    def _reads(self, guard: Step, names: tuple[str, ...]) -> bool:
        registers = self._dependence.source_registers(guard_registers(guard))
        leaves = (leaf for name in registers for leaf in self._dependence.direct_dependences(name)[1])
        return any(leaf.kind == "special" and leaf.name.startswith(names) for leaf in leaves)


def _elects(effect: object) -> bool:
    """Returns whether an effect chooses one lane of a warp."""
    return isinstance(effect, Value) and isinstance(effect.value, CallExpr) and effect.value.function == "elected"
