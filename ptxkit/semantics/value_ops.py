"""Defines the value operations of `ptxkit.isa.effects` on integers.

The functions take the arguments of the notation in its order: widths, types and modes that the table fixes, and numbers
of which the bits of the operand's width count. They return the bits of the result as a number that is not negative, or
None where the manual does not define the result. The analyzer calls them, and tests compare them with its symbolic and
vectorized rules, and with the machine's functions on arrays. `WRAPPING`, `COMPARISONS`, `PRMT_SELECTORS` and
`bitwise_function` apply to both integers and arrays of numpy; this module does not import numpy.

Source: PTX ISA, "Integer Arithmetic Instructions", "Logic and Shift Instructions", "Integer and Bit-Size Comparisons",
"Comparison and Selection Instructions", "Data Movement and Conversion Instructions: prmt", "cvt".
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeAlias

from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.functions import bits, is_declarable

StaticArguments: TypeAlias = Sequence[Any]
"""The arguments of an operation that the table fixes, in their order."""

WRAPPING: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "not": operator.invert,
    "neg": operator.neg,
}
"""The operations whose result is the low bits of an operator's, for integers and arrays of unsigned types."""

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "lo": operator.lt,
    "ls": operator.le,
    "hi": operator.gt,
    "hs": operator.ge,
}
"""The comparisons of numbers as their type interprets them."""

NEGATED_COMPARISONS = {
    "eq": "ne",
    "ne": "eq",
    "lt": "ge",
    "ge": "lt",
    "le": "gt",
    "gt": "le",
    "lo": "hs",
    "hs": "lo",
    "ls": "hi",
    "hi": "ls",
}
"""The comparison that holds where another one does not."""

SWAPPED_COMPARISONS = {
    "eq": "eq",
    "ne": "ne",
    "lt": "gt",
    "gt": "lt",
    "le": "ge",
    "ge": "le",
    "lo": "hi",
    "hi": "lo",
    "ls": "hs",
    "hs": "ls",
}
"""The comparison that holds for the operands in the other order."""

PRMT_SELECTORS: dict[str, tuple[int, int, int, int]] = {
    "f4e": (0x3210, 0x4321, 0x5432, 0x6543),
    "b4e": (0x5670, 0x6701, 0x7012, 0x0123),
    "rc8": (0x0000, 0x1111, 0x2222, 0x3333),
    "ecl": (0x3210, 0x3211, 0x3222, 0x3333),
    "ecr": (0x0000, 0x1110, 0x2210, 0x3210),
    "rc16": (0x1010, 0x3232, 0x1010, 0x3232),
}
"""The selectors that are equivalent to a mode of `prmt`, by the mode and the low two bits of its third operand."""


def bit_mask(width: int) -> int:
    """Returns a number with `width` ones."""
    return (1 << width) - 1


def to_signed(value: int, width: int) -> int:
    """Returns the low `width` bits as a number in two's complement."""
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


def interpret(value: int, width: int, is_signed: bool) -> int:
    """Returns the number that the low `width` bits represent."""
    return to_signed(value, width) if is_signed else value & (1 << width) - 1


@cache
def integer_type(word: str) -> tuple[int, bool] | None:
    """Returns the width of an integer type such as `s32`, and whether it is signed; None for any other word."""
    return (bits(word), word[0] == "s") if is_declarable(word) and word[0] in "usb" else None


def _divide(width: int, is_signed: bool, a: int, b: int) -> tuple[int | None, int | None]:
    """Returns the quotient, rounded toward zero, and the remainder, with the sign of the dividend.

    Both are None for a division by zero.
    """
    dividend, divisor = interpret(a, width, is_signed), interpret(b, width, is_signed)
    if not divisor:
        return None, None
    quotient = abs(dividend) // abs(divisor) * (1 if (dividend < 0) == (divisor < 0) else -1)
    return quotient & bit_mask(width), dividend - quotient * divisor & bit_mask(width)


def _bfe(width: int, is_signed: bool, a: int, position: int, length: int) -> int:
    length = min(_field_operand(width, length), width)
    field = interpret(a, width, is_signed) >> _field_operand(width, position)
    return interpret(field, length, is_signed) & bit_mask(width) if length else 0


def _bfi(width: int, a: int, b: int, position: int, length: int) -> int:
    position = _field_operand(width, position)
    hole = bit_mask(_field_operand(width, length)) << position
    return (b & ~hole | a << position & hole) & bit_mask(width)


def _field_operand(width: int, value: int) -> int:
    """Returns the position or length of a field.

    According to the manual its low 8 bits count; of 64 bits, ptxas uses all.
    """
    return value & 0xFF if width == 32 else min(value & bit_mask(32), 0xFF)


def _funnel(direction: str, mode: str, a: int, b: int, n: int) -> int:
    whole = (b & 0xFFFF_FFFF) << 32 | a & 0xFFFF_FFFF
    count = min(n & 0xFFFF_FFFF, 32) if mode == "clamp" else n & 31
    return (whole << count >> 32 if direction == "l" else whole >> count) & 0xFFFF_FFFF


@cache
def bitwise_function(table: int) -> Callable[[Any, Any, Any], Any]:
    """Returns the bitwise function of three values with a table of eight results.

    Bit 4a+2b+c of the table is the result for the bits a, b and c.
    """
    there = _TWO_OPERAND_FUNCTIONS[sum((table >> (2 * pair + 1) & 1) << pair for pair in range(4))]
    absent = _TWO_OPERAND_FUNCTIONS[sum((table >> (2 * pair) & 1) << pair for pair in range(4))]
    if there is absent:
        return lambda a, b, _c: there(a, b)
    return lambda a, b, c: (there(a, b) & c) | (absent(a, b) & ~c)


_TWO_OPERAND_FUNCTIONS: dict[int, Callable[[Any, Any], Any]] = {
    0b0000: lambda a, _b: a ^ a,
    0b1111: lambda a, _b: ~(a ^ a),
    0b1100: lambda a, _b: a,
    0b1010: lambda _a, b: b,
    0b0011: lambda a, _b: ~a,
    0b0101: lambda _a, b: ~b,
    0b1000: lambda a, b: a & b,
    0b1110: lambda a, b: a | b,
    0b0110: lambda a, b: a ^ b,
    0b1001: lambda a, b: ~(a ^ b),
    0b0111: lambda a, b: ~(a & b),
    0b0001: lambda a, b: ~(a | b),
    0b0100: lambda a, b: a & ~b,
    0b0010: lambda a, b: b & ~a,
    0b1101: lambda a, b: a | ~b,
    0b1011: lambda a, b: b | ~a,
}
"""The bitwise functions of two values by their table of four results, of which bit 2a+b is that of the bits a and b."""


def _prmt(a: int, b: int, c: int, mode: str | None) -> int:
    source = (b & 0xFFFF_FFFF) << 32 | a & 0xFFFF_FFFF
    selectors = c if mode is None else PRMT_SELECTORS[mode][c & 3]
    result = 0
    for place in range(4):
        byte = source >> 8 * (selectors >> 4 * place & 7) & 0xFF
        if selectors >> 4 * place & 8:
            byte = 0xFF * (byte >> 7)
        result |= byte << 8 * place
    return result


def compare(test: str, type_: str, a: int, b: int) -> int | None:
    """Returns 1 where a comparison of two numbers of a type holds, else 0.

    The result is None where the type is not an integer type.
    """
    read = integer_type(type_)
    return None if read is None else int(COMPARISONS[test](interpret(a, *read), interpret(b, *read)))


def _convert(source: str, result: str, a: int) -> int | None:
    read, written = integer_type(source), integer_type(result)
    return None if read is None or written is None else interpret(a, *read) & bit_mask(written[0])


@dataclass(frozen=True, slots=True)
class IntegerOperation:
    """An operation of the notation.

    compute: computes the result as described at the top of this module. static: the positions of the arguments that the
    table fixes. operand_widths, result_width: return, from these, the widths of the other arguments, and of the result.
    """

    compute: Callable[..., int | None]
    static: tuple[int, ...]
    operand_widths: Callable[[StaticArguments], Sequence[int]]
    result_width: Callable[[StaticArguments], int]

    def operands(self, arguments: Sequence[Any]) -> list[Any]:
        """Returns the arguments of a call that the table does not fix."""
        return [each for at, each in enumerate(arguments) if at not in self.static]


def _wrapping(name: str) -> IntegerOperation:
    function = WRAPPING[name]
    return _of_width(1 if name in ("not", "neg") else 2, lambda w, *operands: function(*operands) & (1 << w) - 1)


def _of_width(count: int, compute: Callable[..., int | None]) -> IntegerOperation:
    """Returns an operation on operands of one width, which is the first argument."""
    return IntegerOperation(compute, (0,), lambda w: [w[0]] * count, lambda w: w[0])


def _of_sign(compute: Callable[..., int | None], times: int = 1) -> IntegerOperation:
    """Returns an operation on two operands, with a width and whether it is signed; the result is `times` as wide."""
    return IntegerOperation(compute, (0, 1), lambda w: [w[0]] * 2, lambda w: times * w[0])


def _of_words(compute: Callable[..., int | None], *static: int) -> IntegerOperation:
    """Returns an operation on three words, with a table or modes at some positions."""
    return IntegerOperation(compute, static, lambda _: [32] * 3, lambda _: 32)


INTEGER_OPERATIONS: dict[str, IntegerOperation] = {
    **{name: _wrapping(name) for name in WRAPPING},
    "copy": _of_width(1, lambda w, a: a & (1 << w) - 1),
    "abs": _of_width(1, lambda w, a: abs(to_signed(a, w))),
    "mul_wide": _of_sign(lambda w, s, a, b: interpret(a, w, s) * interpret(b, w, s) & bit_mask(2 * w), times=2),
    "mul_hi": _of_sign(lambda w, s, a, b: interpret(a, w, s) * interpret(b, w, s) >> w & bit_mask(w)),
    "div": _of_sign(lambda w, s, a, b: _divide(w, s, a, b)[0]),
    "rem": _of_sign(lambda w, s, a, b: _divide(w, s, a, b)[1]),
    "min": _of_sign(lambda w, s, a, b: min(interpret(a, w, s), interpret(b, w, s)) & bit_mask(w)),
    "max": _of_sign(lambda w, s, a, b: max(interpret(a, w, s), interpret(b, w, s)) & bit_mask(w)),
    "popc": IntegerOperation(lambda w, a: (a & bit_mask(w)).bit_count(), (0,), lambda w: [w[0]], lambda _: 32),
    "clz": IntegerOperation(lambda w, a: w - (a & bit_mask(w)).bit_length(), (0,), lambda w: [w[0]], lambda _: 32),
    "shl": IntegerOperation(
        lambda w, a, n: a << min(n & bit_mask(32), w) & bit_mask(w), (0,), lambda w: [w[0], 32], lambda w: w[0]
    ),
    "shr": IntegerOperation(
        lambda w, s, a, n: interpret(a, w, s) >> min(n & bit_mask(32), w) & bit_mask(w),
        (0, 1),
        lambda w: [w[0], 32],
        lambda w: w[0],
    ),
    "bfe": IntegerOperation(_bfe, (0, 1), lambda w: [w[0], 32, 32], lambda w: w[0]),
    "bfi": IntegerOperation(_bfi, (0,), lambda w: [w[0], w[0], 32, 32], lambda w: w[0]),
    "funnel": _of_words(_funnel, 0, 1),
    "lop3": _of_words(lambda a, b, c, table: bitwise_function(table & 255)(a, b, c) & bit_mask(32), 3),
    "prmt": _of_words(_prmt, 3),
    "select": IntegerOperation(
        lambda w, a, b, p: (a if p & 1 else b) & bit_mask(w), (0,), lambda w: [w[0], w[0], 1], lambda w: w[0]
    ),
    "compare": IntegerOperation(compare, (0, 1), lambda w: [bits(w[1])] * 2, lambda _: 1),
    "combine": IntegerOperation(lambda op, p, q: WRAPPING[op](p, q) & 1, (0,), lambda _: [1, 1], lambda _: 1),
    "convert": IntegerOperation(_convert, (0, 1), lambda w: [bits(w[0])], lambda w: bits(w[1])),
}
"""The operations that are computed only from their operands, by name."""
