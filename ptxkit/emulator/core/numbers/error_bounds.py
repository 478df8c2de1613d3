"""The largest errors of approximate instructions, as the manual specifies them.

The reference machine computes them in f64 and rounds once, which is well within the bounds; a GPU returns other bits.
Manual: div, rcp, sqrt, rsqrt, sin, cos, lg2, ex2, tanh, for single and half precision.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ptxkit.emulator.core.numbers.formats import FORMATS, Reals


@dataclass(frozen=True, slots=True)
class ErrorBound:
    """The largest error, in units of the last place, absolute, or relative to the exact value; one of them suffices.

    It holds for operands whose magnitude is from `least` to `greatest`. The manual specifies nothing outside.
    """

    ulps: float = 0.0
    absolute: float = 0.0
    relative: float = 0.0
    least: float = 0.0
    greatest: float = np.inf

    def is_within(self, found: Reals, exact: Reals, operand: Reals, fmt: str = "f32") -> NDArray[np.bool_]:
        """Returns whether a result is within the bound. NaN is equal to NaN."""
        with np.errstate(all="ignore"):
            magnitude = np.abs(exact)
            exponent = np.maximum(np.floor(np.log2(magnitude)), FORMATS[fmt].smallest_exponent)
            unit = np.exp2(exponent - FORMATS[fmt].fraction_bits)
            # The exact value is rounded here, which adds half a unit.
            allowed = np.maximum(np.maximum(self.ulps * unit, self.absolute), self.relative * magnitude) + 0.5 * unit
            near = np.abs(found - exact) <= np.where(np.isfinite(allowed), allowed, 0.5 * unit)
            # The next number beyond the largest is an infinity.
            beyond = np.exp2(float(FORMATS[fmt].bias + 1))
            near |= np.isinf(found) & (found * exact > 0) & (magnitude + allowed >= beyond)
        same = (found == exact) | (np.isnan(found) & np.isnan(exact))
        size = np.abs(operand)
        outside = ~((size >= self.least) & (size <= self.greatest)) & np.isfinite(operand)
        result: NDArray[np.bool_] = same | near | outside
        return result


BOUNDS: dict[tuple[str, str], tuple[ErrorBound, ...]] = {
    ("div.approx", "f32"): (ErrorBound(ulps=2, least=2.0**-126, greatest=2.0**126),),
    ("div.full", "f32"): (ErrorBound(ulps=2),),
    ("rcp.approx", "f32"): (ErrorBound(ulps=1),),
    ("rcp.approx", "f64"): (ErrorBound(relative=2.0**-19),),
    ("sqrt.approx", "f32"): (ErrorBound(relative=2.0**-23),),
    ("rsqrt.approx", "f32"): (ErrorBound(relative=2.0**-22.9),),
    ("rsqrt.approx", "f64"): (ErrorBound(relative=2.0**-19),),
    ("sin.approx", "f32"): (
        ErrorBound(absolute=2.0**-20.5, greatest=2 * np.pi),
        ErrorBound(absolute=2.0**-14.7, greatest=100 * np.pi),
    ),
    ("cos.approx", "f32"): (
        ErrorBound(absolute=2.0**-20.5, greatest=2 * np.pi),
        ErrorBound(absolute=2.0**-14.7, greatest=100 * np.pi),
    ),
    ("lg2.approx", "f32"): (
        ErrorBound(absolute=2.0**-22, least=0.5, greatest=2.0),
        ErrorBound(relative=2.0**-22, absolute=2.0**-22),
    ),
    ("ex2.approx", "f32"): (ErrorBound(ulps=2),),
    ("ex2.approx", "f16"): (ErrorBound(relative=2.0**-9.9, absolute=2.0**-24),),
    ("ex2.approx", "bf16"): (ErrorBound(relative=2.0**-7),),
    ("tanh.approx", "f32"): (ErrorBound(relative=2.0**-11),),
    ("tanh.approx", "f16"): (ErrorBound(absolute=2.0**-10.987),),
    ("tanh.approx", "bf16"): (ErrorBound(absolute=2.0**-8),),
}
"""The bounds of (instruction, format), each for its range. The manual has none for `rcp` and `rsqrt` of f64; these are
ours.

Hardware truncates subnormal results of `ex2.approx.f16`, so one of their units is allowed in addition to the documented
bound.
"""
