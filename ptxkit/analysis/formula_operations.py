"""The value operations of the instruction table on formulas: sums where it can be one, else an unknown that says which.

The operations are listed in `ptxkit.isa.effects`. What would be too long to read gives None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ptxkit.analysis.sums import Sum
from ptxkit.analysis.terms import mask, signed
from ptxkit.isa.expressions import Const, Expression
from ptxkit.records import dataclass, replace

MAX_TEXT = 80
"""Characters of an unknown that is itself a formula."""

Word: TypeAlias = "int | float | str | bool | None"
"""What the table fixed: a width, a type, a mode."""


@dataclass(frozen=True, slots=True)
class Formula:
    """A value. space: the state space that it is an address in, None for a number. generic: it is a generic address.

    truth: of a predicate, the condition in words instead of the sum.
    """

    sum: Sum
    space: str | None = None
    generic: bool = False
    truth: str = ""

    def __str__(self) -> str:
        return self.truth or str(self.sum)


def unknown(text: str) -> Formula:
    """A value that is known by a name alone. (What stands behind `#` tells blocks of one function apart.)"""
    return Formula(Sum.unknown(text.partition("#")[0]))


def words_of(arguments: Sequence[Expression]) -> tuple[Word, ...]:
    """The constants among the arguments of an operation."""
    return tuple(each.value for each in arguments if isinstance(each, Const))


def operands_of(function: str, arguments: Sequence[Expression]) -> list[Expression]:
    """The arguments of an operation that are values: not its width, its type or its mode, which come first."""
    fixed = _FIXED.get(function, 1)
    return list(arguments[fixed:])


_FIXED = {"convert": 2, "compare": 2, "mul_wide": 2, "mul_hi": 2, "div": 2, "rem": 2, "shr": 2, "min": 2, "max": 2}
"""How many arguments are no values, where it is not one."""


def operation(function: str, words: Sequence[Word], operands: Sequence[Formula]) -> Formula | None:
    """What an operation gives; None where that cannot be said in a few words."""
    made = _OPERATIONS.get(function)
    if made is not None and len(operands) == made[0]:
        return made[1](words, *operands)
    if function in _OPERATORS and len(operands) == 2:
        return _written(_OPERATORS[function], *operands)
    return None


# ------------------------------------------------------------------------------------------------- sums


def _width(words: Sequence[Word]) -> int:
    return words[0] if words and isinstance(words[0], int) else 64


def _copy(words: Sequence[Word], a: Formula) -> Formula:
    number = a.sum.number
    if _width(words) == 1 and number is not None and not a.truth:
        return Formula(Sum(), truth="true" if number else "false")
    return a


def _add(words: Sequence[Word], a: Formula, b: Formula) -> Formula:
    """The sum; an address, where one of the two is."""
    total = a.sum.plus(b.sum).within(_width(words))
    if a.space is not None and b.space is not None:
        return Formula(total)
    address = a if a.space is not None else b
    return Formula(total, address.space, address.generic)


def _sub(words: Sequence[Word], a: Formula, b: Formula) -> Formula:
    less = Formula(b.sum.times(-1))
    return _add(words, a if b.space is None else Formula(a.sum), less)


def _neg(words: Sequence[Word], a: Formula) -> Formula:
    return Formula(a.sum.times(-1).within(_width(words)))


def _mul(words: Sequence[Word], a: Formula, b: Formula) -> Formula | None:
    return _multiplied(a.sum, b.sum, _width(words))


def _mul_wide(words: Sequence[Word], a: Formula, b: Formula) -> Formula | None:
    kind = f"{'s' if words[1] else 'u'}{_width(words)}"
    return _multiplied(_extended(a, kind), _extended(b, kind), 2 * _width(words))


def _multiplied(a: Sum, b: Sum, width: int) -> Formula | None:
    found = a.product(b)
    return None if found is None else Formula(found.within(width))


def _shl(words: Sequence[Word], a: Formula, b: Formula) -> Formula | None:
    by = b.sum.number
    if by is None or b.truth:
        return _written("<<", a, b)
    return Formula(a.sum.times(1 << by).within(_width(words))) if 0 <= by < _width(words) else Formula(Sum())


def _not(words: Sequence[Word], a: Formula) -> Formula:
    if a.truth:
        return replace(a, truth=f"not ({a.truth})")
    if _width(words) == 1:
        return Formula(Sum(), truth=f"not {a}")
    return Formula(a.sum.times(-1).plus(Sum.constant(-1)).within(_width(words)))


# ------------------------------------------------------------------------------------------------- widths


def _extended(a: Formula, kind: str) -> Sum:
    """The number in more bits: of a sum, which may have wrapped before, an unknown of its own."""
    number, width = a.sum.number, int(kind[1:])
    if number is not None:
        return Sum.constant(signed(number, width) if kind[0] == "s" else number & mask(width))
    return a.sum if a.sum.is_single else unknown(f"{kind}({a})").sum


def _convert(words: Sequence[Word], a: Formula) -> Formula | None:
    have, want = str(words[0]), str(words[1])
    if have[0] not in "usb" or want[0] not in "usb" or not (have[1:].isdecimal() and want[1:].isdecimal()):
        return None
    if int(want[1:]) <= int(have[1:]):
        return replace(a, sum=a.sum.within(int(want[1:])))
    return replace(a, sum=_extended(a, have))


# ------------------------------------------------------------------------------------------------- addresses


def _to_generic(words: Sequence[Word], a: Formula) -> Formula:
    return replace(a, space=str(words[0]), generic=True)


def _from_generic(words: Sequence[Word], a: Formula) -> Formula:
    return replace(a, space=str(words[0]), generic=False)


def _map_rank(_: Sequence[Word], a: Formula, rank: Formula) -> Formula | None:
    text = f"mapa({a}, {rank})"
    return replace(unknown(text), space="shared::cluster") if len(text) <= MAX_TEXT else None


# ------------------------------------------------------------------------------------------------- in words


def _compare(words: Sequence[Word], a: Formula, b: Formula) -> Formula | None:
    sign = _COMPARISONS.get(str(words[0]))
    text = f"{a} {sign} {b}"
    return Formula(Sum(), truth=text) if sign is not None and len(text) <= MAX_TEXT else None


def _combine(words: Sequence[Word], a: Formula, b: Formula) -> Formula | None:
    text = f"({a}) {words[0]} ({b})"
    return Formula(Sum(), truth=text) if len(text) <= MAX_TEXT else None


def _written(sign: str, a: Formula, b: Formula) -> Formula | None:
    text = f"({_inside(a)} {sign} {_inside(b)})"
    return unknown(text) if len(text) <= MAX_TEXT and not (a.truth or b.truth) else None


def _inside(formula: Formula) -> str:
    return str(formula) if formula.sum.is_single else f"({formula})"


_OPERATIONS: dict[str, tuple[int, Callable[..., Formula | None]]] = {
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
    "map_rank": (2, _map_rank),
    "compare": (2, _compare),
    "combine": (2, _combine),
}
"""By name: how many values it takes, and what gives the formula."""

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
