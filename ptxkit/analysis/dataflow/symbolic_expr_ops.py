"""Applies the value operations of the instruction table to expressions.

The result is a sum where possible, else an unknown that names the operation, or None if it would be too long to be
readable. The operations are listed in `ptxkit.isa.effects`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ptxkit.analysis.dataflow.polynomial import Polynomial
from ptxkit.analysis.limits import MAX_EXPR_CHARS
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.semantics.value_ops import interpret

ConstantArgument: TypeAlias = "int | float | str | bool | None"
"""A constant of the table: a width, a type, a mode."""


@dataclass(frozen=True, slots=True)
class SymbolicExpr:
    """A value.

    space: the state space in which it is an address; None for a number. is_generic: whether it is a generic address.
    condition_text: of a predicate, the condition in words instead of the sum.
    """

    sum: Polynomial
    space: str | None = None
    is_generic: bool = False
    condition_text: str = ""

    def __str__(self) -> str:
        return self.condition_text or str(self.sum)


def unknown_expr(text: str) -> SymbolicExpr:
    """Returns a value that only has a name. (The text after `#` distinguishes blocks of one function.)"""
    return SymbolicExpr(Polynomial.unknown(text.partition("#")[0]))


def apply_operation(
    function: str, words: Sequence[ConstantArgument], operands: Sequence[SymbolicExpr], *, low_bits: bool = False
) -> SymbolicExpr | None:
    """Returns the result of an operation; None where it cannot be written in a few words.

    low_bits: whether only the lowest 8 bits of integers must be exact, which do not depend on bits that an extension
    adds, or on wrapping before it.
    """
    made = (_LOW_BIT_OPERATIONS if low_bits else _OPERATIONS).get(function)
    if made is not None and len(operands) == made[0]:
        return made[1](words, *operands)
    if function in _OPERATORS and len(operands) == 2:
        first, second = operands
        is_signed = len(words) > 1 and words[1] is True
        return _infix(_OPERATORS[function], first, second, f"s{words[0]}" if is_signed else "")
    return None


def _width(words: Sequence[ConstantArgument]) -> int:
    return words[0] if words and isinstance(words[0], int) else 64


def _copy(words: Sequence[ConstantArgument], a: SymbolicExpr) -> SymbolicExpr:
    number = a.sum.number
    if _width(words) == 1 and number is not None and not a.condition_text:
        return SymbolicExpr(Polynomial(), condition_text="true" if number else "false")
    return a


def _add(words: Sequence[ConstantArgument], a: SymbolicExpr, b: SymbolicExpr) -> SymbolicExpr:
    """Returns the sum, which is an address if one of the two is an address."""
    total = a.sum.plus(b.sum).reduce_modulo(_width(words))
    if a.space is not None and b.space is not None:
        return SymbolicExpr(total)
    address = a if a.space is not None else b
    return SymbolicExpr(total, address.space, address.is_generic)


def _sub(words: Sequence[ConstantArgument], a: SymbolicExpr, b: SymbolicExpr) -> SymbolicExpr:
    less = SymbolicExpr(b.sum.times(-1))
    return _add(words, a if b.space is None else SymbolicExpr(a.sum), less)


def _neg(words: Sequence[ConstantArgument], a: SymbolicExpr) -> SymbolicExpr | None:
    return None if a.condition_text else SymbolicExpr(a.sum.times(-1).reduce_modulo(_width(words)))


def _mul(words: Sequence[ConstantArgument], a: SymbolicExpr, b: SymbolicExpr) -> SymbolicExpr | None:
    return _multiply(a.sum, b.sum, _width(words))


def _mul_wide(words: Sequence[ConstantArgument], a: SymbolicExpr, b: SymbolicExpr) -> SymbolicExpr | None:
    kind = f"{'s' if words[1] else 'u'}{_width(words)}"
    return _multiply(_extend(a, kind), _extend(b, kind), 2 * _width(words))


def _mul_wide_low_bits(words: Sequence[ConstantArgument], a: SymbolicExpr, b: SymbolicExpr) -> SymbolicExpr | None:
    return _multiply(a.sum, b.sum, 2 * _width(words))


def _multiply(a: Polynomial, b: Polynomial, width: int) -> SymbolicExpr | None:
    found = a.multiply(b)
    return None if found is None else SymbolicExpr(found.reduce_modulo(width))


def _shl(words: Sequence[ConstantArgument], a: SymbolicExpr, b: SymbolicExpr) -> SymbolicExpr | None:
    by = b.sum.number
    if by is None or b.condition_text:
        return _infix("<<", a, b)
    return (
        SymbolicExpr(a.sum.times(1 << by).reduce_modulo(_width(words)))
        if 0 <= by < _width(words)
        else SymbolicExpr(Polynomial())
    )


def _not(words: Sequence[ConstantArgument], a: SymbolicExpr) -> SymbolicExpr:
    if a.condition_text:
        return replace(a, condition_text=f"not ({a.condition_text})")
    if _width(words) == 1:
        return SymbolicExpr(Polynomial(), condition_text=f"not {a}")
    return SymbolicExpr(a.sum.times(-1).plus(Polynomial.constant(-1)).reduce_modulo(_width(words)))


def _extend(a: SymbolicExpr, kind: str) -> Polynomial:
    """Returns the number in more bits; a fresh unknown for a sum, which may have wrapped before."""
    number, width = a.sum.number, int(kind[1:])
    if number is not None:
        return Polynomial.constant(interpret(number, width, kind[0] == "s"))
    return a.sum if a.sum.is_single else unknown_expr(f"{kind}({a})").sum


def _convert(words: Sequence[ConstantArgument], a: SymbolicExpr) -> SymbolicExpr | None:
    have, want = str(words[0]), str(words[1])
    if have[0] not in "usb" or want[0] not in "usb" or not (have[1:].isdecimal() and want[1:].isdecimal()):
        return None
    if int(want[1:]) <= int(have[1:]):
        return replace(a, sum=a.sum.reduce_modulo(int(want[1:])))
    return replace(a, sum=_extend(a, have))


def _convert_low_bits(words: Sequence[ConstantArgument], a: SymbolicExpr) -> SymbolicExpr | None:
    return a if _convert(words, a) is not None else None


def _to_generic(words: Sequence[ConstantArgument], a: SymbolicExpr) -> SymbolicExpr:
    return replace(a, space=str(words[0]), is_generic=True)


def _from_generic(words: Sequence[ConstantArgument], a: SymbolicExpr) -> SymbolicExpr:
    return replace(a, space=str(words[0]), is_generic=False)


def _select(_: Sequence[ConstantArgument], a: SymbolicExpr, b: SymbolicExpr, test: SymbolicExpr) -> SymbolicExpr | None:  # noqa: ARG001 (any condition)
    return a if a == b else None


def _map_rank(_: Sequence[ConstantArgument], a: SymbolicExpr, rank: SymbolicExpr) -> SymbolicExpr | None:
    text = f"mapa({a}, {rank})"
    return replace(unknown_expr(text), space="shared::cluster") if len(text) <= MAX_EXPR_CHARS else None


def _compare(words: Sequence[ConstantArgument], a: SymbolicExpr, b: SymbolicExpr) -> SymbolicExpr | None:
    sign = _COMPARISONS.get(str(words[0]))
    text = f"{a} {sign} {b}"
    return SymbolicExpr(Polynomial(), condition_text=text) if sign is not None and len(text) <= MAX_EXPR_CHARS else None


def _combine(words: Sequence[ConstantArgument], a: SymbolicExpr, b: SymbolicExpr) -> SymbolicExpr | None:
    text = f"({a}) {words[0]} ({b})"
    return SymbolicExpr(Polynomial(), condition_text=text) if len(text) <= MAX_EXPR_CHARS else None


def _infix(sign: str, a: SymbolicExpr, b: SymbolicExpr, kind: str = "") -> SymbolicExpr | None:
    """Returns the text of an infix operation.

    kind: the type that interprets the first number, where it is signed.
    """
    text = f"({f'{kind}({a})' if kind else _parenthesize(a)} {sign} {_parenthesize(b)})"
    return unknown_expr(text) if len(text) <= MAX_EXPR_CHARS and not (a.condition_text or b.condition_text) else None


def _parenthesize(formula: SymbolicExpr) -> str:
    return str(formula) if formula.sum.is_single else f"({formula})"


_OPERATIONS: dict[str, tuple[int, Callable[..., SymbolicExpr | None]]] = {
    "copy": (1, _copy),
    "add": (2, _add),
    "sub": (2, _sub),
    "neg": (1, _neg),
    "not": (1, _not),
    "mul": (2, _mul),
    "mul_wide": (2, _mul_wide),
    "shl": (2, _shl),
    "convert": (1, _convert),
    "to_generic": (1, _to_generic),
    "from_generic": (1, _from_generic),
    "select": (3, _select),
    "map_rank": (2, _map_rank),
    "compare": (2, _compare),
    "combine": (2, _combine),
}
"""The number of values that each operation takes, and the function that computes the expression, by name."""

_LOW_BIT_OPERATIONS: dict[str, tuple[int, Callable[..., SymbolicExpr | None]]] = {
    **_OPERATIONS,
    "mul_wide": (2, _mul_wide_low_bits),
    "convert": (1, _convert_low_bits),
}
"""The operations that differ where only the lowest bits must be exact."""

_OPERATORS = {"and": "&", "or": "|", "xor": "^", "shr": ">>", "div": "/", "rem": "%"}
_COMPARISONS = {
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "lo": "<",
    "ls": "<=",
    "hi": ">",
    "hs": ">=",
}
