"""Tensor maps of the machine: what they say, and the 128 bytes in which they lie in memory.

    source = TensorMap.tiled(matrix, box=(64, 128), swizzle=128)
    run(module, "k", grid=4, arguments=[source, ...])

Extents, boxes and strides stand as in PTX, the innermost dimension first; an array of shape (rows, columns) has the
extents (columns, rows). The bytes are the machine's own, not the driver's: a program copies them and replaces fields.

Source: PTX ISA, "Tensors", "Tensor-map", "tensormap.replace"; CUDA Driver API, "Tensor Map Object Management".
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy

from ptxkit.emulate.faults import LaunchError
from ptxkit.records import dataclass, replace

BYTES, ALIGNMENT = 128, 64
MOST_RANK, MOST_BOX, MOST_PIXELS, MOST_STEP = 5, 256, 1024, 8
UNIT = 16
"""Bytes that strides and rows of a box are multiples of."""
_MAGIC = 0x7074_784D
_FORM = struct.Struct("<IBBBBBBHIQ5I4xQQQQ5H5B1x3h3hHH4x")
ELEMENTS = ("u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f32_ftz", "f64", "bf16", "tf32", "tf32_ftz")
"""The element types by their number in `tensormap.replace`."""
SIZES = {"u8": 1, "u16": 2, "f16": 2, "bf16": 2, "u64": 8, "s64": 8, "f64": 8}
SWIZZLES = (0, 32, 64, 128, 96)
INTERLEAVES = (0, 16, 32)
FILLS = ("zeros", "nan")
_MODES = ("tiled", "im2col")
_CORNERS = {3: (-32768, 32767), 4: (-128, 127), 5: (-16, 15)}
_BY_KIND = {
    ("u", 1): "u8",
    ("u", 2): "u16",
    ("u", 4): "u32",
    ("u", 8): "u64",
    ("i", 1): "u8",
    ("i", 2): "u16",
    ("i", 4): "s32",
    ("i", 8): "s64",
    ("f", 2): "f16",
    ("f", 4): "f32",
    ("f", 8): "f64",
    ("b", 1): "u8",
}


@dataclass(frozen=True, slots=True)
class Layout:
    """What a map says. address: generic. extents, box, steps: elements by dimension; strides: bytes, but the innermost.

    swizzle, interleave: bytes. fill: of what lies outside. lower, upper: the corners of an im2col box, of which
    `channels` and `pixels` come. atomicity: of the swizzle, by number.
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
        """Dimensions."""
        return len(self.extents)

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return SIZES.get(self.element, 4)

    def encoded(self) -> bytes:
        """The 128 bytes."""

        def filled(values: Sequence[int], count: int, by: int = 0) -> list[int]:
            return [*values, *[by] * (count - len(values))]

        made = _FORM.pack(
            _MAGIC,
            _MODES.index(self.mode),
            ELEMENTS.index(self.element),
            self.rank,
            INTERLEAVES.index(self.interleave),
            SWIZZLES.index(self.swizzle),
            FILLS.index(self.fill),
            self.atomicity,
            0,
            self.address,
            *filled([each & 0xFFFF_FFFF for each in self.extents], 5),
            *filled(self.strides, 4),
            *filled(self.box, 5),
            *filled(self.steps, 5, 1),
            *filled(self.lower, 3),
            *filled(self.upper, 3),
            self.channels,
            self.pixels,
        )
        return made.ljust(BYTES, b"\0")


def decoded(octets: bytes) -> Layout | None:
    """What 128 bytes say; None where they are no map of the machine."""
    magic, mode, element, rank, interleave, swizzle, fill, atomicity, _, address, *rest = _FORM.unpack(
        octets[: _FORM.size]
    )
    if magic != _MAGIC or not 1 <= rank <= MOST_RANK:
        return None
    extents, strides, box, steps = rest[:5], rest[5:9], rest[9:14], rest[14:19]
    lower, upper = rest[19:22], rest[22:25]
    is_tiled = _MODES[mode] == "tiled"
    corners = 0 if is_tiled else rank - 2
    return Layout(
        _MODES[mode],
        ELEMENTS[element],
        address,
        tuple(each or 1 << 32 for each in extents[:rank]),
        tuple(strides[: rank - 1]),
        tuple(box[:rank]) if is_tiled else (),
        tuple(steps[:rank]),
        SWIZZLES[swizzle],
        INTERLEAVES[interleave],
        FILLS[fill],
        tuple(lower[:corners]),
        tuple(upper[:corners]),
        rest[25],
        rest[26],
        atomicity,
    )


_FIELDS = {
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
"""Where a field lies, and how; those with an ordinal one behind the other."""


def replaced(octets: bytes, field: str, ordinal: int, value: int) -> bytes:
    """The bytes with another value of a field, which PTX gives. Raises ValueError where the field cannot hold it."""
    made = bytearray(octets)
    if field == "rank":
        if not 0 <= value < MOST_RANK:
            raise ValueError(f"a rank is 0 to {MOST_RANK - 1}: one less than the dimensions")
        made[6] = value + 1
        return bytes(made)
    at, form = _FIELDS[field]
    size = struct.calcsize(form)
    if value >> 8 * size:
        raise ValueError(f"the field {field} cannot hold {value}")
    struct.pack_into(form, made, at + ordinal * size, value)
    return bytes(made)


@dataclass(frozen=True, slots=True)
class TensorMap:
    """An argument of a launch: the map of an array. layout: with no address yet."""

    array: Any
    layout: Layout

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
    ) -> TensorMap:
        """The map of an array whose boxes are copied as they stand.

        box: elements in each dimension, innermost first. element: type of the elements (`bf16`, `f32_ftz`); None takes
        the array's own. swizzle, interleave: bytes. oob_fill: what is read outside of the array, `zeros` or `nan`.
        element_strides: every how many elements one is taken. Raises LaunchError, which names the field.
        """
        base = _described(array, element, element_strides, swizzle, interleave, oob_fill)
        if len(box) != base.rank or any(not 1 <= each <= MOST_BOX for each in box):
            raise LaunchError(f"box {tuple(box)} must have 1 to {MOST_BOX} elements in each of {base.rank} dimensions")
        _check_row(base, box[0])
        made = Layout(
            "tiled", base.element, 0, base.extents, base.strides, tuple(box), base.steps, swizzle, interleave, oob_fill
        )
        return TensorMap(array, made)

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
    ) -> TensorMap:
        """The map of an image (N, [D, [H,]] W, C) whose boxes are the pixels that a filter meets.

        lower, upper: offsets of the box's corners from the image's, innermost dimension (W) first. channels, pixels: of
        a box. The rest as for `tiled`.
        """
        base = _described(array, element, element_strides, swizzle, interleave, oob_fill)
        low, high = _CORNERS.get(base.rank, (1, 0))
        for name, corner in (("lower", lower), ("upper", upper)):
            if len(corner) != base.rank - 2 or any(not low <= each <= high for each in corner):
                raise LaunchError(f"{name} {tuple(corner)} must be {base.rank - 2} offsets from {low} to {high}")
        if not 1 <= channels <= MOST_BOX or not 1 <= pixels <= MOST_PIXELS:
            raise LaunchError(f"a box has 1 to {MOST_BOX} channels and 1 to {MOST_PIXELS} pixels")
        _check_row(base, channels)
        made = Layout(
            "im2col",
            base.element,
            0,
            base.extents,
            base.strides,
            (),
            base.steps,
            swizzle,
            interleave,
            oob_fill,
            tuple(lower),
            tuple(upper),
            channels,
            pixels,
        )
        return TensorMap(array, made)

    def at(self, address: int) -> bytes:
        """The 128 bytes where the array begins at an address."""
        return replace(self.layout, address=address).encoded()


def _described(
    array: Any, element: str | None, steps: Sequence[int] | None, swizzle: int, interleave: int, fill: str
) -> Layout:
    if not isinstance(array, numpy.ndarray) or not 1 <= array.ndim <= MOST_RANK or not array.flags.c_contiguous:
        raise LaunchError(f"a tensor map describes a numpy array of 1 to {MOST_RANK} dimensions, in C order")
    word = element or _BY_KIND.get((array.dtype.kind, array.dtype.itemsize), "")
    if word not in ELEMENTS:
        raise LaunchError(f"element {word or array.dtype} must be one of {', '.join(ELEMENTS)}")
    if SIZES.get(word, 4) != array.dtype.itemsize:
        raise LaunchError(
            f"elements of type {word} have {SIZES.get(word, 4)} bytes, the array's {array.dtype.itemsize}"
        )
    for name, value, legal in (
        ("swizzle", swizzle, SWIZZLES),
        ("interleave", interleave, INTERLEAVES),
        ("oob_fill", fill, FILLS),
    ):
        if value not in legal:
            raise LaunchError(f"{name} {value} must be one of {', '.join(map(str, legal))}")
    strides = tuple(int(each) for each in array.strides[-2::-1]) if array.ndim > 1 else ()
    if any(each % UNIT for each in strides):
        raise LaunchError(f"strides {strides} must be multiples of {UNIT} bytes: make the rows longer")
    taken = tuple(steps) if steps is not None else (1,) * array.ndim
    if len(taken) != array.ndim or any(not 1 <= each <= MOST_STEP for each in taken):
        raise LaunchError(f"element_strides {taken} must be 1 to {MOST_STEP} in each of {array.ndim} dimensions")
    return Layout("tiled", word, 0, tuple(array.shape[::-1]), strides, (), taken, swizzle, interleave, fill)


def _check_row(layout: Layout, count: int) -> None:
    row = count * layout.size
    if not layout.interleave and row % UNIT:
        raise LaunchError(f"a row of the box has {row} bytes: it must be a multiple of {UNIT}")
    if not layout.interleave and layout.swizzle and row > layout.swizzle:
        raise LaunchError(f"a row of the box has {row} bytes, more than the swizzle of {layout.swizzle}")
