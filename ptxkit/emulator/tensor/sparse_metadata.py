"""Sparse A: half of its elements are stored, and the metadata states their positions in each chunk.

The metadata of a chunk has four bits, two numbers of two bits: two of 4 elements of 16 or 8 bits are stored; two pairs
of 8 elements of 4 bits; one of 2 elements of 32 bits, whose two numbers are those of its halves.

A lane's 32 bits describe 8 chunks. For elements of 16 and 32 bits the lower half is of row g, the upper one of row g +
8, and neighboring lanes of the group continue to the right. For elements of 8 and 4 bits a lane describes one row, an
even lane row g, an odd one row g + 8, and the next two continue to the right. The selector states which of the four
lanes of a group are the first.

Manual: Sparse matrix storage; Matrix fragments for multiply-accumulate operation with sparse matrix A.
"""

from __future__ import annotations

import numpy as np

from ptxkit.emulator.core.numbers.formats import Bits

_CHUNKS_PER_LANE = 8
"""The chunks that a lane's metadata describe."""
_CHUNK_SHAPES = {32: (2, 1), 16: (4, 1), 8: (4, 1), 4: (8, 2)}
"""For the bits of an element, the number of elements of a chunk, and how many of them a number of two bits
describes.
"""


def expand_sparse(stored: Bits, metadata: Bits, selector: int, width: int) -> Bits:
    """Returns A of 16 rows with its zeros, from codes (..., 16, k / 2) and metadata (..., 32) to (..., 16, k)."""
    size, _ = _CHUNK_SHAPES[width]
    return expand_chunks(stored, _metadata_nibbles(metadata, selector, stored.shape[-1] // (2 * size), width), width)


def expand_chunks(stored: Bits, nibbles: Bits, width: int) -> Bits:
    """Returns A with its zeros, from the four bits of each chunk, (..., rows, chunks), in order."""
    size, step = _CHUNK_SHAPES[width]
    kept = size // 2
    first, second = nibbles & np.uint32(3), nibbles >> np.uint32(2) & np.uint32(3)
    places = (first >> np.uint32(1))[..., None] if width == 32 else np.stack([first, second], axis=-1)
    if step == 2:
        places = (places[..., None] * np.uint32(2) + np.arange(2, dtype=np.uint32)).reshape(*places.shape[:-1], kept)
    parts = stored.reshape(*stored.shape[:-1], -1, kept)
    found = np.zeros((*parts.shape[:-1], size), stored.dtype)
    np.put_along_axis(found, places.astype(np.int64), parts, axis=-1)
    return found.reshape(*stored.shape[:-1], -1)


def _metadata_nibbles(metadata: Bits, selector: int, lanes: int, width: int) -> Bits:
    """Returns the four bits of each chunk, (..., 16, chunks). `lanes` is the number of lanes of a group that have
    metadata.
    """
    by_group = metadata.astype(np.uint32).reshape(*metadata.shape[:-1], 8, 4)
    used = by_group[..., selector * lanes : (selector + 1) * lanes]
    chunks = used[..., None] >> np.arange(0, 32, 4, dtype=np.uint32) & np.uint32(15)  # (..., group, lane, 8)
    if width >= 16:
        halves = chunks.reshape(*chunks.shape[:-1], 2, _CHUNKS_PER_LANE // 2)
        ordered = np.moveaxis(halves, -2, -4)  # (..., half, group, lane, 4)
    else:
        pairs = chunks.reshape(*chunks.shape[:-2], lanes // 2, 2, _CHUNKS_PER_LANE)
        ordered = np.moveaxis(pairs, -2, -4)  # (..., row's half, group, lane / 2, 8)
    return ordered.reshape(*ordered.shape[:-4], 16, -1)
