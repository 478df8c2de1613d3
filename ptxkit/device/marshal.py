"""Arguments to parameters, fast: a launch should cost the host little more than the driver's call.

What occurs in every launch of a loop (PyTorch's tensors of the right type, whole numbers in range, encoded tensor maps)
is checked and packed here with few steps. Everything else, and everything that does not fit, goes the careful way of
`arguments`, which words the errors.

Source: CUDA Driver API, "Execution Control: cuLaunchKernel" (kernelParams).
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ptxkit.device.arguments import NUMPY, convert, holds
from ptxkit.device.arrays import ArrayView
from ptxkit.device.errors import ArgumentError
from ptxkit.device.signature import Argument, Signature
from ptxkit.device.tensormap import TensorMap

Packer = Callable[[Any], Any]

_SLOT = 8
_MAP = 64
"""To which a block of bytes is aligned: a tensor map needs as much."""


class Marshal:
    """Packs the arguments of one kernel. Buffers are used again, but never by two threads at once."""

    def __init__(self, signature: Signature) -> None:
        self._signature = signature
        self._packers = [_packer(argument) for argument in signature.arguments]
        text, places, end = "=", [], 0
        for argument in signature.arguments:
            size, unit, letter = _slot(argument)
            place = -(-end // unit) * unit
            text += f"{place - end}x{letter}"
            places.append(place)
            end = place + size
        self._format = struct.Struct(text)
        self._places = places
        self._free: list[_Buffer] = []

    def pack(self, values: Sequence[object]) -> _Buffer:
        """The parameters in memory; give the buffer back with `release` when the driver has read it."""
        packers = self._packers
        if len(values) != len(packers):
            names = ", ".join(argument.name for argument in self._signature.arguments) or "none"
            raise ArgumentError(
                f"kernel {self._signature.name!r} takes {len(packers)} arguments ({names}), not {len(values)}"
            )
        packed = [packer(value) for packer, value in zip(packers, values, strict=True)]
        buffer = self._free.pop() if self._free else _Buffer(self._format.size, self._places)
        self._format.pack_into(buffer.memory, buffer.start, *packed)
        return buffer

    def release(self, buffer: _Buffer) -> None:
        """The buffer may be used again."""
        self._free.append(buffer)


class _Buffer:
    """Memory for the parameters of one launch. parameters: the address of an array of pointers to each."""

    __slots__ = ("_pointers", "memory", "parameters", "start")

    def __init__(self, size: int, places: Sequence[int]) -> None:
        self.memory = ctypes.create_string_buffer(size + _MAP)
        address = ctypes.addressof(self.memory)
        self.start = -address % _MAP
        self._pointers = (ctypes.c_void_p * max(len(places), 1))(*(address + self.start + place for place in places))
        self.parameters = ctypes.addressof(self._pointers)


def _slot(argument: Argument) -> tuple[int, int, str]:
    """(bytes, alignment, letter of `struct`) of a parameter in the buffer."""
    if argument.type is None:
        size = argument.size or 0
        return size, _MAP, f"{size}s"
    if argument.space is not None:
        return 8, _SLOT, "Q"
    code = NUMPY.get(argument.type, "u8")
    letter = {"f2": "e", "f4": "f", "f8": "d"}.get(code)
    if letter is None:
        letter = {"1": "b", "2": "h", "4": "i", "8": "q"}[code[1]]
        letter = letter.upper() if code[0] == "u" else letter
    return int(code[1]), _SLOT, letter


def _packer(argument: Argument) -> Packer:
    if argument.type is None:
        return _block_packer(argument)
    if argument.space is not None:
        return _pointer_packer(argument)
    code = NUMPY.get(argument.type, "")
    if code[:1] in ("u", "i"):
        return _integer_packer(argument, code)

    def other(value: Any) -> Any:
        return convert(argument, value).item()

    return other


def _integer_packer(argument: Argument, code: str) -> Packer:
    limits = np.iinfo(np.dtype(code))
    low, high = int(limits.min), int(limits.max)

    def pack(value: Any) -> Any:
        if type(value) is int and low <= value <= high:
            return value
        return convert(argument, value).item()

    return pack


def _pointer_packer(argument: Argument) -> Packer:
    """PyTorch's tensors tell place, type and order in three calls; which of its types fit is asked once for each."""
    fitting: dict[Any, bool] = {}
    mask = argument.alignment - 1

    def pack(value: Any) -> Any:
        if type(value).__name__ == "Tensor" and hasattr(value, "data_ptr") and value.is_cuda and value.is_contiguous():
            kind = value.dtype
            fits = fitting.get(kind)
            if fits is None:
                fits = fitting[kind] = _fits(argument, kind, value.element_size())
            address = value.data_ptr()
            if fits and not address & mask:
                return address
        return int(convert(argument, value))

    return pack


def _fits(argument: Argument, kind: Any, size: int) -> bool:
    """Whether a pointer parameter takes elements of one of PyTorch's types."""
    if argument.element is None:
        return True
    letter = "f" if kind.is_floating_point else "u" if "uint" in str(kind) else "i"
    return holds(argument.element, ArrayView(0, "V" if "bfloat" in str(kind) else letter, size, (), ()))


def _block_packer(argument: Argument) -> Packer:
    checked: dict[int, TensorMap] = {}

    def pack(value: Any) -> Any:
        known = checked.get(id(value))
        if known is not None and known is value:
            return known.data
        found = convert(argument, value)
        if isinstance(found, TensorMap):
            if found is value:
                checked.clear()  # one map stays: that of the loop
                checked[id(value)] = value
            return found.data
        return found

    return pack
