"""Recognizes bounded waits: loops that test an mbarrier phase and also have another exit condition.

A loop that ends when a counter or a clock reaches its limit continues although the phase never completes. Such a loop
differs from an unbounded wait in the registers that decide its exit edges: some of them do not depend on the result of
a wait.

Source: PTX ISA, "mbarrier.test_wait / mbarrier.try_wait" (neither has to wait until the phase is complete).
"""

from __future__ import annotations

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.cfg.reaching_definitions import ReachingDefinitions
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.step_registers import guard_registers, named_registers
from ptxkit.analysis.ir.worklist import Worklist
from ptxkit.analysis.sync.thread_classes import is_sync_effect
from ptxkit.isa.effects import Access, Effect, MbarrierWait


def is_bounded_wait(program: Program, wait: Step) -> bool:
    """Returns whether a thread may continue after a wait that never returns true."""
    if wait.index >= len(program.steps) or program.steps[wait.index] is not wait:
        return False  # the step belongs to a called function
    flow = ControlFlowGraph(program)
    loop = flow.loop_of(wait)
    if loop is None or not all(
        _is_idle(effect) for at in loop.nodes for s in flow.steps_of_block(at) for effect in s.effects
    ):
        return False
    definitions = ReachingDefinitions(program)
    deciding = {flow.steps_of_block(inside)[-1] for inside, _ in flow.loops.exit_edges(loop)}
    return any(
        step.instruction.guard is not None and not _depends_on_wait_result(definitions, step) for step in deciding
    )


def _is_idle(effect: Effect) -> bool:
    """Returns whether an effect cannot release a thread that waits."""
    if isinstance(effect, Access):
        return effect.kind == "read"
    return isinstance(effect, MbarrierWait) or not is_sync_effect(effect)


def _depends_on_wait_result(definitions: ReachingDefinitions, branch: Step) -> bool:
    uses = Worklist((branch, register) for register in guard_registers(branch))
    for use in uses:
        for step in definitions.definitions_reaching(*use):
            if any(isinstance(effect, MbarrierWait) for effect in step.effects):
                return True
            uses.add((step, register) for register in (*guard_registers(step), *named_registers(step)))
    return False
