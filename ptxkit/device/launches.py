"""`kernel[grid, block]` and `kernel.launch(...)`: a kernel with a geometry, bound once for each context.

What a launch costs the host is what happens here, in `Bound`, and in the driver: one look at the current context, one
at the current stream, a few at each argument.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ptxkit.build.launching import Launchable
from ptxkit.device.failures import ended_badly
from ptxkit.device.geometry import Extents
from ptxkit.device.launcher import Bound
from ptxkit.device.libraries import driver
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
        kernel = bindings.kernel
        if bindings.version != len(kernel.body) + len(kernel.prologue) or bindings.context != current_context():
            bindings.bind()
        stream = self._stream
        if stream is None:
            stream = current_stream(arguments)
        bindings.run(stream, arguments)
        if self._wait:
            bindings.wait(stream, arguments)


class Bindings:
    """A kernel bound to a geometry in the context that was current last.

    run: launches on a stream, as `Bound.run`. version: of the kernel that was bound, -1 where none is.
    """

    __slots__ = ("_bound", "_geometry", "context", "kernel", "run", "version")

    _bound: Bound
    run: Callable[[int, Sequence[object]], None]

    def __init__(
        self, kernel: Launchable, geometry: tuple[Extents, Extents | None, Extents | None, int | None]
    ) -> None:
        self.kernel = kernel
        self._geometry = geometry
        self.version = self.context = -1

    def bind(self) -> None:
        """Compiles and loads the kernel where that is not done for the current device. `NoDeviceError` without one."""
        self.version = -1  # where something fails below, the next launch begins anew
        self._bound = self.kernel.loaded().bind(*self._geometry)
        self.run = self._bound.run
        self.context = current_context()
        self.version = self.kernel.version

    def wait(self, stream: int, arguments: Sequence[object]) -> None:
        """Until everything on the stream has ended; `LaunchError` with what was launched where that failed."""
        (status,) = driver().cuStreamSynchronize(stream)
        if int(status):
            raise ended_badly(self._bound.loaded, self._bound.geometry, stream, arguments, int(status))
