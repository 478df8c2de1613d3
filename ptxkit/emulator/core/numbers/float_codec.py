"""Conversion between codes and values: every format narrower than f64 is computed in f64, and rounded once at the
end.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from ptxkit.emulator.core.numbers.formats import Bits, Format, Reals
from ptxkit.emulator.core.numbers.rounding import pack

_FRACTION = np.uint64(0x000F_FFFF_FFFF_FFFF)
_HIDDEN = np.uint64(0x0010_0000_0000_0000)
_F64_BIAS = 1023
_F64_SMALLEST = -1022


def is_nan(fmt: Format, codes: Bits) -> NDArray[np.bool_]:
    """Returns whether each code is NaN."""
    magnitude = magnitudes(fmt, codes)
    if fmt.infinity is not None:
        return cast(NDArray[np.bool_], magnitude > magnitude.dtype.type(fmt.infinity << fmt.shift))
    if fmt.nan is None:
        return np.zeros(np.shape(codes), bool)
    return cast(NDArray[np.bool_], magnitude > magnitude.dtype.type(fmt.maximum << fmt.shift))


def magnitudes(fmt: Format, codes: Bits) -> Bits:
    """Returns the codes without their signs."""
    if not fmt.sign:
        return codes
    return cast(Bits, codes & codes.dtype.type((fmt.sign - 1) << fmt.shift))


def widen(fmt: Format, codes: Bits) -> Reals:
    """Returns the exact values; NaNs become one NaN. tf32 is in the upper 19 bits of its register."""
    if fmt.name == "f64":
        return codes.view(np.float64)
    if fmt.name == "f32":
        return codes.view(np.float32).astype(np.float64)
    if fmt.name == "f16":
        return codes.view(np.float16).astype(np.float64)
    if fmt.name == "bf16":
        return (codes.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)
    if fmt.name == "tf32":
        return cast(Reals, (codes & np.uint32(0xFFFF_E000)).view(np.float32).astype(np.float64))
    return cast(Reals, _value_table(fmt)[codes & codes.dtype.type((1 << fmt.width) - 1)])


def _decode(fmt: Format, codes: Bits) -> Reals:
    """Returns the values of codes of eight bits or less."""
    magnitude = magnitudes(fmt, codes)
    field = (magnitude >> np.uint64(fmt.fraction_bits)).astype(np.int64)
    fraction = (magnitude & np.uint64((1 << fmt.fraction_bits) - 1)).astype(np.float64)
    normal = np.where((field > 0) | (fmt.fraction_bits == 0), float(1 << fmt.fraction_bits), 0.0)
    exponent = np.where(normal > 0, field - fmt.bias, fmt.smallest_exponent) - fmt.fraction_bits
    values = np.ldexp(fraction + normal, exponent.astype(np.int32))
    if fmt.infinity is not None:
        values = np.where(magnitude == np.uint64(fmt.infinity), np.inf, values)
    values = np.where(is_nan(fmt, codes), np.nan, values)
    return np.where(codes & np.uint64(fmt.sign) != 0, -values, values)


_VALUE_TABLES: dict[str, Reals] = {}


def _value_table(fmt: Format) -> Reals:
    """Returns all values of a format of eight bits or less."""
    found = _VALUE_TABLES.get(fmt.name)
    if found is None:
        found = _VALUE_TABLES[fmt.name] = _decode(fmt, np.arange(1 << fmt.width, dtype=np.uint64))
    return found


def narrow(
    fmt: Format,
    values: Reals,
    rounding: str = "rn",
    *,
    satfinite: bool = False,
    random: tuple[NDArray[np.uint64], int] | None = None,
) -> Bits:
    """Returns the values' codes. A NaN becomes the format's, or its largest number if it has none.

    The values must be exact, or rounded to odd (`add_round_to_odd`), so that this is the only rounding.
    """
    values = np.asarray(values, np.float64)
    if rounding == "rn" and not satfinite and fmt.name in ("f32", "f16"):
        native = values.astype(np.float32 if fmt.name == "f32" else np.float16)
        codes = native.view(fmt.dtype)
        return np.where(np.isnan(native), fmt.dtype(fmt.nan or 0), codes)
    if rounding == "rn" and fmt.infinity is not None and not satfinite and fmt.name != "f64":
        normal = _encode_normal(fmt, values)
        if normal is not None:
            return normal
    negative, exponent, significand = decompose(values)
    if not fmt.signed:
        negative = np.zeros_like(negative)  # a format without sign keeps the absolute value
    codes = pack(fmt, rounding, negative, exponent, significand, satfinite=satfinite, random=random)
    codes = np.where(np.isinf(values), _infinity_code(fmt, negative, satfinite), codes)
    not_a_number = fmt.maximum if fmt.nan is None else fmt.nan
    return np.where(np.isnan(values), fmt.dtype(not_a_number << fmt.shift), codes)


def _encode_normal(fmt: Format, values: Reals) -> Bits | None:
    """Returns the codes of normal numbers and zeros from their bits, or None if there are others."""
    bits = values.view(np.uint64)
    magnitude = bits & np.uint64((1 << 63) - 1)
    low, high = ((fmt.smallest_exponent + _F64_BIAS) << 52, (fmt.bias + 1 + _F64_BIAS) << 52)
    inside = magnitude - np.uint64(low) < np.uint64(high - low)
    if not inside.all() and not (inside | (magnitude == 0)).all():
        return None
    cut = np.uint64(52 - fmt.fraction_bits)
    rounded = magnitude + (np.uint64((1 << 51 - fmt.fraction_bits) - 1) + (magnitude >> cut & np.uint64(1)))
    codes = np.where(inside, (rounded >> cut) - np.uint64((_F64_BIAS - fmt.bias) << fmt.fraction_bits), np.uint64(0))
    sign = bits >> np.uint64(63) << np.uint64(fmt.exponent_bits + fmt.fraction_bits)
    return cast(Bits, ((codes | sign) << np.uint64(fmt.shift)).astype(fmt.dtype))


def _infinity_code(fmt: Format, negative: NDArray[np.bool_], satfinite: bool) -> Bits:
    """Returns the code of an infinity: itself, or NaN, or the largest finite number."""
    code = fmt.infinity if fmt.infinity is not None else fmt.nan
    if satfinite or code is None:
        code = fmt.maximum
    elif fmt.infinity is None:
        return np.full(np.shape(negative), code << fmt.shift, fmt.dtype)
    codes = np.where(negative, fmt.dtype(code | fmt.sign), fmt.dtype(code))
    return cast(Bits, codes << fmt.dtype(fmt.shift))


def decompose(values: Reals) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.uint64]]:
    """Returns sign, exponent and significand of finite doubles, for `pack`."""
    bits = np.asarray(values, np.float64).view(np.uint64)
    field = ((bits >> np.uint64(52)) & np.uint64(0x7FF)).astype(np.int64)
    fraction = bits & _FRACTION
    subnormal = (field == 0) & (fraction != 0)
    significand = np.where(field == 0, fraction, fraction | _HIDDEN) << np.uint64(11)
    exponent = np.where(field == 0, _F64_SMALLEST, field - _F64_BIAS)
    if subnormal.any():
        # Scaled by 2**64 they are normal, which determines their leading zeros.
        scaled = np.abs(np.asarray(values)) * 2.0**64
        wide = np.where(subnormal, scaled, 1.0).view(np.uint64)
        significand = np.where(subnormal, ((wide & _FRACTION) | _HIDDEN) << np.uint64(11), significand)
        shifted = ((wide >> np.uint64(52)) & np.uint64(0x7FF)).astype(np.int64) - _F64_BIAS - 64
        exponent = np.where(subnormal, shifted, exponent)
    return (bits >> np.uint64(63)).astype(bool), exponent, significand


def two_sum(a: Reals, b: Reals) -> tuple[Reals, Reals]:
    """Returns a + b rounded to nearest, and the exact rounding error; both and their sum are finite (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def add_round_to_odd(a: Reals, b: Reals) -> Reals:
    """Returns a + b rounded to odd: if bits are cut off, the last bit of the result is set.

    Rounding it again to at least two bits less is equivalent to one rounding of the exact sum (Boldo, Melquiond).
    """
    total, lost = two_sum(np.asarray(a), np.asarray(b))
    return round_to_odd(total, lost)


def round_to_odd(total: Reals, lost: Reals) -> Reals:
    """Converts a result rounded to nearest to the one rounded to odd. `lost` has the sign of the rounding error."""
    bits = np.asarray(total).view(np.uint64)
    even = (bits & np.uint64(1)) == 0
    wrong = even & (lost != 0) & np.isfinite(total)
    if not wrong.any():
        return total
    outwards = (lost > 0) == (total > 0)
    return np.where(wrong, np.where(outwards, bits + np.uint64(1), bits - np.uint64(1)), bits).view(np.float64)


def fix_zero_sign(result: Reals, a: Reals, b: Reals, rounding: str) -> Reals:
    """Returns a sum, with -0 for an exact zero if rounding is downward, unless both operands are +0."""
    if rounding != "rm":
        return result
    positive = ~np.signbit(a) & ~np.signbit(b)
    return np.where((result == 0) & ~positive, -0.0, result)
