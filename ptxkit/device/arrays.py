"""Arrays of any library as the launch sees them: where they are, of which shape, and what they hold.

Anything that speaks `__cuda_array_interface__` or DLPack is an array.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from ptxkit.device.errors import ArgumentError
from ptxkit.records import dataclass


@dataclass(frozen=True, slots=True)
class ArrayView:
    """An array in device memory. kind: NumPy's letter of the elements, `V` where NumPy has no such type; size: bytes of
    an element. shape: elements in each dimension; strides: bytes, outermost first as in NumPy."""

    address: int
    kind: str
    size: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def is_packed(self) -> bool:
        """Whether the elements follow one another in the order of the indices, without gaps."""
        return self.strides == packed_strides(self.shape, self.size) or 0 in self.shape


def is_array(value: object) -> bool:
    """Whether a value speaks one of the interfaces of arrays."""
    if isinstance(value, np.generic):
        return False
    return any(hasattr(value, name) for name in ("__cuda_array_interface__", "__dlpack__", "__array_interface__"))


def view_of(value: Any, what: str) -> ArrayView:
    """The array; `ArgumentError` that names `what` it was given for, where it is not in device memory."""
    if isinstance(value, np.ndarray):
        raise ArgumentError(f"{what}; this array is in host memory")
    try:
        interface = value.__cuda_array_interface__
    except (AttributeError, TypeError):  # PyTorch raises either where the interface cannot say the type (bfloat16)
        return _from_dlpack(value, what)
    kind = interface["typestr"][1]
    size = int(interface["typestr"][2:])
    shape = tuple(interface["shape"])
    strides = interface.get("strides")
    return ArrayView(
        interface["data"][0], kind, size, shape, packed_strides(shape, size) if strides is None else tuple(strides)
    )


def _from_dlpack(value: Any, what: str) -> ArrayView:
    try:
        utilities = importlib.import_module("cuda.core.utils")
    except ImportError:
        utilities = importlib.import_module("cuda.core.experimental.utils")
    view_class = utilities.StridedMemoryView
    make = getattr(view_class, "from_any_interface", view_class)  # the constructor, in earlier versions
    view = make(value, stream_ptr=-1)
    if not view.is_device_accessible:
        raise ArgumentError(f"{what}; this array is in host memory")
    kind = view.dtype.kind if view.dtype is not None else "V"
    size = view.dtype.itemsize if view.dtype is not None else int(getattr(value, "itemsize", 0))
    shape = tuple(view.shape)
    counted = packed_strides(shape, 1) if view.strides is None else tuple(view.strides)
    return ArrayView(view.ptr, kind, size, shape, tuple(stride * size for stride in counted))


def packed_strides(shape: Sequence[int], size: int) -> tuple[int, ...]:
    """The strides in bytes of an array without gaps."""
    strides: list[int] = []
    for extent in reversed(shape):
        strides.insert(0, size)
        size *= extent
    return tuple(strides)
