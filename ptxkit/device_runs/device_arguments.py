"""The arguments of a launch on the GPU: copies of the host arrays, tensor maps that the driver encodes, and tables of
both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ptxkit.device import TensorMap as DeviceMap
from ptxkit.device import to_device
from ptxkit.emulator.state.tensor_maps import TensorMapArgument


def read_back(argument: Any, there: Mapping[int, Any]) -> Any:
    """Returns the contents of an argument's array, or of each array of a table, or None if it is not an array."""
    if isinstance(argument, list):
        return [read_back(each, there) for each in argument]
    array = _host_array(argument)
    return None if array is None else there[id(array)].to_host()


def _host_array(argument: Any) -> np.ndarray[Any, Any] | None:
    array = argument.array if isinstance(argument, TensorMapArgument) else argument
    return array if isinstance(array, np.ndarray) else None


def upload_argument(argument: Any, there: dict[int, Any]) -> Any:
    """Returns the argument of the launch. there: arrays on the device, by the identity of the host arrays."""
    if isinstance(argument, list):
        return to_device(
            np.frombuffer(b"".join(_table_entry(upload_argument(each, there)) for each in argument), np.uint8)
        )
    array = _host_array(argument)
    if array is None:
        return argument
    if id(array) not in there:
        there[id(array)] = to_device(array)
    found = there[id(array)]
    return _encode_map(argument, found) if isinstance(argument, TensorMapArgument) else found


def _table_entry(passed: Any) -> bytes:
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
