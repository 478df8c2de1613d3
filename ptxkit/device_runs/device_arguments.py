"""The arguments of a launch on the GPU: copies of the host arrays, tensor maps that the driver encodes, and tables of
both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ptxkit.device import TensorMap as DeviceMap
from ptxkit.device import to_device
from ptxkit.device.arguments import NUMPY_CODES
from ptxkit.device.signature import Argument
from ptxkit.emulator.state.tensor_maps import TensorMapArgument

_ADDRESS_BYTES = 8


def read_back(argument: Any, there: Mapping[int, Any]) -> Any:
    """Returns the contents of an argument's array, or of each array of a table, or None if it is not an array in
    memory.
    """
    if isinstance(argument, list):
        return [read_back(each, there) for each in argument]
    found = there.get(id(host_array(argument)))
    return None if found is None else found.to_host()


def arrays_in_memory(arguments: Sequence[Any], there: Mapping[int, Any]) -> list[tuple[np.ndarray[Any, Any], Any]]:
    """Returns the arrays of arguments, those of tensor maps and tables as well, each once, with those on the device."""
    flat = [part for each in arguments for part in (each if isinstance(each, list) else [each])]
    arrays = {id(array): array for each in flat if (array := host_array(each)) is not None}
    return [(array, there[number]) for number, array in arrays.items() if number in there]


def host_array(argument: Any) -> np.ndarray[Any, Any] | None:
    """Returns the array of an argument or of a tensor map, or None for another argument."""
    array = argument.array if isinstance(argument, TensorMapArgument) else argument
    return array if isinstance(array, np.ndarray) else None


def upload_parameter(value: Any, parameter: Argument, there: dict[int, Any]) -> Any:
    """Returns the argument of the launch for a parameter, with the bits that the reference machine stores.

    there: arrays on the device, by the identity of the host arrays and tables; it receives those that are copied.
    """
    if parameter.type is None:
        return _upload_structure(value, parameter.size, there)
    code = np.dtype(NUMPY_CODES.get(parameter.type, "u8"))
    if isinstance(value, np.ndarray) and (not value.ndim or code.itemsize < _ADDRESS_BYTES):
        return np.frombuffer(value.tobytes(), code)[0] if value.nbytes == code.itemsize else value
    if isinstance(value, int) and code.kind in "ui" and parameter.space is None:
        width = 8 * code.itemsize
        if -(1 << (width - 1)) <= value < 0:  # a negative number may be that of an unsigned parameter
            return np.dtype(f"u{code.itemsize}").type(value & ((1 << width) - 1)).view(code)
    return upload_argument(value, there)


def _upload_structure(value: Any, size: int | None, there: dict[int, Any]) -> Any:
    """Returns the argument of a structure: a tensor map, the bytes of several, or those of an array. A structure with
    the size of an address is the address of an array or of a table.
    """
    if isinstance(value, list) and all(isinstance(each, TensorMapArgument) for each in value):
        maps = b"".join(table_entry(upload_argument(each, there)) for each in value)
        return maps.ljust(size or len(maps), b"\0")
    if isinstance(value, list) or (isinstance(value, np.ndarray) and value.ndim and size == _ADDRESS_BYTES):
        return table_entry(upload_argument(value, there))
    return value.tobytes() if isinstance(value, np.ndarray) else upload_argument(value, there)


def upload_argument(argument: Any, there: dict[int, Any]) -> Any:
    """Returns the argument of the launch: an array, a table, or a tensor map on the device, or a number."""
    if isinstance(argument, list):
        entries = b"".join(table_entry(upload_argument(each, there)) for each in argument)
        made = there[id(argument)] = to_device(np.frombuffer(entries, np.uint8))
        return made
    array = host_array(argument)
    if array is None:
        return argument
    if id(array) not in there:
        there[id(array)] = to_device(array)
    found = there[id(array)]
    return _encode_map(argument, found) if isinstance(argument, TensorMapArgument) else found


def table_entry(passed: Any) -> bytes:
    """Returns the entry of an array or a map in a table: an address, or the bytes of the map."""
    data = getattr(passed, "data", None)
    return data if isinstance(data, bytes) else int(passed.address).to_bytes(8, "little")


def _encode_map(argument: TensorMapArgument, array: Any) -> Any:
    """Encodes a tensor map with the driver."""
    layout = argument.fields
    filled: dict[str, Any] = {"element": layout.element, "swizzle": layout.swizzle, "interleave": layout.interleave}
    filled |= {"oob_fill": layout.fill, "element_strides": layout.steps}
    if layout.mode == "tiled":
        return DeviceMap.tiled(array, box=layout.box, **filled)
    filled |= {"channels": layout.channels, "pixels": layout.pixels}
    return DeviceMap.im2col(array, lower=layout.lower, upper=layout.upper, **filled)
