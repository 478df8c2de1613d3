"""Descriptions of arrays of any library: location, shape and element type.

Any object with `__cuda_array_interface__` or DLPack is an array. PyTorch's tensors are read with their own methods,
because the interfaces have neither bfloat16 nor 8-bit floating point, and reject tensors that require a gradient.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from ptxkit.device.errors import ArgumentError
from ptxkit.device.streams import LEGACY, make_stream_wait
from ptxkit.fast_dataclasses import dataclass

_TORCH_CODES = {"bool": "b1"} | {
    f"{word}{size * 8}": f"{letter}{size}"
    for word, letter in (("uint", "u"), ("int", "i"), ("float", "f"), ("complex", "c"))
    for size in (1, 2, 4, 8, 16)
    if (word, size) != ("float", 1)
}
"""NumPy's type character and the element size in bytes, by PyTorch's names of types. Its other types have no
character.
"""

_TORCH_WORDS = {
    "bfloat16": "bf16",
    "float8_e4m3fn": "e4m3",
    "float8_e5m2": "e5m2",
    "float8_e8m0fnu": "ue8m0",
    "float4_e2m1fn_x2": "e2m1x2",
}
"""PTX's names of the types that NumPy lacks, by PyTorch's names. PTX does not have the others, such as the `fnuz`
types.
"""

_HOST, _CUDA, _MANAGED = 1, 2, 13
"""DLPack's device types. Pinned memory has another one."""
_STREAM_ORDERED = (_CUDA, _MANAGED)
"""Memory for whose contents a stream can wait."""


@dataclass(frozen=True, slots=True)
class ArrayView:
    """An array in device memory.

    `kind` is NumPy's type character of the elements, or `V` if NumPy has no such type, and `size` is the size of an
    element in bytes. `shape` counts elements in each dimension and `strides` bytes, with the outermost dimension first
    as in NumPy. If NumPy has no such type, `word` is the name that PTX, or else the library, has for it, and `name` is
    the library's name. `is_readonly` is set if the library permits no writes.
    """

    address: int
    kind: str
    size: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    word: str = ""
    name: str = ""
    is_readonly: bool = False

    @property
    def is_packed(self) -> bool:
        """Whether the elements are contiguous in the order of the indices."""
        wanted = compute_packed_strides(self.shape, self.size)
        steps = zip(self.shape, self.strides, wanted, strict=True)
        return 0 in self.shape or all(extent == 1 or step == packed for extent, step, packed in steps)

    @property
    def elements(self) -> str:
        """A description of the element type, for messages."""
        return self.name or f"NumPy's {self.kind}{self.size}"


def is_array(value: Any) -> bool:
    """Returns whether a value has one of the interfaces of arrays."""
    kind: Any = type(value)
    known = _has_array_interface(kind)
    return hasattr(value, "__cuda_array_interface__") if known is None else known


@cache
def _has_array_interface(kind: Any) -> bool | None:
    """Returns whether objects of a type are arrays. The type is examined, because attributes of a tensor can raise
    errors.

    Returns None if the type does not decide it, because its objects have individual attributes.
    """
    if issubclass(kind, np.generic):
        return False
    if any(hasattr(kind, name) for name in ("__cuda_array_interface__", "__dlpack__", "__array_interface__")):
        return True
    return None if kind.__dictoffset__ or hasattr(kind, "__getattr__") else False


def is_tensor(value: Any) -> bool:
    """Returns whether a value is an instance of PyTorch's `Tensor` or of a subclass."""
    kind: Any = type(value)
    return _is_tensor(kind)


@cache
def _is_tensor(kind: Any) -> bool:
    return any(base.__name__ == "Tensor" and base.__module__ == "torch" for base in kind.__mro__)


def device_of(value: Any) -> int | None:
    """Returns the number of the GPU that an array is on, or None if it is not stated or all GPUs can access it."""
    if not hasattr(type(value), "__dlpack_device__"):
        return None
    kind, number = value.__dlpack_device__()
    return int(number) if int(kind) == _CUDA else None


def view_device_array(value: Any, what: str, stream: int | None = None) -> ArrayView:
    """Returns a description of an array. Raises `ArgumentError`, which names its use `what`, if it is not in device
    memory.

    `stream` is the handle of the stream that will use the array. It waits for the stream that a
    `__cuda_array_interface__` names, and DLPack exports the array for it; with None, the description is only read.
    There is no wait for PyTorch's tensors, as in PyTorch's own operators. Sources: Numba documentation, "CUDA Array
    Interface (Version 3): Synchronization"; Array API standard, "__dlpack__".
    """
    if is_tensor(value):
        return _view_torch(value, what)
    if isinstance(value, np.ndarray):
        raise ArgumentError(f"{what}; this array is in host memory")
    try:
        interface = value.__cuda_array_interface__
    except (AttributeError, TypeError):
        return _view_dlpack(value, what, stream)
    producer = interface.get("stream")
    if stream is not None and producer is not None:
        make_stream_wait(int(producer), stream)
    typestr = interface["typestr"]
    _check_byte_order(typestr, what)
    kind, size = typestr[1], int(typestr[2:])
    shape = tuple(interface["shape"])
    strides = interface.get("strides")
    steps = compute_packed_strides(shape, size) if strides is None else tuple(strides)
    return ArrayView(interface["data"][0], kind, size, shape, steps, is_readonly=bool(interface["data"][1]))


def view_host_array(value: Any, what: str) -> ArrayView:
    """Returns a NumPy array for the reference machine, which copies it to its own memory at address 0 of an allocation.

    Raises `ArgumentError`, which names its use `what`, if it is an array of another library or has another byte order.
    """
    if not isinstance(value, np.ndarray):
        raise ArgumentError(f"{what}; the reference machine takes arrays of NumPy, not {type(value).__name__}")
    _check_byte_order(value.dtype.str, what)
    kind = value.dtype.kind
    word = _TORCH_WORDS.get(value.dtype.name, "") if kind == "V" else ""
    return ArrayView(0, kind, value.dtype.itemsize, value.shape, value.strides, word, value.dtype.name if word else "")


def _check_byte_order(typestr: str, what: str) -> None:
    """Raises `ArgumentError` if the elements do not have the GPU's byte order."""
    if typestr.startswith(">"):
        raise ArgumentError(f"{what}; this array holds NumPy's {typestr}, the highest byte first")


def _view_torch(value: Any, what: str) -> ArrayView:
    if not value.is_cuda:
        where = "in host memory" if value.device.type == "cpu" else f"on the device {str(value.device)!r}"
        raise ArgumentError(f"{what}; this tensor is {where}")
    name = str(value.dtype).removeprefix("torch.")
    size = value.element_size()
    strides = tuple(stride * size for stride in value.stride())
    kind = _TORCH_CODES.get(name, "V")[0]
    word = _TORCH_WORDS.get(name, name) if kind == "V" else ""
    return ArrayView(value.data_ptr(), kind, size, tuple(value.shape), strides, word, str(value.dtype))


def _view_dlpack(value: Any, what: str, stream: int | None) -> ArrayView:
    place = int(value.__dlpack_device__()[0])
    if place == _HOST:
        raise ArgumentError(f"{what}; this array is in host memory")
    try:
        utilities = importlib.import_module("cuda.core.utils")
    except ImportError:
        utilities = importlib.import_module("cuda.core.experimental.utils")
    view_class = utilities.StridedMemoryView
    make = getattr(view_class, "from_any_interface", view_class)  # the constructor in earlier versions
    view = make(value, stream_ptr=-1 if stream is None or place not in _STREAM_ORDERED else stream or LEGACY)
    if not view.is_device_accessible:
        raise ArgumentError(f"{what}; this array is in host memory")
    kind = view.dtype.kind if view.dtype is not None else "V"
    size = view.dtype.itemsize if view.dtype is not None else int(getattr(value, "itemsize", 0))
    shape = tuple(view.shape)
    counted = compute_packed_strides(shape, 1) if view.strides is None else tuple(view.strides)
    steps = tuple(stride * size for stride in counted)
    return ArrayView(view.ptr, kind, size, shape, steps, is_readonly=bool(getattr(view, "readonly", False)))


def compute_packed_strides(shape: Sequence[int], size: int) -> tuple[int, ...]:
    """Returns the strides in bytes of a contiguous array."""
    strides: list[int] = []
    for extent in reversed(shape):
        strides.insert(0, size)
        size *= extent
    return tuple(strides)
