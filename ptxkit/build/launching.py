"""`kernel[grid, block](...)` and `kernel.launch(stream, grid=...)(...)`: the way from the builder to a running kernel.

The work is `ptxkit.device`'s, which is imported when something is compiled or launched: building needs no CUDA.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from ptxkit.build.errors import BuildTypeError

if TYPE_CHECKING:
    from ptxkit.build.kernel import Kernel
    from ptxkit.device import Cubin
    from ptxkit.device.launcher import Bound

Extents: TypeAlias = "int | tuple[int, ...]"


class Launch:
    """A kernel with a geometry: call it with the arguments. What a launch needs is found out once for each context."""

    __slots__ = ("_bound", "_geometry", "_kernel", "_stream")

    def __init__(self, kernel: Kernel, stream: Any, geometry: tuple[Extents | None, ...]) -> None:
        self._kernel = kernel
        self._stream = stream
        self._geometry = geometry
        self._bound: dict[tuple[int, int], Bound] = {}

    def __call__(self, *arguments: object) -> None:
        """Launches and does not wait. Errors: `ArgumentError`, `LaunchError`."""
        from ptxkit.device.submit import current_context, current_stream, stream_handle

        key = (current_context(), self._kernel.version)
        bound = self._bound.get(key)
        if bound is None:
            bound = self._kernel.loaded().bind(*self._geometry)
            self._bound = {(current_context(), key[1]): bound}
        stream = current_stream(arguments) if self._stream is None else stream_handle(self._stream)
        bound(stream, arguments)


class Launching:
    """What a kernel can do on a device. A kernel is compiled and loaded once for each device, when it is launched
    first; it must be complete then."""

    def __init__(self) -> None:
        self._loaded: dict[tuple[int, int], Any] = {}
        self._launches: dict[Any, Launch] = {}

    def compile(self: Kernel, target: str = "sm_90a", *, verify: bool = True) -> Cubin:  # type: ignore[misc]
        """Machine code for a target; needs no GPU. See `ptxkit.device.compile`."""
        from ptxkit.device import compile as compile_kernel

        return compile_kernel(self, target, verify=verify)

    def launch(  # type: ignore[misc]
        self: Kernel,
        stream: Any = None,
        *,
        grid: Extents,
        block: Extents | None = None,
        cluster: Extents | None = None,
        shared: int | None = None,
    ) -> Launch:
        """The kernel with a geometry, to be called with the arguments: `k.launch(stream, grid=132)(a, b)`.

        stream: of cuda.core, PyTorch or CuPy; None takes the current one of the library that the arrays are from.
        grid: CTAs. block: threads of a CTA, where the kernel does not fix them. cluster: CTAs of a cluster. shared:
        bytes of launch-sized shared memory, where they are more than the kernel asked for.
        """
        return Launch(self, stream, (grid, block, cluster, shared))

    def __getitem__(self: Kernel, geometry: Any) -> Launch:  # type: ignore[misc]
        """`k[grid, block](...)` on the current stream; `k[grid](...)` where the kernel fixes its block.

        Extents in several dimensions are tuples: `k[(8, 4), 128]`, and `k[(8, 4), None]` where the kernel fixes it.
        """
        known = self._launches.get(geometry)
        if known is None:
            grid, block = geometry if isinstance(geometry, tuple) else (geometry, None)
            for extents in (grid, block):
                if extents is not None and not isinstance(extents, int | tuple):
                    raise BuildTypeError(f"kernel[grid, block] takes whole numbers or tuples of them, not {extents!r}")
            known = self._launches[geometry] = self.launch(grid=grid, block=block)
        return known

    @property
    def version(self: Kernel) -> int:  # type: ignore[misc]
        """A number that changes when something is added to the kernel."""
        return len(self.body) + len(self.prologue)

    def loaded(self: Kernel) -> Any:  # type: ignore[misc]
        """The kernel on the current device: see `ptxkit.device.load`."""
        from ptxkit.device import load, use_device

        key = (use_device().device_id, self.version)
        found = self._loaded.get(key)
        if found is None:
            found = self._loaded[key] = load(self)
        return found
