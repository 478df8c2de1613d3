"""`kernel[grid, block](...)`, `kernel.launch(...)(...)` and `kernel.emulate(...)(...)`: runs a built kernel.

The functions are methods of `Kernel`. `ptxkit.device` or the reference machine executes them, and each is imported only
when a kernel is compiled or launched: building a kernel needs no CUDA.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ptxkit.build.errors import BuildTypeError
from ptxkit.build.recorder import StatementRecorder
from ptxkit.kernel_model.routines import BuiltKernel, Extents

if TYPE_CHECKING:
    from ptxkit.build.emulation import Emulation
    from ptxkit.device import Cubin, Launch, Launcher, Loaded


class LaunchCache:
    """The launches of one kernel, and the `launcher` that makes them, which the first launch creates."""

    __slots__ = ("by_geometry", "launcher")

    def __init__(self) -> None:
        self.launcher: Launcher | None = None
        self.by_geometry: dict[Any, Launch] = {}
        """The launcher's table of launches by the index of `kernel[...]`, which each launch consults."""


class _LaunchableKernel(BuiltKernel, Protocol):
    """The members of a kernel that the functions of this module use."""

    recorder: StatementRecorder
    launches: LaunchCache

    def load(self) -> Loaded: ...


def launch(
    kernel: _LaunchableKernel,
    stream: Any = None,
    *,
    grid: Extents,
    block: Extents | None = None,
    cluster: Extents | None = None,
    shared: int | None = None,
    wait: bool = False,
) -> Launch:
    """Returns the kernel with its launch geometry, to be called with the arguments: `k.launch(stream, grid=132)(a, b)`.

    `stream` is a stream of cuda.core, PyTorch or CuPy; None is the current stream of the library of the array
    arguments. `grid` is the number of CTAs, `block` the number of threads of a CTA if the kernel does not fix it, and
    `cluster` the number of CTAs of a cluster; each is a number or a tuple, x first. `shared` is the size of
    launch-sized shared memory in bytes, if it is more than the kernel requests. With `wait`, the call returns when the
    kernel has ended, and an error names the kernel, its geometry and its arguments.
    """
    from ptxkit.device import ArgumentError

    launcher = get_launcher(kernel)
    try:
        return launcher.launch(stream, grid=grid, block=block, cluster=cluster, shared=shared, wait=wait)
    except ArgumentError as error:
        raise BuildTypeError(str(error)) from None


def get_launch(kernel: _LaunchableKernel, geometry: Any) -> Launch:
    """Returns a launch on the current stream: `k[grid, block](...)`, or `k[grid](...)` if the kernel fixes its block.

    Extents in several dimensions are tuples: `k[(8, 4), 128]`, or `k[(8, 4), None]` if the kernel fixes its block.
    """
    try:
        known = kernel.launches.by_geometry.get(geometry)
    except TypeError:
        raise BuildTypeError(f"kernel[grid, block] takes integers or tuples of integers: {geometry!r}") from None
    if known is not None:
        return known
    from ptxkit.device import ArgumentError

    try:
        return get_launcher(kernel)[geometry]
    except ArgumentError as error:
        raise BuildTypeError(str(error)) from None


def get_launcher(kernel: _LaunchableKernel) -> Launcher:
    """Returns the object that binds the kernel to launch geometries and loads it. It is created on first use."""
    from ptxkit.device import Launcher

    cache = kernel.launches
    if cache.launcher is None:
        cache.launcher = Launcher(kernel.load, kernel.recorder.body, kernel.recorder.prologue)
        cache.by_geometry = cache.launcher.launches
    return cache.launcher


def load_once(kernel: _LaunchableKernel) -> Loaded:
    """Returns the kernel on the current device, which is loaded once. Raises `NoDeviceError` if there is no device."""
    return get_launcher(kernel).load()


def load(kernel: BuiltKernel) -> Loaded:
    """Verifies and compiles the kernel, and loads it on the current device: see `ptxkit.device.load`."""
    from ptxkit.device import load as load_kernel

    return load_kernel(kernel)


def compile(kernel: BuiltKernel, target: str = "sm_90a", *, verify: bool = True) -> Cubin:  # noqa: A001
    """Compiles the kernel to machine code for a target, which needs no GPU: see `ptxkit.device.compile`."""
    from ptxkit.device import compile as compile_kernel

    return compile_kernel(kernel, target, verify=verify)


def emulate(  # noqa: PLR0913  (what a launch has, and what the machine is to do)
    kernel: BuiltKernel,
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
    """Returns the kernel on the reference machine, which needs no GPU: `k.emulate(132)(a, b)` changes NumPy arrays.

    `grid`, `block`, `cluster` and `shared` are those of `launch`. `policy` determines when asynchronous operations
    complete: `eager`, `late`, `torn` or `random`; `random` also schedules the warps by `seed`. `seconds` limits the
    processor time. With `strict`, behavior that the ISA leaves open is an error, too, as with `ptxkit verify --policy
    strict`.
    """
    from ptxkit.build.emulation import Emulation

    return Emulation(kernel, grid, block, cluster, shared, policy, seed, seconds, strict)
