"""Finds the branches that decide whether a thread executes an instruction that orders others.

Both sides of such a branch should be explored: one of them lacks the fence, the wait, the barrier or the arrival. A
branch of a loop that only waits decides nothing, since the loop ends when the wait is over.
"""

from __future__ import annotations

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.symexec.convergence_compiler import is_warp_convergence
from ptxkit.isa import effects as fx


def is_ordering(step: Step) -> bool:
    """Returns whether an instruction may order others, beyond an access to memory."""
    return any(map(_orders, step.effects))


def _orders(effect: fx.Effect) -> bool:
    return not isinstance(effect, fx.Value | fx.Control | fx.Access) and not is_warp_convergence(effect)


def ordering_branches(program: Program) -> frozenset[Step]:
    """Returns the branches of which one side executes an ordering instruction and another side may not."""
    ordering = program.own_steps_with(_orders)
    if not ordering or not any(step.targets for step in program.steps):
        return frozenset()
    flow = program.analysis(ControlFlowGraph)
    depends_on = flow.control_dependences
    deciding = {block for step in ordering for block in depends_on[flow.block_of(step)]}
    return frozenset(flow.steps_of_block(block)[-1] for block in deciding if not _only_waits(flow, block))


def _only_waits(flow: ControlFlowGraph, block: int) -> bool:
    """Returns whether a block is in a loop that orders nothing but by its wait for an mbarrier."""
    loop = flow.loops.innermost_loop(block)
    if loop is None:
        return False
    effects = [effect for at in loop.nodes for step in flow.steps_of_block(at) for effect in step.effects]
    ordering = [effect for effect in effects if not isinstance(effect, fx.Value | fx.Control | fx.Access)]
    return bool(ordering) and all(isinstance(effect, fx.MbarrierWait) for effect in ordering)
