"""Several numbers in one register: `f16x2`, `f32x2`, `e4m3x4`, `e2m1x4`, ...

Manual: Packed Data Types. The first element is the lowest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ptxkit.emulator.core.numbers.formats import DTYPES, FORMATS, Bits, Format


@dataclass(frozen=True, slots=True)
class Packing:
    """The packing of a type in its registers: `count` values, `stride` bits apart."""

    format: Format
    count: int
    stride: int

    def unpack(self, values: Bits) -> Bits:
        """Returns codes of shape (threads, count), or the unchanged values if each holds one number."""
        if self.count == 1:
            return values
        if self.stride >= 8:
            return np.ascontiguousarray(values)[..., np.newaxis].view(DTYPES[self.stride])
        shifts = np.arange(0, self.count * self.stride, self.stride).astype(values.dtype)
        mask = values.dtype.type((1 << self.stride) - 1)
        codes: Bits = ((np.asarray(values)[..., np.newaxis] >> shifts) & mask).astype(np.uint8)
        return codes

    def pack(self, codes: Bits) -> Bits:
        """Packs codes to registers, the inverse of `unpack`."""
        if self.count == 1:
            return codes
        width = max(self.count * self.stride, 8)
        if self.stride >= 8:
            return np.ascontiguousarray(codes.astype(DTYPES[self.stride], copy=False)).view(DTYPES[width])[..., 0]
        shifts = np.arange(0, self.count * self.stride, self.stride).astype(DTYPES[width])
        joined: Bits = np.bitwise_or.reduce(codes.astype(DTYPES[width]) << shifts, axis=-1)
        return joined


@cache
def packing_of(word: str) -> Packing:
    """Returns the packing of a floating-point type: `f32`, `bf16x2`, `e2m1p4x4` (each in a separate byte), ...

    Raises KeyError for types without a format (integers, bits).
    """
    base, _, count = word.partition("x")
    padded = base.endswith("p4")
    found = FORMATS[base.removesuffix("p4")]
    stride = 8 if padded or found.width == 6 else found.width
    return Packing(found, int(count or 1), stride)


def elementwise(function: Callable[..., Bits], result: str, *operands: str) -> Callable[..., Bits]:
    """Converts a function of codes to one of registers of these types, element by element. None operands remain
    None.
    """
    if all(packing_of(word).count == 1 for word in (result, *operands)):
        return function
    parts = [packing_of(word) for word in operands]
    whole = packing_of(result)

    def of_registers(*values: Any) -> Bits:
        unpacked = [None if v is None else part.unpack(v) for part, v in zip(parts, values, strict=False)]
        return whole.pack(function(*unpacked))

    return of_registers
