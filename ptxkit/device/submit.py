"""The driver's launch, and the streams it takes.

`cuda.core.launch` passes numbers and buffers, but no structures by value in all of its versions; tensor maps are
structures. So parameters are laid out by `marshal`, and the driver gets a pointer to each.

Source: CUDA Driver API, "Execution Control: cuLaunchKernel, cuLaunchKernelEx".
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import cache
from types import ModuleType
from typing import Any, Protocol, runtime_checkable

from ptxkit.device.errors import LaunchError
from ptxkit.device.libraries import driver

Shape = tuple[int, int, int]

_api = cache(driver)


def submit(
    kernel: int, parameters: int, stream: int, grid: Shape, block: Shape, cluster: Shape | None, shared: int
) -> tuple[Any, ...]:
    """Launches; gives the driver's answer."""
    api = _api()
    if cluster is None:
        result: tuple[Any, ...] = api.cuLaunchKernel(kernel, *grid, *block, shared, stream, parameters, 0)
        return result
    return _submit_clusters(api, (kernel, parameters, stream, shared), grid, block, cluster)


def _submit_clusters(
    api: ModuleType, what: tuple[int, int, int, int], grid: Shape, block: Shape, cluster: Shape
) -> tuple[Any, ...]:
    kernel, parameters, stream, shared = what
    config = api.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = grid
    config.blockDimX, config.blockDimY, config.blockDimZ = block
    config.sharedMemBytes = shared
    config.hStream = stream
    attribute = api.CUlaunchAttribute()
    attribute.id = api.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
    attribute.value.clusterDim.x, attribute.value.clusterDim.y, attribute.value.clusterDim.z = cluster
    config.attrs = [attribute]
    config.numAttrs = 1
    result: tuple[Any, ...] = api.cuLaunchKernelEx(config, kernel, parameters, 0)
    return result


def current_context() -> int:
    """The driver's current context, 0 where there is none."""
    return int(_api().cuCtxGetCurrent()[1])


@runtime_checkable
class StreamLike(Protocol):
    """What `cuda.core` takes for a stream."""

    def __cuda_stream__(self) -> tuple[int, int]: ...


def stream_handle(stream: object) -> int:
    """The driver's handle of a stream; `LaunchError` where it is none."""
    for name in ("cuda_stream", "ptr"):  # PyTorch's and CuPy's names for the handle
        handle = getattr(stream, name, None)
        if isinstance(handle, int):
            return handle
    if isinstance(stream, StreamLike):
        return int(stream.__cuda_stream__()[1])
    raise LaunchError(f"a stream of cuda.core, PyTorch or CuPy is needed, not {type(stream).__name__}")


def current_stream(arguments: Sequence[object]) -> int:
    """The handle of the current stream of the library that the arrays are from; 0, the default stream, for others."""
    for argument in arguments:
        find = _CURRENT.get(type(argument).__module__.partition(".")[0])
        if find is not None:
            return find()
    return 0


def _of_torch() -> int:
    return int(_module("torch").cuda.current_stream().cuda_stream)


def _of_cupy() -> int:
    return int(_module("cupy").cuda.get_current_stream().ptr)


_module = cache(importlib.import_module)
_CURRENT = {"torch": _of_torch, "cupy": _of_cupy}
