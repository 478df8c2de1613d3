"""`kernel[grid, block]` and `kernel.launch(...)`: a kernel with a geometry, bound once for each context.

What a launch costs the host is what happens here, in the function that the argument marshaller compiles, and in the
driver.
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

    `run` launches on a stream, as `Bound.run`. `version` is that of the kernel that was bound, -1 where none is.
    """

    __slots__ = ("_bound", "_geometry", "kernel", "run", "version")

    _bound: Bound
    run: Callable[[int | None, Sequence[object]], None]

    def __init__(self, kernel: Launcher, geometry: _LaunchExtents) -> None:
        self.kernel = kernel
        self._geometry = geometry
        self.version = -1

    def bind(self) -> None:
        """Compiles and loads the kernel where that is not done for the current device. `NoDeviceError` without one."""
        self.version = -1  # where something fails below, the next launch binds again
        self._bound = self.kernel.loaded().bind(*self._geometry)
        self.run = self._bound.run
        self.version = self.kernel.version

    def wait(self, stream: int | None, arguments: Sequence[object]) -> None:
        """Waits until everything on the stream has ended; `LaunchError` with what was launched where that failed."""
        used = current_stream(arguments) if stream is None else stream
        (status,) = import_driver().cuStreamSynchronize(used)
        if int(status):
            raise make_kernel_failure_error(self._bound.loaded, self._bound.geometry, used, arguments, int(status))


class Launcher:
    """Launches one kernel, which is loaded once for each device, when it is launched first.

    `load` puts the kernel on the current device. `body` and `prologue` hold its statements, where it may still grow;
    more of them make another kernel, which is loaded again. `launches` holds the launches by the index of
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
        """The kernel with a geometry, to be called with the arguments: `kernel.launch(stream, grid=132)(a, b)`.

        `stream` is one of cuda.core, PyTorch or CuPy; None takes the current one of the library that the arrays are
        from. `grid` counts CTAs, `block` the threads of a CTA where the kernel does not fix them, and `cluster` the
        CTAs of a cluster. `shared` is the launch-sized shared memory in bytes, where it is more than the kernel asked
        for. With `wait`, the call returns when the kernel has ended, so that an error names the kernel, its geometry
        and arguments. Errors: `ArgumentError` for what is no geometry.
        """
        geometry = (grid, block, cluster, shared)
        try:
            bindings = self._bindings.get(geometry)
        except TypeError:
            raise ArgumentError(f"grid, block and cluster are whole numbers or tuples of them: {geometry!r}") from None
        if bindings is None:
            bindings = insert_bounded(self._bindings, geometry, LaunchBinding(self, geometry))
        return Launch(bindings, stream, wait=wait)

    def __getitem__(self, geometry: Any) -> Launch:
        """`kernel[grid, block](...)` on the current stream; `kernel[grid](...)` where the kernel fixes its block.

        Extents in several dimensions are tuples: `k[(8, 4), 128]`, and `k[(8, 4), None]` where the kernel fixes it.
        """
        try:
            known = self.launches.get(geometry)
        except TypeError:
            raise ArgumentError(f"kernel[grid, block] takes whole numbers or tuples of them: {geometry!r}") from None
        if known is None:
            grid, block = geometry if isinstance(geometry, tuple) else (geometry, None)
            for extents in (grid, block):
                if extents is not None and not isinstance(extents, int | tuple):
                    raise ArgumentError(f"kernel[grid, block] takes whole numbers or tuples of them, not {extents!r}")
            known = insert_bounded(self.launches, geometry, self.launch(grid=grid, block=block))
        return known

    @property
    def version(self) -> int:
        """A number that changes when something is added to the kernel."""
        return len(self.body) + len(self.prologue)

    def loaded(self) -> Loaded:
        """The kernel on the current device, loaded once; `NoDeviceError` where there is none."""
        key = (use_device().device_id, self.version)
        found = self._loaded.get(key)
        if found is None:
            found = insert_bounded(self._loaded, key, self._load())
        return found
