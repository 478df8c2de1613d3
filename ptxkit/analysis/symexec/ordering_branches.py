"""Finds the branches that decide whether a thread executes an instruction that orders others.

Both sides of such a branch should be explored: one of them lacks the fence, the wait, the barrier or the arrival. A
branch of a loop that only waits decides nothing, since the loop ends when the wait is over.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph, is_control_transfer
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.worklist import Worklist
from ptxkit.analysis.limits import MAX_REPEATED_ROUNDS
from ptxkit.analysis.values.scenario import Scenario
from ptxkit.isa import effects as fx
from ptxkit.semantics.ordering import is_warp_convergence


def _orders(effect: fx.Effect) -> bool:
    """Returns whether an effect may order others, beyond an access to memory."""
    return not isinstance(effect, fx.Value | fx.Control | fx.Access) and not is_warp_convergence(effect)


def _accesses(effect: fx.Effect) -> bool:
    return isinstance(effect, fx.Access) and not effect.space.startswith("param")


class OrderingBranches:
    """The branches of one function of which one side executes an ordering instruction and another side may not."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self.ordering_steps = frozenset(program.own_steps_with(_orders))
        self._omitting_sides: dict[Step, bool | None] = {}

    @cached_property
    def steps(self) -> frozenset[Step]:
        """The branches, and the guarded calls, returns and exits."""
        if not self.ordering_steps or not any(is_control_transfer(step) for step in self._program.steps):
            return frozenset()
        flow = self._flow
        depends_on = flow.control_dependences
        deciding = {block for step in self.ordering_steps for block in depends_on[flow.block_of(step)]}
        return frozenset(flow.steps_of_block(block)[-1] for block in deciding if not _only_waits(flow, block))

    @property
    def guarded_steps(self) -> list[Step]:
        """The branches and ordering steps that have a guard, in the order of the text."""
        found = (step for step in self.steps | self.ordering_steps if step.instruction.guard is not None)
        return sorted(found, key=lambda step: step.index)

    def wanted_side(self, step: Step, scenario: Scenario, counts: tuple[int, int]) -> bool | None:
        """Returns the value of a guard that a scenario prefers; None where it may be any.

        counts: how often the guard was false, and how often it was true.
        """
        if scenario.omits_order:
            return self.omitting_side(step)
        stays = self.staying_side(step) if scenario.repeats_loops else None
        return None if stays is None else stays == (counts[stays] < MAX_REPEATED_ROUNDS)

    def omitting_side(self, step: Step) -> bool | None:
        """Returns the value of a guard for which less is ordered, and no access to memory is left out.

        The result is None where no side orders less, or where the sides cannot be compared.
        """
        if step not in self._omitting_sides:
            self._omitting_sides[step] = self._find_omitting_side(step)
        return self._omitting_sides[step]

    def _find_omitting_side(self, step: Step) -> bool | None:
        guard, targets = step.instruction.guard, step.targets
        if guard is None:
            return None
        if step in self.ordering_steps:
            return None if step in self._access_steps else guard.negated
        if step not in self.steps or len(targets) != 1 or step.index + 1 >= len(self._program.steps):
            return None
        taken, passed = (self._region(step, each) for each in (targets[0], step.index + 1))
        if taken is None or passed is None:
            return None
        if self._omits_only_order(taken, passed):
            return not guard.negated
        return guard.negated if self._omits_only_order(passed, taken) else None

    def staying_side(self, step: Step) -> bool | None:
        """Returns the value of a guard for which control stays in a loop that orders something."""
        return self._staying_sides.get(step)

    @cached_property
    def _staying_sides(self) -> dict[Step, bool]:
        flow, found = self._flow, dict[Step, bool]()
        ordering = {flow.block_of(step) for step in self.ordering_steps}
        for loop in flow.loops.loops:
            if loop.nodes.isdisjoint(ordering):
                continue
            for block, outside in flow.loops.exit_edges(loop):
                step = flow.steps_of_block(block)[-1]
                guard, targets = step.instruction.guard, step.targets
                if guard is not None and len(targets) == 1 and not _only_waits(flow, block):
                    leaves = flow.block_of(self._program.steps[targets[0]]) == outside
                    found[step] = leaves == guard.negated
        return found

    def order_of_targets(self, step: Step) -> list[int]:
        """Returns the numbers of the targets of an indexed branch, those first that order less than others."""
        counts = self._counts_of_targets(step)
        return sorted(range(len(step.targets)), key=lambda number: counts[number] if counts else 0)

    def _counts_of_targets(self, step: Step) -> list[int]:
        """Returns how many steps order something on each side of an indexed branch; empty where more differs."""
        regions = [self._region(step, target) for target in step.targets] if step in self.steps else []
        known = [region for region in regions if region is not None]
        if len(known) < len(regions) or len({self._accesses_in(region) for region in known}) > 1:
            return []
        return [len(self._ordering_in(region)) for region in known]

    def may_omit_more(self, step: Step, side: bool) -> bool:
        """Returns whether less is ordered if a guard has another value, or an indexed branch another target."""
        if step.instruction.guard is not None:
            return self.omitting_side(step) is (not side)
        return len(set(self._counts_of_targets(step))) > 1

    def _omits_only_order(self, one: frozenset[int], other: frozenset[int]) -> bool:
        """Returns whether one side lacks ordering steps of the other side, and none of its accesses."""
        return self._ordering_in(one) < self._ordering_in(other) and self._accesses_in(other) <= self._accesses_in(one)

    def _region(self, branch: Step, target: int) -> frozenset[int] | None:
        """Returns the blocks from a target up to where all sides of a branch join.

        The result is None where they do not join before the end of the kernel, which one side may leave out.
        """
        flow = self._flow
        stop = flow.post_dominators.parents[flow.block_of(branch)]
        if stop is None and self._program.is_kernel:
            return None
        blocks = Worklist((flow.block_of(self._program.steps[target]),))
        for block in blocks:
            if block != stop:
                blocks.add(flow.successors[block])
        return frozenset(blocks.seen) - {stop}

    def _ordering_in(self, blocks: Iterable[int]) -> frozenset[Step]:
        return self.ordering_steps.intersection(step for block in blocks for step in self._flow.steps_of_block(block))

    def _accesses_in(self, blocks: Iterable[int]) -> frozenset[Step]:
        return self._access_steps.intersection(step for block in blocks for step in self._flow.steps_of_block(block))

    @cached_property
    def _access_steps(self) -> frozenset[Step]:
        return frozenset(self._program.own_steps_with(_accesses))

    @cached_property
    def _flow(self) -> ControlFlowGraph:
        return self._program.analysis(ControlFlowGraph)


def _only_waits(flow: ControlFlowGraph, block: int) -> bool:
    """Returns whether a block is in a loop that orders nothing but by its wait for an mbarrier."""
    loop = flow.loops.innermost_loop(block)
    if loop is None:
        return False
    effects = [effect for at in loop.nodes for step in flow.steps_of_block(at) for effect in step.effects]
    ordering = [effect for effect in effects if not isinstance(effect, fx.Value | fx.Control | fx.Access)]
    return bool(ordering) and all(isinstance(effect, fx.MbarrierWait) for effect in ordering)
