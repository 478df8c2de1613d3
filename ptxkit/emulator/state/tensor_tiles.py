"""The elements of a tensor that a box contains, their order, and their addresses in shared memory.

Source: PTX ISA, "Tensors": "Tiled Mode", "Im2col mode", "Interleave layout", "Swizzling Modes"; CUDA Driver API,
"Tensor Map Object Management".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from ptxkit.emulator.core.findings import UnsupportedError
from ptxkit.emulator.state.byte_transfers import NO_OFFSET, PIECE_BYTES
from ptxkit.emulator.state.tensor_maps import TensorMapFields
from ptxkit.semantics.value_ops import to_signed

_NAN = {"f16": 0x7FFF, "bf16": 0x7FFF, "f64": 0x7FFF_FFFF_FFFF_FFFF}


def tile_bytes(layout: TensorMapFields, mode: str) -> int:
    """Returns the number of bytes of a whole box in shared memory."""
    return int(numpy.prod(_tile_shape(layout, mode))) * layout.element_size


def _tile_shape(layout: TensorMapFields, mode: str) -> tuple[int, ...]:
    """Returns the number of elements of a box by dimension in shared memory, outermost first."""
    if mode in ("tile::gather4", "tile::scatter4"):
        return 4, layout.box[0]
    if mode.startswith("im2col"):
        return layout.pixels, layout.channels
    return tuple(_element_counts(layout)[::-1])


def _element_counts(layout: TensorMapFields) -> list[int]:
    """Returns the number of elements of a tiled box by dimension, innermost first."""
    return [-(-extent // step) for extent, step in zip(layout.box, _element_strides(layout), strict=True)]


def _element_strides(layout: TensorMapFields) -> tuple[int, ...]:
    return layout.steps if layout.interleave else (1, *layout.steps[1:])


def element_addresses(layout: TensorMapFields, mode: str, coordinates: Sequence[int], offsets: Sequence[int]) -> Any:
    """Returns the generic address of each element of a box, in shared memory's order; NO_OFFSET outside of the tensor.

    Raises UnsupportedError for features that the machine does not support.
    """
    if layout.interleave:
        raise UnsupportedError("the machine knows no interleaved tensors")
    if mode in ("tile::gather4", "tile::scatter4"):
        return _gather4_addresses(layout, coordinates)
    if mode in ("im2col", "im2col_no_offs"):
        return _im2col_addresses(layout, coordinates, offsets)
    if mode not in ("", "tile"):
        raise UnsupportedError(f"the machine knows no tensor copies of mode .{mode}")
    axes = [
        start + step * numpy.arange(count, dtype=numpy.int64)
        for start, step, count in zip(coordinates, _element_strides(layout), _element_counts(layout), strict=True)
    ]
    return _cartesian_addresses(layout, axes)


def _byte_strides(layout: TensorMapFields) -> tuple[int, ...]:
    """Returns the distances of elements by dimension, modulo 2^64, as addresses are: a kernel may write any numbers."""
    return layout.element_size, *(to_signed(each, 64) for each in layout.strides)


def _cartesian_addresses(layout: TensorMapFields, axes: Sequence[Any]) -> Any:
    """Returns the addresses of all combinations of coordinates, the innermost dimension fastest."""
    rank = layout.rank
    address = numpy.full((1,) * rank, to_signed(layout.address, 64), numpy.int64)
    inside = numpy.ones((1,) * rank, bool)
    for at, (axis, extent, stride) in enumerate(zip(axes, layout.extents, _byte_strides(layout), strict=True)):
        shaped = axis.reshape([-1 if each == rank - 1 - at else 1 for each in range(rank)])
        address = address + shaped * stride
        inside = inside & (shaped >= 0) & (shaped < extent)
    return numpy.where(inside, address, NO_OFFSET).ravel()


def _gather4_addresses(layout: TensorMapFields, coordinates: Sequence[int]) -> Any:
    """Returns the addresses of four rows of a matrix, each given by its number."""
    columns = coordinates[0] + numpy.arange(layout.box[0], dtype=numpy.int64)
    return numpy.concatenate(
        [_cartesian_addresses(layout, (columns, numpy.array([row], numpy.int64))) for row in coordinates[1:5]]
    )


def _im2col_addresses(layout: TensorMapFields, coordinates: Sequence[int], offsets: Sequence[int]) -> Any:
    """Returns the addresses of consecutive pixels in the box of an image and the following images, each with an
    offset.
    """
    inner = layout.rank - 2
    first = list(layout.lower)
    ends = [extent + corner for extent, corner in zip(layout.extents[1:-1], layout.upper, strict=True)]
    steps = layout.steps[1:-1]
    at = list(coordinates[1:])
    found = []
    for _ in range(layout.pixels):
        place = [position + offset for position, offset in zip(at[:inner], offsets, strict=True)]
        found.append([*place, at[inner]])
        for axis in range(inner):
            at[axis] += steps[axis]
            if at[axis] < ends[axis]:
                break
            at[axis] = first[axis]
        else:
            at[inner] += 1
    pixels = numpy.array(found, numpy.int64)
    channels = coordinates[0] + numpy.arange(layout.channels, dtype=numpy.int64)
    address = to_signed(layout.address, 64) + pixels @ numpy.array(_byte_strides(layout)[1:], numpy.int64)
    inside: Any = ((pixels >= 0) & (pixels < numpy.array(layout.extents[1:]))).all(axis=1)
    there = inside[:, None] & (channels >= 0) & (channels < layout.extents[0])
    return numpy.where(there, address[:, None] + channels * layout.element_size, NO_OFFSET).ravel()


def shared_addresses(layout: TensorMapFields, start: int, count: int) -> Any:
    """Returns the `count` swizzled shared addresses of the elements of a box that begins at an address.

    Raises UnsupportedError for a swizzle that the machine does not support.
    """
    places = start + numpy.arange(count, dtype=numpy.int64) * layout.element_size
    if not layout.swizzle:
        return places
    if layout.atomicity or layout.swizzle not in (32, 64, 128):
        raise UnsupportedError(f"the machine knows no swizzle of {layout.swizzle} bytes with other atoms than 16 bytes")
    mask = layout.swizzle // PIECE_BYTES - 1
    return places ^ ((places >> 7 & mask) << 4)


def out_of_bounds_fill(layout: TensorMapFields) -> int:
    """Returns the value that is read for an element outside of the tensor."""
    if layout.fill == "zeros":
        return 0
    return _NAN.get(layout.element, 0x7FFF_FFFF)
