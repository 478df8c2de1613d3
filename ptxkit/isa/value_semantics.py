"""What a form computes: the `means` lines of the notation.

A form that has none, but whose results receive exact values (`effect d = add(32, a, b)`), means these values; a form
with neither has no meaning, and only the reference machine (`ptxkit/emulator/`) minds. The lines of a form take the
place of those common to its section. They are kept apart from the forms: what only checks a module never reads them.
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
"""How an operand is written: `selector(a)` is its part (`b0`) or empty, `minus(a)` whether a minus precedes it."""


@dataclass(frozen=True, slots=True)
class SemanticsForm:
    """A `means` line before binding.

    function: its name, which the reference machine knows. results: the roles that receive what it gives, in order.
    operands: what it reads when it runs, roles mostly. words: named arguments, decided when the form is bound.
    """

    function: str
    results: tuple[Expression, ...] = ()
    operands: tuple[Expression, ...] = ()
    named_arguments: tuple[tuple[str, Expression], ...] = ()
    condition: Expression | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Semantics:
    """A `means` line of a match. results: a role each, or None where the form lacks it.

    operands: roles, constants, calls of `SYNTACTIC_FUNCTIONS`, and `Const(None)` for an operand left out. words: named
    arguments; a
    modifier that the syntax names literally (`.sat`) is a truth value, any other its word without dot, or None where it
    is absent.
    """

    function: str
    results: tuple[str | None, ...] = ()
    operands: tuple[Argument, ...] = ()
    named_arguments: dict[str, Constant] = field(default_factory=dict)


def form_key(form: Form) -> str:
    """What `Instructions.meanings` knows a form by."""
    return f"{form.file}:{form.line}"


def bind_semantics(line: SemanticsForm, match: Match) -> Semantics | None:
    """What a line says of a match; None where its condition fails. Raises ValueError where it cannot be bound."""
    form, modifiers, roles = match.form, match.modifiers, match.roles
    if line.condition is not None and not is_true(fold(line.condition, form, modifiers, roles)):
        return None
    literals = {slot.name for slot in form.modifiers if slot.is_literal}

    def known(name: str, expression: Expression) -> Constant:
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
        {name: known(name, value) for name, value in line.named_arguments},
    )
