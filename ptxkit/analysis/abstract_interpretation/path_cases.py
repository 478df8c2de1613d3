"""Splits the paths of a function into cases, by the values of guards that are constant in a thread.

A copy, its commit and its wait often have the same guard: the leading thread of a CTA executes all of them. Without
that knowledge, a path exists on which the copy is executed and the wait is not. In each case, some guards have fixed
values, and the paths that contradict them are excluded. Every execution of a thread belongs to one case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping
from functools import cached_property
from itertools import product

from ptxkit.analysis.abstract_interpretation.guard_values import GuardValues
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph, is_control_transfer
from ptxkit.analysis.cfg.dominators import reverse_graph
from ptxkit.analysis.cfg.loops import reachable_nodes
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.worklist import Worklist
from ptxkit.analysis.limits import MAX_CASE_STEPS, MAX_SPLIT_GUARDS


class PathCase:
    """The paths on which some guard values are true and others false.

    chosen: the values that are fixed.
    """

    def __init__(
        self, program: Program, cfg: ControlFlowGraph, guards: GuardValues, chosen: Mapping[Hashable, bool]
    ) -> None:
        self.program, self.cfg, self.chosen = program, cfg, chosen
        self._guards = guards

    def executes(self, step: Step) -> bool | None:
        """Returns whether a step is executed where a path comes to it; None if this is unknown."""
        if step.instruction.guard is None:
            return True
        value = self._guards.value_of_guard(step)
        if value is None or value[0] not in self.chosen:
            return None
        return self.chosen[value[0]] == value[1]

    def successors(self, block: int) -> tuple[int, ...]:
        """Returns the blocks that may follow a block in this case."""
        following = self.cfg.successors[block]
        executes = self.executes(self.cfg.steps_of_block(block)[-1])
        excluded = () if executes is None else (not executes,)
        return tuple(each for each in following if self.cfg.guarded_side(block, each) not in excluded)

    @cached_property
    def predecessors(self) -> list[tuple[int, ...]]:
        """The blocks that may precede each block in this case: those that are reachable from the entry."""
        following = [self.successors(block) for block in range(len(self.cfg.block_starts))]
        reachable = reachable_nodes(following, (0,))
        return reverse_graph([each if block in reachable else () for block, each in enumerate(following)])

    def may_leave(self, block: int) -> bool:
        """Returns whether a thread may leave the function at the end of a block."""
        if block not in self.cfg.exit_blocks:
            return False
        last = self.cfg.steps_of_block(block)[-1]
        leads_to_end = last.index + 1 == len(self.program.steps)
        return leads_to_end or not is_control_transfer(last) or self.executes(last) is not False


def path_cases(program: Program, cfg: ControlFlowGraph, steps: Collection[Step]) -> Iterator[PathCase]:
    """Yields the cases for an analysis of some steps: all combinations of the values of their most frequent guards.

    Guards count, and the guards of branches that decide whether the steps are executed.
    """
    guards = GuardValues(program, cfg)
    deciding = dict.fromkeys(steps)
    blocks = Worklist({cfg.block_of(step) for step in steps})
    for block in blocks:
        deciding.update((cfg.steps_of_block(each)[-1], None) for each in cfg.control_dependences[block])
        blocks.add(cfg.control_dependences[block])
    values = (value for step in deciding if (value := guards.value_of_guard(step)) is not None)
    counts = Counter(key for key, _ in values)
    count, work = MAX_SPLIT_GUARDS, max(len(program.steps), len(steps) ** 2)
    while count and work << count > MAX_CASE_STEPS:
        count -= 1
    split = [key for key, times in counts.most_common(count) if times > 1]
    for sides in product((True, False), repeat=len(split)):
        yield PathCase(program, cfg, guards, dict(zip(split, sides, strict=True)))
