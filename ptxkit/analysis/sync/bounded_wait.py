"""Recognizes bounded waits: loops that test an mbarrier phase and also have another exit condition.

A loop that ends when a counter or a clock reaches its limit continues although the phase never completes. Such a loop
differs from an unbounded wait in what decides its exit edges: something else than the result of the wait, that changes
in the loop. Where the kernel does not test the result after such a loop, what follows is not ordered by the wait.

Source: PTX ISA, "mbarrier.test_wait / mbarrier.try_wait" (neither has to wait until the phase is complete).
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.cfg.loops import CfgLoop
from ptxkit.analysis.cfg.reaching_definitions import ReachingDefinitions
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.step_registers import guard_registers, read_registers
from ptxkit.analysis.ir.worklist import Worklist
from ptxkit.analysis.sync.thread_classes import is_sync_effect
from ptxkit.isa.effects import Access, Effect, MbarrierWait


def is_bounded_wait(program: Program, wait: Step) -> bool:
    """Returns whether a thread may continue after a wait, of a kernel or of what it calls, that never returns true."""
    return _WaitLoops(program.function_of(wait)).may_give_up(wait)


def find_unchecked_waits(program: Program) -> list[Step]:
    """Returns the bounded waits whose result the kernel does not test after the loop."""
    waits = [step for step in program.own_effectful_steps if _is_wait(step)]
    if not waits:
        return []
    loops = _WaitLoops(program)
    return [wait for wait in waits if loops.may_give_up(wait) and not loops.is_result_tested_after(wait)]


class _WaitLoops:
    """The loops of a program that wait for mbarriers."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._cfg = program.analysis(ControlFlowGraph)
        self._definitions = program.analysis(ReachingDefinitions)

    def may_give_up(self, wait: Step) -> bool:
        """Returns whether the loop of a wait has an exit that does not require the wait to return true."""
        loop = self._cfg.loop_of(wait)
        if loop is None or not all(_is_idle(effect) for step in self._steps_of(loop) for effect in step.effects):
            return False
        return any(
            self._cfg.steps_of_block(inside)[-1].instruction.guard is not None
            and self._leads_to_exit(outside)
            and self._may_end_otherwise(self._cfg.steps_of_block(inside)[-1], loop)
            for inside, outside in self._cfg.loops.exit_edges(loop)
        )

    def is_result_tested_after(self, wait: Step) -> bool:
        """Returns whether a step after the loop reads the result of a wait, or what the loop computes from it."""
        loop = self._cfg.loop_of(wait)
        inside = frozenset(self._steps_of(loop)) if loop is not None else frozenset()
        return any(
            self._depends_on_wait(definition)
            for step in self._program.steps
            if step not in inside
            for register in read_registers(step)
            for definition in self._definitions.definitions_reaching(step, register)
            if definition in inside
        )

    def _steps_of(self, loop: CfgLoop) -> Iterator[Step]:
        return (step for block in loop.nodes for step in self._cfg.steps_of_block(block))

    def _leads_to_exit(self, block: int) -> bool:
        """Returns whether a block leads to a normal exit, rather than only to traps."""
        return not self._cfg.reachable((block,)).isdisjoint(self._cfg.exit_blocks)

    def _may_end_otherwise(self, branch: Step, loop: CfgLoop) -> bool:
        """Returns whether something else than the result of a wait, which changes in the loop, decides a branch."""
        inside = frozenset(self._steps_of(loop))
        inputs: dict[Step, set[Step]] = {}
        has_wait = False
        steps = Worklist([branch])
        for step in steps:
            own = inputs[step] = set()
            for register in read_registers(step) if step is not branch else guard_registers(step):
                found = self._definitions.definitions_reaching(step, register)
                has_wait = has_wait or any(_is_wait(each) for each in found)
                own.update(each for each in found if each in inside and not _is_wait(each))
            steps.add(own)
        return not has_wait or _is_cyclic(inputs) or any(_reads_memory(step) for step in inputs)

    def _depends_on_wait(self, step: Step) -> bool:
        steps = Worklist([step])
        for each in steps:
            if _is_wait(each):
                return True
            for register in read_registers(each):
                steps.add(self._definitions.definitions_reaching(each, register))
        return False


def _is_wait(step: Step) -> bool:
    return any(isinstance(effect, MbarrierWait) for effect in step.effects)


def _reads_memory(step: Step) -> bool:
    return any(isinstance(effect, Access) for effect in step.effects)


def _is_cyclic(inputs: dict[Step, set[Step]]) -> bool:
    """Returns whether a step depends on itself, as the increment of a counter does."""
    left = dict(inputs)
    while left:
        free = [step for step, needs in left.items() if needs.isdisjoint(left)]
        if not free:
            return True
        for step in free:
            del left[step]
    return False


def _is_idle(effect: Effect) -> bool:
    """Returns whether an effect cannot release a thread that waits."""
    if isinstance(effect, Access):
        return effect.kind == "read"
    return isinstance(effect, MbarrierWait) or not is_sync_effect(effect)
