"""Arrays on the GPU for programs that use neither PyTorch nor CuPy."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from ptxkit.device.cuda_libraries import check_device, check_status, import_cuda_core, import_driver


class DeviceArray:
    """A contiguous array in device memory with `__cuda_array_interface__`. The memory is freed with the object."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.shape = shape
        self.dtype = dtype
        self.nbytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        api = import_driver()
        result = api.cuMemAlloc(max(self.nbytes, 1))
        check_status(result, f"allocating {self.nbytes} bytes")
        self.address = int(result[1])
        weakref.finalize(self, api.cuMemFree, result[1])

    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.address, False),
            "strides": None,
            "version": 3,
        }

    def to_host(self) -> np.ndarray[Any, Any]:
        """Returns a copy in host memory, after waiting for the device."""
        host = np.empty(self.shape, self.dtype)
        check_status(import_driver().cuCtxSynchronize(), "waiting for the device")
        if self.nbytes:
            check_status(
                import_driver().cuMemcpyDtoH(host.ctypes.data, self.address, self.nbytes), "copying from the device"
            )
        return host


def to_device(host: np.ndarray[Any, Any]) -> DeviceArray:
    """Returns a copy of a NumPy array on the current device. Raises `NoDeviceError` if there is no device."""
    packed = np.ascontiguousarray(host)
    use_device()
    made = DeviceArray(packed.shape, packed.dtype)
    if made.nbytes:
        check_status(
            import_driver().cuMemcpyHtoD(made.address, packed.ctypes.data, made.nbytes), "copying to the device"
        )
        # The copy may end after the call returns, and non-blocking streams would not wait for it.
        check_status(import_driver().cuCtxSynchronize(), "waiting for the device")
    return made


def can_reach(address: int) -> bool:
    """Returns whether the current device can access memory at an address, which may be on another device."""
    api = import_driver()
    result = api.cuPointerGetAttribute(api.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address)
    return bool(result[0] == api.CUresult.CUDA_SUCCESS)


def use_device() -> Any:
    """Makes the first GPU current and returns its `cuda.core.Device`. Raises `NoDeviceError` if there is no device."""
    check_device()
    device = import_cuda_core().Device()
    device.set_current()
    return device
