"""From what the user passes to what the kernel receives: arrays become addresses, numbers get the parameter's width.

Anything that speaks `__cuda_array_interface__` or DLPack is an array. Its element type, memory, layout and alignment
are checked against the parameter, because a mistake here is not an error on the GPU but wrong bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ptxkit.device.errors import ArgumentError
from ptxkit.device.signature import Argument, Signature
from ptxkit.records import dataclass

_NUMPY: dict[str, str] = {
    **{f"{kind}{bits}": f"{code}{bits // 8}" for kind, code in (("u", "u"), ("s", "i")) for bits in (8, 16, 32, 64)},
    **{f"b{bits}": f"u{bits // 8}" for bits in (8, 16, 32, 64)},
    "f16": "f2",
    "f32": "f4",
    "f64": "f8",
}
"""NumPy's code of each PTX type that NumPy has."""


@dataclass(frozen=True, slots=True)
class _Array:
    """An array on the device. kind: NumPy's letter; size: bytes of an element."""

    address: int
    kind: str
    size: int
    contiguous: bool


def kernel_arguments(signature: Signature, values: Sequence[object]) -> list[Any]:
    """The values as NumPy scalars of the parameters' widths; `ArgumentError` naming the parameter that does not fit."""
    wanted = signature.arguments
    if len(values) != len(wanted):
        names = ", ".join(argument.name for argument in wanted) or "none"
        raise ArgumentError(f"kernel {signature.name!r} takes {len(wanted)} arguments ({names}), not {len(values)}")
    return [_convert(argument, value) for argument, value in zip(wanted, values, strict=True)]


def _convert(argument: Argument, value: object) -> Any:
    if argument.type is None:
        raise ArgumentError(f"parameter {argument.name!r} is a block of bytes, which launch cannot pass yet")
    if _is_array(value):
        if argument.space is None and argument.type not in ("u64", "s64", "b64"):
            raise ArgumentError(f"parameter {argument.name!r} is a .{argument.type} value, not an array")
        return np.uint64(_address(argument, _array(argument, value)))
    if argument.space is not None:
        raise ArgumentError(
            f"parameter {argument.name!r} is an address, so it takes an array, not {type(value).__name__}"
        )
    return _number(argument, value)


def _number(argument: Argument, value: object) -> Any:
    code = _NUMPY.get(argument.type or "")
    if code is None:
        raise ArgumentError(f"parameter {argument.name!r} has the type .{argument.type}, which no Python number has")
    kind = np.dtype(code)
    if isinstance(value, np.generic):
        if value.dtype != kind and not (argument.type or "").startswith("b"):
            raise ArgumentError(f"parameter {argument.name!r} is .{argument.type}, not {value.dtype}")
        return value.astype(kind) if value.dtype != kind else value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ArgumentError(f"parameter {argument.name!r} is a .{argument.type} value, not {type(value).__name__}")
    if isinstance(value, float) and kind.kind != "f":
        raise ArgumentError(f"parameter {argument.name!r} is .{argument.type}, and {value} is no integer")
    try:
        return kind.type(value)
    except OverflowError:
        raise ArgumentError(f"{value} does not fit in parameter {argument.name!r}, which is .{argument.type}") from None


# --------------------------------------------------------------------------------------------------- arrays


def _is_array(value: object) -> bool:
    if isinstance(value, np.generic):
        return False
    return any(hasattr(value, name) for name in ("__cuda_array_interface__", "__dlpack__", "__array_interface__"))


def _array(argument: Argument, value: Any) -> _Array:
    if isinstance(value, np.ndarray):
        raise ArgumentError(
            f"parameter {argument.name!r} is an address in .{argument.space}; this array is in host memory"
        )
    try:
        interface = value.__cuda_array_interface__
    except (
        AttributeError,
        TypeError,
    ):  # PyTorch raises either where the interface cannot say the type, as for bfloat16
        return _from_dlpack(argument, value)
    kind = interface["typestr"][1]
    size = int(interface["typestr"][2:])
    strides, expected = interface.get("strides"), _packed_strides(interface["shape"], size)
    return _Array(interface["data"][0], kind, size, strides is None or tuple(strides) == expected)


def _from_dlpack(argument: Argument, value: Any) -> _Array:
    import importlib

    try:
        utilities = importlib.import_module("cuda.core.utils")
    except ImportError:
        utilities = importlib.import_module("cuda.core.experimental.utils")
    view_of = utilities.StridedMemoryView
    make = getattr(view_of, "from_any_interface", view_of)  # the constructor, in earlier versions
    view = make(value, stream_ptr=-1)
    if not view.is_device_accessible:
        raise ArgumentError(
            f"parameter {argument.name!r} is an address in .{argument.space}; this array is in host memory"
        )
    kind = view.dtype.kind if view.dtype is not None else "V"
    size = view.dtype.itemsize if view.dtype is not None else 0
    strides = view.strides
    contiguous = strides is None or tuple(strides) == _packed_strides(view.shape, 1)
    return _Array(view.ptr, kind, size, contiguous)


def _packed_strides(shape: Sequence[int], size: int) -> tuple[int, ...]:
    strides: list[int] = []
    for extent in reversed(shape):
        strides.insert(0, size)
        size *= extent
    return tuple(strides)


def _address(argument: Argument, array: _Array) -> int:
    element = argument.element
    if element is not None and not _holds(element, array):
        raise ArgumentError(
            f"parameter {argument.name!r} points to .{element}, and the array holds NumPy's {array.kind}{array.size} "
        )
    if not array.contiguous:
        raise ArgumentError(f"parameter {argument.name!r} takes packed elements; this array has gaps or another order")
    if array.address % argument.alignment:
        raise ArgumentError(
            f"parameter {argument.name!r} must be aligned to {argument.alignment} bytes; "
            f"this array begins at {array.address:#x}"
        )
    return array.address


def _holds(element: str, array: _Array) -> bool:
    code = _NUMPY.get(element)
    if element.startswith("b") and element[1:].isdigit():
        return array.size * 8 == int(element[1:])
    return code is None or code == f"{array.kind}{array.size}"
