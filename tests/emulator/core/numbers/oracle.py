"""Computes the same codes independently, with fractions of integers, one value at a time."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ptxkit.emulator.core.numbers.formats import F64, Format

EDGES = {
    "f64": """
        0 1 2 FFFFFFFFFFFFF 10000000000000 10000000000001 3CA0000000000000 3FF0000000000000 3FF0000000000001
        3FE5555555555555 4330000000000001 7FE0000000000000 7FEFFFFFFFFFFFFF 7FF0000000000000 7FF8000000000000
        7FF0000000000001
    """,
    "f32": """
        0 1 2 7FFFFF 800000 800001 1000000 33800000 3EAAAAAB 3F800000 3F800001 4B800001 7F000000 7F7FFFFF 7F800000
        7FC00000 7F800001
    """,
}
"""Codes of special values: zero, subnormal, normal, one, the largest, infinite, NaN, and their negatives."""


def operands(fmt: Format, count: int, seed: int) -> NDArray[np.unsignedinteger]:
    """Random codes: any pattern, numbers near one and edges, in random order."""
    generator = np.random.default_rng(seed)
    any_code = generator.integers(0, 1 << fmt.width, count, dtype=np.uint64)
    edges = np.array([int(code, 16) for code in EDGES[fmt.name].split()], np.uint64)
    edges = np.concatenate([edges, edges | np.uint64(fmt.sign)])
    near = np.ldexp(generator.standard_normal(count), generator.integers(-20, 20, count))
    near_codes = near.view(np.uint64) if fmt is F64 else near.astype(np.float32).view(np.uint32).astype(np.uint64)
    choice = generator.integers(0, 3, count)
    mixed = np.where(choice == 0, any_code, np.where(choice == 1, near_codes, generator.choice(edges, count)))
    return mixed.astype(fmt.dtype)


def fraction(fmt: Format, code: int) -> Fraction | None:
    """Returns a finite code's value; None for infinities and NaNs."""
    code >>= fmt.shift
    magnitude = code & (fmt.sign - 1) if fmt.signed else code
    if magnitude > fmt.maximum:
        return None
    field, rest = divmod(magnitude, 1 << fmt.fraction_bits)
    if field or not fmt.fraction_bits:
        rest += 1 << fmt.fraction_bits
    exponent = (field if field or not fmt.fraction_bits else 1) - fmt.bias - fmt.fraction_bits
    value = Fraction(rest) * Fraction(2) ** exponent
    return -value if code & fmt.sign else value


def nearest(fmt: Format, value: Fraction, rounding: str, negative_zero: bool = False) -> int:
    """Returns the code of a value by one rounding, as IEEE 754 specifies."""
    sign = fmt.sign << fmt.shift if value < 0 or (value == 0 and negative_zero) else 0
    magnitude = abs(value)
    if magnitude == 0:
        return sign
    exponent = max(_exponent(magnitude), fmt.smallest_exponent)
    quantum = Fraction(2) ** (exponent - fmt.fraction_bits)
    steps = _whole(magnitude / quantum, rounding, bool(sign))
    if steps == 2 << fmt.fraction_bits:
        exponent, steps = exponent + 1, steps >> 1
    if steps < 1 << fmt.fraction_bits:
        return sign | steps << fmt.shift
    code = ((exponent + fmt.bias) << fmt.fraction_bits) + steps - (1 << fmt.fraction_bits)
    if code > fmt.maximum:
        inwards = rounding == "rz" or (rounding == "rm" and not sign) or (rounding == "rp" and bool(sign))
        code = fmt.maximum if inwards or fmt.infinity is None else fmt.infinity
    return sign | code << fmt.shift


def _exponent(magnitude: Fraction) -> int:
    guess = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    return guess if Fraction(2) ** guess <= magnitude else guess - 1


def _whole(value: Fraction, rounding: str, negative: bool) -> int:
    floor = math.floor(value)
    rest = value - floor
    match rounding:
        case "rz":
            return floor
        case "rm":
            return floor + (negative and rest > 0)
        case "rp":
            return floor + (not negative and rest > 0)
        case "rna":
            return floor + (rest >= Fraction(1, 2))
    return round(value)
