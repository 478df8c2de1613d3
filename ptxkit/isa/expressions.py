"""Small expressions of the instruction notation: sizes, counts, values.

The loader parses them; binding a form to an opcode replaces modifiers and `let` names by constants and folds, so that
an expression in a `Match` mentions only operands, by their role, and constants.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from ptxkit.fast_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ConstantExpr:
    """A number, a string (a modifier's value, such as `shared::cta`), a truth value, or None (an absent modifier)."""

    value: int | float | str | bool | None


@dataclass(frozen=True, slots=True)
class OperandRole:
    """The operand with this role (`d`, `a`, `bar`) in the form."""

    name: str


@dataclass(frozen=True, slots=True)
class CallExpr:
    """A named function or operator applied to expressions: `+`, `*`, `<<`, `==`, `select`, `convert`, `generic`...

    The functions are those of `ptxkit.isa.functions` (compile-time: `size`, `len`, ...) and, in `value` effects, the
    value operations listed in `ptxkit/isa/effects.py`.
    """

    function: str
    arguments: tuple[Expression, ...]


Expression: TypeAlias = ConstantExpr | OperandRole | CallExpr


def roles_in(expression: Expression) -> Iterator[str]:
    """Yields the roles of the operands in an expression, with repetitions."""
    if isinstance(expression, OperandRole):
        yield expression.name
    elif isinstance(expression, CallExpr):
        for argument in expression.arguments:
            yield from roles_in(argument)
