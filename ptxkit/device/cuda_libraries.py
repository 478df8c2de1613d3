"""The CUDA libraries, which are imported on first use, and the errors if they are missing."""

from __future__ import annotations

import importlib
from types import ModuleType

from ptxkit.device.errors import DeviceError, MissingLibraryError, NoDeviceError

_INSTALL_HINT = "install them with `pip install ptxkit[cuda]`"


def import_nvjitlink() -> ModuleType:
    """Returns `cuda.bindings.nvjitlink` after loading its shared library. Raises `MissingLibraryError`."""
    try:
        library = importlib.import_module("cuda.bindings.nvjitlink")
    except ImportError as error:
        raise MissingLibraryError("compiling needs cuda-bindings and nvidia-nvjitlink", _INSTALL_HINT) from error
    try:
        library.version()
    except (RuntimeError, OSError) as error:
        raise MissingLibraryError(f"cuda-bindings cannot load nvJitLink ({error})", _INSTALL_HINT) from error
    return library


def import_cuda_core() -> ModuleType:
    """Returns `cuda.core`, or its experimental package in earlier versions. Raises `MissingLibraryError`."""
    for name in ("cuda.core", "cuda.core.experimental"):
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        if hasattr(module, "LaunchConfig"):
            return module
    raise MissingLibraryError("launching needs cuda-core", _INSTALL_HINT)


def import_driver() -> ModuleType:
    """Returns `cuda.bindings.driver`. Raises `MissingLibraryError`."""
    try:
        return importlib.import_module("cuda.bindings.driver")
    except ImportError as error:
        raise MissingLibraryError("launching needs cuda-bindings", _INSTALL_HINT) from error


def check_device() -> None:
    """Raises `NoDeviceError` with the reason if no GPU can be used."""
    api = import_driver()
    try:
        (status,) = api.cuInit(0)
        if status == api.CUresult.CUDA_SUCCESS:
            status, count = api.cuDeviceGetCount()
            if status == api.CUresult.CUDA_SUCCESS and count > 0:
                return
    except (RuntimeError, OSError):
        raise NoDeviceError("no NVIDIA driver is installed here, so kernels can be compiled but not launched") from None
    if status not in (api.CUresult.CUDA_SUCCESS, api.CUresult.CUDA_ERROR_NO_DEVICE):
        raise NoDeviceError(f"no GPU can be used here ({status.name}), so kernels can be compiled but not launched")
    raise NoDeviceError("this machine has no NVIDIA GPU, so kernels can be compiled but not launched")


def check_status(result: tuple[object, ...], what: str) -> None:
    """Raises `DeviceError` if a driver call failed."""
    status = result[0]
    if getattr(status, "name", "") != "CUDA_SUCCESS":
        raise DeviceError(f"{what} failed: {getattr(status, 'name', status)}")
