"""Arguments to parameters, fast: a launch should cost the host little more than the driver's call.

What occurs in every launch of a loop (PyTorch's tensors, whole numbers in range, numbers for floating point, encoded
tensor maps) is checked here in few steps, with what was found out about its type kept. Everything else, everything
seen for the first time and everything that does not fit goes the careful way of `arguments`, which words the errors.

Source: CUDA Driver API, "Execution Control: cuLaunchKernel" (kernelParams).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ptxkit.device.arguments import NUMPY, convert
from ptxkit.device.arrays import device_of, is_tensor
from ptxkit.device.errors import ArgumentError
from ptxkit.device.memory import can_reach
from ptxkit.device.signature import Argument, Signature
from ptxkit.device.tensormap import TensorMap

Packer = Callable[[Any], Any]

_SLOT = 8
_MAP = 64
"""To which a block of bytes is aligned: a tensor map needs as much."""


class Marshal:
    """Checks and packs the arguments of one kernel on one device.

    packers: one a parameter; each gives what `layout` writes. places: where each parameter begins.
    """

    __slots__ = ("_signature", "count", "layout", "packers", "places")

    def __init__(self, signature: Signature, device: int) -> None:
        self._signature = signature
        self.count = len(signature.arguments)
        self.packers = [_packer(argument, device) for argument in signature.arguments]
        text, places, end = "=", [], 0
        for argument in signature.arguments:
            size, unit, letter = _slot(argument)
            place = -(-end // unit) * unit
            text += f"{place - end}x{letter}"
            places.append(place)
            end = place + size
        self.layout = struct.Struct(text)
        self.places = tuple(places)

    def refuse_count(self, given: int) -> None:
        """`ArgumentError` for another number of arguments."""
        names = ", ".join(argument.name for argument in self._signature.arguments) or "none"
        raise ArgumentError(f"kernel {self._signature.name!r} takes {self.count} arguments ({names}), not {given}")

    def pack(self, memory: Any, start: int, values: Sequence[object]) -> None:
        """Writes the parameters; `ArgumentError` for what does not fit."""
        if len(values) != self.count:
            self.refuse_count(len(values))
        packed = [packer(value) for packer, value in zip(self.packers, values, strict=True)]
        self.layout.pack_into(memory, start, *packed)


def _slot(argument: Argument) -> tuple[int, int, str]:
    """(bytes, alignment, letter of `struct`) of a parameter in memory."""
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


def _packer(argument: Argument, device: int) -> Packer:
    if argument.type is None:
        return _block_packer(argument)
    if argument.space is not None:
        return _pointer_packer(argument, device)
    code = NUMPY.get(argument.type, "")
    if code[:1] in ("u", "i"):
        return _integer_packer(code, _pointer_packer(argument, device))
    return _floating_packer(argument, code)


def _integer_packer(code: str, other: Packer) -> Packer:
    """other: takes what is no small number; of 64 bits also arrays, as PTX that compilers write has plain numbers."""
    limits = np.iinfo(np.dtype(code))
    low, high = int(limits.min), int(limits.max)

    def pack(value: Any) -> Any:
        if type(value) is int and low <= value <= high:
            return value
        return other(value)

    return pack


def _floating_packer(argument: Argument, code: str) -> Packer:
    is_double = code == "f8"

    def pack(value: Any) -> Any:
        if is_double and type(value) is float:
            return value
        return convert(argument, value).item()  # narrower ones are rounded, and may overflow, as NumPy has it

    return pack


def _pointer_packer(argument: Argument, device: int) -> Packer:
    """PyTorch's tensors tell type, place, address and order in four calls; which of its types fit is kept."""
    tensors: set[type] = set()
    fitting: set[Any] = set()
    mask = argument.alignment - 1

    def pack(value: Any) -> Any:
        if type(value) in tensors and value.dtype in fitting and value.get_device() == device:
            address = value.data_ptr()
            if not address & mask and value.is_contiguous():
                return address
        return careful(value)

    def careful(value: Any) -> int:
        address = int(convert(argument, value))
        _check_place(argument, value, device)
        if is_tensor(value):
            tensors.add(type(value))
            fitting.add(value.dtype)
        return address

    return pack


def _check_place(argument: Argument, value: object, device: int) -> None:
    """`ArgumentError` for an array of another GPU that this one cannot reach."""
    place = device_of(value)
    if place is not None and place != device and not can_reach(int(convert(argument, value))):
        raise ArgumentError(
            f"parameter {argument.name!r}: the array is on GPU {place}, and the kernel is launched on GPU {device}, "
            "which cannot reach it"
        )


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
