"""What NaNs become, and zeros where subnormal numbers are flushed.

Instructions of all formats but f64 give one NaN (`Format.nan`); those of f64 hand on an operand's payload.
Of two NaNs the first counts, and it is made quiet: that is what we take the hardware to do.
Manual: Floating Point Instructions.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from ptxkit.emulate.numbers.carriers import is_nan, magnitudes
from ptxkit.emulate.numbers.formats import F64, Bits, Format

QUIET = np.uint64(1 << 51)


def canonical(fmt: Format, codes: Bits) -> Bits:
    """The codes with every NaN made the format's own."""
    wrong = is_nan(fmt, codes)
    if not wrong.any():
        return codes
    return np.where(wrong, fmt.dtype((fmt.nan or 0) << fmt.shift), codes)


def payloads(result: Bits, *operands: Bits) -> Bits:
    """Results of f64 whose NaNs are the first operand's that is one, made quiet, or the format's own."""
    wrong = is_nan(F64, result)
    if not wrong.any():
        return result
    chosen: Bits = np.full(np.shape(result), F64.nan, np.uint64)
    for operand in reversed(operands):
        chosen = np.where(is_nan(F64, operand), operand | QUIET, chosen)
    return np.where(wrong, chosen, result)


def flushed(fmt: Format, codes: Bits) -> Bits:
    """The codes with subnormal numbers made zeros of their sign (`.ftz`)."""
    kind = codes.dtype.type
    exponent = kind((fmt.maximum | (1 << fmt.fraction_bits)) >> fmt.fraction_bits << (fmt.fraction_bits + fmt.shift))
    return np.where(codes & exponent == 0, codes & kind(fmt.sign << fmt.shift), codes)


def subnormal(fmt: Format, codes: Bits) -> NDArray[np.bool_]:
    """Where the codes are subnormal numbers."""
    magnitude = magnitudes(fmt, codes)
    least = magnitude.dtype.type(1 << (fmt.fraction_bits + fmt.shift))
    return cast(NDArray[np.bool_], (magnitude != 0) & (magnitude < least))


def saturated(fmt: Format, codes: Bits) -> Bits:
    """The codes limited to 0.0 .. 1.0; NaNs and negative numbers become +0.0 (`.sat`)."""
    kind = codes.dtype.type
    one = kind(fmt.bias << (fmt.fraction_bits + fmt.shift))
    zero = (codes & kind(fmt.sign << fmt.shift) != 0) | is_nan(fmt, codes)
    return cast(Bits, np.where(zero, kind(0), np.minimum(codes, one)))


def rectified(fmt: Format, codes: Bits) -> Bits:
    """Negative numbers, -0.0 among them, made +0.0; NaNs stay (`.relu`)."""
    kind = codes.dtype.type
    negative = (codes & kind(fmt.sign << fmt.shift) != 0) & ~is_nan(fmt, codes)
    return np.where(negative, kind(0), codes)
