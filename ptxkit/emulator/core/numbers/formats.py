"""The floating-point formats of PTX: the numbers of bits, the code of the largest number, and the codes of NaNs.

Manual: Fundamental Types; Alternate Floating-Point Data Formats; Floating Point Instructions (NaN).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[Any]
"""Bit patterns: unsigned integers of a register's width (bool for predicates), one element for each lane."""

Reals = NDArray[np.float64]
"""Values. They represent every format exactly, including subnormal numbers."""


@dataclass(frozen=True, slots=True)
class Format:
    """A floating-point format. Codes are sign, exponent and fraction, in the low bits of an unsigned integer of `width`
    bits.

    `maximum` is the code of the largest finite number. `infinity` and `nan` are the codes of these, if the format has
    them; `nan` is the one that instructions produce (all codes above `infinity`, or above `maximum`, are NaNs). `shift`
    is the number of zero bits below the fraction (tf32 is in the upper bits of a register).
    """

    name: str
    width: int
    exponent_bits: int
    fraction_bits: int
    bias: int
    maximum: int
    infinity: int | None = None
    nan: int | None = None
    signed: bool = True
    shift: int = 0

    @property
    def dtype(self) -> type[np.unsignedinteger[Any]]:
        return DTYPES[max(self.width, 8)]

    @property
    def sign(self) -> int:
        """The sign bit in a code without `shift`, or 0 if none exists."""
        return 1 << (self.exponent_bits + self.fraction_bits) if self.signed else 0

    @property
    def smallest_exponent(self) -> int:
        """The exponent of the smallest normal number; formats without fraction have no subnormal ones."""
        return 1 - self.bias if self.fraction_bits else -self.bias


DTYPES: dict[int, type[np.unsignedinteger[Any]]] = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
"""The unsigned integer type of each width in bits."""

FORMATS = {
    fmt.name: fmt
    for fmt in (
        Format("f64", 64, 11, 52, 1023, 0x7FEF_FFFF_FFFF_FFFF, 0x7FF0_0000_0000_0000, 0xFFF8_0000_0000_0000),
        Format("f32", 32, 8, 23, 127, 0x7F7F_FFFF, 0x7F80_0000, 0x7FFF_FFFF),
        Format("tf32", 32, 8, 10, 127, 0x3_FBFF, 0x3_FC00, 0x3_FFFF, shift=13),
        Format("f16", 16, 5, 10, 15, 0x7BFF, 0x7C00, 0x7FFF),
        Format("bf16", 16, 8, 7, 127, 0x7F7F, 0x7F80, 0x7FFF),
        Format("e5m2", 8, 5, 2, 15, 0x7B, 0x7C, 0x7F),
        Format("e4m3", 8, 4, 3, 7, 0x7E, nan=0x7F),
        Format("e3m2", 6, 3, 2, 3, 0x1F),
        Format("e2m3", 6, 2, 3, 1, 0x1F),
        Format("e2m1", 4, 2, 1, 1, 0x07),
        Format("ue8m0", 8, 8, 0, 127, 0xFE, nan=0xFF, signed=False),
        Format("ue4m3", 8, 4, 3, 7, 0x7E, nan=0x7F, signed=False),
        Format("ue5m3", 8, 5, 3, 15, 0xFE, nan=0xFF, signed=False),
    )
}
"""The formats by their names in the types of PTX."""

F64, F32, F16, BF16 = FORMATS["f64"], FORMATS["f32"], FORMATS["f16"], FORMATS["bf16"]
