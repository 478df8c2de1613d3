"""Finds the branches whose sides only compute values before they join.

If nothing depends on these values either, an execution is the same on both sides. Compilers write such branches in
functions such as `log2f`, for infinite and denormal numbers.

Source: PTX ISA, "bra".
"""

from __future__ import annotations

from collections.abc import Mapping

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.worklist import Worklist
from ptxkit.isa.effects import Access, Control, Effect, Value

_READ_ONLY = ("const", "param")


def value_branches(program: Program) -> Mapping[Step, frozenset[str]]:
    """Returns these branches, each with the registers that its sides assign; for `Program.analysis`."""
    branches = [step for step in program.own_effectful_steps if step.instruction.guard is not None and step.targets]
    if not branches:
        return {}
    flow = program.analysis(ControlFlowGraph)
    assigned: dict[int, frozenset[str] | None] = {}

    def assigned_in(block: int) -> frozenset[str] | None:
        """Returns the registers that a block assigns; None if it does more than that."""
        if block not in assigned:
            steps = flow.steps_of_block(block)
            is_plain = all(step.effects and all(map(_only_computes, step.effects)) for step in steps)
            names = frozenset(name for step in steps for name in step.result_registers())
            assigned[block] = names if is_plain else None
        return assigned[block]

    found: dict[Step, frozenset[str]] = {}
    for branch in branches:
        own = flow.block_of(branch)
        stop = flow.post_dominators.parents[own]
        blocks, names = Worklist(each for each in flow.successors[own] if each != stop), frozenset[str]()
        for block in blocks if stop is not None else ():
            inside = assigned_in(block)
            if inside is None or own in flow.successors[block]:
                break
            names |= inside
            blocks.add(each for each in flow.successors[block] if each != stop)
        else:
            if stop is not None and not _has_loop(flow, blocks.seen):
                found[branch] = names
    return found


def _has_loop(flow: ControlFlowGraph, blocks: set[int]) -> bool:
    return any(loop.nodes <= blocks for loop in flow.loops.loops) if blocks else False


def _only_computes(effect: Effect) -> bool:
    match effect:
        case Access(kind="read", space=space):
            return space.partition("::")[0] in _READ_ONLY
        case Control(kind=kind):
            return kind.startswith("branch")
    return isinstance(effect, Value)
