"""Launching: an explicit stream, a geometry, arguments checked against the kernel's signature."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

from ptxkit.build import Kernel
from ptxkit.device.arguments import kernel_arguments
from ptxkit.device.compiler import Cubin, compile  # noqa: A004
from ptxkit.device.errors import LaunchError
from ptxkit.device.libraries import check_device, checked, core, driver
from ptxkit.device.signature import Signature
from ptxkit.device.submit import Packed, submit
from ptxkit.records import dataclass

Extents: TypeAlias = int | tuple[int, ...]

ORDINARY_DYNAMIC_SHARED = 48 * 1024
"""Bytes of launch-sized shared memory that a kernel may have without asking for more."""


@runtime_checkable
class StreamLike(Protocol):
    """What `cuda.core` takes for a stream."""

    def __cuda_stream__(self) -> tuple[int, int]: ...


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

        grid: CTAs in each dimension, also where `cluster` groups them. block: threads of a CTA; may be left
        out where the kernel fixes them. shared: bytes of launch-sized shared memory; left out, what the kernel asked
        for. Errors: `ArgumentError`, `LaunchError`.
        """
        values = kernel_arguments(self.signature, arguments)
        if any(extent == 0 for extent in _extents(grid)):
            return  # an empty grid runs no thread; the driver would call it an error
        size = self._shared(shared)
        block = self._block(block)
        shape = self._cluster(cluster)
        handle = _stream_handle(stream)
        with Packed(values) as parameters:
            result = submit(self.handle, parameters, handle, _three(grid), _three(block), shape, size)
        checked(result, f"launching {self.signature.name!r} with grid {grid} and block {block}")

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


def current_stream(arguments: Sequence[object]) -> object:
    """The current stream of the library that the arrays are from; the default stream where they are from none."""
    for argument in arguments:
        library = type(argument).__module__.partition(".")[0]
        if library == "torch":
            return importlib.import_module("torch").cuda.current_stream()
        if library == "cupy":
            return importlib.import_module("cupy").cuda.get_current_stream()
    return DefaultStream()


class DefaultStream:
    """The legacy default stream, with which all blocking streams are in order."""

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, 0


def device_target(capability: tuple[int, int]) -> str:
    """The target of a device, with its architecture-specific instructions where it has any: `sm_90a` of (9, 0)."""
    major, minor = capability
    return f"sm_{major}{minor}" + ("a" if major >= 9 else "")


def _stream_handle(stream: object) -> int:
    if isinstance(stream, StreamLike):
        return int(stream.__cuda_stream__()[1])
    for name in ("cuda_stream", "ptr"):  # PyTorch's and CuPy's names for the handle
        handle = getattr(stream, name, None)
        if isinstance(handle, int):
            return handle
    raise LaunchError(f"a stream of cuda.core, PyTorch or CuPy is needed, not {type(stream).__name__}")


def _extents(shape: Extents) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)


def _three(shape: Extents) -> tuple[int, int, int]:
    x, y, z = (*_extents(shape), 1, 1)[:3]
    return x, y, z
