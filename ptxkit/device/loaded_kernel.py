"""Kernels on a device: the geometry is bound once, and the arguments are checked against the signature in each
launch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from threading import Lock
from typing import Any

from ptxkit import elf
from ptxkit.device import driver_launch, ptxas_program
from ptxkit.device.argument_marshaller import PACKED, ArgumentMarshaller
from ptxkit.device.bounded_table import insert_bounded
from ptxkit.device.compiler import Cubin, compile, format_undecided  # noqa: A004
from ptxkit.device.cuda_libraries import check_status, import_cuda_core, import_driver
from ptxkit.device.device_memory import use_device
from ptxkit.device.driver_launch import LaunchFrame
from ptxkit.device.errors import LaunchError, OtherContextError
from ptxkit.device.geometry import Geometry, make_geometry
from ptxkit.device.launch_failures import make_refused_launch_error
from ptxkit.device.limits import PORTABLE_CLUSTER_CTAS
from ptxkit.device.signature import Signature, make_kernel_signature
from ptxkit.device.streams import stream_handle
from ptxkit.device.targets import device_target
from ptxkit.kernel_model.limits import MAX_STATIC_SHARED_BYTES
from ptxkit.kernel_model.routines import BuiltKernel, Extents
from ptxkit.kernel_model.source_lines import Assembled
from ptxkit.kernel_model.verification import verify_assembled

_ATTRIBUTE_LOCK = Lock()
"""Held while a limit of a kernel is read and changed."""


class Loaded:
    """A kernel on the current device, which is compiled and loaded once and may be launched many times.

    `undecided` has a sentence for each property that the verifier could not decide, or is None if nothing was verified.
    """

    def __init__(
        self, signature: Signature, kernel: Any, device: Any, undecided: tuple[str, ...] | None = None
    ) -> None:
        self.signature = signature
        self.kernel = kernel
        self.device = device
        self.undecided = undecided
        self._bound: dict[tuple[object, ...], Bound] = {}

    def launch(
        self,
        stream: object,
        *arguments: object,
        grid: Extents,
        block: Extents | None = None,
        cluster: Extents | None = None,
        shared: int | None = None,
    ) -> None:
        """Launches the kernel on a stream and does not wait.

        `grid` is the number of CTAs in each dimension, with or without clusters, and `block` the number of threads of a
        CTA if the kernel does not fix it. `shared` is the size of launch-sized shared memory in bytes, by default what
        the kernel declares. Raises `ArgumentError` and `LaunchError`.
        """
        self.bind(grid, block, cluster, shared).run(stream_handle(stream), arguments)

    def bind(
        self, grid: Extents, block: Extents | None = None, cluster: Extents | None = None, shared: int | None = None
    ) -> Bound:
        """Returns the kernel with a geometry, which is checked once, for repeated launches. Raises `LaunchError`."""
        key = (driver_launch.get_current_context(), grid, block, cluster, shared)
        found = self._bound.get(key)
        if found is None:
            wanted = make_geometry(self.signature, grid, block, cluster, shared)
            self._set_kernel_attributes(wanted)
            found = insert_bounded(self._bound, key, Bound(self, wanted))
        return found

    @property
    def handle(self) -> int:
        """The driver's handle of the kernel."""
        return int(getattr(self.kernel, "handle", None) or self.kernel._handle)

    def _set_kernel_attributes(self, wanted: Geometry) -> None:
        """Sets attributes of the kernel that exceed the defaults. Raises `LaunchError` if the device does not support
        them.
        """
        attributes = import_driver().CUfunction_attribute
        size = wanted.shared + self._get_attribute(attributes.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)
        limit = self.device.properties.max_shared_memory_per_block_optin
        if size > limit:
            static = f" with the {size - wanted.shared} that the kernel declares" if size != wanted.shared else ""
            raise LaunchError(f"{size} bytes of shared memory{static}; {self.device.name} gives a CTA at most {limit}")
        if size > MAX_STATIC_SHARED_BYTES:
            most = attributes.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            with _ATTRIBUTE_LOCK:  # the limit holds for all geometries of the kernel, and another one may need more
                if self._get_attribute(most) < wanted.shared:
                    self._set_attribute(most, wanted.shared)
        cluster = wanted.cluster or self.signature.cluster
        if cluster is not None and prod(cluster) > PORTABLE_CLUSTER_CTAS:
            self._set_attribute(attributes.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)

    def _get_attribute(self, attribute: Any) -> int:
        api = import_driver()
        result = api.cuKernelGetAttribute(attribute, self.handle, api.CUdevice(self.device.device_id))
        check_status(result, f"asking for {attribute.name} of {self.signature.name!r}")
        return int(result[1])

    def _set_attribute(self, attribute: Any, value: int) -> None:
        api = import_driver()
        result = api.cuKernelSetAttribute(attribute, value, self.handle, api.CUdevice(self.device.device_id))
        check_status(result, f"setting {attribute.name} of {self.signature.name!r} to {value}")


class Bound:
    """A kernel with a geometry, in the context that was current when it was bound.

    `run(stream, arguments)` launches on a stream, given by its handle, or for None on the current stream of the arrays'
    library, and does not wait. It raises `ArgumentError`, `LaunchError`, and `OtherContextError` if another context is
    current. Frames are reused, but never by two threads at once.
    """

    __slots__ = ("_context", "geometry", "loaded", "run")

    run: Callable[[int | None, Sequence[object]], None]

    def __init__(self, loaded: Loaded, geometry: Geometry) -> None:
        self.loaded = loaded
        self.geometry = geometry
        self._context = driver_launch.get_current_context()
        marshal = ArgumentMarshaller(loaded.signature, loaded.device.device_id, self._context)
        last_lines = () if geometry.is_empty else _LAUNCH_LINES  # the driver rejects an empty grid
        names = {
            "frames": [],
            "frame_of": partial(LaunchFrame, geometry, marshal.size, marshal.offsets),
            "write": marshal.write,
            "launch": driver_launch.get_launch_function() if last_lines else None,
            "function": driver_launch.get_kernel_function(loaded.handle),
            "fail": self._raise_failure,
        }
        self.run = marshal.compile_function(last_lines, names)

    def _raise_failure(self, stream: int, arguments: Sequence[object], status: int) -> None:
        if driver_launch.get_current_context() != self._context:
            raise OtherContextError("another context is current")
        raise make_refused_launch_error(self.loaded, self.geometry, stream, arguments, status)


_LAUNCH_LINES = (
    "try: frame = frames.pop()",
    "except IndexError: frame = frame_of()",
    f"write(frame.memory, frame.start, {PACKED})",
    "if stream != frame.stream: frame.use(stream)",
    "status = launch(frame.config, function, frame.parameters, None)",
    "frames.append(frame)",  # the driver has copied the frame
    "if status: fail(stream, values, status)",
)
"""The steps of a launch after its arguments are packed: see `ArgumentMarshaller.compile_function`."""


def load(source: BuiltKernel | Cubin, name: str | None = None, *, verify: bool = True) -> Loaded:
    """Loads a kernel on the current device: verifies and compiles it for that device, or loads a given cubin.

    Raises `NoDeviceError` if there is no GPU, and the errors of `compile`.
    """
    device = use_device()
    if not isinstance(source, Cubin):
        target = device_target(device.compute_capability)
        assembled = source.assemble()
        module = assembled.module
        if ptxas_program.has_setmaxnreg(module) and ptxas_program.select_ptxas(module, target) is None:
            return _load_ptx(source, assembled, device, verify=verify)
        source = compile(source, target, verify=verify)
    signature = source.kernel(name)
    return Loaded(signature, make_object_code(source).get_kernel(signature.name), device, source.undecided)


def make_object_code(cubin: Cubin) -> Any:
    """Returns the object code of `cuda.core` for a cubin, which is loaded when a kernel is requested from it.

    If it holds PTX text that ends in a zero byte instead of machine code, the driver compiles it then.
    """
    object_code = import_cuda_core().ObjectCode
    return (object_code.from_cubin if cubin.code.startswith(elf.MAGIC) else object_code.from_ptx)(cubin.code)


def _load_ptx(kernel: BuiltKernel, assembled: Assembled, device: Any, *, verify: bool) -> Loaded:
    """Lets the driver compile a kernel as a whole program. The driver caches the result."""
    undecided = format_undecided(verify_assembled(assembled, kernel.name)) if verify else None
    signature = make_kernel_signature(kernel)
    code = import_cuda_core().ObjectCode.from_ptx(str(assembled.module).encode() + b"\0")
    return Loaded(signature, code.get_kernel(signature.name), device, undecided)


def launch(
    stream: object,
    kernel: BuiltKernel | Cubin | Loaded,
    *arguments: object,
    grid: Extents,
    block: Extents | None = None,
    cluster: Extents | None = None,
    shared: int | None = None,
) -> None:
    """Compiles and loads the kernel if necessary, then launches it: see `Loaded.launch`.

    A kernel that is launched more than once should be loaded once: `loaded = load(kernel)`.
    """
    loaded = kernel if isinstance(kernel, Loaded) else load(kernel)
    loaded.launch(stream, *arguments, grid=grid, block=block, cluster=cluster, shared=shared)
