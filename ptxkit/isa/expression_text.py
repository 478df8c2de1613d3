"""Prints expressions in the notation: `bits(t) * n`, `dst == .shared::cta`, `if wide then 8 else 4`."""

from __future__ import annotations

import re

from ptxkit.isa.expressions import CallExpr, ConstantExpr, Expression, OperandRole

_WORD = re.compile(r"\w+(?:::\w+(?::\w+)*)*")
_INFIX = frozenset({"+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "implies", "and", "or"})


def expression_text(expression: Expression) -> str:
    """Returns the expression in the notation of the `.isa` files; names of another form of the section are `absent`."""
    match expression:
        case ConstantExpr(value):
            return _constant(value)
        case OperandRole(name):
            return name
        case CallExpr("modifier" | "let", (ConstantExpr(value=name),)):
            return str(name)
        case CallExpr("unknown", ()):
            return "unknown"
        case CallExpr("if", (test, then, otherwise)):
            return (
                f"if {_parenthesized_text(test)} then {_parenthesized_text(then)} else {_parenthesized_text(otherwise)}"
            )
        case CallExpr("in", (value, *members)):
            return f"{_parenthesized_text(value)} in {' '.join(map(expression_text, members))}"
        case CallExpr("not", (CallExpr("in", (value, *members)),)):
            return f"{_parenthesized_text(value)} not in {' '.join(map(expression_text, members))}"
        case CallExpr("not", (operand,)):
            return f"not {_parenthesized_text(operand)}"
        case CallExpr(function, arguments) if function in _INFIX:
            return f" {function} ".join(map(_parenthesized_text, arguments))
        case CallExpr(function, arguments):
            return f"{function}({', '.join(map(expression_text, arguments))})"


def _parenthesized_text(expression: Expression) -> str:
    """Returns an operand of a larger expression, in parentheses unless it is a name, a constant or a call."""
    text = expression_text(expression)
    is_call = isinstance(expression, CallExpr) and expression.function in {*_INFIX, "if", "in", "not"}
    return f"({text})" if is_call else text


def _constant(value: float | str | bool | None) -> str:
    match value:
        case None:
            return "absent"
        case bool():
            return "true" if value else "false"
        case str():
            return f".{value}" if _WORD.fullmatch(value) else f'"{value}"'
        case _:
            return str(value)
