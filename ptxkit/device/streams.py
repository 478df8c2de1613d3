"""Streams: the handle of one that is given, and the current one of the library that the arrays are from."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from ptxkit.device.errors import LaunchError
from ptxkit.device.tensormap import TensorMap

_HANDLES = ("cuda_stream", "ptr")
"""PyTorch's and CuPy's names for the handle."""


def stream_handle(stream: object) -> int:
    """The driver's handle of a stream; `LaunchError` where it is none."""
    for name in _HANDLES:
        handle = getattr(stream, name, None)
        if isinstance(handle, int):
            return handle
    tell = getattr(stream, "__cuda_stream__", None)  # the protocol that `cuda.core` takes
    if tell is None:
        raise LaunchError(f"a stream of cuda.core, PyTorch or CuPy is needed, not {type(stream).__name__}")
    return int(tell()[1])


def current_stream(arguments: Sequence[object]) -> int:
    """The handle of the current stream of the library that the arrays are from, also those that tensor maps describe;
    0, the default stream, for others."""
    for argument in arguments:
        found = _FINDERS[type(argument)](argument)
        if found is not None:
            return found
    return 0


# --------------------------------------------------------------------------------------------- libraries


def library_of(kind: type) -> str:
    """Whose array type it is, or is derived from: `torch`, `cupy`, or nobody's."""
    for base in kind.__mro__:
        name = base.__module__.partition(".")[0]
        if name in _CURRENT:
            return name
    return ""


def _of_none(_: Any) -> int | None:
    return None


def _of_map(argument: TensorMap) -> int | None:
    return _FINDERS[type(argument.array)](argument.array)


def _of_torch(argument: Any) -> int | None:
    """Of the device that a tensor is on; None for what is on no GPU, and for what else PyTorch has."""
    device = getattr(argument, "get_device", None)
    return None if device is None or (number := device()) < 0 else _torch_stream()(number)


@cache
def _torch_stream() -> Callable[[int], int]:
    """The handle itself where PyTorch gives it, as Triton asks for it: a `Stream` costs several microseconds."""
    torch: Any = importlib.import_module("torch")
    raw: Callable[[int], int] | None = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    return raw or (lambda device: int(torch.cuda.current_stream(device).cuda_stream))


def _of_cupy(_: Any) -> int:
    return int(_cupy().cuda.get_current_stream().ptr)


@cache
def _cupy() -> Any:
    return importlib.import_module("cupy")


_CURRENT: dict[str, Callable[[Any], int | None]] = {"torch": _of_torch, "cupy": _of_cupy}


class _Finders(dict[type, Callable[[Any], "int | None"]]):
    """How the stream of an argument is found, by its type; each type is looked at once."""

    def __missing__(self, kind: type) -> Callable[[Any], int | None]:
        self[kind] = found = _CURRENT.get(library_of(kind), _of_none)
        return found


_FINDERS = _Finders({TensorMap: _of_map})
