"""Compiles a kernel, a module or PTX text to a cubin, which needs no GPU, and launches kernels of a cubin.

    from ptxkit import device

    cubin = device.compile(kernel, "sm_90a")
    device.launch(stream, kernel, source, target, count, grid=132)

The package has functions instead of methods of the kernel, because the builder does not depend on CUDA, and parsed
modules and text are compiled by the same functions. Importing the package imports no CUDA library; each function
imports what it needs when it is called.
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
