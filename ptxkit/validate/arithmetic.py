"""Arithmetic of integer constant expressions: 64 bits, as assemblers compute them.

Source: PTX ISA, "Constant Expressions" and "Integer Constant Expression Evaluation".
"""

from __future__ import annotations

import operator
from collections.abc import Callable

QUOTIENTS = frozenset({"/", "%"})

_SIGN = 1 << 63


def unary(sign: str, value: int) -> int:
    """The value of `-x`, `~x`, `!x`, `+x` or a cast."""
    return {"-": -value, "~": ~value, "!": int(not value)}.get(sign, value)


def binary(sign: str, left: int, right: int) -> int | None:
    """The value of an operation as a signed number of 64 bits; None for a division by zero."""
    if sign in QUOTIENTS and right == 0:
        return None
    found = int(_OPERATIONS[sign](left, right))
    return (found + _SIGN) % (2 * _SIGN) - _SIGN


def _quotient(left: int, right: int) -> int:
    """Rounded towards zero."""
    found = abs(left) // abs(right)
    return found if (left < 0) == (right < 0) else -found


_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _quotient,
    "%": lambda left, right: left - right * _quotient(left, right),
    "<<": lambda left, right: left << (right & 63),
    ">>": lambda left, right: left >> (right & 63),
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "&&": lambda left, right: bool(left) and bool(right),
    "||": lambda left, right: bool(left) or bool(right),
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
