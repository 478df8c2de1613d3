"""Waits for the wrong phase of an mbarrier, or for none."""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.ir.program import Step
from ptxkit.fast_dataclasses import replace
from ptxkit.isa.effects import Control, MbarrierWait, Value
from ptxkit.syntax.printer import print_instruction
from ptxkit.syntax.tree import Instruction, Integer, Name, Pair
from ptxkit.testing.limits import MAX_LOOP_STEPS
from ptxkit.testing.mutation.edits import (
    MutationEdit,
    combine_with_number,
    replace_step,
    splice_text,
    substitute_operand,
)
from ptxkit.testing.mutation.function_analysis import (
    FunctionAnalysis,
    calls_operation,
    read_registers,
    written_registers,
)
from ptxkit.testing.mutation.mutation_operator import MutationOperator


def _other_parity(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    for step, wait in reading.steps_with(MbarrierWait):
        if wait.by == "parity":
            yield combine_with_number(reading, step, wait.phase, 1, operation="^")


def _constant_parity(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    """Makes a parity that changes in each iteration of a loop constant."""
    for step, wait in reading.steps_with(MbarrierWait):
        given = step.operand(wait.phase)
        if wait.by == "parity" and isinstance(given, Name) and _is_reassigned(reading, step, given.text):
            new = substitute_operand(step, wait.phase, Integer(0, "0"))
            yield replace_step(reading, step, [new]) if new is not None else None


def _is_reassigned(reading: FunctionAnalysis, step: Step, name: str) -> bool:
    """Returns whether a register has several values there during the execution of a thread: a definition reaches itself
    again.
    """
    if reading.is_always_constant(step, name):
        return False
    for writer in reading.origins(step, [name]):
        reads = read_registers(writer)
        if set(written_registers(writer)) & set(reads) or any(len(reading.writers(writer, read)) > 1 for read in reads):
            return True
    return len(reading.writers(step, name)) > 1


def _no_parity_flip(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    """Replaces the instruction that flips a parity by a copy."""
    seen: set[int] = set()
    for step, wait in reading.steps_with(MbarrierWait):
        given = step.operand(wait.phase)
        if wait.by != "parity" or not isinstance(given, Name):
            continue
        for distance, writer in enumerate(reading.origins(step, [given.text])):
            if distance > MAX_LOOP_STEPS or writer.index in seen:
                continue
            for value in reading.effects(writer, Value):
                if calls_operation(value.value, ("xor", "not")) and len(writer.instruction.operands) in (2, 3):
                    seen.add(writer.index)
                    yield _copy_instead(reading, writer)


def _copy_instead(reading: FunctionAnalysis, step: Step) -> MutationEdit | None:
    result, source = step.instruction.operands[:2]
    if not isinstance(result, Name) or not isinstance(source, Name):
        return None
    move = Instruction(f"mov.b{reading.width(result.text)}", (result, source), step.instruction.guard)
    return replace_step(reading, step, [move])


def _ignore_wait_result(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    """Treats the result of a wait as true."""
    for step, wait in reading.steps_with(MbarrierWait):
        result = step.operand(wait.result)
        if isinstance(result, Pair):
            result = result.first
        if isinstance(result, Name) and step.instruction.guard is None:
            text = print_instruction(Instruction("setp.eq.u32", (result, Integer(0, "0"), Integer(0, "0"))))
            yield MutationEdit(
                step.start,
                f"`{reading.text(step)}` replaced by a result that is always true",
                (splice_text(reading, step, text),),
            )


def _poll_once(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    """Leaves the loop around a wait whatever its result."""
    for step, _ in reading.steps_with(MbarrierWait):
        for index in _wait_loop_steps(reading, step):
            branch = reading.steps[index]
            if branch.instruction.guard is None or not reading.effects(branch, Control):
                continue
            circle = {*_wait_loop_steps(reading, step), step.index}
            successors = reading.successors(index)
            stays = [successor in circle for successor in successors]
            if len(successors) == 2 and stays.count(True) == 1:
                leaves_by_jump = not stays[1]
                text = print_instruction(replace(branch.instruction, guard=None)) if leaves_by_jump else ""
                description = f"the loop around `{reading.text(step)}` deleted"
                yield MutationEdit(step.start, description, (splice_text(reading, branch, text),))
                break


def _wait_loop_steps(reading: FunctionAnalysis, step: Step) -> list[int]:
    """The steps between a wait and the same wait again, if they only wait."""
    ahead: list[int] = []
    todo = reading.successors(step.index)
    while todo:
        index = todo.pop(0)
        if index == step.index or index in ahead:
            continue
        if reading.has_no_effects(reading.steps[index]):
            ahead.append(index)
            todo += reading.successors(index)
    inside = {step.index}
    grown = True
    while grown:
        more = {index for index in ahead if index not in inside and inside & set(reading.successors(index))}
        inside |= more
        grown = bool(more)
    return [index for index in ahead if index in inside]


OPERATORS = (
    MutationOperator("other-parity", ("MB11",), _other_parity),
    MutationOperator("constant-parity", ("MB12",), _constant_parity),
    MutationOperator("parity-not-flipped", ("MB12",), _no_parity_flip),
    MutationOperator("delete-mbarrier-wait", ("MB18",), _ignore_wait_result),
    MutationOperator("wait-without-loop", ("MB14",), _poll_once),
)
