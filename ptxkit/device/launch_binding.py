"""`kernel[grid, block]` and `kernel.launch(...)`: a kernel with a geometry, bound once for each context.

The host's cost of a launch is the cost of this module, of the function that the argument marshaller generates, and of
the driver.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from typing import Any, TypeAlias

from ptxkit.device.bounded_table import insert_bounded
from ptxkit.device.cuda_libraries import import_driver
from ptxkit.device.device_memory import use_device
from ptxkit.device.errors import ArgumentError, OtherContextError
from ptxkit.device.launch_failures import make_kernel_failure_error
from ptxkit.device.loaded_kernel import Bound, Loaded
from ptxkit.device.streams import current_stream, stream_handle
from ptxkit.kernel_model.routines import Extents

_LaunchExtents: TypeAlias = tuple[Extents, Extents | None, Extents | None, int | None]
"""The grid, block, cluster and shared memory of a launch."""


class Launch:
    """A kernel with its launch geometry, which is called with the arguments."""

    __slots__ = ("_bindings", "_stream", "_wait")

    def __init__(self, bindings: LaunchBinding, stream: Any = None, *, wait: bool = False) -> None:
        self._bindings = bindings
        self._stream = None if stream is None else stream_handle(stream)
        self._wait = wait

    def __call__(self, *arguments: object) -> None:
        """Launches the kernel, and waits for it only if that was requested. Raises `ArgumentError` and
        `LaunchError`.
        """
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

    `run` launches on a stream as `Bound.run` does. `version` is the version of the bound kernel, or -1 if none is
    bound.
    """

    __slots__ = ("_bound", "_geometry", "kernel", "run", "version")

    _bound: Bound
    run: Callable[[int | None, Sequence[object]], None]

    def __init__(self, kernel: Launcher, geometry: _LaunchExtents) -> None:
        self.kernel = kernel
        self._geometry = geometry
        self.version = -1

    def bind(self) -> None:
        """Compiles and loads the kernel for the current device if necessary. Raises `NoDeviceError` if there is no
        device.
        """
        self.version = -1  # if a step below fails, the next launch binds again
        self._bound = self.kernel.load().bind(*self._geometry)
        self.run = self._bound.run
        self.version = self.kernel.version

    def wait(self, stream: int | None, arguments: Sequence[object]) -> None:
        """Waits until the stream is idle. Raises `LaunchError`, which describes the launch, if an operation failed."""
        used = current_stream(arguments) if stream is None else stream
        (status,) = import_driver().cuStreamSynchronize(used)
        if int(status):
            raise make_kernel_failure_error(self._bound.loaded, self._bound.geometry, used, arguments, int(status))


class Launcher:
    """Launches one kernel, which the first launch on each device loads.

    `load` loads the kernel on the current device. `body` and `prologue` hold the statements of a kernel that may still
    grow; if statements are added, the kernel is loaded again. `launches` holds the launches by the index of
    `kernel[...]`.
    """

    def __init__(self, load: Callable[[], Loaded], body: Sized = (), prologue: Sized = ()) -> None:
        self.body = body
        self.prologue = prologue
        self.launches: dict[Any, Launch] = {}
        self._load = load
        self._loaded: dict[tuple[int, int], Loaded] = {}
        self._bindings: dict[_LaunchExtents, LaunchBinding] = {}

    def launch(
        self,
        stream: Any = None,
        *,
        grid: Extents,
        block: Extents | None = None,
        cluster: Extents | None = None,
        shared: int | None = None,
        wait: bool = False,
    ) -> Launch:
        """Returns the kernel with its launch geometry, to be called with the arguments: `kernel.launch(stream,
        grid=132)(a, b)`.

        `stream` is a stream of cuda.core, PyTorch or CuPy; None is the current stream of the library of the array
        arguments. `grid` is the number of CTAs, `block` the number of threads of a CTA if the kernel does not fix it,
        and `cluster` the number of CTAs of a cluster; each is a number or a tuple, x first. `shared` is the size of
        launch-sized shared memory in bytes, if it is more than the kernel requests. With `wait`, the call returns when
        the kernel has ended, and an error names the kernel, its geometry and its arguments. Raises `ArgumentError` for
        values that are not extents.
        """
        geometry = (grid, block, cluster, shared)
        try:
            bindings = self._bindings.get(geometry)
        except TypeError:
            raise ArgumentError(f"grid, block and cluster are integers or tuples of integers: {geometry!r}") from None
        if bindings is None:
            bindings = insert_bounded(self._bindings, geometry, LaunchBinding(self, geometry))
        return Launch(bindings, stream, wait=wait)

    def __getitem__(self, geometry: Any) -> Launch:
        """Returns a launch on the current stream: `kernel[grid, block](...)`, or `kernel[grid](...)` if the kernel
        fixes its block.

        Extents in several dimensions are tuples: `k[(8, 4), 128]`, or `k[(8, 4), None]` if the kernel fixes its block.
        """
        try:
            known = self.launches.get(geometry)
        except TypeError:
            raise ArgumentError(f"kernel[grid, block] takes integers or tuples of integers: {geometry!r}") from None
        if known is None:
            grid, block = geometry if isinstance(geometry, tuple) else (geometry, None)
            for extents in (grid, block):
                if extents is not None and not isinstance(extents, int | tuple):
                    raise ArgumentError(f"kernel[grid, block] takes integers or tuples of integers, not {extents!r}")
            known = insert_bounded(self.launches, geometry, self.launch(grid=grid, block=block))
        return known

    @property
    def version(self) -> int:
        """A number that changes when statements are added to the kernel."""
        return len(self.body) + len(self.prologue)

    def load(self) -> Loaded:
        """Returns the kernel on the current device, which is loaded once. Raises `NoDeviceError` if there is no
        device.
        """
        key = (use_device().device_id, self.version)
        found = self._loaded.get(key)
        if found is None:
            found = insert_bounded(self._loaded, key, self._load())
        return found
