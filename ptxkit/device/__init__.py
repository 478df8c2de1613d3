"""From a kernel, a module or text to a cubin (no GPU needed), and from a cubin to a running kernel.

    from ptxkit import device

    cubin = device.compile(kernel, "sm_90a")
    device.launch(stream, kernel, source, target, count, grid=132)

These are functions and not methods of the kernel: the builder does not know CUDA, and a parsed module or text compiles
the same way. Importing this package imports nothing of CUDA; each function does when it runs.
"""

from ptxkit.device.compiler import Cubin, compile  # noqa: A004
from ptxkit.device.cuda_libraries import check_device
from ptxkit.device.device_memory import DeviceArray, to_device, use_device
from ptxkit.device.errors import (
    ArgumentError,
    CompileError,
    Complaint,
    DeviceError,
    LaunchError,
    LinkError,
    MissingLibraryError,
    NoDeviceError,
    OtherContextError,
    TensorMapError,
)
from ptxkit.device.geometry import Geometry
from ptxkit.device.launch_binding import Launch, Launcher
from ptxkit.device.linked_program import LinkedKernel, Program
from ptxkit.device.linker import link
from ptxkit.device.loaded_kernel import Bound, Loaded, launch, load
from ptxkit.device.signature import Argument, Signature
from ptxkit.device.targets import device_target, target_for
from ptxkit.device.tensormap import TensorMap
from ptxkit.device.torch_operators import torch_op

__all__ = [
    "Argument",
    "ArgumentError",
    "Bound",
    "CompileError",
    "Complaint",
    "Cubin",
    "DeviceArray",
    "DeviceError",
    "Geometry",
    "Launch",
    "LaunchError",
    "Launcher",
    "LinkError",
    "LinkedKernel",
    "Loaded",
    "MissingLibraryError",
    "NoDeviceError",
    "OtherContextError",
    "Program",
    "Signature",
    "TensorMap",
    "TensorMapError",
    "check_device",
    "compile",
    "device_target",
    "launch",
    "link",
    "load",
    "target_for",
    "to_device",
    "torch_op",
    "use_device",
]
