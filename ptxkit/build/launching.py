"""`kernel[grid, block](...)` and `kernel.launch(stream, grid=...)(...)`: the way from the builder to a running kernel.

The work is `ptxkit.device`'s, which is imported when something is compiled or launched: building needs no CUDA.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from ptxkit.build.errors import BuildTypeError

if TYPE_CHECKING:
    from ptxkit.build.kernel import Kernel
    from ptxkit.device import Cubin, Launch, Loaded
    from ptxkit.device.launches import Bindings

Extents: TypeAlias = "int | tuple[int, ...]"


class Launching:
    """What a kernel can do on a device. A kernel is compiled and loaded once for each device, when it is launched
    first; it must be complete then.

    loaded_kernels: by device and version, what is loaded.
    """

    def __init__(self) -> None:
        self.loaded_kernels: dict[tuple[int, int], Loaded] = {}
        self._launches: dict[Any, Launch] = {}
        self._bindings: dict[Any, Bindings] = {}

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
        wait: bool = False,
    ) -> Launch:
        """The kernel with a geometry, to be called with the arguments: `k.launch(stream, grid=132)(a, b)`.

        stream: of cuda.core, PyTorch or CuPy; None takes the current one of the library that the arrays are from.
        grid: CTAs. block: threads of a CTA, where the kernel does not fix them. cluster: CTAs of a cluster. shared:
        bytes of launch-sized shared memory, where they are more than the kernel asked for. wait: until the kernel has
        ended, so that an error says of which kernel, geometry and arguments it is.
        """
        from ptxkit.device.launches import Bindings, Launch

        geometry = (grid, block, cluster, shared)
        try:
            bindings = self._bindings.get(geometry)
        except TypeError:
            raise BuildTypeError(f"grid, block and cluster are whole numbers or tuples of them: {geometry!r}") from None
        if bindings is None:
            bindings = self._bindings[geometry] = Bindings(self, geometry)
        return Launch(bindings, stream, wait=wait)

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

    def loaded(self: Kernel) -> Loaded:  # type: ignore[misc]
        """The kernel on the current device: see `ptxkit.device.load`."""
        from ptxkit.device.launches import loaded

        return loaded(self)
