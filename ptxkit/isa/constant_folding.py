"""Evaluates expressions of the notation as far as the modifiers (and constant operands) allow."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ptxkit.isa.expressions import CallExpr, ConstantExpr, Expression, OperandRole
from ptxkit.isa.forms import Form
from ptxkit.isa.functions import FUNCTIONS, OPERATORS

Assignment = Mapping[str, str | None]


def fold(expression: Expression, form: Form, modifiers: Assignment, roles: Collection[str] | None = None) -> Expression:
    """Returns the expression with modifiers and lets replaced and everything constant computed.

    roles: those present, for `present` and `default`; an absent one is None elsewhere, too.
    """
    if isinstance(expression, ConstantExpr):
        return expression
    if isinstance(expression, OperandRole):
        return expression if roles is None or expression.name in roles else ConstantExpr(None)
    name, arguments = expression.function, expression.arguments

    def part(index: int) -> Expression:
        return fold(arguments[index], form, modifiers, roles)

    match name:
        case "modifier":
            return ConstantExpr(modifiers.get(_constant_name(arguments[0])))
        case "let":
            wanted = _constant_name(arguments[0])
            return fold(next(value for let, value in form.lets if let == wanted), form, modifiers, roles)
        case "present":
            return ConstantExpr(part(0) != ConstantExpr(None))
        case "default":
            return part(1) if part(0) == ConstantExpr(None) else part(0)
        case "if":
            return part(1) if is_true(part(0)) else part(2)
        case "implies":
            return part(1) if is_true(part(0)) else ConstantExpr(True)
        case "not" if len(arguments) == 1:
            return ConstantExpr(not is_true(part(0)))
        case "or" | "and" if not _is_operation(arguments):
            return _fold_connective(name, [part(index) for index in range(len(arguments))])
    folded = tuple(part(index) for index in range(len(arguments)))
    return _fold_call(name, folded)


def _is_operation(arguments: Sequence[Expression]) -> bool:
    """`or(32, a, b)` is the value operation, whose first argument is a width; `a or b` the connective."""
    return len(arguments) == 3 and isinstance(arguments[1], OperandRole) and isinstance(arguments[2], OperandRole)


def _fold_connective(name: str, parts: Sequence[Expression]) -> Expression:
    for found in parts[:-1]:
        known = not isinstance(found, ConstantExpr) or bool(found.value)
        if known == (name == "or"):
            return found
    return parts[-1]


def _fold_call(name: str, arguments: tuple[Expression, ...]) -> Expression:
    values = [argument.value for argument in arguments if isinstance(argument, ConstantExpr)]
    is_open = name == "%" and any(isinstance(value, float) for value in values)  # remainders are those of integers
    if len(values) == len(arguments) and not is_open:
        if name == "in":
            return ConstantExpr(values[0] in values[1:])
        function = OPERATORS.get(name) or FUNCTIONS.get(name)
        if function is not None:
            return ConstantExpr(function(*values))
    if name == "*" and ConstantExpr(1) in arguments:
        return arguments[0] if arguments[1] == ConstantExpr(1) else arguments[1]
    return CallExpr(name, arguments)


def is_true(value: Expression) -> bool:
    """Returns the truth value of a folded condition, which may mention modifiers only."""
    if not isinstance(value, ConstantExpr):
        raise TypeError(f"a condition between modifiers depends on an operand: {value}")
    return bool(value.value)


def _constant_name(expression: Expression) -> str:
    assert isinstance(expression, ConstantExpr)
    return str(expression.value)


def fold_constants(expression: Expression, values: Mapping[str, int | float | None]) -> Expression:
    """Returns a bound expression with constant operands substituted; it remains symbolic if an operand is not a
    constant.
    """
    if isinstance(expression, OperandRole):
        value = values.get(expression.name)
        return expression if value is None else ConstantExpr(value)
    if isinstance(expression, CallExpr):
        return _fold_call(expression.function, tuple(fold_constants(part, values) for part in expression.arguments))
    return expression
