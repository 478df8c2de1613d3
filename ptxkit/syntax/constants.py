"""Literals and constant expressions.

Source: PTX ISA, "Constants", "Constant Expressions", "Integer Constant Expression Evaluation".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ptxkit.diagnostics import Message
from ptxkit.diagnostics.catalogue import syntax_errors
from ptxkit.syntax.limits import MAX_DIGITS
from ptxkit.syntax.tree import Binary, Conditional, Directive, Float, Integer, Name, Operand, Unary

WARP_SIZE = 32
"""The number of threads of a warp, which PTX calls `WARP_SZ`."""
_MASK = (1 << 64) - 1
_INTEGER = r"0[xX][0-9a-fA-F]+U?|0[bB][01]+U?|0[0-7]*U?|[1-9][0-9]*U?"
_RESERVED = frozenset({"_", "WARP_SZ", "function_name", "inlined_at"})


class MalformedConstructError(ValueError):
    """The text conforms to the grammar but is invalid; the message states the reason, and `help` where to find the
    syntax.
    """

    help: Message | None = syntax_errors.SEE_CONSTANT_EXPRESSIONS()

    def __init__(self, message: Message) -> None:
        super().__init__(message)
        self.message = message


class MalformedDeclarationError(MalformedConstructError):
    """A declaration that is invalid in this sense; its message is complete."""

    help = None


class MalformedAddressError(MalformedConstructError):
    """The text in brackets is not an address."""

    help = syntax_errors.WRITE_NEGATIVE_OFFSET()


def require_plain_name(text: str, what: str) -> str:
    """Returns a declared name. Raises an error for an opcode, which has dots, and for the sink, which the grammar reads
    as names, too.
    """
    if "." in text:
        raise MalformedDeclarationError(syntax_errors.NAME_WITH_DOT(kind=what))
    if text in _RESERVED:
        raise MalformedDeclarationError(syntax_errors.NO_NAME(text=text, kind=what))
    return text


def parse_integer(text: str) -> Integer:
    """Returns the node of an integer literal: decimal, `0x`, `0b` or octal, with or without `U`.

    Raises `MalformedConstructError` if it needs more than 64 bits. A literal that overflows in its last digit only is
    accepted, as by ptxas, which then drops the upper bits.
    """
    digits = text.rstrip("U")
    base = {"0x": 16, "0X": 16, "0b": 2, "0B": 2}.get(digits[:2], 8 if digits[0] == "0" else 10)
    if base in (2, 16):
        digits = digits[2:]
    value = int(digits, base) if len(digits) <= MAX_DIGITS else _MASK + 1
    if value > _MASK:
        value = 0
        for digit in digits:
            if value >> 63:
                raise MalformedConstructError(syntax_errors.INTEGER_TOO_WIDE())
            value = (value * base + int(digit, base)) & _MASK
    return Integer(value, text)


def parse_number(text: str) -> int:
    """Returns the value of a number of a directive: an integer literal, or `WARP_SZ`."""
    return WARP_SIZE if text == "WARP_SZ" else parse_integer(text).value


def parse_constant(word: str) -> int | None:
    """Returns the value of a constant after a directive, 2**64 for a larger one, or None if the word is not a
    constant.
    """
    if len(word) < 10 and word[:1] != "0" and word.isascii() and word.isdigit():
        return int(word)  # most constants have this form
    if word == "WARP_SZ":
        return WARP_SIZE
    if not re.fullmatch(_INTEGER, word):
        return None
    try:
        return parse_integer(word).value
    except MalformedConstructError:
        return 1 << 64


def directive_constants(directive: Directive | None) -> tuple[int, ...]:
    """Returns the constants after a directive such as `.reqntid`, or nothing if it is absent or has other words."""
    words = directive.words if directive is not None else ()
    return tuple(value for word in words if (value := parse_constant(word)) is not None)


def parse_decimal_float(text: str) -> Float:
    """Returns the node of `1.5`, `.5`, `1e-3`; such a literal is always a double."""
    import struct  # few modules have such a literal

    return Float(int.from_bytes(struct.pack(">d", float(text)), "big"), 64, text)


def parse_bits_float(text: str) -> Float:
    """Returns the node of `0f3F800000` (32 bits) or `0d3FF0000000000000` (64 bits)."""
    return Float(int(text[2:], 16), 32 if text[1] in "fF" else 64, text)


def evaluate(expression: Operand) -> int | None:
    """Returns the value of an integer constant expression, or None if it is not one, or divides by zero.

    Signed (`.s64`) results are in -2**63..2**63-1, unsigned (`.u64`) ones in 0..2**64-1.
    """
    found = _evaluate_typed(expression)
    return None if found is None else found[0]


_Typed = tuple[int, bool]
"""A value and whether it is unsigned."""


def _wrap(value: int, unsigned: bool) -> _Typed:
    value &= _MASK
    return (value, True) if unsigned else (value - (1 << 64) if value >> 63 else value, False)


def _evaluate_typed(expression: Operand) -> _Typed | None:
    match expression:
        case Integer(value, text):
            return value & _MASK, text.endswith("U") or value >> 63 != 0
        case Name("WARP_SZ"):
            return WARP_SIZE, False
        case Unary(operator, operand):
            inner = _evaluate_typed(operand)
            return None if inner is None else _evaluate_unary(operator, *inner)
        case Binary(operator, left, right):
            first, second = _evaluate_typed(left), _evaluate_typed(right)
            if first is None or second is None:
                return _compare_doubles(operator, left, right)
            return _evaluate_binary(operator, first, second)
        case Conditional(test, then, otherwise):
            chosen, first, second = _evaluate_typed(test), _evaluate_typed(then), _evaluate_typed(otherwise)
            if chosen is None or first is None or second is None:
                return None
            return _wrap((first if chosen[0] else second)[0], first[1] or second[1])
        case _:
            return None


def _evaluate_unary(operator: str, value: int, unsigned: bool) -> _Typed | None:
    match operator:
        case "-":
            return _wrap(-value, unsigned)
        case "+":
            return value, unsigned
        case "!":
            return int(value == 0), False
        case "~" | "(.u64)":
            return _wrap(~value if operator == "~" else value, True)
        case "(.s64)":
            return _wrap(value, False)
        case _:
            return None


def _compare_doubles(operator: str, left: Operand, right: Operand) -> _Typed | None:
    """Compares two doubles, which is an integer constant as well."""
    if operator not in _COMPARISONS:
        return None
    first, second = _evaluate_double(left), _evaluate_double(right)
    return None if first is None or second is None else (int(_COMPARISONS[operator](first, second)), False)


def _evaluate_double(expression: Operand) -> float | None:
    match expression:
        case Float(bits, 64):
            import struct

            return float(struct.unpack(">d", bits.to_bytes(8, "big"))[0])
        case Unary("-" | "+" as operator, operand):
            inner = _evaluate_double(operand)
            return None if inner is None else -inner if operator == "-" else inner
        case Binary("+" | "-" | "*" | "/" as operator, left, right):
            first, second = _evaluate_double(left), _evaluate_double(right)
            if first is None or second is None or (operator == "/" and second == 0):
                return None
            if operator == "/":
                return first / second
            return float(_ARITHMETIC[operator](first, second))
    return None


def _quotient(left: int, right: int) -> int:
    """Returns a quotient that is truncated toward zero, as in C."""
    magnitude = abs(left) // abs(right)
    return -magnitude if (left < 0) != (right < 0) else magnitude


_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


def _evaluate_binary(operator: str, first: _Typed, second: _Typed) -> _Typed | None:
    unsigned = first[1] or second[1]
    left, right = (_wrap(value, unsigned)[0] for value, _ in (first, second))
    if operator in _ARITHMETIC:
        return _wrap(_ARITHMETIC[operator](left, right), unsigned)
    if operator in _COMPARISONS:
        return int(_COMPARISONS[operator](left, right)), False
    match operator:
        case "&&":
            return int(left != 0 and right != 0), False
        case "||":
            return int(left != 0 or right != 0), False
        case "/" if right:
            return _wrap(_quotient(left, right), unsigned)
        case "%" if right:
            return _wrap((first[0] & _MASK) % (second[0] & _MASK), False)
        case "<<" | ">>":
            # A shift by the width or more is zero; the bound limits the size of the arithmetic.
            count = min(second[0] & _MASK, 64)
            value = first[0] << count if operator == "<<" else first[0] >> count
            return _wrap(value, first[1])
        case _:
            return None
