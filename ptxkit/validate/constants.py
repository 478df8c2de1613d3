"""Constants in operands: their values, and the ranges that a form allows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from struct import unpack

from ptxkit.diagnostics import Message
from ptxkit.diagnostics.catalogue import operand_reasons
from ptxkit.isa.constant_folding import fold_constants
from ptxkit.isa.expressions import ConstantExpr
from ptxkit.isa.forms import Immediates, Match, OperandForm
from ptxkit.isa.wording import describe_immediates
from ptxkit.syntax.constants import evaluate
from ptxkit.syntax.tree import (
    Address,
    Arguments,
    Binary,
    Conditional,
    Float,
    Instruction,
    Integer,
    Name,
    Operand,
    Unary,
    Vector,
)

# The kinds of a constant's value.
INTEGER = "i"
SINGLE = "f32"
DOUBLE = "f64"
INVALID = "invalid"

_COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
_FLOAT_OPERATORS = frozenset({"+", "-", "*", "/"})


def kind_of(operand: Operand) -> str | None:
    """Returns the kind of a constant expression's value, `INVALID` if ptxas cannot evaluate it, or None if it is not a
    constant.

    `1.5` and `0d...` are double, `0f...` is single. Source: PTX ISA, "Constant Expressions", as implemented by ptxas:
    it does not evaluate expressions of single-precision constants, and does not mix integers with others.
    """
    match operand:
        case Integer() | Name("WARP_SZ"):
            return INTEGER
        case Float(width=width):
            return SINGLE if width == 32 else INVALID if _overflows(operand) else DOUBLE
        case Arguments((inner,)):
            return kind_of(inner)
        case Unary(operator, inner):
            return _unary_kind(operator, inner)
        case Binary(operator, left, right):
            found = _binary_kind(operator, kind_of(left), kind_of(right))
            by_zero = found is not None and operator in ("/", "%") and _number(right) == 0
            return INVALID if by_zero else found
        case Conditional(test, then, otherwise):
            parts = (kind_of(test), kind_of(then), kind_of(otherwise))
            return None if None in parts else INTEGER if parts == (INTEGER,) * 3 else INVALID
    return None


def _overflows(literal: Float) -> bool:
    """Returns whether a decimal number is too great or too small for a normal double; `0d` accepts every bit
    pattern.
    """
    if literal.text[:2] in ("0d", "0D"):
        return False
    exponent = literal.bits >> 52 & 0x7FF
    return exponent == 0x7FF or (exponent == 0 and re.search("[1-9]", re.split("[eE]", literal.text)[0]) is not None)


def _unary_kind(operator: str, inner: Operand) -> str | None:
    found = kind_of(inner)
    if found in (None, INVALID, INTEGER):
        return found
    if operator not in ("-", "+") or (isinstance(inner, Float) and found == SINGLE):
        return INVALID
    return DOUBLE


def _binary_kind(operator: str, left: str | None, right: str | None) -> str | None:
    if left is None or right is None:
        return None
    if (left, right) == (INTEGER, INTEGER):
        return INTEGER
    if (left, right) == (DOUBLE, DOUBLE):
        return INTEGER if operator in _COMPARISONS else DOUBLE if operator in _FLOAT_OPERATORS else INVALID
    return INVALID


def value_of(operand: Operand | None) -> int | None:
    """Returns the value of an integer constant expression, signed as written, or None."""
    while isinstance(operand, Arguments) and len(operand.elements) == 1:  # in parentheses
        operand = operand.elements[0]
    return None if operand is None else evaluate(operand)


def _number(operand: Operand | None) -> int | float | None:
    """Returns the value of a constant, an integer or a floating-point one, or None."""
    if isinstance(operand, Float):
        (value,) = unpack(
            *((">f", operand.bits.to_bytes(4)) if operand.width == 32 else (">d", operand.bits.to_bytes(8)))
        )
        return float(value)
    return value_of(operand)


def is_legal(immediates: Immediates, value: int) -> bool:
    """Returns whether a constant is one of the legal ones."""
    if immediates.members is not None:  # for 64 bits, with a sign or without
        return value in immediates.members or (value > 0 and value - (1 << 64) in immediates.members)
    if immediates.low is not None and value < immediates.low:
        return False
    if immediates.high is not None and value > immediates.high:
        return False
    return (value - (immediates.low or 0)) % immediates.step == 0


def illegal_constants(match: Match, instruction: Instruction) -> list[tuple[int | None, Message, bool]]:
    """Returns each constant outside its range, and each violated rule between constants.

    Each has the operand's index, a message, and whether assemblers tolerate it.
    """
    found: list[tuple[int | None, Message, bool]] = []
    for index, (whole, operand) in enumerate(zip(match.operands, instruction.operands, strict=True)):
        for form, immediates, part in _limited_operands(whole, operand):
            value = value_of(part)
            if value is not None and not is_legal(immediates, value):
                what = operand_reasons.MUST_BE_CONSTANT(expected=describe_immediates(immediates), value=value)
                found.append((index, what, _is_tolerated(form, value)))
    for need in match.needs:
        values = {role: _number(match.operand(role, instruction)) for role in match.roles}
        result = fold_constants(need.condition, values)
        if isinstance(result, ConstantExpr) and not result.value:
            found.append((None, operand_reasons.BREAKS_RULE(rule=need.text), False))
    return found


def _limited_operands(form: OperandForm, operand: Operand) -> Iterator[tuple[OperandForm, Immediates, Operand]]:
    """Yields the operand, or those in its braces or after its comma, whose constants have limits."""
    if form.elements and isinstance(operand, Vector | Address):
        parts = operand.index if isinstance(operand, Address) else operand.elements
        for inner, part in zip(form.elements, parts, strict=False):
            yield from _limited_operands(inner, part)
    elif form.immediates is not None and isinstance(operand, Vector):
        for part in operand.elements:
            yield form, form.immediates, part
    elif form.immediates is not None:
        yield form, form.immediates, operand


def _is_tolerated(form: OperandForm, value: int) -> bool:
    """Returns whether assemblers accept constants beyond the range: any, or those whose low 32 bits are in it."""
    return form.lax or (form.cut and form.immediates is not None and is_legal(form.immediates, value & 0xFFFFFFFF))


def has_limits(match: Match) -> bool:
    """Returns whether constants in this form must be checked."""
    return bool(match.needs) or any(map(_has_limits, match.operands))


def _has_limits(form: OperandForm) -> bool:
    if any(map(_has_limits, form.elements)):
        return True
    return form.immediates is not None and form.immediates != Immediates()
