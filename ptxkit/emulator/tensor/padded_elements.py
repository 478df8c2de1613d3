"""Elements of six and four bits that are padded to eight.

In shared memory, sixteen of them are packed at the start of sixteen bytes, with padding after them. In Tensor Memory
each is in a separate byte, six bits in the lower part, four in the middle.

Manual: Packing formats of elements in Tensor and Shared memory; Optional Decompression.
"""

from __future__ import annotations

from typing import Any

import numpy as np

UNIT_ELEMENTS = 16
"""The number of elements, and of bytes."""


def unpad(octets: Any, width: int) -> Any:
    """Returns the codes of sixteen elements of `width` bits in each sixteen bytes, (..., 16), a byte each."""
    ones = np.unpackbits(np.ascontiguousarray(octets), axis=-1, bitorder="little")[..., : UNIT_ELEMENTS * width]
    grouped = ones.reshape(*octets.shape[:-1], UNIT_ELEMENTS, width)
    return np.packbits(grouped, axis=-1, bitorder="little")[..., 0]


def decode_units(octets: Any, width: int, *, turned: bool) -> Any:
    """Returns the same as `unpad` for a matrix of bytes (rows, k).

    With `turned`, neighbors along the rows share a unit, else those along k.
    """
    if turned:
        return np.swapaxes(decode_units(np.swapaxes(octets, -1, -2), width, turned=False), -1, -2)
    parts = octets.reshape(*octets.shape[:-1], -1, UNIT_ELEMENTS)
    return unpad(parts, width).reshape(octets.shape)


def to_byte_codes(codes: Any, width: int) -> Any:
    """Returns codes as Tensor Memory stores them, a byte each."""
    return codes << np.uint8(2) if width == 4 else codes
