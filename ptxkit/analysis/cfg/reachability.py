"""Determines which instructions may precede or follow others on some path through a function.

An instruction may precede itself only through a loop. The instructions of a called function are not ordered here: they
are assumed to both precede and follow all others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.worklist import Worklist


class StepSet:
    """Steps of one program, together with all steps of other programs."""

    def __init__(self, program: Program, inside: Collection[int] | None) -> None:
        self._program = program
        self._indices = inside

    def __contains__(self, step: Step) -> bool:
        return self._indices is None or step.index in self._indices or not self._program.contains(step)


class Reachability:
    """Reachability between the steps of one program."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._cfg = program.analysis(ControlFlowGraph)

    def steps_reachable_from(self, steps: Iterable[Step]) -> StepSet:
        """Returns the given steps and those that may follow one of them."""
        return self._propagate(steps, self._cfg.successors, forward=True)

    def steps_reaching(self, steps: Iterable[Step]) -> StepSet:
        """Returns the given steps and those that may precede one of them."""
        return self._propagate(steps, self._cfg.predecessors, forward=False)

    def _propagate(self, steps: Iterable[Step], next_of: list[tuple[int, ...]], *, forward: bool) -> StepSet:
        found: set[int] = set()
        blocks = Worklist[int](())
        for step in steps:
            if not self._program.contains(step):
                return StepSet(self._program, None)
            block = self._cfg.block_of(step)
            found.update(
                each.index for each in self._cfg.steps_of_block(block) if (each.index >= step.index) is forward
            )
            found.add(step.index)
            blocks.add(next_of[block])
        for block in blocks:
            found.update(each.index for each in self._cfg.steps_of_block(block))
            blocks.add(next_of[block])
        return StepSet(self._program, found)


def reachable_steps(program: Program) -> StepSet:
    """Returns the steps that are reachable from the entry of a program; no thread executes the others."""
    return program.analysis(Reachability).steps_reachable_from(program.steps[:1])
