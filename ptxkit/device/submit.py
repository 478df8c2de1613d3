"""The driver's launch: parameters in memory, one call.

`cuda.core.launch` passes numbers and buffers, but no structures by value in all of its versions; tensor maps are
structures. So parameters are laid out here and the driver gets a pointer to each.

Source: CUDA Driver API, "Execution Control: cuLaunchKernelEx".
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from ptxkit.device.libraries import driver
from ptxkit.device.tensormap import TensorMap

Shape = tuple[int, int, int]

#: To which every parameter is aligned: as much as a tensor map needs.
_SLOT = 64


class Packed:
    """Parameters as the driver reads them: `with Packed(values) as address:`, the address of an array of pointers."""

    def __init__(self, values: Sequence[Any]) -> None:
        data = [_bytes(value) for value in values]
        places, end = [], 0
        for each in data:
            places.append(end)
            end += -(-len(each) // _SLOT) * _SLOT
        self._memory = ctypes.create_string_buffer(end + _SLOT)
        start = -(-ctypes.addressof(self._memory) // _SLOT) * _SLOT
        for place, each in zip(places, data, strict=True):
            ctypes.memmove(start + place, each, len(each))
        self._pointers = (ctypes.c_void_p * max(len(data), 1))(*(start + place for place in places))

    def __enter__(self) -> int:
        return ctypes.addressof(self._pointers)

    def __exit__(self, *_: object) -> None:
        """The memory must outlive the call, and no more: the driver copies what it reads."""


def _bytes(value: Any) -> bytes:
    if isinstance(value, TensorMap):
        return value.data()
    return value if isinstance(value, bytes) else value.tobytes()


def submit(
    kernel: int, parameters: int, stream: int, grid: Shape, block: Shape, cluster: Shape | None, shared: int
) -> tuple[Any, ...]:
    """Launches; gives the driver's answer."""
    api = driver()
    config = api.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = grid
    config.blockDimX, config.blockDimY, config.blockDimZ = block
    config.sharedMemBytes = shared
    config.hStream = stream
    if cluster is not None:
        attribute = api.CUlaunchAttribute()
        attribute.id = api.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
        attribute.value.clusterDim.x, attribute.value.clusterDim.y, attribute.value.clusterDim.z = cluster
        config.attrs = [attribute]
        config.numAttrs = 1
    result: tuple[Any, ...] = api.cuLaunchKernelEx(config, api.CUfunction(kernel), parameters, 0)
    return result
