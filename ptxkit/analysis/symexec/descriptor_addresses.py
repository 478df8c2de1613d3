"""Locates the matrix that a descriptor names: its first unit of 16 bytes, and one that is far from it.

An instruction reads the whole matrix from shared memory; two units represent it. The second one detects a copy that
fills another part of the tile than its first row.

Source: PTX ISA, "Matrix Descriptor Format", "Shared Memory Matrix Layout", "Canonical Layouts".
"""

from __future__ import annotations

from ptxkit.analysis.values.symbolic_values import Value

#: The number of bytes that every swizzle keeps contiguous.
UNIT_BYTES = 16
#: The number of rows of a core matrix, and of a swizzle's pattern.
_ROWS = 8
#: The number of units in a row of the pattern, by the swizzle in a descriptor. The 128-byte swizzle that exchanges
#: pairs of units is not included.
_SPANS = {0: 1, 2: 8, 4: 4, 6: 2}


def first_unit(descriptor: Value) -> Value:
    """Returns the address at which the matrix begins: the low 14 bits of the descriptor, in units."""
    return (descriptor & 0x3FFF) * UNIT_BYTES if isinstance(descriptor, int) else descriptor


def far_unit(descriptor: Value, rows: Value, width: Value, transposed: Value) -> int | None:
    """Returns the address of a unit far from the first one; None where it is unknown, or there is only one unit.

    The unit is in the last row or, where the matrix is transposed, in the last rows at the eighth position along k.

    rows: the number of rows of A, or of columns of B. width: the size of an element in bytes.
    """
    if not isinstance(descriptor, int) or not isinstance(rows, int) or not isinstance(width, int):
        return None
    if not isinstance(transposed, int) or rows < _ROWS:
        return None
    start, leading, stride = ((descriptor >> at & 0x3FFF) * UNIT_BYTES for at in (0, 16, 32))
    span, base = _SPANS.get(descriptor >> 61 & 7), descriptor >> 49 & 7
    if span is None:
        return None
    last = rows - 1
    if not transposed:
        place = start + last % _ROWS * span * UNIT_BYTES + last // _ROWS * stride
    else:
        unit = rows * width // UNIT_BYTES - 1
        across = unit % span * UNIT_BYTES + unit // span * leading if span > 1 else unit * stride
        place = start + across + (_ROWS - 1) * span * UNIT_BYTES
    row = (place >> 7) - base & span - 1
    return place ^ row << 4


def matrix_extent(descriptor: Value, rows: Value, width: Value, transposed: Value) -> tuple[int, int] | None:
    """Returns a range that contains the whole matrix, as the first byte and the end; None where it is unknown.

    A row along k has 32 bytes: two units, or eight rows twice where the matrix is transposed.
    """
    far = far_unit(descriptor, rows, width, transposed)
    if far is None:
        return None
    assert isinstance(descriptor, int)
    start, leading, stride = ((descriptor >> at & 0x3FFF) * UNIT_BYTES for at in (0, 16, 32))
    span = _SPANS[descriptor >> 61 & 7]
    pattern = span * UNIT_BYTES
    along_k = (stride if span > 1 else leading) if transposed else (leading if span == 1 else 0)
    return start - start % pattern, far - far % pattern + pattern + along_k
