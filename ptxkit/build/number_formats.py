"""The bits of floating-point numbers: constants of PTX, and the formats for which PTX has none.

PTX has constants of 32 and 64 bits. An instruction on half precision values takes registers only, so a number is moved
to a register as bits of the operand's type.

Source: PTX ISA, "Alternate Floating-Point Data Formats", "Packed Floating Point Data Types", "Constants".
"""

from __future__ import annotations

import math
import struct

from ptxkit.build.errors import BuildTypeError, BuildValueError
from ptxkit.fast_dataclasses import dataclass
from ptxkit.kernel_model.scalar_types import FloatScalar, Scalar, f32, f64
from ptxkit.syntax import tree


@dataclass(frozen=True, slots=True)
class FloatFormat:
    """A format with a sign, `fraction_bits`, and an exponent with the given `bias`.

    `largest` is the code of the largest finite number, `nan` that of a NaN, and `infinity` that of infinity, or None if
    the format has none.
    """

    fraction_bits: int
    bias: int
    largest: int
    nan: int
    infinity: int | None = None


FLOAT_FORMATS = {
    "f32": FloatFormat(23, 127, 0x7F7F_FFFF, 0x7FFF_FFFF, 0x7F80_0000),
    "f16": FloatFormat(10, 15, 0x7BFF, 0x7FFF, 0x7C00),
    "bf16": FloatFormat(7, 127, 0x7F7F, 0x7FFF, 0x7F80),
    "e5m2": FloatFormat(2, 15, 0x7B, 0x7F, 0x7C),
    "e4m3": FloatFormat(3, 7, 0x7E, 0x7F),
}
"""The formats by the PTX words of their types, which packed types have twice."""


def needs_register(scalar: type[Scalar]) -> bool:
    """Returns whether PTX has no constants of this floating-point type, so that a number must be moved to a register as
    bits.
    """
    return issubclass(scalar, FloatScalar) and scalar not in (f32, f64)


def check_number(value: object, scalar: type[Scalar]) -> None:
    """Raises `BuildTypeError` for what is not a number of the type, and `BuildValueError` for an integer that does not
    fit.
    """
    kinds = int | float if scalar.family == "f" else int
    if isinstance(value, bool) or not isinstance(value, kinds):
        raise BuildTypeError(f"{value!r} is not a number of type .{scalar.word}")
    if scalar.family == "f":
        return
    least = 0 if scalar.family == "u" else -(1 << (scalar.bits - 1))
    most = (1 << (scalar.bits - (scalar.family == "s"))) - 1
    if not least <= value <= most:
        raise BuildValueError(f"{value!r} does not fit in .{scalar.word} ({least}..{most})")


def encode_number(value: float, scalar: type[Scalar]) -> int:
    """Returns the bits of a number in a type that `needs_register`, rounded to the nearest even one. Both parts of a
    packed type get the number.

    Raises `BuildValueError` for a number that is beyond the largest of the type, as infinity is in e4m3.
    """
    word = scalar.word.removesuffix("x2")
    layout = FLOAT_FORMATS[word]
    width = scalar.bits // (2 if scalar.word.endswith("x2") else 1)
    code = _encode_magnitude(abs(value), layout)
    if code is None:
        raise BuildValueError(f"{value} is beyond the largest number of .{word}")
    code |= (math.copysign(1.0, value) < 0) << (width - 1)
    return code if width == scalar.bits else code << width | code


def _encode_magnitude(value: float, layout: FloatFormat) -> int | None:
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


def float_operand(value: float, width: int) -> tree.Float:
    """Returns a floating-point constant as its exact bits. Raises `OverflowError` if it does not fit the width."""
    if width == 64:
        bits = int.from_bytes(struct.pack(">d", value), "big")
        return tree.Float(bits, 64, f"0d{bits:016X}")
    try:
        packed = struct.pack(">f", value)
    except OverflowError:
        packed = struct.pack(">f", math.copysign(math.inf, value))
    bits = int.from_bytes(packed, "big")
    return tree.Float(bits, 32, f"0f{bits:08X}")
