"""Expressions as the notation writes them: `bits(t) * n`, `dst == .shared::cta`, `if wide then 8 else 4`."""

from __future__ import annotations

import re

from ptxkit.isa.expressions import Call, Const, Expression, Role

_WORD = re.compile(r"\w+(?:::\w+(?::\w+)*)*")
_INFIX = frozenset({"+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "implies", "and", "or"})


def expression_text(expression: Expression) -> str:
    """The expression in the notation of the `.isa` files; what another form of the section has is `absent` here."""
    match expression:
        case Const(value):
            return _constant(value)
        case Role(name):
            return name
        case Call("modifier" | "let", (Const(value=name),)):
            return str(name)
        case Call("unknown", ()):
            return "unknown"
        case Call("if", (test, then, otherwise)):
            return f"if {_inner(test)} then {_inner(then)} else {_inner(otherwise)}"
        case Call("in", (value, *members)):
            return f"{_inner(value)} in {' '.join(map(expression_text, members))}"
        case Call("not", (Call("in", (value, *members)),)):
            return f"{_inner(value)} not in {' '.join(map(expression_text, members))}"
        case Call("not", (operand,)):
            return f"not {_inner(operand)}"
        case Call(function, arguments) if function in _INFIX:
            return f" {function} ".join(map(_inner, arguments))
        case Call(function, arguments):
            return f"{function}({', '.join(map(expression_text, arguments))})"


def _inner(expression: Expression) -> str:
    """Inside a larger expression: in parentheses, unless it is a name, a constant or a call."""
    text = expression_text(expression)
    is_call = isinstance(expression, Call) and expression.function in {*_INFIX, "if", "in", "not"}
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
