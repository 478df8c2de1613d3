"""Fractions of counters of unknown size: quotients and multiples of a number that is a multiple of the divisor.

Compilers divide by a constant with a multiplication by its reciprocal: the upper half of the product of `x` and
`ceil(2**(width + shift) / d)` is the quotient of `x * 2**shift` and `d`, unless `x` is almost as large as its type.

Source: Granlund and Montgomery, "Division by Invariant Integers using Multiplication".
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import floor

from ptxkit.analysis.values.uniform_terms import Atom, UniformTerm, atom
from ptxkit.semantics.value_ops import bit_mask, interpret

#: The largest divisor and the largest shift of a reciprocal, and the largest error of its product with the divisor.
_MOST_DIVISOR, _MOST_SHIFT, _MOST_ERROR = 64, 6, 64
#: The smallest width of a product whose upper half is a quotient.
_LEAST_WIDTH = 32


def is_counter(term: UniformTerm, width: int) -> bool:
    """Returns whether a term of some width is a counter, or a fraction of one, plus an offset, and is not negative."""
    base = _base(term.atom)
    if base.key[0] != "large" or not isinstance(term.offset, int):
        return False
    least = base.key[1]
    assert isinstance(least, int)
    return -(least * _part(term.atom)) <= interpret(term.offset, width, True) < 1 << 30


def has_multiples(term: UniformTerm) -> bool:
    """Returns whether products of a term and a constant are multiples of one unknown, so that they can be compared."""
    return _base(term.atom).key[0] in ("large", "symbol") and isinstance(term.offset, int)


def _base(unknown: Atom) -> Atom:
    inner = unknown.key[1] if unknown.key[0] == "fraction" else unknown
    assert isinstance(inner, Atom)
    return inner


def _part(unknown: Atom) -> Fraction:
    """Returns how large a part of its counter an unknown is."""
    return Fraction(*(int(str(each)) for each in unknown.key[2:])) if unknown.key[0] == "fraction" else Fraction(1)


def fraction_of(term: UniformTerm, factor: Fraction, width: int) -> UniformTerm | None:
    """Returns the part of a counter, rounded down; None if its size is not a multiple of the divisor."""
    multiple = term.multiple * factor
    if multiple.denominator != 1 or not isinstance(term.offset, int):
        return None
    base, whole = _base(term.atom), _part(term.atom) * factor
    found = base if whole == 1 else atom("fraction", base, whole.numerator, whole.denominator)
    return UniformTerm(found, floor(interpret(term.offset, width, True) * factor) & bit_mask(width), int(multiple))


@lru_cache(maxsize=256)
def reciprocal(number: int, width: int) -> Fraction | None:
    """Returns the fraction that the upper half of the product with a number is; None for any other number.

    It is exact for counters below 2**26, whose error is then less than the distance to the next quotient.
    """
    if width < _LEAST_WIDTH or number <= 0:
        return None
    for shift in range(_MOST_SHIFT + 1):
        power = 1 << (width + shift)
        divisor = -(-power // number)
        for each in (divisor, divisor - 1):
            if 2 < each <= _MOST_DIVISOR and 0 < number * each - power <= _MOST_ERROR:
                return Fraction(1 << shift, each)
    return None


def divisor_of(constant: int, *, is_reciprocal: bool) -> int | None:
    """Returns the odd part of the number by which an operation with a constant divides; None if that is 1, or unknown.

    is_reciprocal: whether the operation multiplies by a reciprocal.
    """
    if constant >> 63 == 1:
        constant -= 1 << 64  # how a negative number is written to a register of 64 bits
    divisor = abs(constant)
    if is_reciprocal:
        widths = (32, 64) if abs(constant) < 1 << 32 else (64,)
        found = (reciprocal(constant % (1 << width), width) for width in widths)
        divisor = next((each.denominator for each in found if each is not None), 1)
    divisor //= (divisor & -divisor) or 1
    return divisor if 1 < divisor <= _MOST_DIVISOR else None
