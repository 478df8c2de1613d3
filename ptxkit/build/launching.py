"""`kernel[grid, block](...)`, `kernel.launch(...)(...)` and `kernel.emulate(...)(...)`: from the builder to a run.

The functions here are methods of `Kernel`. `ptxkit.device` does their work, or the reference machine, and each is
imported when something is compiled or launched: building needs no CUDA.
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
    """The launches of one kernel. `launcher` makes them, and is made at the first launch itself."""

    __slots__ = ("by_geometry", "launcher")

    def __init__(self) -> None:
        self.launcher: Launcher | None = None
        self.by_geometry: dict[Any, Launch] = {}
        """The launches by the index of `kernel[...]`: those of the launcher, looked up at each launch."""


class _LaunchableKernel(BuiltKernel, Protocol):
    """What the functions here need of a kernel."""

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
    """The kernel with a geometry, to be called with the arguments: `k.launch(stream, grid=132)(a, b)`.

    `stream` is one of cuda.core, PyTorch or CuPy; None takes the current one of the library that the arrays are from.
    `grid` counts CTAs, `block` the threads of a CTA where the kernel does not fix them, and `cluster` the CTAs of a
    cluster. `shared` is the launch-sized shared memory in bytes, where it is more than the kernel asked for. With
    `wait`, the call returns when the kernel has ended, so that an error names the kernel, its geometry and arguments.
    """
    from ptxkit.device import ArgumentError

    launcher = get_launcher(kernel)
    try:
        return launcher.launch(stream, grid=grid, block=block, cluster=cluster, shared=shared, wait=wait)
    except ArgumentError as error:
        raise BuildTypeError(str(error)) from None


def get_launch(kernel: _LaunchableKernel, geometry: Any) -> Launch:
    """`k[grid, block](...)` on the current stream; `k[grid](...)` where the kernel fixes its block.

    Extents in several dimensions are tuples: `k[(8, 4), 128]`, and `k[(8, 4), None]` where the kernel fixes it.
    """
    try:
        known = kernel.launches.by_geometry.get(geometry)
    except TypeError:
        raise BuildTypeError(f"kernel[grid, block] takes whole numbers or tuples of them: {geometry!r}") from None
    if known is not None:
        return known
    from ptxkit.device import ArgumentError

    try:
        return get_launcher(kernel)[geometry]
    except ArgumentError as error:
        raise BuildTypeError(str(error)) from None


def get_launcher(kernel: _LaunchableKernel) -> Launcher:
    """What binds the kernel to its geometries and loads it, made when it is first asked for."""
    from ptxkit.device import Launcher

    cache = kernel.launches
    if cache.launcher is None:
        cache.launcher = Launcher(kernel.load, kernel.recorder.body, kernel.recorder.prologue)
        cache.by_geometry = cache.launcher.launches
    return cache.launcher


def loaded(kernel: _LaunchableKernel) -> Loaded:
    """The kernel on the current device, loaded once; `NoDeviceError` where there is none."""
    return get_launcher(kernel).loaded()


def load(kernel: BuiltKernel) -> Loaded:
    """Puts the kernel on the current device, verified and compiled: see `ptxkit.device.load`."""
    from ptxkit.device import load as load_kernel

    return load_kernel(kernel)


def compile(kernel: BuiltKernel, target: str = "sm_90a", *, verify: bool = True) -> Cubin:  # noqa: A001
    """Machine code for a target; needs no GPU. See `ptxkit.device.compile`."""
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
    """The kernel on the reference machine, which needs no GPU: `k.emulate(132)(a, b)` changes arrays of NumPy.

    `grid`, `block`, `cluster` and `shared` are those of `launch`. `policy` says when asynchronous operations happen:
    `eager`, `late`, `torn` or `random`, which chooses by `seed`, also whose turn it is. The machine gives up after
    `seconds` of processor time. With `strict`, what the ISA leaves open is an error, too, as by `ptxkit verify --policy
    strict`.
    """
    from ptxkit.build.emulation import Emulation

    return Emulation(kernel, grid, block, cluster, shared, policy, seed, seconds, strict)
