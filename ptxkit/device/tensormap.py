"""Tensor maps, encoded on the host: every constraint of the driver's encoder is checked first, by name.

    source = TensorMap.tiled(matrix, box=(64, 128), swizzle=128)
    loaded.launch(stream, source, ..., grid=132)

A map describes an array in device memory, which it keeps alive. Extents, boxes and strides stand as in PTX, the
innermost dimension first; an array of shape (rows, columns) has the extents (columns, rows).

Source: CUDA Driver API, "Tensor Map Object Management: cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col".
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from ptxkit.build.tensormap import BYTES, TensorForm
from ptxkit.device.arrays import ArrayView, view_of
from ptxkit.device.errors import ArgumentError, TensorMapError
from ptxkit.device.libraries import check_device, checked, driver
from ptxkit.records import dataclass

MAX_RANK, MAX_EXTENT, MAX_STRIDE = 5, 1 << 32, 1 << 40
MAX_BOX, MAX_PIXELS, MAX_ELEMENT_STRIDE = 256, 1024, 8
UNIT = 16
"""Bytes that addresses, strides and rows of a box are multiples of."""
CORNERS = {3: (-32768, 32767), 4: (-128, 127), 5: (-16, 15)}
"""By rank: the range of an im2col box's corners."""

SWIZZLES = {0: "NONE", 32: "32B", 64: "64B", 128: "128B"}
INTERLEAVES = {0: "NONE", 16: "16B", 32: "32B"}
PROMOTIONS = {0: "NONE", 64: "L2_64B", 128: "L2_128B", 256: "L2_256B"}
FILLS = {"zeros": "NONE", "nan": "NAN_REQUEST_ZERO_FMA"}

_TYPES = {
    "u8": "UINT8",
    "u16": "UINT16",
    "u32": "UINT32",
    "s32": "INT32",
    "u64": "UINT64",
    "s64": "INT64",
    "f16": "FLOAT16",
    "bf16": "BFLOAT16",
    "f32": "FLOAT32",
    "f64": "FLOAT64",
    "f32_ftz": "FLOAT32_FTZ",
    "tf32": "TFLOAT32",
    "tf32_ftz": "TFLOAT32_FTZ",
}
"""The driver's words for element types, by PTX's."""
_SIZES = {"u8": 1, "u16": 2, "f16": 2, "bf16": 2, "u64": 8, "s64": 8, "f64": 8}
_BY_KIND = {
    ("u", 1): "u8",
    ("u", 2): "u16",
    ("u", 4): "u32",
    ("u", 8): "u64",
    ("i", 4): "s32",
    ("i", 8): "s64",
    ("f", 2): "f16",
    ("f", 4): "f32",
    ("f", 8): "f64",
    ("b", 1): "u8",
    ("i", 1): "u8",
    ("i", 2): "u16",
    ("V", 2): "bf16",
    ("V", 1): "u8",
}
"""The element type that an array's own is, or is moved as; NumPy has no bfloat16 and no 8-bit floating point."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """The array that a map describes: extents in elements, strides in bytes of all dimensions but the innermost."""

    element: str
    address: int
    extents: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def rank(self) -> int:
        """Dimensions."""
        return len(self.extents)

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return _SIZES.get(self.element, 4)


@dataclass(frozen=True, slots=True)
class TensorMap:
    """An encoded map, with what it was made of. data: its 128 bytes. array: what it describes, kept alive."""

    tensor: Tensor
    box: tuple[int, ...]
    swizzle: int
    mode: str
    data: bytes
    array: Any

    @staticmethod
    def tiled(  # noqa: PLR0913  (the fields of the driver's encoder)
        array: Any,
        *,
        box: Sequence[int],
        element: str | None = None,
        swizzle: int = 0,
        interleave: int = 0,
        oob_fill: str = "zeros",
        l2_promotion: int = 0,
        element_strides: Sequence[int] | None = None,
    ) -> TensorMap:
        """The map of an array whose boxes are copied as they stand.

        box: elements in each dimension, innermost first. element: type of the elements, as PTX or the driver call it
        (`bf16`, `tf32`, `f32_ftz`); None takes the array's own. swizzle, interleave: bytes. oob_fill: what is read
        outside of the array, `zeros` or `nan`. l2_promotion: bytes that the L2 cache fetches at least. element_strides:
        every how many elements one is taken. Errors: `TensorMapError`, which names field, value and rule;
        `NoDeviceError` where there is no driver to encode it.
        """
        tensor = tensor_of(array, element)
        steps = tuple(element_strides) if element_strides is not None else (1,) * tensor.rank
        check_layout(tensor, tensor.size * box[0], swizzle, interleave, oob_fill, l2_promotion)
        check_tensor(tensor, interleave)
        check_box(tensor, tuple(box), steps, interleave)
        layout = _layout(interleave, swizzle, l2_promotion, oob_fill)
        data = _encode("cuTensorMapEncodeTiled", tensor, (list(box),), steps, layout)
        return TensorMap(tensor, tuple(box), swizzle, "tiled", data, array)

    @staticmethod
    def im2col(  # noqa: PLR0913  (the fields of the driver's encoder)
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
        l2_promotion: int = 0,
        element_strides: Sequence[int] | None = None,
    ) -> TensorMap:
        """The map of an image (N, [D, [H,]] W, C) whose boxes are the pixels that a filter meets.

        lower, upper: offsets of the box's corners from the image's, innermost dimension (W) first. channels, pixels: of
        a box. The rest as for `tiled`.
        """
        tensor = tensor_of(array, element)
        steps = tuple(element_strides) if element_strides is not None else (1,) * tensor.rank
        check_layout(tensor, tensor.size * channels, swizzle, interleave, oob_fill, l2_promotion)
        check_tensor(tensor, interleave)
        check_corners(tensor, tuple(lower), tuple(upper), channels, pixels)
        check_steps(tensor, steps)
        shape = (list(lower), list(upper), channels, pixels)
        layout = _layout(interleave, swizzle, l2_promotion, oob_fill)
        data = _encode("cuTensorMapEncodeIm2col", tensor, shape, steps, layout)
        return TensorMap(tensor, (channels, pixels), swizzle, "im2col", data, array)

    @staticmethod
    def like(form: TensorForm, array: Any) -> TensorMap:
        """The map of an array with the box and the swizzle that a kernel's parameter asks for."""
        if form.mode != "tiled":
            raise TensorMapError("map", form.mode, "an im2col map has corners: encode it with TensorMap.im2col(...)")
        element = form.element.word if form.element.word in _TYPES else None
        return TensorMap.tiled(array, box=form.box, element=element, swizzle=form.swizzle)

    def check(self, form: TensorForm, name: str) -> None:
        """`ArgumentError` where the map is not what the parameter `name` of a kernel asks for."""
        for what, mine, wanted in (
            ("mode", self.mode, form.mode),
            ("rank", self.tensor.rank, form.rank),
            ("box", self.box, form.box),
            ("swizzle", self.swizzle, form.swizzle),
            ("size of an element", self.tensor.size, form.element.size()),
        ):
            if mine != wanted:
                raise ArgumentError(f"parameter {name!r} is a tensor map with {what} {wanted}, not {mine}")


# ---------------------------------------------------------------------------------------------------- checks


def tensor_of(array: Any, element: str | None) -> Tensor:
    """The array as a tensor; `TensorMapError` for elements that no tensor map has."""
    view: ArrayView = view_of(array, "a tensor map describes device memory")
    word = element or _BY_KIND.get((view.kind, view.size), "")
    if word not in _TYPES:
        known = ", ".join(_TYPES)
        raise TensorMapError("element", element or f"{view.kind}{view.size}", f"must be one of {known}")
    tensor = Tensor(word, view.address, view.shape[::-1], view.strides[-2::-1] if len(view.shape) > 1 else ())
    if tensor.size != view.size:
        raise TensorMapError("element", word, f"has {tensor.size} bytes, and the array's elements have {view.size}")
    if view.strides and view.strides[-1] != view.size and view.shape[-1] > 1:
        gap = view.strides[-1]
        raise TensorMapError("array", f"{gap} bytes from element to element", f"must be packed innermost: {view.size}")
    return tensor


def check_tensor(tensor: Tensor, interleave: int) -> None:
    """`TensorMapError` where rank, address, extents or strides break a rule."""
    least = 3 if interleave else 1
    if not least <= tensor.rank <= MAX_RANK:
        where = " with an interleaved layout" if interleave else ""
        raise TensorMapError("rank", tensor.rank, f"must be {least} to {MAX_RANK}{where}")
    unit = 32 if interleave == 32 else UNIT
    if tensor.address % unit:
        raise TensorMapError("address", hex(tensor.address), f"must be a multiple of {unit} bytes")
    for extent in tensor.extents:
        if not 1 <= extent <= MAX_EXTENT:
            raise TensorMapError("extents", tensor.extents, "must be 1 to 2**32 each")
    for stride in tensor.strides:
        if stride % unit or not 0 <= stride < MAX_STRIDE:
            raise TensorMapError("strides", tensor.strides, f"must be multiples of {unit} bytes below 2**40")


def check_box(tensor: Tensor, box: tuple[int, ...], steps: tuple[int, ...], interleave: int) -> None:
    """`TensorMapError` where a tiled box breaks a rule."""
    if len(box) != tensor.rank:
        raise TensorMapError("box", box, f"must have as many dimensions as the array: {tensor.rank}")
    if any(not 1 <= extent <= MAX_BOX for extent in box):
        raise TensorMapError("box", box, f"must have 1 to {MAX_BOX} elements in each dimension")
    if not interleave and box[0] * tensor.size % UNIT:
        raise TensorMapError("box", box, f"must have rows of a multiple of {UNIT} bytes, not {box[0] * tensor.size}")
    check_steps(tensor, steps)


def check_steps(tensor: Tensor, steps: tuple[int, ...]) -> None:
    """`TensorMapError` where element strides break a rule."""
    if len(steps) != tensor.rank or any(not 1 <= step <= MAX_ELEMENT_STRIDE for step in steps):
        rule = f"must be 1 to {MAX_ELEMENT_STRIDE} in each of {tensor.rank} dimensions"
        raise TensorMapError("element_strides", steps, rule)


def check_corners(tensor: Tensor, lower: tuple[int, ...], upper: tuple[int, ...], channels: int, pixels: int) -> None:
    """`TensorMapError` where an im2col box breaks a rule."""
    if tensor.rank not in CORNERS:
        raise TensorMapError("rank", tensor.rank, "must be 3, 4 or 5 for im2col")
    low, high = CORNERS[tensor.rank]
    for name, corner in (("lower", lower), ("upper", upper)):
        if len(corner) != tensor.rank - 2 or any(not low <= offset <= high for offset in corner):
            raise TensorMapError(name, corner, f"must be {tensor.rank - 2} offsets from {low} to {high}")
    for extent, first, last in zip(tensor.extents[1:-1], lower, upper, strict=True):
        if extent + last - first <= 0:
            raise TensorMapError("upper", upper, "must leave a box that is not empty")
    if not 1 <= channels <= MAX_BOX:
        raise TensorMapError("channels", channels, f"must be 1 to {MAX_BOX}")
    if not 1 <= pixels <= MAX_PIXELS:
        raise TensorMapError("pixels", pixels, f"must be 1 to {MAX_PIXELS}")


def check_layout(tensor: Tensor, row: int, swizzle: int, interleave: int, oob_fill: str, l2_promotion: int) -> None:
    """`TensorMapError` where swizzle, interleave, fill or promotion break a rule. row: bytes of a box's row."""
    for name, value, legal in (
        ("swizzle", swizzle, SWIZZLES),
        ("interleave", interleave, INTERLEAVES),
        ("oob_fill", oob_fill, FILLS),
        ("l2_promotion", l2_promotion, PROMOTIONS),
    ):
        if value not in legal:
            raise TensorMapError(name, value, f"must be one of {', '.join(map(str, legal))}")
    if interleave == 32 and swizzle != 32:
        raise TensorMapError("swizzle", swizzle, "must be 32 where interleave is 32")
    if not interleave and swizzle and row > swizzle:
        raise TensorMapError("swizzle", swizzle, f"must be at least the bytes of a box's row, which has {row}")
    if oob_fill == "nan" and tensor.element[0] not in "fbt":
        raise TensorMapError("oob_fill", oob_fill, "must be zeros for elements that are no floating-point numbers")


# -------------------------------------------------------------------------------------------------- encoding


def _layout(interleave: int, swizzle: int, l2_promotion: int, oob_fill: str) -> tuple[str, str, str, str]:
    """The names of the driver's constants, in the order of its parameters."""
    return (
        f"CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_{INTERLEAVES[interleave]}",
        f"CUtensorMapSwizzle.CU_TENSOR_MAP_SWIZZLE_{SWIZZLES[swizzle]}",
        f"CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_{PROMOTIONS[l2_promotion]}",
        f"CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_{FILLS[oob_fill]}",
    )


def _encode(
    name: str, tensor: Tensor, shape: tuple[object, ...], steps: tuple[int, ...], layout: tuple[str, str, str, str]
) -> bytes:
    check_device()
    api = driver()

    def constant(word: str) -> Any:
        group, _, member = word.partition(".")
        return getattr(getattr(api, group), member)

    def numbers(values: object, kind: str) -> object:
        return [getattr(api, kind)(value) for value in values] if isinstance(values, list) and kind else values

    boxes = [numbers(each, "cuuint32_t" if name.endswith("Tiled") else "") for each in shape]
    result = getattr(api, name)(
        constant(f"CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_{_TYPES[tensor.element]}"),
        tensor.rank,
        tensor.address,
        numbers(list(tensor.extents), "cuuint64_t"),
        numbers(list(tensor.strides), "cuuint64_t"),
        *boxes,
        numbers(list(steps), "cuuint32_t"),
        *map(constant, layout),
    )
    checked(result, f"encoding a tensor map of extents {tensor.extents}")
    return ctypes.string_at(result[1].getPtr(), BYTES)
