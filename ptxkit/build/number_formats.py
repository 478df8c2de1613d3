"""The bits of numbers in the floating-point formats for which PTX has no constants: half precision and 8 bits.

An instruction on such values takes registers only, so a number is moved to a register as bits of the operand's type.

Source: PTX ISA, "Alternate Floating-Point Data Formats", "Packed Floating Point Data Types", "Constants".
"""

from __future__ import annotations

import math

from ptxkit.build.errors import BuildValueError
from ptxkit.fast_dataclasses import dataclass
from ptxkit.kernel_model.scalar_types import Scalar


@dataclass(frozen=True, slots=True)
class NarrowFormat:
    """A format with a sign, `fraction_bits`, and an exponent with the given `bias`.

    `largest` is the code of the largest finite number, `nan` that of a NaN, and `infinity` that of infinity, or None if
    the format has none.
    """

    fraction_bits: int
    bias: int
    largest: int
    nan: int
    infinity: int | None = None


NARROW_FORMATS = {
    "f16": NarrowFormat(10, 15, 0x7BFF, 0x7FFF, 0x7C00),
    "bf16": NarrowFormat(7, 127, 0x7F7F, 0x7FFF, 0x7F80),
}
"""The formats by the PTX words of their types."""


def needs_register(scalar: type[Scalar]) -> bool:
    """Returns whether PTX has no constants of this floating-point type, so that a number must be moved to a register as
    bits.
    """
    return scalar.word.removesuffix("x2") in NARROW_FORMATS


def encode_number(value: float, scalar: type[Scalar]) -> int:
    """Returns the bits of a number in a type that `needs_register`, rounded to the nearest even one. Both parts of a
    packed type get the number.

    Raises `BuildValueError` for a number that is beyond the largest of the type.
    """
    word = scalar.word.removesuffix("x2")
    layout = NARROW_FORMATS[word]
    width = scalar.bits // (2 if scalar.word.endswith("x2") else 1)
    code = _encode_magnitude(abs(value), layout)
    if code is None:
        raise BuildValueError(f"{value} is beyond the largest number of .{word}")
    code |= (math.copysign(1.0, value) < 0) << (width - 1)
    return code if width == scalar.bits else code << width | code


def _encode_magnitude(value: float, layout: NarrowFormat) -> int | None:
    """Returns the code of a number without sign, or None if the format has none."""
    if math.isnan(value):
        return layout.nan
    if math.isinf(value):
        return layout.infinity
    if value == 0:
        return 0
    exponent = max(math.frexp(value)[1] - 1, 1 - layout.bias)
    units = round(math.ldexp(value, layout.fraction_bits - exponent))  # exact, then to the nearest even integer
    code = units + (exponent + layout.bias - 1 << layout.fraction_bits)
    return code if code <= layout.largest else None
