"""Determines whether a kernel may have generic addresses of shared memory; the host cannot pass any.

Source: PTX ISA, "Generic Addressing", "cvta".
"""

from __future__ import annotations

from ptxkit.analysis.ir.program import Program
from ptxkit.isa.effects import Value
from ptxkit.isa.expressions import CallExpr, ConstantExpr, Expression


def has_generic_shared_addresses(program: Program) -> bool:
    """Returns whether a kernel, or a function that it calls, makes a generic address of a shared one."""
    return program.analysis(_has_generic_shared_addresses)


def _has_generic_shared_addresses(program: Program) -> bool:
    return any(
        isinstance(effect, Value) and _makes_generic_shared(effect.value)
        for code in program.functions
        for step in code.steps
        for effect in step.effects
    )


def _makes_generic_shared(value: Expression) -> bool:
    """Returns whether an expression of the table converts an address in shared memory to a generic one."""
    if not isinstance(value, CallExpr):
        return False
    if value.function == "to_generic":
        space = value.arguments[0]
        return not isinstance(space, ConstantExpr) or str(space.value).lstrip(".").startswith("shared")
    return any(_makes_generic_shared(each) for each in value.arguments)
