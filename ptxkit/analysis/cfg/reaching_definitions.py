"""Finds the instructions that may have assigned the register value that another instruction reads.

Most registers of optimized PTX are assigned once. For the others, the blocks before the read are searched backwards up
to the nearest assignments.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.worklist import Worklist

_LiveAssignments: TypeAlias = "tuple[frozenset[Step], bool]"
"""The assignments of a part of a block that reach its end, and whether it always assigns the register."""


class ReachingDefinitions:
    """The assignments of a program's registers."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._cfg = program.analysis(ControlFlowGraph)
        self._at_entry: dict[tuple[int, str], frozenset[Step]] = {}
        self._at_exit: dict[str, Mapping[int, _LiveAssignments]] = {}

    def definitions_reaching(self, step: Step, register: str, *, surely: bool = False) -> frozenset[Step]:
        """Returns the assignments that may reach a step.

        The result is empty where no step assigns the register. surely: whether to verify that the only assignment of a
        register reaches the step; otherwise this is assumed.
        """
        found = self._program.definitions.get(register, ())
        if len(found) <= 1 and not surely:
            return frozenset(found)
        live, is_assigned = self._before_in_block(step, register)
        return live if is_assigned else live | self._reaching_block(self._cfg.block_of(step), register)

    def is_always_assigned(self, step: Step, register: str) -> bool:
        """Returns whether each path to a step assigns a register."""
        if self._before_in_block(step, register)[1]:
            return True
        exits, block = self._block_exits(register), self._cfg.block_of(step)
        if not block:
            return False
        blocks = Worklist(self._cfg.predecessors[block])
        for earlier in blocks:
            if earlier not in exits or not exits[earlier][1]:
                if not earlier:
                    return False
                blocks.add(self._cfg.predecessors[earlier])
        return True

    def _before_in_block(self, step: Step, register: str) -> _LiveAssignments:
        start = self._cfg.block_starts[self._cfg.block_of(step)]
        found = self._program.definitions.get(register, ())
        return _live_assignments([each for each in found if start <= each.index < step.index])

    def _reaching_block(self, block: int, register: str) -> frozenset[Step]:
        """Returns the assignments that may reach the start of a block."""
        known = self._at_entry.get((block, register))
        if known is not None:
            return known
        exits, reached = self._block_exits(register), set[Step]()
        blocks = Worklist(self._cfg.predecessors[block])
        for earlier in blocks:
            live, is_assigned = exits.get(earlier, (frozenset(), False))
            reached |= live
            if not is_assigned:
                blocks.add(self._cfg.predecessors[earlier])
        return self._at_entry.setdefault((block, register), frozenset(reached))

    def _block_exits(self, register: str) -> Mapping[int, _LiveAssignments]:
        """Returns the assignments that reach the ends of the blocks that assign a register, by block."""
        if register not in self._at_exit:
            by_block: dict[int, list[Step]] = defaultdict(list)
            for each in self._program.definitions.get(register, ()):
                by_block[self._cfg.block_of(each)].append(each)
            self._at_exit[register] = {block: _live_assignments(steps) for block, steps in by_block.items()}
        return self._at_exit[register]


def _live_assignments(assignments: Sequence[Step]) -> _LiveAssignments:
    """Returns the assignments up to the last that has no guard; the order is that of the text."""
    live = set[Step]()
    for step in reversed(assignments):
        live.add(step)
        if step.instruction.guard is None:
            return frozenset(live), True
    return frozenset(live), False
