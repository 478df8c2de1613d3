"""The names that a function's instructions mention: registers, labels, variables, functions."""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.ir.layout import SymbolScope
from ptxkit.syntax.tree import (
    Body,
    Instruction,
    Operand,
    operand_names,
)


def names_in(body: Body) -> set[str]:
    """All names in the operands of a body's instructions, those of nested blocks included."""
    found: set[str] = set()
    for statement, _ in body.flattened():
        if isinstance(statement, Instruction):
            for operand in statement.operands:
                found.update(operand_names(operand))
    return found


def registers_in(operand: Operand | None, scope: SymbolScope) -> Iterator[str]:
    """The unique names of the registers in an operand; names of other things may be among them."""
    return map(scope.register_name, operand_names(operand))
