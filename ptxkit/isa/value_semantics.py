"""The semantics of forms: the `means` lines of the notation.

A form without such lines whose results receive exact values (`effect d = add(32, a, b)`) computes these values. A form
with neither has no semantics, which only affects the reference machine (`ptxkit/emulator/`). The lines of a form
replace those of its section. They are stored separately from the forms, because checks of a module never read them.
"""

from __future__ import annotations

from typing import TypeAlias

from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.isa.constant_folding import fold, is_true
from ptxkit.isa.expressions import CallExpr, ConstantExpr, Expression, OperandRole
from ptxkit.isa.forms import Form, Match
from ptxkit.isa.functions import Constant

Argument: TypeAlias = OperandRole | ConstantExpr | CallExpr

SYNTACTIC_FUNCTIONS = frozenset({"selector", "minus"})
"""Functions of the spelling of an operand: `selector(a)` is its part (`b0`) or empty, `minus(a)` whether a minus
precedes it.
"""


@dataclass(frozen=True, slots=True)
class SemanticsForm:
    """A `means` line before binding.

    function: its name, which the reference machine defines. results: the roles that receive its results, in order.
    operands: its inputs at run time, mostly roles. words: named arguments, which are evaluated when the form is bound.
    """

    function: str
    results: tuple[Expression, ...] = ()
    operands: tuple[Expression, ...] = ()
    named_arguments: tuple[tuple[str, Expression], ...] = ()
    condition: Expression | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Semantics:
    """A `means` line of a match. results: one role each, or None if the form lacks it.

    operands: roles, constants, calls of `SYNTACTIC_FUNCTIONS`, and `Const(None)` for an omitted operand. words: named
    arguments; a modifier that the syntax names literally (`.sat`) is a truth value, any other its word without dot, or
    None if it is absent.
    """

    function: str
    results: tuple[str | None, ...] = ()
    operands: tuple[Argument, ...] = ()
    named_arguments: dict[str, Constant] = field(default_factory=dict)


def form_key(form: Form) -> str:
    """Returns the key of a form in `InstructionSet.meanings`."""
    return f"{form.file}:{form.line}"


def bind_semantics(line: SemanticsForm, match: Match) -> Semantics | None:
    """Returns a bound line, or None if its condition fails. Raises ValueError if it cannot be bound."""
    form, modifiers, roles = match.form, match.modifiers, match.roles
    if line.condition is not None and not is_true(fold(line.condition, form, modifiers, roles)):
        return None
    literals = {slot.name for slot in form.modifiers if slot.is_literal}

    def evaluate(name: str, expression: Expression) -> Constant:
        match expression:
            case CallExpr("modifier", (ConstantExpr(str(modifier)),)) if modifier in literals:
                return modifiers.get(modifier) is not None
        found = fold(expression, form, modifiers, roles)
        if not isinstance(found, ConstantExpr):
            raise ValueError(f"`means {line.text}`: {name} must be known when the form is bound")
        return found.value

    operands: list[Argument] = []
    for each in line.operands:
        folded = fold(each, form, modifiers, roles)
        if isinstance(folded, CallExpr) and not (
            folded.function in SYNTACTIC_FUNCTIONS and [type(each) for each in folded.arguments] == [OperandRole]
        ):
            raise ValueError(f"`means {line.text}`: an operand must be a role, a constant, or how one is written")
        operands.append(folded)
    results = [fold(each, form, modifiers, roles) for each in line.results]
    return Semantics(
        line.function,
        tuple(each.name if isinstance(each, OperandRole) else None for each in results),
        tuple(operands),
        {name: evaluate(name, value) for name, value in line.named_arguments},
    )
