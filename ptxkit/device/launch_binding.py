"""`kernel[grid, block]` and `kernel.launch(...)`: a kernel with a geometry, bound once for each context.

What a launch costs the host is what happens here, in the function that `marshal` writes, and in the driver.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ptxkit.build.launchable import Launchable
from ptxkit.device.cuda_libraries import import_driver
from ptxkit.device.errors import OtherContextError
from ptxkit.device.geometry import Extents
from ptxkit.device.launch_failures import make_kernel_failure_error
from ptxkit.device.loaded_kernel import Bound
from ptxkit.device.streams import current_stream, stream_handle


class Launch:
    """A kernel with a geometry: call it with the arguments."""

    __slots__ = ("_bindings", "_stream", "_wait")

    def __init__(self, bindings: LaunchBinding, stream: Any = None, *, wait: bool = False) -> None:
        self._bindings = bindings
        self._stream = None if stream is None else stream_handle(stream)
        self._wait = wait

    def __call__(self, *arguments: object) -> None:
        """Launches, and waits only where that was asked for. Errors: `ArgumentError`, `LaunchError`."""
        bindings = self._bindings
        kernel = bindings.kernel
        if bindings.version != len(kernel.body) + len(kernel.prologue):
            bindings.bind()
        try:
            bindings.run(self._stream, arguments)
        except OtherContextError:
            bindings.bind()
            bindings.run(self._stream, arguments)
        if self._wait:
            bindings.wait(self._stream, arguments)


class LaunchBinding:
    """A kernel bound to a geometry in the context that was current last.

    run: launches on a stream, as `Bound.run`. version: of the kernel that was bound, -1 where none is.
    """

    __slots__ = ("_bound", "_geometry", "kernel", "run", "version")

    _bound: Bound
    run: Callable[[int | None, Sequence[object]], None]

    def __init__(
        self, kernel: Launchable, geometry: tuple[Extents, Extents | None, Extents | None, int | None]
    ) -> None:
        self.kernel = kernel
        self._geometry = geometry
        self.version = -1

    def bind(self) -> None:
        """Compiles and loads the kernel where that is not done for the current device. `NoDeviceError` without one."""
        self.version = -1  # where something fails below, the next launch begins anew
        self._bound = self.kernel.loaded().bind(*self._geometry)
        self.run = self._bound.run
        self.version = self.kernel.version

    def wait(self, stream: int | None, arguments: Sequence[object]) -> None:
        """Until everything on the stream has ended; `LaunchError` with what was launched where that failed."""
        used = current_stream(arguments) if stream is None else stream
        (status,) = import_driver().cuStreamSynchronize(used)
        if int(status):
            raise make_kernel_failure_error(self._bound.loaded, self._bound.geometry, used, arguments, int(status))
