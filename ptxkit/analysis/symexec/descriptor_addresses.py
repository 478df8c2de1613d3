"""The location of the matrix that a descriptor names: its first unit of 16 bytes, and one that is far from it.

An instruction reads the whole matrix from shared memory; two units represent it. The second one detects a copy that
fills another part of the tile than its first row.

Source: PTX ISA, "Matrix Descriptor Format", "Shared Memory Matrix Layout", "Canonical Layouts".
"""

from __future__ import annotations

from ptxkit.analysis.values.symbolic_values import Value

#: The number of bytes that every swizzle keeps contiguous.
UNIT_BYTES = 16
#: Rows of a core matrix; of a swizzle's pattern, too.
_ROWS = 8
#: By the swizzle in a descriptor, the units in a row of its pattern. The one of 128 bytes that exchanges pairs of units
#: is not among them.
_SPANS = {0: 1, 2: 8, 4: 4, 6: 2}


def first_unit(descriptor: Value) -> Value:
    """The address at which the matrix begins: the low 14 bits, in units."""
    return (descriptor & 0x3FFF) * UNIT_BYTES if isinstance(descriptor, int) else descriptor


def far_unit(descriptor: Value, rows: Value, width: Value, transposed: Value) -> int | None:
    """The address of a unit of the last row, or, where the matrix is transposed, of that of the last rows and the
    eighth place along k. None where it is not known, or where there is no other unit than the first.

    rows: of A, or columns of B. width: bytes of an element.
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
