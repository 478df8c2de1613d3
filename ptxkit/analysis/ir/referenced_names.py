"""The names to which a function's instructions refer: registers, labels, variables, functions."""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.ir.layout import SymbolScope
from ptxkit.isa import table
from ptxkit.isa.effects import Control
from ptxkit.isa.forms import Match
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


def addressed_names(body: Body) -> set[str]:
    """Returns the names in the operands of a body's instructions, other than the callees of direct calls."""
    found: set[str] = set()
    for statement, _ in body.flatten_blocks():
        if isinstance(statement, Instruction):
            called = _callee_operand(statement)
            for operand in statement.operands:
                found.update(operand_names(operand) if operand is not called else ())
    return found


def _callee_operand(instruction: Instruction) -> Operand | None:
    match = table().match(instruction)
    effects = match.effects if isinstance(match, Match) else ()
    role = next((effect.target for effect in effects if isinstance(effect, Control) and effect.kind == "call"), None)
    return match.operand(role, instruction) if isinstance(match, Match) and role is not None else None


def registers_in(operand: Operand | None, scope: SymbolScope) -> Iterator[str]:
    """Yields the unique names of the registers in an operand; other names may be among them."""
    return map(scope.register_name, operand_names(operand))
