"""Constants in operands: their values, and the ranges that a form allows."""

from __future__ import annotations

from ptxkit.isa.expressions import Const
from ptxkit.isa.folding import fold_constants
from ptxkit.isa.forms import Immediates, Match
from ptxkit.isa.words import immediate_words
from ptxkit.syntax.tree import Arguments, Instruction, Integer, Operand, Unary


def value_of(operand: Operand | None) -> int | None:
    """The value of an integer constant, signed as written; None for anything else."""
    if isinstance(operand, Integer):
        return operand.value
    if isinstance(operand, Arguments) and len(operand.elements) == 1:  # in parentheses
        return value_of(operand.elements[0])
    if isinstance(operand, Unary):
        inner = value_of(operand.operand)
        if inner is not None:
            return {"-": -inner, "+": inner, "~": ~inner}.get(operand.operator)
    return None


def is_legal(immediates: Immediates, value: int) -> bool:
    """Whether a constant is one of the legal ones."""
    if immediates.members is not None:
        return value in immediates.members
    if immediates.low is not None and value < immediates.low:
        return False
    if immediates.high is not None and value > immediates.high:
        return False
    return (value - (immediates.low or 0)) % immediates.step == 0


def illegal_constants(match: Match, instruction: Instruction) -> list[tuple[int | None, str]]:
    """(operand index, what is wrong) of each constant outside its range, and each broken rule between constants."""
    found: list[tuple[int | None, str]] = []
    for index, (form, operand) in enumerate(zip(match.operands, instruction.operands, strict=True)):
        if form.immediates is None:
            continue
        value = value_of(operand)
        if value is not None and not is_legal(form.immediates, value):
            found.append((index, f"must be {immediate_words(form.immediates)}, and is {value}"))
    for need in match.needs:
        values = {role: value_of(match.operand(role, instruction)) for role in match.roles}
        result = fold_constants(need.condition, values)
        if isinstance(result, Const) and not result.value:
            found.append((None, f"breaks the rule {need.text}"))
    return found


def has_limits(match: Match) -> bool:
    """Whether constants in this form need a look at all."""
    limited = (form.immediates for form in match.operands if form.immediates is not None)
    return bool(match.needs) or any(each != Immediates() for each in limited)
