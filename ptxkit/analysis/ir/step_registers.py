"""The registers that an instruction reads."""

from __future__ import annotations

from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.ir.referenced_names import registers_in
from ptxkit.syntax.tree import Operand


def read_operands(step: Step) -> list[Operand]:
    """The operands that are no results; all, where the table has no form for the instruction."""
    match = step.match
    results = {match.roles[role] for role in match.results if role in match.roles} if match is not None else set()
    return [each for at, each in enumerate(step.instruction.operands) if at not in results]


def guard_registers(step: Step) -> tuple[str, ...]:
    """The register of an instruction's guard, if it has one."""
    guard = step.instruction.guard
    return (step.scope.register_name(guard.predicate),) if guard is not None else ()


def named_registers(step: Step) -> list[str]:
    """The registers in the operands of an instruction; names of other things may be among them."""
    return [name for operand in step.instruction.operands for name in registers_in(operand, step.scope)]


def read_registers(step: Step) -> list[str]:
    """The registers that an instruction reads, its guard among them."""
    return [*(name for each in read_operands(step) for name in registers_in(each, step.scope)), *guard_registers(step)]
