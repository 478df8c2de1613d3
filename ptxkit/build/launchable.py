"""`kernel[grid, block](...)` and `kernel.launch(stream, grid=...)(...)`: the way from the builder to a running kernel.

The work is `ptxkit.device`'s, which is imported when something is compiled or launched: building needs no CUDA. Nor
does `kernel.emulate(grid, block)(...)`, the same on the reference machine.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from ptxkit.build.errors import BuildTypeError

if TYPE_CHECKING:
    from ptxkit.build.emulation import Emulation
    from ptxkit.build.kernel import Kernel
    from ptxkit.device import Cubin, Launch, Loaded
    from ptxkit.device.launch_binding import LaunchBinding

Extents: TypeAlias = "int | tuple[int, ...]"


_MAX_CACHED_LAUNCHES = 256
"""Entries of a table of launches, by geometry; the oldest goes first, and is made again where it is asked for."""
_ValueT = TypeVar("_ValueT")


def insert_bounded(table: dict[Any, _ValueT], key: Any, value: _ValueT) -> _ValueT:
    """Puts a value into a table of bounded size, and gives it."""
    if len(table) >= _MAX_CACHED_LAUNCHES:
        with suppress(StopIteration, RuntimeError):  # another thread may change the table meanwhile
            table.pop(next(iter(table)), None)
    table[key] = value
    return value


class Launchable:
    """What can be launched: a kernel that is built here, or one of a program that was linked.

    It is loaded once for each device, when it is launched first; it must be complete then. body, prologue: what it is
    made of; more of it makes another kernel.
    """

    body: Any = ()
    prologue: Any = ()

    def __init__(self) -> None:
        self._loaded: dict[tuple[int, int], Loaded] = {}
        self._launches: dict[Any, Launch] = {}
        self._bindings: dict[Any, LaunchBinding] = {}

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
        """The kernel with a geometry, to be called with the arguments: `k.launch(stream, grid=132)(a, b)`.

        stream: of cuda.core, PyTorch or CuPy; None takes the current one of the library that the arrays are from.
        grid: CTAs. block: threads of a CTA, where the kernel does not fix them. cluster: CTAs of a cluster. shared:
        bytes of launch-sized shared memory, where they are more than the kernel asked for. wait: until the kernel has
        ended, so that an error says of which kernel, geometry and arguments it is.
        """
        from ptxkit.device.launch_binding import Launch, LaunchBinding

        geometry = (grid, block, cluster, shared)
        try:
            bindings = self._bindings.get(geometry)
        except TypeError:
            raise BuildTypeError(f"grid, block and cluster are whole numbers or tuples of them: {geometry!r}") from None
        if bindings is None:
            bindings = insert_bounded(self._bindings, geometry, LaunchBinding(self, geometry))
        return Launch(bindings, stream, wait=wait)

    def __getitem__(self, geometry: Any) -> Launch:
        """`k[grid, block](...)` on the current stream; `k[grid](...)` where the kernel fixes its block.

        Extents in several dimensions are tuples: `k[(8, 4), 128]`, and `k[(8, 4), None]` where the kernel fixes it.
        """
        try:
            known = self._launches.get(geometry)
        except TypeError:
            raise BuildTypeError(f"kernel[grid, block] takes whole numbers or tuples of them: {geometry!r}") from None
        if known is None:
            grid, block = geometry if isinstance(geometry, tuple) else (geometry, None)
            for extents in (grid, block):
                if extents is not None and not isinstance(extents, int | tuple):
                    raise BuildTypeError(f"kernel[grid, block] takes whole numbers or tuples of them, not {extents!r}")
            known = insert_bounded(self._launches, geometry, self.launch(grid=grid, block=block))
        return known

    @property
    def version(self) -> int:
        """A number that changes when something is added to the kernel."""
        return len(self.body) + len(self.prologue)

    def loaded(self) -> Loaded:
        """The kernel on the current device, loaded once; `NoDeviceError` where there is none."""
        from ptxkit.device import use_device

        key = (use_device().device_id, self.version)
        found = self._loaded.get(key)
        if found is None:
            found = insert_bounded(self._loaded, key, self.load())
        return found

    def load(self) -> Loaded:
        """Puts the kernel on the current device."""
        raise NotImplementedError


class KernelLaunchMixin(Launchable):
    """What a kernel that is built here can do on a device, or for one."""

    def compile(self: Kernel, target: str = "sm_90a", *, verify: bool = True) -> Cubin:  # type: ignore[misc]
        """Machine code for a target; needs no GPU. See `ptxkit.device.compile`."""
        from ptxkit.device import compile as compile_kernel

        return compile_kernel(self, target, verify=verify)

    def emulate(  # type: ignore[misc]  # noqa: PLR0913  (what a launch has, and what the machine is to do)
        self: Kernel,
        grid: Extents,
        block: Extents | None = None,
        *,
        cluster: Extents | None = None,
        shared: int | None = None,
        policy: str = "late",
        seed: int = 0,
        seconds: float = 60.0,
        strict: bool = False,
    ) -> Emulation:
        """The kernel on the reference machine, which needs no GPU: `k.emulate(132)(a, b)` changes arrays of NumPy.

        grid, block, cluster, shared: as for `launch`. policy: when asynchronous operations happen, `eager`, `late`,
        `torn` or `random` (by `seed`, which then chooses whose turn it is, too). seconds: of
        processor time, until it gives up. strict: what the ISA leaves open is an error, too, as by `ptxkit verify
        --policy strict`.
        """
        from ptxkit.build.emulation import Emulation

        return Emulation(self, grid, block, cluster, shared, policy, seed, seconds, strict)

    def load(self: Kernel) -> Loaded:  # type: ignore[misc]
        """Puts the kernel on the current device, verified and compiled: see `ptxkit.device.load`."""
        from ptxkit.device import load

        return load(self)
