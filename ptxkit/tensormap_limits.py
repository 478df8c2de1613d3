"""Limits of tensor maps: the rules of the driver's encoder, for all modules that make maps.

Each check returns the first violated rule, as field, value and rule, or None. Extents, boxes and strides are in the
order of PTX, with the innermost dimension first.

Source: CUDA Driver API, "Tensor Map Object Management: cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col".
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from ptxkit.fast_dataclasses import dataclass

MAP_BYTES, MAP_ALIGNMENT = 128, 64
"""The bytes of a tensor map, and its alignment in bytes."""
MAX_RANK, MAX_EXTENT, MAX_STRIDE = 5, 1 << 32, 1 << 40
MAX_BOX, MAX_PIXELS, MAX_ELEMENT_STRIDE = 256, 1024, 8
ALIGNMENT_UNIT = 16
"""The alignment in bytes of addresses, strides and rows of a box."""
IM2COL_CORNER_RANGES = {3: (-32768, 32767), 4: (-128, 127), 5: (-16, 15)}
"""The range of an im2col box's corners by rank."""

ELEMENTS = ("u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f32_ftz", "f64", "bf16", "tf32", "tf32_ftz")
"""The element types by their number in `tensormap.replace`."""
ELEMENT_SIZES = {"u8": 1, "u16": 2, "f16": 2, "bf16": 2, "u64": 8, "s64": 8, "f64": 8}
"""The bytes of an element, by type; the default is 4."""
ELEMENT_BY_KIND = {
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
    ("V", 1): "u8",
    ("V", 2): "bf16",
}
"""The element type of an array, or the one as which it is copied, by NumPy's kind and size; NumPy has no bfloat16."""

SWIZZLES, INTERLEAVES, FILLS = (0, 32, 64, 128), (0, 16, 32), ("zeros", "nan")


class LimitViolation(NamedTuple):
    """A rule that the value of a field violates; the rule states the valid values."""

    field: str
    value: object
    rule: str


@dataclass(frozen=True, slots=True)
class MappedTensor:
    """The array that a map describes: extents in elements, strides in bytes of all dimensions but the innermost."""

    element: str
    address: int
    extents: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.extents)

    @property
    def size(self) -> int:
        """The bytes of an element."""
        return ELEMENT_SIZES.get(self.element, 4)


def check_element(word: str, size: int) -> LimitViolation | None:
    """Checks an element type for an array whose elements have `size` bytes."""
    if word not in ELEMENTS:
        return LimitViolation("element", word, f"must be one of {', '.join(ELEMENTS)}")
    if ELEMENT_SIZES.get(word, 4) != size:
        return LimitViolation(
            "element", word, f"has {ELEMENT_SIZES.get(word, 4)} bytes, and the array's elements have {size}"
        )
    return None


def check_tensor(tensor: MappedTensor, interleave: int) -> LimitViolation | None:
    """Checks rank, address, extents and strides."""
    least = 3 if interleave else 1
    if not least <= tensor.rank <= MAX_RANK:
        where = " with an interleaved layout" if interleave else ""
        return LimitViolation("rank", tensor.rank, f"must be {least} to {MAX_RANK}{where}")
    unit = 32 if interleave == 32 else ALIGNMENT_UNIT
    if tensor.address % unit:
        return LimitViolation("address", hex(tensor.address), f"must be a multiple of {unit} bytes")
    if any(not 1 <= extent <= MAX_EXTENT for extent in tensor.extents):
        return LimitViolation("extents", tensor.extents, "must be 1 to 2**32 each")
    if any(stride % unit or not 0 <= stride < MAX_STRIDE for stride in tensor.strides):
        return LimitViolation("strides", tensor.strides, f"must be multiples of {unit} bytes below 2**40")
    return None


def check_box(tensor: MappedTensor, box: tuple[int, ...], interleave: int) -> LimitViolation | None:
    """Checks a tiled box."""
    if len(box) != tensor.rank:
        return LimitViolation("box", box, f"must have as many dimensions as the array: {tensor.rank}")
    if any(not 1 <= extent <= MAX_BOX for extent in box):
        return LimitViolation("box", box, f"must have 1 to {MAX_BOX} elements in each dimension")
    if not interleave and box[0] * tensor.size % ALIGNMENT_UNIT:
        return LimitViolation(
            "box", box, f"must have rows of a multiple of {ALIGNMENT_UNIT} bytes, not {box[0] * tensor.size}"
        )
    return None


def check_element_strides(tensor: MappedTensor, steps: tuple[int, ...]) -> LimitViolation | None:
    """Checks element strides."""
    if len(steps) != tensor.rank or any(not 1 <= step <= MAX_ELEMENT_STRIDE for step in steps):
        rule = f"must be 1 to {MAX_ELEMENT_STRIDE} in each of {tensor.rank} dimensions"
        return LimitViolation("element_strides", steps, rule)
    return None


def check_im2col_corners(
    tensor: MappedTensor, lower: tuple[int, ...], upper: tuple[int, ...], channels: int, pixels: int
) -> LimitViolation | None:
    """Checks an im2col box."""
    if tensor.rank not in IM2COL_CORNER_RANGES:
        return LimitViolation("rank", tensor.rank, "must be 3, 4 or 5 for im2col")
    low, high = IM2COL_CORNER_RANGES[tensor.rank]
    for name, corner in (("lower", lower), ("upper", upper)):
        if len(corner) != tensor.rank - 2 or any(not low <= offset <= high for offset in corner):
            return LimitViolation(name, corner, f"must be {tensor.rank - 2} offsets from {low} to {high}")
    for extent, first, last in zip(tensor.extents[1:-1], lower, upper, strict=True):
        if extent + last - first <= 0:
            return LimitViolation("upper", upper, "must leave a box that is not empty")
    for name, value, most in (("channels", channels, MAX_BOX), ("pixels", pixels, MAX_PIXELS)):
        if not 1 <= value <= most:
            return LimitViolation(name, value, f"must be 1 to {most}")
    return None


def check_layout(
    tensor: MappedTensor, row: int, swizzle: int, interleave: int, oob_fill: str, swizzles: Collection[int] = SWIZZLES
) -> LimitViolation | None:
    """Checks swizzle, interleave and fill. row: bytes of a box's row. swizzles: the supported ones."""
    legal: tuple[tuple[str, object, Collection[object]], ...] = (
        ("swizzle", swizzle, swizzles),
        ("interleave", interleave, INTERLEAVES),
        ("oob_fill", oob_fill, FILLS),
    )
    for name, value, known in legal:
        if value not in known:
            return LimitViolation(name, value, f"must be one of {', '.join(map(str, known))}")
    if interleave == 32 and swizzle != 32:
        return LimitViolation("swizzle", swizzle, "must be 32 where interleave is 32")
    if not interleave and swizzle and row > swizzle:
        return LimitViolation("swizzle", swizzle, f"must be at least the bytes of a box's row, which has {row}")
    if oob_fill == "nan" and tensor.element[0] not in "fbt":
        return LimitViolation("oob_fill", oob_fill, "must be zeros for elements that are no floating-point numbers")
    return None
