"""Tensor maps, which the host encodes. Each constraint of the driver's encoder is checked first and named in the error.

    source = TensorMap.tiled(matrix, box=(64, 128), swizzle=128)
    loaded.launch(stream, source, ..., grid=132)

A map describes an array in device memory, which it keeps alive. Extents, boxes and strides are in the order of PTX,
with the innermost dimension first; an array of shape (rows, columns) has the extents (columns, rows).

Source: CUDA Driver API, "Tensor Map Object Management: cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col".
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from ptxkit.device.arrays import ArrayView, view_device_array
from ptxkit.device.cuda_libraries import check_device, check_status, import_driver
from ptxkit.device.errors import ArgumentError, TensorMapError
from ptxkit.fast_dataclasses import dataclass
from ptxkit.kernel_model.tensor_form import TENSOR_MAP_BYTES, TensorForm
from ptxkit.tensormap_limits import (
    ELEMENT_BY_KIND,
    LimitViolation,
    MappedTensor,
    check_box,
    check_element,
    check_element_strides,
    check_im2col_corners,
    check_layout,
    check_tensor,
)

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
"""The driver's names of element types, by those of PTX."""


@dataclass(frozen=True, slots=True)
class TensorMap:
    """An encoded map of 128 bytes with its parameters. It keeps the array alive that it describes."""

    tensor: MappedTensor
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
        """Returns the map of an array for copies of boxes of elements.

        `box` is the number of elements in each dimension, innermost first. `element` is their type, as PTX or the
        driver name it (`bf16`, `tf32`, `f32_ftz`), by default the type of the array. `swizzle` and `interleave` are
        widths in bytes. `oob_fill` is the value that is read outside of the array, `zeros` or `nan`. `l2_promotion` is
        the least number of bytes that the L2 cache fetches. `element_strides` are the distances between the elements
        that are copied, in elements.

        Raises `TensorMapError`, which names the field, its value and the rule, and `NoDeviceError` if there is no
        driver.
        """
        tensor = make_tensor(array, element)
        steps = tuple(element_strides) if element_strides is not None else (1,) * tensor.rank
        _raise_if_broken(
            check_layout(tensor, tensor.size * (box[0] if box else 0), swizzle, interleave, oob_fill)
            or _check_promotion(l2_promotion)
            or check_tensor(tensor, interleave)
            or check_box(tensor, tuple(box), interleave)
            or check_element_strides(tensor, steps)
        )
        layout = _layout_constants(interleave, swizzle, l2_promotion, oob_fill)
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
        """Returns the map of an image (N, [D, [H,]] W, C) for copies of the pixels that a filter covers.

        `lower` and `upper` are the offsets of the box's corners from the image's, with the innermost dimension (W)
        first. `channels` and `pixels` are the extents of a box. The other arguments and the errors are those of
        `tiled`.
        """
        tensor = make_tensor(array, element)
        steps = tuple(element_strides) if element_strides is not None else (1,) * tensor.rank
        _raise_if_broken(
            check_layout(tensor, tensor.size * channels, swizzle, interleave, oob_fill)
            or _check_promotion(l2_promotion)
            or check_tensor(tensor, interleave)
            or check_im2col_corners(tensor, tuple(lower), tuple(upper), channels, pixels)
            or check_element_strides(tensor, steps)
        )
        shape = (list(lower), list(upper), channels, pixels)
        layout = _layout_constants(interleave, swizzle, l2_promotion, oob_fill)
        data = _encode("cuTensorMapEncodeIm2col", tensor, shape, steps, layout)
        return TensorMap(tensor, (channels, pixels), swizzle, "im2col", data, array)

    @staticmethod
    def like(form: TensorForm, array: Any) -> TensorMap:
        """Returns the map of an array with the box and the swizzle that a kernel's parameter requires."""
        if form.mode != "tiled":
            raise TensorMapError("map", form.mode, "an im2col map has corners: encode it with TensorMap.im2col(...)")
        element = form.element.word if form.element.word in _TYPES else None
        return TensorMap.tiled(array, box=form.box, element=element, swizzle=form.swizzle)

    def check(self, form: TensorForm, name: str) -> None:
        """Raises `ArgumentError` if the map does not have the form that the parameter `name` of a kernel requires."""
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


def make_tensor(array: Any, element: str | None) -> MappedTensor:
    """Returns the array as a tensor. Raises `TensorMapError` for element types that no tensor map has."""
    view: ArrayView = view_device_array(array, "a tensor map describes device memory")
    word = element or ELEMENT_BY_KIND.get((view.kind, view.size), f"{view.kind}{view.size}")
    _raise_if_broken(check_element(word, view.size))
    tensor = MappedTensor(word, view.address, view.shape[::-1], view.strides[-2::-1] if len(view.shape) > 1 else ())
    if view.strides and view.strides[-1] != view.size and view.shape[-1] > 1:
        gap = view.strides[-1]
        raise TensorMapError("array", f"{gap} bytes from element to element", f"must be packed innermost: {view.size}")
    return tensor


def _raise_if_broken(broken: LimitViolation | None) -> None:
    """Raises `TensorMapError` for a violated rule of the encoder."""
    if broken is not None:
        raise TensorMapError(*broken)


def _check_promotion(l2_promotion: int) -> LimitViolation | None:
    legal = f"must be one of {', '.join(map(str, PROMOTIONS))}"
    return None if l2_promotion in PROMOTIONS else LimitViolation("l2_promotion", l2_promotion, legal)


# -------------------------------------------------------------------------------------------------- encoding


def _layout_constants(interleave: int, swizzle: int, l2_promotion: int, oob_fill: str) -> tuple[str, str, str, str]:
    """Returns the names of the driver's constants, in the order of its parameters."""
    return (
        f"CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_{INTERLEAVES[interleave]}",
        f"CUtensorMapSwizzle.CU_TENSOR_MAP_SWIZZLE_{SWIZZLES[swizzle]}",
        f"CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_{PROMOTIONS[l2_promotion]}",
        f"CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_{FILLS[oob_fill]}",
    )


def _encode(
    name: str,
    tensor: MappedTensor,
    shape: tuple[object, ...],
    steps: tuple[int, ...],
    layout: tuple[str, str, str, str],
) -> bytes:
    check_device()
    api = import_driver()

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
        numbers(list(tensor.strides) or [0], "cuuint64_t"),  # rank 1 has no stride, and the driver requires a pointer
        *boxes,
        numbers(list(steps), "cuuint32_t"),
        *map(constant, layout),
    )
    check_status(result, f"encoding a tensor map of extents {tensor.extents}")
    return ctypes.string_at(result[1].getPtr(), TENSOR_MAP_BYTES)
