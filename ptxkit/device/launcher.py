"""Launching, thin over `cuda.core`: an explicit stream, a `LaunchConfig`, arguments checked against the signature."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias, runtime_checkable

from ptxkit.build import Kernel
from ptxkit.device.arguments import kernel_arguments
from ptxkit.device.compiler import Cubin, compile  # noqa: A004
from ptxkit.device.errors import LaunchError
from ptxkit.device.libraries import check_device, checked, core, driver
from ptxkit.device.signature import Signature
from ptxkit.records import dataclass

Extents: TypeAlias = int | tuple[int, ...]

ORDINARY_DYNAMIC_SHARED = 48 * 1024
"""Bytes of launch-sized shared memory that a kernel may have without asking for more."""


@runtime_checkable
class StreamLike(Protocol):
    """What `cuda.core` takes for a stream."""

    def __cuda_stream__(self) -> tuple[int, int]: ...


@dataclass(frozen=True, slots=True)
class _Handle:
    """A stream given by its handle, as PyTorch and CuPy tell it."""

    handle: int

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle


@dataclass(frozen=True, slots=True)
class Loaded:
    """A kernel that is on the current device: compiled and loaded once, launched often."""

    signature: Signature
    kernel: Any
    device: Any

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

        grid: CTAs (in `cuda.core`'s sense: clusters, where `cluster` is given). block: threads of a CTA; may be left
        out where the kernel fixes them. shared: bytes of launch-sized shared memory; left out, what the kernel asked
        for. Errors: `ArgumentError`, `LaunchError`.
        """
        module = core()
        values = kernel_arguments(self.signature, arguments)
        if any(extent == 0 for extent in _extents(grid)):
            return  # an empty grid runs no thread; the driver would call it an error
        size = self._shared(shared)
        options: dict[str, Any] = {"grid": grid, "block": self._block(block), "shmem_size": size}
        if cluster is not None:
            options["cluster"] = cluster
        module.launch(_stream(stream), module.LaunchConfig(**options), self.kernel, *values)

    def _block(self, block: Extents | None) -> Extents:
        wanted = self.signature.threads
        if wanted is None:
            if block is None:
                raise LaunchError(f"kernel {self.signature.name!r} fixes no block; give block=")
            return block
        if block is not None and (*_extents(block), 1, 1)[:3] != wanted:
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
        handle = getattr(self.kernel, "handle", None) or self.kernel._handle
        device = api.CUdevice(self.device.device_id)
        checked(api.cuKernelSetAttribute(attribute, size, handle, device), f"asking for {size} bytes of shared memory")


def load(source: Kernel | Cubin, name: str | None = None, *, verify: bool = True) -> Loaded:
    """Puts a kernel on the current device: compiles it for that device (verified first), or takes a cubin as it is.

    `NoDeviceError` where there is no GPU.
    """
    check_device()
    module = core()
    device = module.Device()
    device.set_current()
    if isinstance(source, Kernel):
        source = compile(source, device_target(device.compute_capability), verify=verify)
    signature = source.kernel(name)
    code = module.ObjectCode.from_cubin(source.code)
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


def _stream(stream: object) -> object:
    if isinstance(stream, StreamLike):
        return stream
    for name in ("cuda_stream", "ptr"):  # PyTorch's and CuPy's names for the handle
        handle = getattr(stream, name, None)
        if isinstance(handle, int):
            return _Handle(handle)
    raise LaunchError(f"a stream of cuda.core, PyTorch or CuPy is needed, not {type(stream).__name__}")


def _extents(shape: Extents) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)
