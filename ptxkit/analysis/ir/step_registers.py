"""The registers that an instruction reads."""

from __future__ import annotations

from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.referenced_names import registers_in
from ptxkit.syntax.tree import Operand


def read_operands(step: Step) -> list[Operand]:
    """Returns the operands that are not results; all operands where the table has no form for the instruction."""
    match = step.match
    results = {match.roles[role] for role in match.results if role in match.roles} if match is not None else set()
    return [each for at, each in enumerate(step.instruction.operands) if at not in results]


def guard_registers(step: Step) -> tuple[str, ...]:
    """Returns the register of an instruction's guard, if it has one."""
    guard = step.instruction.guard
    return (step.scope.register_name(guard.predicate),) if guard is not None else ()


def named_registers(step: Step) -> list[str]:
    """Returns the registers in the operands of an instruction; other names may be among them."""
    return [name for operand in step.instruction.operands for name in registers_in(operand, step.scope)]


def read_registers(step: Step) -> list[str]:
    """Returns the registers that an instruction reads, including its guard."""
    return [*(name for each in read_operands(step) for name in registers_in(each, step.scope)), *guard_registers(step)]


def all_read_registers(program: Program) -> frozenset[str]:
    """Returns the registers that the instructions of a function read; for `Program.analysis`."""
    return frozenset(name for step in program.steps for name in read_registers(step))


def is_result_used(program: Program, step: Step) -> bool:
    """Returns whether an instruction reads a register that a step of a program, or of a function that it calls, writes.

    Without a form in the table, one may.
    """
    if step.match is None:
        return True
    return not program.function_of(step).analysis(all_read_registers).isdisjoint(step.result_registers())
