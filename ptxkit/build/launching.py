"""`kernel[grid, block](...)` and `kernel.launch(stream, grid=...)(...)`: the way from the builder to a running kernel.

The work is `ptxkit.device`'s, which is imported when something is compiled or launched: building needs no CUDA.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from ptxkit.build.errors import BuildTypeError
from ptxkit.records import dataclass

if TYPE_CHECKING:
    from ptxkit.build.kernel import Kernel
    from ptxkit.device import Cubin, Loaded

Extents: TypeAlias = "int | tuple[int, ...]"


@dataclass(frozen=True, slots=True)
class Launch:
    """A kernel with a geometry: call it with the arguments."""

    loaded: Loaded
    stream: Any
    options: dict[str, Any]

    def __call__(self, *arguments: object) -> None:
        """Launches and does not wait. Errors: `ArgumentError`, `LaunchError`."""
        stream = self.stream
        if stream is None:
            from ptxkit.device import current_stream

            stream = current_stream(arguments)
        self.loaded.launch(stream, *arguments, **self.options)


class Launching:
    """What a kernel can do on a device. A kernel is compiled and loaded once for each device, when it is launched
    first; it must be complete then."""

    def __init__(self) -> None:
        self._loaded: dict[tuple[int, int], Loaded] = {}

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
        options = {"grid": grid, "block": block, "cluster": cluster, "shared": shared}
        return Launch(self._on_device(), stream, options)

    def __getitem__(self: Kernel, geometry: Any) -> Launch:  # type: ignore[misc]
        """`k[grid, block](...)` on the current stream; `k[grid](...)` where the kernel fixes its block."""
        grid, block = geometry if isinstance(geometry, tuple) and len(geometry) == 2 else (geometry, None)
        for extents in (grid, block):
            if extents is not None and not isinstance(extents, int | tuple):
                raise BuildTypeError(
                    f"a geometry is kernel[grid, block]: whole numbers or tuples of them, not {extents!r}"
                )
        return self.launch(grid=grid, block=block)

    def _on_device(self: Kernel) -> Loaded:  # type: ignore[misc]
        from ptxkit.device import load, use_device

        key = (use_device().device_id, len(self.body) + len(self.prologue))
        loaded = self._loaded.get(key)
        if loaded is None:
            loaded = self._loaded[key] = load(self)
        return loaded
