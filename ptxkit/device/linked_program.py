"""A linked program: its kernels are found by name and launched as kernels of the builder are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ptxkit.device.compiler import Cubin
from ptxkit.device.device_memory import use_device
from ptxkit.device.errors import DeviceError
from ptxkit.device.launch_binding import Launcher
from ptxkit.device.loaded_kernel import Loaded, make_object_code
from ptxkit.device.signature import Signature


class Program:
    """A cubin and its kernels: `program["scale"][grid, block](...)`. It is loaded once for each device, so that its
    kernels share their variables.
    """

    def __init__(self, cubin: Cubin) -> None:
        self.cubin = cubin
        self._libraries: dict[int, Any] = {}
        self._kernels = {each.name: LinkedKernel(self, each) for each in cubin.kernels}

    def __getitem__(self, name: str) -> LinkedKernel:
        """Returns the kernel of that name. Raises `DeviceError` if none exists."""
        found = self._kernels.get(name)
        if found is None:
            names = ", ".join(self._kernels) or "none"
            raise DeviceError(f"no kernel is called {name!r}; the program holds {names}")
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._kernels)

    def __len__(self) -> int:
        return len(self._kernels)

    def __repr__(self) -> str:
        return f"Program({', '.join(self._kernels)})"

    def library(self) -> tuple[Any, Any]:
        """Returns (the object code of `cuda.core`, the device): the program on the current device."""
        device = use_device()
        found = self._libraries.get(device.device_id)
        if found is None:
            found = self._libraries[device.device_id] = make_object_code(self.cubin)
        return found, device


class LinkedKernel(Launcher):
    """A kernel of a program."""

    def __init__(self, program: Program, signature: Signature) -> None:
        super().__init__(self.load)
        self._program = program
        self.signature = signature
        self.name = signature.name

    def __repr__(self) -> str:
        return f"LinkedKernel({self.name!r})"

    def load(self) -> Loaded:
        """Returns the kernel on the current device. Raises `NoDeviceError` if there is no device."""
        code, device = self._program.library()
        return Loaded(self.signature, code.get_kernel(self.name), device, self._program.cubin.undecided)
