"""Launching: an explicit stream, a geometry, arguments checked against the kernel's signature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from ptxkit.build import Kernel
from ptxkit.device import assembler
from ptxkit.device.compiler import Cubin, compile  # noqa: A004
from ptxkit.device.errors import LaunchError
from ptxkit.device.libraries import check_device, checked, core, driver
from ptxkit.device.marshal import Marshal
from ptxkit.device.signature import Signature, of_kernel
from ptxkit.device.submit import Shape, stream_handle, submit

Extents: TypeAlias = int | tuple[int, ...]

ORDINARY_DYNAMIC_SHARED = 48 * 1024
"""Bytes of launch-sized shared memory that a kernel may have without asking for more."""


class Loaded:
    """A kernel that is on the current device: compiled and loaded once, launched often."""

    def __init__(self, signature: Signature, kernel: Any, device: Any) -> None:
        self.signature = signature
        self.kernel = kernel
        self.device = device
        self.marshal = Marshal(signature)

    def launch(
        self,
        stream: object,
        *arguments: object,
        grid: Extents,
        block: Extents | None = None,
        cluster: Extents | None = None,
        shared: int | None = None,
    ) -> None:
        """Launches on a stream and does not wait.

        grid: CTAs in each dimension, also where `cluster` groups them. block: threads of a CTA; may be left
        out where the kernel fixes them. shared: bytes of launch-sized shared memory; left out, what the kernel asked
        for. Errors: `ArgumentError`, `LaunchError`.
        """
        self.bind(grid, block, cluster, shared)(stream_handle(stream), arguments)

    def bind(
        self, grid: Extents, block: Extents | None = None, cluster: Extents | None = None, shared: int | None = None
    ) -> Bound:
        """The kernel with a geometry, checked once: for launches that follow one another. Errors: `LaunchError`."""
        return Bound(self, _three(grid), _three(self._block(block)), self._cluster(cluster), self._shared(shared))

    @property
    def handle(self) -> int:
        """The driver's kernel."""
        return int(getattr(self.kernel, "handle", None) or self.kernel._handle)

    def _cluster(self, cluster: Extents | None) -> tuple[int, int, int] | None:
        """The cluster to ask for: none where the kernel is compiled for one, which must be the same."""
        wanted = self.signature.cluster
        if wanted is None:
            return None if cluster is None else _three(cluster)
        if cluster is not None and _three(cluster) != wanted:
            raise LaunchError(f"kernel {self.signature.name!r} is written for clusters of {wanted}, not {cluster}")
        return None

    def _block(self, block: Extents | None) -> Extents:
        wanted = self.signature.threads
        if wanted is None:
            if block is None:
                raise LaunchError(f"kernel {self.signature.name!r} fixes no block; give block=")
            return block
        if block is not None and _three(block) != wanted:
            raise LaunchError(f"kernel {self.signature.name!r} is written for {wanted} threads, not {block}")
        return wanted

    def _shared(self, shared: int | None) -> int:
        least = self.signature.dynamic_shared
        size = least if shared is None else shared
        if size < least:
            raise LaunchError(
                f"kernel {self.signature.name!r} needs {least} bytes of launch-sized shared memory, not {size}"
            )
        limit = self.device.properties.max_shared_memory_per_block_optin
        if size > limit:
            raise LaunchError(f"{size} bytes of shared memory; {self.device.name} gives a CTA at most {limit}")
        if size > ORDINARY_DYNAMIC_SHARED:
            self._allow(size)
        return size

    def _allow(self, size: int) -> None:
        api = driver()
        attribute = api.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        device = api.CUdevice(self.device.device_id)
        checked(
            api.cuKernelSetAttribute(attribute, size, self.handle, device), f"asking for {size} bytes of shared memory"
        )


class Bound:
    """A kernel with a geometry."""

    __slots__ = ("_block", "_cluster", "_grid", "_handle", "_is_empty", "_loaded", "_shared")

    def __init__(self, loaded: Loaded, grid: Shape, block: Shape, cluster: Shape | None, shared: int) -> None:
        self._loaded = loaded
        self._handle = loaded.handle
        self._grid, self._block, self._cluster = grid, block, cluster
        self._shared = shared
        self._is_empty = 0 in grid

    def __call__(self, stream: int, arguments: Sequence[object]) -> None:
        """Launches on a stream, given by its handle, and does not wait. Errors: `ArgumentError`, `DeviceError`."""
        marshal = self._loaded.marshal
        buffer = marshal.pack(arguments)
        if not self._is_empty:  # an empty grid runs no thread; the driver would call it an error
            result = submit(
                self._handle, buffer.parameters, stream, self._grid, self._block, self._cluster, self._shared
            )
            if result[0]:
                name = self._loaded.signature.name
                checked(result, f"launching {name!r} with grid {self._grid} and block {self._block}")
        marshal.release(buffer)


def load(source: Kernel | Cubin, name: str | None = None, *, verify: bool = True) -> Loaded:
    """Puts a kernel on the current device: compiles it for that device (verified first), or takes a cubin as it is.

    `NoDeviceError` where there is no GPU.
    """
    check_device()
    module = core()
    device = module.Device()
    device.set_current()
    if isinstance(source, Kernel):
        if assembler.ptxas() is None and assembler.wants_whole_program(source.module()):
            return _load_text(source, device, verify=verify)
        source = compile(source, device_target(device.compute_capability), verify=verify)
    signature = source.kernel(name)
    code = module.ObjectCode.from_cubin(source.code)
    return Loaded(signature, code.get_kernel(signature.name), device)


def _load_text(kernel: Kernel, device: Any, *, verify: bool) -> Loaded:
    """Lets the driver compile a kernel, as a whole program; it keeps what it compiled."""
    if verify:
        kernel.verify()
    signature = of_kernel(kernel)
    code = core().ObjectCode.from_ptx(str(kernel).encode() + b"\0")
    return Loaded(signature, code.get_kernel(signature.name), device)


def launch(
    stream: object,
    kernel: Kernel | Cubin | Loaded,
    *arguments: object,
    grid: Extents,
    block: Extents | None = None,
    cluster: Extents | None = None,
    shared: int | None = None,
) -> None:
    """Compiles and loads where that is not done yet, then launches: see `Loaded.launch`.

    A kernel launched more than once is better loaded once: `loaded = load(kernel)`.
    """
    loaded = kernel if isinstance(kernel, Loaded) else load(kernel)
    loaded.launch(stream, *arguments, grid=grid, block=block, cluster=cluster, shared=shared)


def device_target(capability: tuple[int, int]) -> str:
    """The target of a device, with its architecture-specific instructions where it has any: `sm_90a` of (9, 0)."""
    major, minor = capability
    return f"sm_{major}{minor}" + ("a" if major >= 9 else "")


def _extents(shape: Extents) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)


def _three(shape: Extents) -> tuple[int, int, int]:
    x, y, z = (*_extents(shape), 1, 1)[:3]
    return x, y, z
