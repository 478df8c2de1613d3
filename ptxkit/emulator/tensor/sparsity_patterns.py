"""Structured sparsity: the elements of each group that are kept, and their positions.

Among equal elements the first are kept, which the manual does not specify. A NaN is kept before any number.

Manual: Data Movement and Conversion Instructions: spcompress, spdecompress; tcgen05.ld.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit.emulator.core.numbers.float_codec import is_nan, magnitudes
from ptxkit.emulator.core.numbers.formats import FORMATS

GROUP_ELEMENTS, NONZERO_ELEMENTS = 4, 2


def _sort_keys(codes: Any, word: str, magnitude: bool) -> tuple[Any, Any]:
    """Returns integers in the order of the numbers, -0.0 below +0.0, and which are NaNs."""
    if word in ("u8", "s8"):
        values = codes.view(np.int8 if word == "s8" else np.uint8).astype(np.int64)
        return np.abs(values) if magnitude else values, np.zeros(codes.shape, bool)
    fmt = FORMATS[word]
    kept = codes & codes.dtype.type((1 << fmt.width) - 1)
    size = magnitudes(fmt, kept).astype(np.int64)
    negative = (kept & kept.dtype.type(fmt.sign)) != 0
    return size if magnitude else np.where(negative, -1 - size, size), is_nan(fmt, kept)


def select_elements(codes: Any, word: str, *, greatest: bool, magnitude: bool) -> Any:
    """Returns the positions of the two kept elements of groups, (..., 4), in ascending order, (..., 2)."""
    keys, nans = _sort_keys(codes, word, magnitude)
    ranks = np.where(nans, np.iinfo(np.int64).min, -keys if greatest else keys)
    return np.sort(np.argsort(ranks, axis=-1, kind="stable")[..., :NONZERO_ELEMENTS], axis=-1)


def unpack_elements(registers: Any, width: int) -> Any:
    """Returns the elements of registers (registers, lanes), the lowest first: (lanes, elements)."""
    words = np.stack(registers, axis=-1)  # (lanes, registers)
    shifts = np.arange(0, 32, width, dtype=np.uint32)
    parts = words[..., None] >> shifts & np.uint32((1 << width) - 1)
    return parts.reshape(len(words), -1).astype(f"u{max(width, 8) // 8}")


def pack_elements(parts: Any, width: int) -> tuple[Any, ...]:
    """Returns elements (lanes, elements) in registers of 32 bits, with zeros after the last."""
    each = 32 // width
    count = -(-parts.shape[1] // each)
    whole = np.zeros((len(parts), count * each), np.uint32)
    whole[:, : parts.shape[1]] = parts
    shifts = np.arange(0, 32, width, dtype=np.uint32)
    packed = np.bitwise_or.reduce(whole.reshape(len(parts), count, each) << shifts, axis=-1)
    return tuple(packed.T)


def compress_groups(codes: Any, word: str, *, greatest: bool, magnitude: bool) -> tuple[Any, Any]:
    """Returns the kept elements of dense ones (lanes, elements), and their positions in their groups."""
    groups = codes.reshape(len(codes), -1, GROUP_ELEMENTS)
    places = select_elements(groups, word, greatest=greatest, magnitude=magnitude)
    kept = np.take_along_axis(groups, places, axis=-1)
    return kept.reshape(len(codes), -1), places.reshape(len(codes), -1)


def decompress_groups(kept: Any, places: Any, taken: int, given: int) -> Any:
    """Returns dense elements (lanes, elements): of each `given`, the `taken` at their positions, and zeros
    elsewhere.
    """
    lanes, count = len(kept), kept.shape[1] // taken
    dense = np.zeros((lanes, count, given), kept.dtype)
    where = places[:, : count * taken].reshape(lanes, count, taken).astype(np.int64) % given
    for at in range(taken):
        np.put_along_axis(dense, where[..., at : at + 1], kept.reshape(lanes, count, taken)[..., at : at + 1], axis=-1)
    return dense.reshape(lanes, -1)
