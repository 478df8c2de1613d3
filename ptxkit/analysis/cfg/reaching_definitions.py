"""Finds the instructions that may have assigned the register value that another instruction reads.

Most registers of optimized PTX are assigned once. For the others, the code before the read is searched backwards, path
by path, up to the nearest assignments.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property

from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.worklist import Worklist
from ptxkit.analysis.limits import MAX_DEFINITION_SEARCH
from ptxkit.semantics.control_flow import successors_of


class ReachingDefinitions:
    """The assignments of a program's registers."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._cache: dict[tuple[Step, str, bool], frozenset[Step]] = {}

    def definitions_reaching(self, step: Step, register: str, *, surely: bool = False) -> frozenset[Step]:
        """Returns the assignments that may reach a step.

        The result is empty where the search exceeds its limit, or no step assigns the register. surely: whether to
        verify that the only assignment of a register reaches the step; otherwise this is assumed.
        """
        key = (step, register, surely)
        known = self._cache.get(key)
        if known is None:
            known = self._cache[key] = self._search_definitions(*key)
        return known

    def _search_definitions(self, step: Step, register: str, surely: bool) -> frozenset[Step]:
        found = self._program.definitions.get(register, ())
        if len(found) <= 1 and not surely:
            return frozenset(found)
        wanted = set(found)
        reached: set[Step] = set()
        indices = Worklist(self._predecessors[step.index])
        for index in indices:
            if len(indices.seen) > MAX_DEFINITION_SEARCH:
                return frozenset()
            earlier = self._program.steps[index]
            if earlier in wanted:
                reached.add(earlier)
                if earlier.instruction.guard is None:
                    continue
            indices.add(self._predecessors[index])
        return frozenset(reached)

    def is_always_assigned(self, step: Step, register: str) -> bool:
        """Returns whether each path to a step assigns a register; False where the search exceeds its limit."""
        if not step.index:
            return False
        wanted = {each.index for each in self._program.definitions.get(register, ()) if each.instruction.guard is None}
        indices = Worklist(self._predecessors[step.index])
        for index in indices:
            if index in wanted:
                continue
            if not index or len(indices.seen) > MAX_DEFINITION_SEARCH:
                return False
            indices.add(self._predecessors[index])
        return True

    @cached_property
    def _predecessors(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = defaultdict(list)
        for step in self._program.steps:
            for after in step_successors(self._program, step):
                found[after].append(step.index)
        return found


def step_successors(program: Program, step: Step) -> list[int]:
    """Returns the indices of the possible next steps; calls are assumed to return."""
    return [index for index in successors_of(step.linear, step.effects) if index < len(program.steps)]
