"""Recognizes bounded waits: loops that test an mbarrier phase and also have another exit condition.

A loop that ends when a counter or a clock reaches its limit continues although the phase never completes. Such a loop
differs from an unbounded wait in what decides its exit edges: something else than the result of the wait, that changes
in the loop. Where the kernel does not test the result after such a loop, what follows is not ordered by the wait.

The loop may be in a function that calls the one with the wait, and a value may pass through calls inside the loop: a
loaded result depends on its call, and the call on the arguments that are stored for it.

Source: PTX ISA, "mbarrier.test_wait / mbarrier.try_wait" (neither has to wait until the phase is complete), "Device
Function Parameters".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.cfg.loops import CfgLoop
from ptxkit.analysis.cfg.reaching_definitions import ReachingDefinitions
from ptxkit.analysis.dataflow.param_variables import param_variable, param_variable_writes
from ptxkit.analysis.ir.called_functions import called_functions, calls_of
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.step_registers import guard_registers, read_operands, read_registers
from ptxkit.analysis.ir.worklist import Worklist
from ptxkit.analysis.sync.thread_classes import is_sync_effect
from ptxkit.isa.effects import Access, Effect, MbarrierWait
from ptxkit.syntax.tree import operand_names

#: The state spaces that only the thread itself accesses.
_OWN_SPACES = ("param", "local")


def is_bounded_wait(program: Program, wait: Step) -> bool:
    """Returns whether a thread may continue after a wait, of a kernel or of what it calls, that never returns true.

    The innermost loop decides: that of the wait, or of the call where the function has none.
    """
    return any(_WaitLoops(program.function_of(step)).may_give_up(step) for step in _repeatable_steps(program, [wait]))


def find_unchecked_waits(program: Program) -> list[Step]:
    """Returns the bounded waits, and calls that wait once, whose result the function does not test after the loop."""
    waits = [step for step in program.effectful_steps if _is_wait(step)]
    steps = [step for step in _repeatable_steps(program, waits) if program.contains(step)]
    if not steps:
        return []
    loops = _WaitLoops(program)
    return [step for step in steps if loops.may_give_up(step) and not loops.is_result_tested_after(step)]


def _repeatable_steps(program: Program, waits: Iterable[Step]) -> list[Step]:
    """Returns the waits, and the calls that lead to a wait which no loop of the called functions repeats."""
    steps = Worklist(waits)
    for step in steps:
        code = program.function_of(step)
        if code.analysis(ControlFlowGraph).loop_of(step) is None:
            steps.add(calls_of(program, code))
    return sorted(steps.seen, key=lambda step: step.start)


class _WaitLoops:
    """The loops of a program that wait for mbarriers."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._cfg = program.analysis(ControlFlowGraph)
        self._definitions = program.analysis(ReachingDefinitions)
        self._param_writes = program.analysis(param_variable_writes)

    def may_give_up(self, wait: Step) -> bool:
        """Returns whether the loop of a wait has an exit that does not require the wait to return true."""
        loop = self._cfg.loop_of(wait)
        if loop is None:
            return False
        if not all(map(self._is_idle, self._steps_of(loop))):
            return self._acts_for_all_results(wait, loop)
        return any(
            self._cfg.steps_of_block(inside)[-1].instruction.guard is not None
            and self._leads_to_exit(outside)
            and self._may_end_otherwise(self._cfg.steps_of_block(inside)[-1], loop)
            for inside, outside in self._cfg.loops.exit_edges(loop)
        )

    def _acts_for_all_results(self, wait: Step, loop: CfgLoop) -> bool:
        """Returns whether a thread may release others in a loop before it tests again, whatever the result was.

        Such a loop polls several mbarriers in turn, and does what each of them allows.
        """
        blocks = (block for block in loop.nodes if self._depends_on_wait(self._cfg.steps_of_block(block)[-1], wait))
        for block in blocks:
            sides = [each for each in self._cfg.successors[block] if each in loop.nodes]
            if len(sides) > 1 and all(self._acts_before(wait, each, loop) for each in sides):
                return True
        return False

    def _acts_before(self, wait: Step, start: int, loop: CfgLoop) -> bool:
        """Returns whether a step on a path from a block to a wait, inside a loop, may release another thread."""
        end = self._cfg.block_of(wait)
        blocks = Worklist([start])
        for block in blocks:
            if block == end:
                continue
            if not all(map(self._is_idle, self._cfg.steps_of_block(block))):
                return True
            blocks.add(each for each in self._cfg.successors[block] if each in loop.nodes)
        return False

    def _is_idle(self, step: Step) -> bool:
        return all(map(_is_idle, self._effects_of(step)))

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
            found = self._inputs_of(step, guard_registers(step) if step is branch else read_registers(step))
            has_wait = has_wait or any(map(self._waits, found))
            inputs[step] = {each for each in found if each in inside and not _is_wait(each)}
            steps.add(inputs[step])
        return not has_wait or _is_cyclic(inputs) or any(map(self._reads_memory, inputs))

    def _inputs_of(self, step: Step, registers: Iterable[str]) -> set[Step]:
        """Returns the steps that may assign what a step reads: registers, and the variables for calls."""
        found = {each for name in registers for each in self._definitions.definitions_reaching(step, name)}
        for operand in read_operands(step) if step.is_opaque_call or _reads_param(step) else ():
            for name in operand_names(operand):
                found.update(self._param_writes.get(param_variable(step.scope, name) or "", ()))
        return found

    def _effects_of(self, step: Step) -> Iterator[Effect]:
        """Yields the effects of a step, and those of the functions that it may call."""
        yield from step.effects
        for code in called_functions(self._program, step) if step.is_opaque_call else ():
            yield from (effect for each in code.own_effectful_steps for effect in each.effects)

    def _waits(self, step: Step) -> bool:
        return any(isinstance(effect, MbarrierWait) for effect in self._effects_of(step))

    def _reads_memory(self, step: Step) -> bool:
        """Returns whether a step, or a function that it calls, reads memory that other threads may write."""
        return any(isinstance(e, Access) and not e.space.startswith(_OWN_SPACES) for e in self._effects_of(step))

    def _depends_on_wait(self, step: Step, wait: Step | None = None) -> bool:
        """Returns whether a step reads what is computed from the result of a wait, or of one of them."""
        steps = Worklist([step])
        for each in steps:
            if each is wait or (wait is None and self._waits(each)):
                return True
            steps.add(self._inputs_of(each, read_registers(each)))
        return False


def _is_wait(step: Step) -> bool:
    return any(isinstance(effect, MbarrierWait) for effect in step.effects)


def _reads_param(step: Step) -> bool:
    return any(isinstance(e, Access) and e.kind == "read" and e.space.startswith("param") for e in step.effects)


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
        is_weak = (effect.kind, effect.order, effect.completion) == ("write", "weak", None)
        return effect.kind == "read" or is_weak or effect.space.startswith(_OWN_SPACES)
    return isinstance(effect, MbarrierWait) or not is_sync_effect(effect)
