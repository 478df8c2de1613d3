"""The driver's launch call, with the data that is the same in all launches prepared in advance.

The driver's `cuLaunchKernelEx` reads a structure with geometry, stream and attributes, and a table of pointers to the
parameters. A `LaunchFrame` is this memory, which is allocated once and reused: a launch writes the parameters into it,
and the stream if it has changed. `cuda.core.launch` and `cuda.bindings` create those structures from Python objects for
each launch, and neither accepts a structure in memory; so the driver's function is called through `ctypes`, at the
address that `cuda.bindings` knows.

Source: CUDA Driver API, "Execution Control: cuLaunchKernelEx", "Data types used by CUDA driver: CUlaunchConfig".
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from ptxkit.device.cuda_libraries import check_status, import_driver
from ptxkit.device.geometry import Geometry

_BLOCK_ALIGNMENT = 64
"""The alignment of a block of bytes, which is that of a tensor map."""
_CLUSTER_DIMENSION_ATTRIBUTE = 4
"""CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION"""


class _Attribute(ctypes.Structure):
    """CUlaunchAttribute"""

    _fields_ = (("id", ctypes.c_uint32), ("pad", ctypes.c_uint32), ("value", ctypes.c_uint32 * 16))


class CuLaunchConfig(ctypes.Structure):
    """CUlaunchConfig"""

    _fields_ = (
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("shared", ctypes.c_uint32),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(_Attribute)),
        ("count", ctypes.c_uint32),
    )


class LaunchFrame:
    """The data that the driver reads for one launch.

    The parameters are in `memory` and begin at `start`. `config` and `parameters` are arguments of the driver's
    function.
    """

    __slots__ = ("_attributes", "_config", "_pointers", "config", "memory", "parameters", "start", "stream")

    def __init__(self, geometry: Geometry, size: int, places: Sequence[int]) -> None:
        self.memory = ctypes.create_string_buffer(size + _BLOCK_ALIGNMENT)
        address = ctypes.addressof(self.memory)
        self.start = -address % _BLOCK_ALIGNMENT
        self._pointers = (ctypes.c_void_p * max(len(places), 1))(*(address + self.start + place for place in places))
        self._attributes = (_Attribute * 1)()
        self._config = CuLaunchConfig(geometry.grid, geometry.block, geometry.shared, None, self._attributes, 0)
        if geometry.cluster is not None:
            self._attributes[0].id = _CLUSTER_DIMENSION_ATTRIBUTE
            self._attributes[0].value[:3] = geometry.cluster
            self._config.count = 1
        self.stream = 0
        self.config = ctypes.c_void_p(ctypes.addressof(self._config))
        self.parameters = ctypes.c_void_p(ctypes.addressof(self._pointers))

    def use(self, stream: int) -> None:
        """Sets the stream of the launch."""
        self._config.stream = self.stream = stream


LaunchFunction = Callable[[ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, None], int]
"""A function of (configuration, kernel, parameters, nothing) that returns the driver's status."""


@cache
def get_launch_function() -> LaunchFunction:
    """Returns `cuLaunchKernelEx`, which releases the interpreter lock while it waits for space in the device's
    queue.
    """
    result = import_driver().cuGetProcAddress(b"cuLaunchKernelEx", 12000, 0)
    check_status(result, "finding cuLaunchKernelEx")
    # No argument types are declared: all arguments are `ctypes` objects, which then need no conversion.
    return ctypes.CFUNCTYPE(ctypes.c_int)(int(result[1]))


def get_kernel_function(kernel: int) -> ctypes.c_void_p:
    """Returns a kernel as an argument of the driver's function: its function in the current context, which is
    cached.
    """
    status, found = import_driver().cuKernelGetFunction(kernel)
    return ctypes.c_void_p(kernel if int(status) else int(found))


@cache
def _get_context_function() -> Callable[[], tuple[Any, Any]]:
    function: Callable[[], tuple[Any, Any]] = import_driver().cuCtxGetCurrent
    return function


def get_current_context() -> int:
    """Returns the driver's current context, or 0 if no context or no driver exists."""
    try:
        return int(_get_context_function()()[1])
    except RuntimeError:
        return 0
