"""Compiles effects that transfer control: branches, calls, and the end of the kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxkit.analysis.symexec.compiled_code import END_INDEX
from ptxkit.analysis.symexec.operand_compiler import OperandCompiler
from ptxkit.analysis.values.symbolic_values import LaneValues, SymbolicValue, value_of_lane
from ptxkit.isa import effects as fx
from ptxkit.syntax.tree import Arguments, Name, Operand

if TYPE_CHECKING:
    from ptxkit.analysis.symexec.compiled_code import StepAction
    from ptxkit.analysis.symexec.group_state import GroupState


def compile_control(operands: OperandCompiler, effect: fx.Control) -> StepAction:
    """Returns the action that transfers control to the target of an effect."""
    match effect.kind:
        case "branch":
            where = next(iter(operands.step.targets), END_INDEX)
            return lambda _: where
        case "branch_indexed":
            return _compile_indexed_branch(operands)
        case "call":
            return _compile_call(operands)
        case "return":
            return lambda state: state.return_or_exit()
        case "trap":
            return _trap
    return lambda _: END_INDEX


def _trap(state: GroupState) -> int:
    """Ends the launch: the threads execute nothing afterwards."""
    state.trace.end_reason = "trap"
    return END_INDEX


def _compile_indexed_branch(operands: OperandCompiler) -> StepAction:
    index = operands.reader(operands.step.instruction.operands[0])
    targets = operands.step.targets

    def jump(state: GroupState) -> int:
        held = index(state)
        value = value_of_lane(held, 0)
        if isinstance(held, LaneValues):
            state.diverge(held.values)
        if isinstance(value, int):
            return targets[value] if value < len(targets) else END_INDEX
        state.note_guess()
        return targets[_choose_case(state, value, len(targets))] if targets else END_INDEX

    return jump


def _choose_case(state: GroupState, number: SymbolicValue, count: int) -> int:
    """Returns the case of an unknown number below `count`: each case but the last one is a condition to decide.

    Each execution of the step begins with another case; a scenario that omits order with the one that orders least.
    """
    ordering, scenario = state.code.ordering, state.scenario
    cases = [(state.visit + case) % count for case in range(count)]
    if scenario.omits_order:
        cases = ordering.order_of_targets(state.step)
    for case in cases[:-1]:
        condition = state.operations.compute("compare", "eq", "u32", number, case)
        if isinstance(condition, int):
            is_chosen = bool(condition)
        else:
            if state.step in ordering.steps:
                scenario.flippable_conditions.setdefault(condition)
            is_chosen = state.decide(condition, preferred=True)
        if is_chosen:
            return case
    return cases[-1]


def _compile_call(operands: OperandCompiler) -> StepAction:
    name = ""
    results: tuple[str, ...] = ()
    arguments: tuple[Operand, ...] = ()
    for operand in operands.step.instruction.operands:
        if isinstance(operand, Name) and not name:
            name = operand.text
        elif isinstance(operand, Arguments) and name:
            arguments = operand.elements
        elif isinstance(operand, Arguments):
            results = tuple(e.text for e in operand.elements if isinstance(e, Name))
    back = operands.step.index + 1
    return lambda state: state.enter_function(name, back, results, arguments)
