"""The values of NaN results, and zeros for flushed subnormal numbers.

Instructions of all formats but f64 return one NaN (`Format.nan`); those of f64 keep the payload of the last operand
that is a NaN, made quiet. This is the behavior of an H200; the manual specifies neither this nor the other rules here.
Manual: Floating Point Instructions.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from ptxkit.emulator.core.numbers.float_codec import is_nan, magnitudes
from ptxkit.emulator.core.numbers.formats import F64, Bits, Format, Reals

QUIET = np.uint64(1 << 51)


def canonicalize(fmt: Format, codes: Bits) -> Bits:
    """Returns the codes with every NaN replaced by the format's own."""
    wrong = is_nan(fmt, codes)
    if not wrong.any():
        return codes
    return np.where(wrong, fmt.dtype((fmt.nan or 0) << fmt.shift), codes)


def propagate_payload(result: Bits, *operands: Bits) -> Bits:
    """Returns results of f64 whose NaNs are those of the last NaN operand, made quiet, or the format's own."""
    wrong = is_nan(F64, result)
    if not wrong.any():
        return result
    chosen: Bits = np.full(np.shape(result), F64.nan, np.uint64)
    for operand in operands:
        chosen = np.where(is_nan(F64, operand), operand | QUIET, chosen)
    return np.where(wrong, chosen, result)


def convert_payload(result: Bits, fmt: Format, source: Format, codes: Bits) -> Bits:
    """Returns results of a conversion from or to f64 whose NaNs keep sign and payload, truncated if necessary, and are
    quiet.
    """
    wrong = is_nan(source, codes)
    if not wrong.any():
        return result
    wide = codes.astype(np.uint64)
    sign = (wide & np.uint64(source.sign)) != 0
    fraction = (wide << np.uint64(F64.fraction_bits - source.fraction_bits)) & (QUIET - np.uint64(1)) | QUIET
    kept = (fraction >> np.uint64(F64.fraction_bits - fmt.fraction_bits)) | np.uint64(fmt.infinity or 0)
    return np.where(wrong, np.where(sign, kept | np.uint64(fmt.sign), kept).astype(fmt.dtype), result)


def is_tiny(fmt: Format, values: Reals, rounding: str) -> NDArray[np.bool_]:
    """Returns whether `.ftz` flushes each value: rounded to a significand of full length, it is below the smallest
    normal number.

    Smaller numbers next to the smallest normal one are kept if rounding makes them that number.
    """
    least = 2.0**fmt.smallest_exponent
    step = least * 2.0 ** -(fmt.fraction_bits + 1)
    magnitude = np.abs(values)
    if rounding in ("rn", "rna"):
        return magnitude < least - step / 2
    if rounding not in ("rm", "rp"):
        return magnitude < least
    outwards = np.signbit(values) if rounding == "rm" else ~np.signbit(values)
    return np.where(outwards, magnitude <= least - step, magnitude < least)


def flush_subnormals(fmt: Format, codes: Bits) -> Bits:
    """Returns the codes with subnormal numbers replaced by zeros of their sign (`.ftz`)."""
    kind = codes.dtype.type
    exponent = kind((fmt.maximum | (1 << fmt.fraction_bits)) >> fmt.fraction_bits << (fmt.fraction_bits + fmt.shift))
    return np.where(codes & exponent == 0, codes & kind(fmt.sign << fmt.shift), codes)


def is_subnormal(fmt: Format, codes: Bits) -> NDArray[np.bool_]:
    """Returns whether each code is a subnormal number."""
    magnitude = magnitudes(fmt, codes)
    least = magnitude.dtype.type(1 << (fmt.fraction_bits + fmt.shift))
    return cast(NDArray[np.bool_], (magnitude != 0) & (magnitude < least))


def saturate_codes(fmt: Format, codes: Bits) -> Bits:
    """Returns the codes clamped to 0.0 .. 1.0; NaNs and negative numbers become +0.0 (`.sat`)."""
    kind = codes.dtype.type
    one = kind(fmt.bias << (fmt.fraction_bits + fmt.shift))
    zero = (codes & kind(fmt.sign << fmt.shift) != 0) | is_nan(fmt, codes)
    return cast(Bits, np.where(zero, kind(0), np.minimum(codes, one)))


def apply_relu(fmt: Format, codes: Bits) -> Bits:
    """Returns the codes with negative numbers, including -0.0, replaced by +0.0; NaNs are kept (`.relu`)."""
    kind = codes.dtype.type
    negative = (codes & kind(fmt.sign << fmt.shift) != 0) & ~is_nan(fmt, codes)
    return np.where(negative, kind(0), codes)
