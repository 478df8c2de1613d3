"""The basic blocks of a function and their successors, for properties of all paths."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from functools import cached_property

from ptxkit.analysis.cfg.dominators import DominatorTree, reverse_graph
from ptxkit.analysis.cfg.loops import CfgLoop, LoopForest, reachable_nodes
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.isa.effects import Control
from ptxkit.semantics.control_flow import successors_of


class ControlFlowGraph:
    """The blocks of a function, numbered in the order of the text; `block_starts` are the indices of their first steps.

    A call does not end a block; the targets of an indexed branch are those of its `.branchtargets`.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        leaders = {0, *program.code.label_names}
        leaders.update(step.index + 1 for step in program.steps if is_control_transfer(step))
        self.block_starts = sorted(leader for leader in leaders if leader < len(program.steps))

    def block_of(self, step: Step) -> int:
        """Returns the block that contains a step."""
        return self.block_at(step.index)

    def block_at(self, index: int) -> int:
        """Returns the block that contains the step with an index."""
        return bisect_right(self.block_starts, index) - 1

    def steps_of_block(self, block: int) -> tuple[Step, ...]:
        end = self.block_starts[block + 1] if block + 1 < len(self.block_starts) else len(self._program.steps)
        return self._program.steps[self.block_starts[block] : end]

    @cached_property
    def successors(self) -> list[tuple[int, ...]]:
        """The successors of each block; a block at the end of the function has none."""
        found = []
        for block in range(len(self.block_starts)):
            targets = step_successors(self._program, self.steps_of_block(block)[-1])
            found.append(tuple(dict.fromkeys(self.block_of(self._program.steps[index]) for index in targets)))
        return found

    @cached_property
    def predecessors(self) -> list[tuple[int, ...]]:
        """The predecessors of each block."""
        return reverse_graph(self.successors)

    @cached_property
    def exit_blocks(self) -> tuple[int, ...]:
        """The blocks from which a thread may leave the function normally.

        The thread returns, exits, or reaches the end of the text. A trap is not a normal exit.
        """
        return tuple(
            block for block in range(len(self.block_starts)) if self._exits_function(self.steps_of_block(block)[-1])
        )

    @cached_property
    def dominators(self) -> DominatorTree:
        """The dominators: the blocks that are on every path from the entry to a block."""
        return DominatorTree(self.successors, (0,))

    @cached_property
    def post_dominators(self) -> DominatorTree:
        """The post-dominators: the blocks on every path from a block to an exit.

        A block that reaches no exit is post-dominated by itself only.
        """
        return DominatorTree(self.predecessors, self.exit_blocks)

    @cached_property
    def loops(self) -> LoopForest:
        return LoopForest(self.successors)

    @cached_property
    def control_dependences(self) -> list[tuple[int, ...]]:
        """The blocks on which each block is control dependent: their last step decides whether control reaches it.

        A block decides if one of its successors certainly leads to the other block and another successor may not.
        """
        found: list[list[int]] = [[] for _ in self.block_starts]
        post_dominators = self.post_dominators
        for block, following in enumerate(self.successors):
            if len(following) + (block in self.exit_blocks) < 2:
                continue
            stop = post_dominators.parents[block]
            for other in following:
                at: int | None = other
                while at is not None and at != stop and block not in found[at][-1:]:
                    found[at].append(block)
                    at = post_dominators.parents[at]
        return [tuple(each) for each in found]

    def dominates(self, first: Step, step: Step) -> bool:
        """Returns whether every path to a step passes the first step, whose guard may still disable it."""
        here, there = self.block_of(first), self.block_of(step)
        return first.index <= step.index if here == there else self.dominators.dominates(here, there)

    def guarded_side(self, block: int, following: int) -> bool | None:
        """Returns whether the guarded branch at the end of a block leads to a block that may follow, or its omission.

        The result is None if both do, or if the block does not end with such a branch.
        """
        targets = self._guarded_targets[block]
        if targets is None:
            return None
        is_taken = following in targets
        return None if is_taken == (following == block + 1) else is_taken

    @cached_property
    def _guarded_targets(self) -> list[frozenset[int] | None]:
        """The blocks to which the guarded branch at the end of each block leads; None if it ends with none."""
        found: list[frozenset[int] | None] = []
        steps = self._program.steps
        for block in range(len(self.block_starts)):
            last = self.steps_of_block(block)[-1]
            is_branch = last.instruction.guard is not None and is_control_transfer(last)
            targets = (at for at in last.targets if at < len(steps)) if is_branch else ()
            found.append(frozenset(self.block_of(steps[at]) for at in targets) if is_branch else None)
        return found

    def loop_of(self, step: Step) -> CfgLoop | None:
        """Returns the innermost loop that contains a step."""
        return self.loops.innermost_loop(self.block_of(step))

    def may_repeat(self, step: Step) -> bool:
        """Returns whether a thread may reach a step more than once."""
        return self.loop_of(step) is not None

    def _exits_function(self, step: Step) -> bool:
        if any(isinstance(effect, Control) and effect.kind in ("return", "exit") for effect in step.effects):
            return True
        return len(self._program.steps) in successors_of(step.linear, step.effects)

    def reachable(self, blocks: Iterable[int]) -> frozenset[int]:
        """Returns the blocks that control may reach from any of these, including these."""
        return reachable_nodes(self.successors, blocks)


def is_control_transfer(step: Step) -> bool:
    """Returns whether control may continue elsewhere than at the next step without returning.

    This is so for a branch, a return and an exit.
    """
    effects = step.effects
    return any(isinstance(effect, Control) and effect.kind != "call" for effect in effects)


def step_successors(program: Program, step: Step) -> list[int]:
    """Returns the indices of the possible next steps; calls are assumed to return."""
    return [index for index in successors_of(step.linear, step.effects) if index < len(program.steps)]
