"""`kernel[grid, block]` and `kernel.launch(...)`: a kernel with a geometry, bound once for each context.

What a launch costs the host is what happens here, in `Bound`, and in the driver: one look at the current context, one
at the current stream, a few at each argument.
"""

from __future__ import annotations

from typing import Any

from ptxkit.build import Kernel
from ptxkit.device.failures import ended_badly
from ptxkit.device.geometry import Extents
from ptxkit.device.launcher import Bound, Loaded, load
from ptxkit.device.libraries import driver
from ptxkit.device.memory import use_device
from ptxkit.device.streams import current_stream, stream_handle
from ptxkit.device.submit import current_context


class Launch:
    """A kernel with a geometry: call it with the arguments."""

    __slots__ = ("_bindings", "_stream", "_wait")

    def __init__(self, bindings: Bindings, stream: Any = None, *, wait: bool = False) -> None:
        self._bindings = bindings
        self._stream = None if stream is None else stream_handle(stream)
        self._wait = wait

    def __call__(self, *arguments: object) -> None:
        """Launches, and waits only where that was asked for. Errors: `ArgumentError`, `LaunchError`."""
        bindings = self._bindings
        bound = bindings.bound if bindings.context == current_context() and bindings.is_fresh() else bindings.bind()
        stream = self._stream
        if stream is None:
            stream = current_stream(arguments)
        bound(stream, arguments)
        if self._wait:
            _wait(bound, stream, arguments)


class Bindings:
    """A kernel bound to a geometry in the context that was current last. bound: to be used only in that context."""

    __slots__ = ("_geometry", "_kernel", "_version", "bound", "context")

    bound: Bound

    def __init__(self, kernel: Kernel, geometry: tuple[Extents, Extents | None, Extents | None, int | None]) -> None:
        self._kernel = kernel
        self._geometry = geometry
        self._version = self.context = -1

    def is_fresh(self) -> bool:
        """Whether nothing was added to the kernel since it was bound."""
        kernel = self._kernel
        return len(kernel.body) + len(kernel.prologue) == self._version

    def bind(self) -> Bound:
        """Compiles and loads the kernel where that is not done for the current device. `NoDeviceError` without one."""
        self._version = -1  # where something fails below, the next launch begins anew
        self.bound = loaded(self._kernel).bind(*self._geometry)
        self.context = current_context()
        self._version = self._kernel.version
        return self.bound


def loaded(kernel: Kernel) -> Loaded:
    """The kernel on the current device, loaded once for each; it must be complete."""
    key = (use_device().device_id, kernel.version)
    found: Loaded | None = kernel.loaded_kernels.get(key)
    if found is None:
        found = kernel.loaded_kernels[key] = load(kernel)
    return found


def _wait(bound: Bound, stream: int, arguments: tuple[object, ...]) -> None:
    (status,) = driver().cuStreamSynchronize(stream)
    if int(status):
        raise ended_badly(bound.loaded, bound.geometry, stream, arguments, int(status))
