"""Waits for the wrong phase of an mbarrier, or that wait for none."""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.program import Step
from ptxkit.isa.effects import Control, MbarrierWait, Value
from ptxkit.records import replace
from ptxkit.syntax.printer import print_instruction
from ptxkit.syntax.tree import Instruction, Integer, Name, Pair
from ptxkit.testing.faults.changes import Change, put, replaced, with_number, with_operand
from ptxkit.testing.faults.family import Operator
from ptxkit.testing.faults.reading import Reading, names_call, operand, read_names, written

_FAR = 12


def _other_parity(reading: Reading) -> Iterator[Change | None]:
    for step, wait in reading.having(MbarrierWait):
        if wait.by == "parity":
            yield with_number(reading, step, wait.phase, 1, operation="^")


def _constant_parity(reading: Reading) -> Iterator[Change | None]:
    """A parity that follows the laps of a loop no longer does."""
    for step, wait in reading.having(MbarrierWait):
        given = operand(step, wait.phase)
        if wait.by == "parity" and isinstance(given, Name) and _changes(reading, step, given.text):
            new = with_operand(step, wait.phase, Integer(0, "0"))
            yield replaced(reading, step, [new]) if new is not None else None


def _changes(reading: Reading, step: Step, name: str) -> bool:
    """Whether a register has more than one value there in the course of a thread: some writer comes to itself again."""
    if reading.is_always_constant(step, name):
        return False
    for writer in reading.origins(step, [name]):
        reads = read_names(writer)
        if set(written(writer)) & set(reads) or any(len(reading.writers(writer, read)) > 1 for read in reads):
            return True
    return len(reading.writers(step, name)) > 1


def _unflipped(reading: Reading) -> Iterator[Change | None]:
    """The instruction that turns a parity over only copies it."""
    seen: set[int] = set()
    for step, wait in reading.having(MbarrierWait):
        given = operand(step, wait.phase)
        if wait.by != "parity" or not isinstance(given, Name):
            continue
        for distance, writer in enumerate(reading.origins(step, [given.text])):
            if distance > _FAR or writer.index in seen:
                continue
            for value in reading.effects(writer, Value):
                if names_call(value.value, ("xor", "not")) and len(writer.instruction.operands) in (2, 3):
                    seen.add(writer.index)
                    yield _copied(reading, writer)


def _copied(reading: Reading, step: Step) -> Change | None:
    result, source = step.instruction.operands[:2]
    if not isinstance(result, Name) or not isinstance(source, Name):
        return None
    move = Instruction(f"mov.b{reading.width(result.text)}", (result, source), step.instruction.guard)
    return replaced(reading, step, [move])


def _unwaited(reading: Reading) -> Iterator[Change | None]:
    """The answer of a wait is taken for yes."""
    for step, wait in reading.having(MbarrierWait):
        result = operand(step, wait.result)
        if isinstance(result, Pair):
            result = result.first
        if isinstance(result, Name) and step.instruction.guard is None:
            text = print_instruction(Instruction("setp.eq.u32", (result, Integer(0, "0"), Integer(0, "0"))))
            yield Change(step.start, f"`{reading.text(step)}` answered with true", (put(reading, step, text),))


def _asked_once(reading: Reading) -> Iterator[Change | None]:
    """The loop around a wait is left whatever the answer."""
    for step, _ in reading.having(MbarrierWait):
        for index in _still_circle(reading, step):
            branch = reading.steps[index]
            if branch.instruction.guard is None or not reading.effects(branch, Control):
                continue
            circle = {*_still_circle(reading, step), step.index}
            ways = reading.successors(index)
            stays = [way in circle for way in ways]
            if len(ways) == 2 and stays.count(True) == 1:
                leaves_by_jump = not stays[1]
                text = print_instruction(replace(branch.instruction, guard=None)) if leaves_by_jump else ""
                said = f"the loop around `{reading.text(step)}` deleted"
                yield Change(step.start, said, (put(reading, branch, text),))
                break


def _still_circle(reading: Reading, step: Step) -> list[int]:
    """The steps between a wait and the same wait again, if nothing but waiting happens there."""
    ahead: list[int] = []
    todo = reading.successors(step.index)
    while todo:
        index = todo.pop(0)
        if index == step.index or index in ahead:
            continue
        if reading.is_still(reading.steps[index]):
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
    Operator("other-parity", ("MB11",), _other_parity),
    Operator("constant-parity", ("MB12",), _constant_parity),
    Operator("parity-not-flipped", ("MB12",), _unflipped),
    Operator("delete-mbarrier-wait", ("MB18",), _unwaited),
    Operator("wait-without-loop", ("MB14",), _asked_once),
)
