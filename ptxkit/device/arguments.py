"""Conversion of the caller's arguments to parameters: arrays become addresses, and numbers get the parameter's width.

Any object with `__cuda_array_interface__` or DLPack is an array. Its element type, memory, layout and alignment are
compared with the parameter, because a mistake would not be an error on the GPU but wrong data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxkit.device.arrays import ArrayView, is_array, view_device_array
from ptxkit.device.errors import ArgumentError
from ptxkit.device.signature import Argument, Signature
from ptxkit.device.tensormap import TensorMap
from ptxkit.isa.functions import bits
from ptxkit.kernel_model.tensor_form import TENSOR_MAP_BYTES

NUMPY_CODES: dict[str, str] = {
    **{f"{kind}{bits}": f"{code}{bits // 8}" for kind, code in (("u", "u"), ("s", "i")) for bits in (8, 16, 32, 64)},
    **{f"b{bits}": f"u{bits // 8}" for bits in (8, 16, 32, 64)},
    "f16": "f2",
    "f32": "f4",
    "f64": "f8",
}
"""The format code of NumPy for each PTX type that NumPy has."""


def check_count(signature: Signature, given: int) -> None:
    """Raises `ArgumentError` if the kernel takes another number of arguments."""
    wanted = signature.arguments
    if given != len(wanted):
        names = ", ".join(argument.name for argument in wanted) or "none"
        raise ArgumentError(f"kernel {signature.name!r} takes {len(wanted)} arguments ({names}), not {given}")


def convert_argument(
    argument: Argument, value: object, view: Callable[[Any, str], ArrayView] = view_device_array
) -> Any:
    """Converts one value to a NumPy scalar of the parameter's width, a tensor map, or the bytes of a structure.

    Raises `ArgumentError`, which names the parameter, if the value does not fit. `view` reads an array, and rejects one
    in other memory: `view_device_array` for a launch, `view_host_array` for the reference machine.
    """
    if argument.tensor is not None or isinstance(value, TensorMap):
        if is_array(value):
            view(value, "a tensor map describes device memory")  # the launch's stream then waits for it
        return _convert_tensor_map(argument, value)
    if argument.type is None:
        return _convert_block(argument, value)
    if is_array(value):
        if argument.space is None and argument.type not in ("u64", "s64", "b64"):
            raise ArgumentError(f"parameter {argument.name!r} is a .{argument.type} value, not an array")
        return np.uint64(_resolve_address(argument, view(value, _space_requirement(argument))))
    if argument.space is not None:
        raise ArgumentError(
            f"parameter {argument.name!r} is an address, so it takes an array, not {type(value).__name__}"
        )
    return _convert_number(argument, value)


def _convert_number(argument: Argument, value: object) -> Any:
    code = NUMPY_CODES.get(argument.type or "")
    if code is None:
        raise ArgumentError(f"parameter {argument.name!r} has the type .{argument.type}, which no Python number has")
    kind = np.dtype(code)
    if isinstance(value, np.generic):
        if value.dtype == kind:
            return value
        if not (argument.type or "").startswith("b") or value.dtype.itemsize != kind.itemsize:
            raise ArgumentError(f"parameter {argument.name!r} is .{argument.type}, not {value.dtype}")
        return value.view(kind)  # reinterprets the bits
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ArgumentError(f"parameter {argument.name!r} is a .{argument.type} value, not {type(value).__name__}")
    if isinstance(value, float) and kind.kind != "f":
        raise ArgumentError(f"parameter {argument.name!r} is .{argument.type}, and {value} is not an integer")
    try:
        return kind.type(value)
    except OverflowError:
        raise ArgumentError(f"{value} does not fit in parameter {argument.name!r}, which is .{argument.type}") from None


def _convert_tensor_map(argument: Argument, value: object) -> TensorMap:
    """Returns a tensor map. An array is encoded as the kernel's parameter requires."""
    if argument.type is not None or argument.size not in (None, TENSOR_MAP_BYTES):
        raise ArgumentError(f"parameter {argument.name!r} is not a tensor map")
    if argument.tensor is None:
        assert isinstance(value, TensorMap)
        return value
    if is_array(value):
        return TensorMap.like(argument.tensor, value)
    if not isinstance(value, TensorMap):
        raise ArgumentError(
            f"parameter {argument.name!r} is a tensor map, so it takes one, or an array, not {type(value).__name__}"
        )
    value.check(argument.tensor, argument.name)
    return value


def _convert_block(argument: Argument, value: object) -> bytes:
    """Returns the bytes of a structure that is passed by value."""
    if not isinstance(value, bytes | bytearray | np.generic):
        raise ArgumentError(
            f"parameter {argument.name!r} is a block of bytes, so it takes bytes or a NumPy structure, "
            f"not {type(value).__name__}"
        )
    data = bytes(value) if isinstance(value, bytes | bytearray) else value.tobytes()
    if argument.size is not None and len(data) != argument.size:
        raise ArgumentError(f"parameter {argument.name!r} has {argument.size} bytes, not {len(data)}")
    return data


# --------------------------------------------------------------------------------------------------- arrays


def _space_requirement(argument: Argument) -> str:
    return f"parameter {argument.name!r} is an address in .{argument.space}"


def _resolve_address(argument: Argument, array: ArrayView) -> int:
    element = argument.element
    if element is not None and not has_element_type(element, array):
        raise ArgumentError(f"parameter {argument.name!r} points to .{element}, and the array holds {array.elements}")
    if not array.is_packed:
        raise ArgumentError(f"parameter {argument.name!r} takes packed elements; this array has gaps or another order")
    if array.is_readonly and argument.is_written:
        raise ArgumentError(f"parameter {argument.name!r} is written by the kernel, and this array is read-only")
    if array.address % argument.alignment:
        raise ArgumentError(
            f"parameter {argument.name!r} must be aligned to {argument.alignment} bytes; "
            f"this array begins at {array.address:#x}"
        )
    return array.address


def has_element_type(element: str, array: ArrayView) -> bool:
    """Returns whether the elements of an array have a PTX type.

    Types that NumPy lacks are accepted from arrays that name them, and from raw arrays with elements of their size.
    Bytes may be any 8-bit floats, for which PTX has no memory type. Pairs (`f16x2`) are two elements or one.
    """
    code, found = NUMPY_CODES.get(element), f"{array.kind}{array.size}"
    if element.startswith("b") and element[1:].isdigit():
        return array.size * 8 == int(element[1:])
    if code is not None:
        return code == found or (code == "u1" and bool(array.word) and array.size == 1)
    single = element.removesuffix("x2")
    if array.word:
        return array.word in (element, single)
    return found == NUMPY_CODES.get(single) or (array.kind in "uiV" and array.size * 8 == bits(element))
