"""Expressions of the notation, computed as far as the modifiers (and the constants among the operands) allow."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ptxkit.isa.expressions import Call, Const, Expression, Role
from ptxkit.isa.forms import Form
from ptxkit.isa.functions import FUNCTIONS, OPERATORS

Assignment = Mapping[str, str | None]


def fold(expression: Expression, form: Form, modifiers: Assignment, roles: Collection[str] | None = None) -> Expression:
    """The expression with modifiers and lets replaced and everything constant computed.

    roles: those present, for `present` and `default`; an absent one is None elsewhere too.
    """
    if isinstance(expression, Const):
        return expression
    if isinstance(expression, Role):
        return expression if roles is None or expression.name in roles else Const(None)
    name, arguments = expression.function, expression.arguments

    def part(index: int) -> Expression:
        return fold(arguments[index], form, modifiers, roles)

    match name:
        case "modifier":
            return Const(modifiers.get(_constant(arguments[0])))
        case "let":
            wanted = _constant(arguments[0])
            return fold(next(value for let, value in form.lets if let == wanted), form, modifiers, roles)
        case "present":
            return Const(part(0) != Const(None))
        case "default":
            return part(1) if part(0) == Const(None) else part(0)
        case "if":
            return part(1) if truth(part(0)) else part(2)
        case "implies":
            return part(1) if truth(part(0)) else Const(True)
        case "not" if len(arguments) == 1:
            return Const(not truth(part(0)))
        case "or" | "and" if not _is_operation(arguments):
            return _connect(name, [part(index) for index in range(len(arguments))])
    folded = tuple(part(index) for index in range(len(arguments)))
    return _apply(name, folded)


def _is_operation(arguments: Sequence[Expression]) -> bool:
    """`or(32, a, b)` is the value operation, whose first argument is a width; `a or b` the connective."""
    return len(arguments) == 3 and isinstance(arguments[1], Role) and isinstance(arguments[2], Role)


def _connect(name: str, parts: Sequence[Expression]) -> Expression:
    for found in parts[:-1]:
        known = not isinstance(found, Const) or bool(found.value)
        if known == (name == "or"):
            return found
    return parts[-1]


def _apply(name: str, arguments: tuple[Expression, ...]) -> Expression:
    values = [argument.value for argument in arguments if isinstance(argument, Const)]
    is_open = name == "%" and any(isinstance(value, float) for value in values)  # remainders are those of integers
    if len(values) == len(arguments) and not is_open:
        if name == "in":
            return Const(values[0] in values[1:])
        function = OPERATORS.get(name) or FUNCTIONS.get(name)
        if function is not None:
            return Const(function(*values))
    if name == "*" and Const(1) in arguments:
        return arguments[0] if arguments[1] == Const(1) else arguments[1]
    return Call(name, arguments)


def truth(value: Expression) -> bool:
    """A folded condition's truth; it may speak of modifiers only."""
    if not isinstance(value, Const):
        raise TypeError(f"a condition between modifiers depends on an operand: {value}")
    return bool(value.value)


def _constant(expression: Expression) -> str:
    assert isinstance(expression, Const)
    return str(expression.value)


def fold_constants(expression: Expression, values: Mapping[str, int | float | None]) -> Expression:
    """A bound expression with the operands' constants put in; it stays open where an operand is no constant."""
    if isinstance(expression, Role):
        value = values.get(expression.name)
        return expression if value is None else Const(value)
    if isinstance(expression, Call):
        return _apply(expression.function, tuple(fold_constants(part, values) for part in expression.arguments))
    return expression
