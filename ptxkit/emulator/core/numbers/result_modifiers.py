"""The rounding and the modifiers of results."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ptxkit.emulator.core.numbers.float_codec import narrow
from ptxkit.emulator.core.numbers.formats import Bits, Format, Reals
from ptxkit.emulator.core.numbers.nan_rules import apply_relu, flush_subnormals, is_tiny, saturate_codes


@dataclass(frozen=True, slots=True)
class ResultModifiers:
    """The modifications of a result, in the order of the fields. `rounding` is None for rounding to nearest even.

    With `ftz`, subnormal results become zeros of their sign. `saturate` clamps them to 0.0 .. 1.0. With `relu`,
    negative numbers become zero. With `satfinite`, numbers that are too large become the largest finite number. With
    `pzo`, negative zeros become positive.
    """

    rounding: str | None = None
    ftz: bool = False
    saturate: bool = False
    relu: bool = False
    satfinite: bool = False
    pzo: bool = False

    def encode(self, fmt: Format, values: Reals, random: tuple[NDArray[np.uint64], int] | None = None) -> Bits:
        """Returns the codes of values that are exact or rounded to odd."""
        if self.ftz:
            values = np.where(is_tiny(fmt, values, self.rounding or "rn"), np.copysign(0.0, values), values)
        codes = narrow(fmt, values, self.rounding or "rn", satfinite=self.satfinite, random=random)
        return self.clamp(fmt, codes)

    def clamp(self, fmt: Format, codes: Bits) -> Bits:
        """Returns rounded codes with `saturate`, `relu` and similar modifiers applied."""
        if self.ftz:
            codes = flush_subnormals(fmt, codes)
        if self.saturate:
            codes = saturate_codes(fmt, codes)
        if self.relu:
            codes = apply_relu(fmt, codes)
        if self.pzo and fmt.sign:
            negative_zero = codes.dtype.type(fmt.sign << fmt.shift)
            codes = np.where(codes == negative_zero, codes.dtype.type(0), codes)
        return codes
