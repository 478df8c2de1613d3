"""Tensor maps of the machine: their fields, and the 128 bytes in which they are stored.

    source = TensorMapArgument.tiled(matrix, box=(64, 128), swizzle=128)
    run(module, "k", grid=4, arguments=[source, ...])

Extents, boxes and strides have the innermost dimension first, as in PTX; an array of shape (rows, columns) has the
extents (columns, rows). The bytes are the machine's own, not the driver's: a program copies them and replaces fields.

Source: PTX ISA, "Tensors", "Tensor-map", "tensormap.replace"; CUDA Driver API, "Tensor Map Object Management".
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy

from ptxkit import tensormap_limits as rules
from ptxkit.emulator.core.findings import InvalidLaunchError
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.tensormap_limits import MAP_BYTES, MappedTensor

_MAGIC = 0x7074_784D
_STRUCT_FORMAT = struct.Struct("<IBBBBBBHIQ5I4xQQQQ5H5B1x3h3hHH4x")
SWIZZLES = (*rules.SWIZZLES, 96)
"""The swizzles by their number in `tensormap.replace`; the driver's encoder supports all but the last."""
_MODES = ("tiled", "im2col")


@dataclass(frozen=True, slots=True)
class TensorMapFields:
    """The fields of a map. `address` is generic.

    `extents`, `box` and `steps` are in elements, by dimension; `strides` are in bytes, without the innermost dimension.
    `swizzle` and `interleave` are in bytes. `fill` is the value outside the tensor. `lower` and `upper` are the corners
    of an im2col box, of which `channels` and `pixels` are copied. `atomicity` is that of the swizzle, by number.
    """

    mode: str
    element: str
    address: int
    extents: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...] = ()
    steps: tuple[int, ...] = ()
    swizzle: int = 0
    interleave: int = 0
    fill: str = "zeros"
    lower: tuple[int, ...] = ()
    upper: tuple[int, ...] = ()
    channels: int = 0
    pixels: int = 0
    atomicity: int = 0

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.extents)

    @property
    def element_size(self) -> int:
        """The bytes of an element."""
        return rules.ELEMENT_SIZES.get(self.element, 4)

    def encode(self) -> bytes:
        """Returns the 128 bytes."""

        def pad(values: Sequence[int], count: int, by: int = 0) -> list[int]:
            return [*values, *[by] * (count - len(values))]

        made = _STRUCT_FORMAT.pack(
            _MAGIC,
            _MODES.index(self.mode),
            rules.ELEMENTS.index(self.element),
            self.rank,
            rules.INTERLEAVES.index(self.interleave),
            SWIZZLES.index(self.swizzle),
            rules.FILLS.index(self.fill),
            self.atomicity,
            0,
            self.address,
            *pad([each & 0xFFFF_FFFF for each in self.extents], 5),
            *pad(self.strides, 4),
            *pad(self.box, 5),
            *pad(self.steps, 5, 1),
            *pad(self.lower, 3),
            *pad(self.upper, 3),
            self.channels,
            self.pixels,
        )
        return made.ljust(MAP_BYTES, b"\0")


def decode_map(octets: bytes) -> TensorMapFields | None:
    """Returns the fields in 128 bytes, or None if these are not a map of the machine."""
    magic, mode, element, rank, interleave, swizzle, fill, atomicity, _, address, *rest = _STRUCT_FORMAT.unpack(
        octets[: _STRUCT_FORMAT.size]
    )
    if magic != _MAGIC or not 1 <= rank <= rules.MAX_RANK:
        return None
    extents, strides, box, steps = rest[:5], rest[5:9], rest[9:14], rest[14:19]
    lower, upper = rest[19:22], rest[22:25]
    is_tiled = _MODES[mode] == "tiled"
    corners = 0 if is_tiled else rank - 2
    return TensorMapFields(
        _MODES[mode],
        rules.ELEMENTS[element],
        address,
        tuple(each or 1 << 32 for each in extents[:rank]),
        tuple(strides[: rank - 1]),
        tuple(box[:rank]) if is_tiled else (),
        tuple(each or 1 for each in steps[:rank]),
        SWIZZLES[swizzle],
        rules.INTERLEAVES[interleave],
        rules.FILLS[fill],
        tuple(lower[:corners]),
        tuple(upper[:corners]),
        rest[25],
        rest[26],
        atomicity,
    )


_FIELD_ENCODINGS = {
    "elemtype": (5, "<B"),
    "interleave_layout": (7, "<B"),
    "swizzle_mode": (8, "<B"),
    "fill_mode": (9, "<B"),
    "swizzle_atomicity": (10, "<H"),
    "global_address": (16, "<Q"),
    "global_dim": (24, "<I"),
    "global_stride": (48, "<Q"),
    "box_dim": (80, "<H"),
    "element_stride": (90, "<B"),
}
"""The location and the encoding of each field; those with an ordinal are consecutive."""

_FIELD_VALUE_COUNTS = {
    "elemtype": len(rules.ELEMENTS),
    "interleave_layout": len(rules.INTERLEAVES),
    "swizzle_mode": len(SWIZZLES),
    "fill_mode": len(rules.FILLS),
}
"""The number of values of enumeration fields."""


def replace_map_field(octets: bytes, field: str, ordinal: int, value: int) -> bytes:
    """Returns the bytes with a field replaced by a value of PTX.

    Raises ValueError if the field cannot hold it. Zeros are a map whose fields are all to be replaced, as compilers do.
    """
    made = bytearray(octets)
    if not any(made[: struct.calcsize("<I")]):
        struct.pack_into("<I", made, 0, _MAGIC)
    if field == "rank":
        if not 0 <= value < rules.MAX_RANK:
            raise ValueError(f"a rank is 0 to {rules.MAX_RANK - 1}: one less than the dimensions")
        made[6] = value + 1
        return bytes(made)
    at, form = _FIELD_ENCODINGS[field]
    size = struct.calcsize(form)
    if value >> 8 * size or value >= _FIELD_VALUE_COUNTS.get(field, value + 1):
        raise ValueError(f"the field {field} cannot hold {value}")
    struct.pack_into(form, made, at + ordinal * size, value)
    return bytes(made)


@dataclass(frozen=True, slots=True)
class TensorMapArgument:
    """An argument of a launch: the map of an array, which has no address yet."""

    array: Any
    fields: TensorMapFields

    @staticmethod
    def tiled(
        array: Any,
        *,
        box: Sequence[int],
        element: str | None = None,
        swizzle: int = 0,
        interleave: int = 0,
        oob_fill: str = "zeros",
        element_strides: Sequence[int] | None = None,
    ) -> TensorMapArgument:
        """Returns the map of an array for copies of boxes of elements.

        `box` has the number of elements in each dimension, innermost first. `element` is their type (`bf16`,
        `f32_ftz`), by default that of the array. `swizzle` and `interleave` are in bytes. `oob_fill` is the value that
        is read outside the array, `zeros` or `nan`. `element_strides` are the distances, in elements, between those
        that are copied. Raises InvalidLaunchError, which names the field.
        """
        base = _base_fields(array, element, element_strides, swizzle, interleave, oob_fill)
        tensor = MappedTensor(base.element, 0, base.extents, base.strides)
        row = tensor.size * (box[0] if box else 0)
        _raise_if_invalid(
            rules.check_layout(tensor, row, swizzle, interleave, oob_fill, SWIZZLES)
            or rules.check_tensor(tensor, interleave)
            or rules.check_box(tensor, tuple(box), interleave)
            or rules.check_element_strides(tensor, base.steps)
        )
        return TensorMapArgument(array, replace(base, box=tuple(box)))

    @staticmethod
    def im2col(  # noqa: PLR0913 (the fields of the driver's encoder)
        array: Any,
        *,
        lower: Sequence[int],
        upper: Sequence[int],
        channels: int,
        pixels: int,
        element: str | None = None,
        swizzle: int = 0,
        interleave: int = 0,
        oob_fill: str = "zeros",
        element_strides: Sequence[int] | None = None,
    ) -> TensorMapArgument:
        """Returns the map of an image (N, [D, [H,]] W, C) for copies of the pixels that a filter covers.

        `lower` and `upper` are the offsets of the box's corners from those of the image, innermost dimension (W) first.
        `channels` and `pixels` are those of a box. The other arguments are those of `tiled`.
        """
        base = _base_fields(array, element, element_strides, swizzle, interleave, oob_fill)
        tensor = MappedTensor(base.element, 0, base.extents, base.strides)
        _raise_if_invalid(
            rules.check_layout(tensor, tensor.size * channels, swizzle, interleave, oob_fill, SWIZZLES)
            or rules.check_tensor(tensor, interleave)
            or rules.check_im2col_corners(tensor, tuple(lower), tuple(upper), channels, pixels)
            or rules.check_element_strides(tensor, base.steps)
        )
        corners = replace(base, mode="im2col", lower=tuple(lower), upper=tuple(upper), channels=channels, pixels=pixels)
        return TensorMapArgument(array, corners)

    def encode_at(self, address: int) -> bytes:
        """Returns the 128 bytes for an array that begins at an address."""
        return replace(self.fields, address=address).encode()


def _base_fields(
    array: Any, element: str | None, steps: Sequence[int] | None, swizzle: int, interleave: int, fill: str
) -> TensorMapFields:
    if not isinstance(array, numpy.ndarray) or not array.flags.c_contiguous or not array.ndim:
        raise InvalidLaunchError("a tensor map describes a numpy array of one dimension or more, in C order")
    kind, size = array.dtype.kind, array.dtype.itemsize
    word = element or rules.ELEMENT_BY_KIND.get((kind, size), f"{kind}{size}")
    _raise_if_invalid(rules.check_element(word, size))
    strides = tuple(int(each) for each in array.strides[-2::-1]) if array.ndim > 1 else ()
    taken = tuple(steps) if steps is not None else (1,) * array.ndim
    return TensorMapFields("tiled", word, 0, tuple(array.shape[::-1]), strides, (), taken, swizzle, interleave, fill)


def _raise_if_invalid(broken: rules.LimitViolation | None) -> None:
    """Raises InvalidLaunchError for a violated rule of the encoder."""
    if broken is not None:
        must = "it " if broken.rule.startswith("must") else ""
        raise InvalidLaunchError(f"tensor map: {broken.field} is {broken.value}; {must}{broken.rule}")
