"""The names to which a function's instructions refer: registers, labels, variables, functions."""

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
    """Returns all names in the operands of a body's instructions, including those of nested blocks."""
    found: set[str] = set()
    for statement, _ in body.flatten_blocks():
        if isinstance(statement, Instruction):
            for operand in statement.operands:
                found.update(operand_names(operand))
    return found


def registers_in(operand: Operand | None, scope: SymbolScope) -> Iterator[str]:
    """Yields the unique names of the registers in an operand; other names may be among them."""
    return map(scope.register_name, operand_names(operand))
