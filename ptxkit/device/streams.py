"""Streams: the handle of a given stream, and the current stream of the library that the arrays belong to."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeAlias

from ptxkit.device.cuda_libraries import check_status, import_driver
from ptxkit.device.errors import LaunchError

LEGACY = 1
"""The legacy default stream in `__cuda_array_interface__` and DLPack. The driver also accepts 0 for it."""
_HANDLES = ("cuda_stream", "ptr")
"""The attributes of PyTorch's and CuPy's streams that hold the handle."""


def stream_handle(stream: object) -> int:
    """Returns the driver's handle of a stream. Raises `LaunchError` if the value is not a stream."""
    for name in _HANDLES:
        handle = getattr(stream, name, None)
        if isinstance(handle, int):
            return handle
    send = getattr(stream, "__cuda_stream__", None)  # the protocol of `cuda.core`
    if send is None:
        raise LaunchError(f"a stream of cuda.core, PyTorch or CuPy is needed, not {type(stream).__name__}")
    return int(send()[1])


def current_stream(arguments: Sequence[object]) -> int:
    """Returns the handle of the current stream of the library of the arrays, including those that tensor maps describe.

    Returns 0, the default stream, for other arguments.
    """
    for argument in arguments:
        found = _FINDERS[type(argument)](argument)
        if found is not None:
            return found
    return 0


def make_stream_wait(producer: int, stream: int) -> None:
    """Makes future operations of `stream` wait for the operations that `producer` has been given so far.

    Both are handles; 0 and 1 are the legacy default stream. Raises `DeviceError` if the driver call fails.

    Source: CUDA Driver API, "Event Management", "Stream Management: cuStreamWaitEvent".
    """
    if (producer or LEGACY) == (stream or LEGACY):
        return
    api = import_driver()
    result = api.cuEventCreate(api.CUevent_flags.CU_EVENT_DISABLE_TIMING.value)
    check_status(result, "making an event")
    try:
        check_status(
            api.cuEventRecord(result[1], producer), f"recording an event in the stream {producer:#x} of an array"
        )
        check_status(api.cuStreamWaitEvent(stream, result[1], 0), f"waiting for the stream {producer:#x} of an array")
    finally:
        api.cuEventDestroy(result[1])  # the driver keeps the event while a stream waits for it


# --------------------------------------------------------------------------------------------- libraries

_StreamFinder: TypeAlias = "Callable[[Any], int | None]"
"""A function from an argument to the handle of the stream that is current for it, or None if it is not on a GPU."""


def _find_no_stream(_: Any) -> int | None:
    return None


def _find_map_stream(argument: Any) -> int | None:
    return _FINDERS[type(argument.array)](argument.array)


@cache
def get_torch_stream_function() -> Callable[[int], int]:
    """Returns a function from the number of a GPU to the handle of PyTorch's current stream.

    It is the function that Triton calls, if PyTorch has it, because creating a `Stream` takes several microseconds.
    """
    torch: Any = importlib.import_module("torch")
    current: Callable[[int], int] | None = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    return current or (lambda device: int(torch.cuda.current_stream(device).cuda_stream))


def _make_torch_finder() -> _StreamFinder:
    current = get_torch_stream_function()

    def find(argument: Any) -> int | None:
        device = argument.get_device()
        return None if device < 0 else current(device)

    return find


def _make_cupy_finder() -> _StreamFinder:
    cupy: Any = importlib.import_module("cupy")
    return lambda _: int(cupy.cuda.get_current_stream().ptr)


def _make_null_finder() -> _StreamFinder:
    return _find_no_stream


_FINDER_FACTORIES: dict[tuple[str, str], Callable[[], _StreamFinder]] = {
    ("torch", "Tensor"): _make_torch_finder,
    ("cupy", "ndarray"): _make_cupy_finder,
    ("ptxkit", "TensorMap"): lambda: _find_map_stream,
}


class _StreamFinders(dict[type, _StreamFinder]):
    """The functions that find the stream of an argument, by its type; each type is examined once."""

    def __missing__(self, kind: type) -> _StreamFinder:
        names = ((base.__module__.partition(".")[0], base.__name__) for base in kind.__mro__)
        make = next((_FINDER_FACTORIES[name] for name in names if name in _FINDER_FACTORIES), _make_null_finder)
        self[kind] = found = make()
        return found


_FINDERS = _StreamFinders()
