"""Determines under which conditions on the position of a thread or CTA a step is executed."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from ptxkit.analysis.abstract_interpretation.guard_values import GuardValues
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.dataflow.dependence import Dependence
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.step_registers import guard_registers
from ptxkit.analysis.ir.worklist import Worklist
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

    def of_thread(self, step: Step) -> frozenset[Hashable]:
        """Returns the conditions that distinguish threads of one CTA."""
        return frozenset(key for key, guard in self._conditions(step) if self._distinguishes_threads(guard))

    def of_cta(self, step: Step) -> frozenset[Hashable]:
        """Returns the conditions that distinguish CTAs."""
        return frozenset(key for key, guard in self._conditions(step) if self._reads(guard, _CTA_REGISTERS))

    def _conditions(self, step: Step) -> Iterator[tuple[Hashable, Step]]:
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

    def _condition(self, step: Step, *, is_executed: bool) -> Hashable:
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
