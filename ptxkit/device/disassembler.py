"""Prints the machine code of a cubin with the program nvdisasm.

Source: CUDA Binary Utilities, "nvdisasm".
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from ptxkit.cuda_programs import find_programs
from ptxkit.device.errors import DeviceError, MissingLibraryError
from ptxkit.device.limits import DISASSEMBLY_SECONDS


def disassemble(code: bytes, *, with_lines: bool = False) -> str:
    """Returns the instructions of a cubin as text, with the lines of its source if that is requested.

    Raises `MissingLibraryError` if there is no nvdisasm, and `DeviceError` if it fails.
    """
    program = next(iter(find_programs("nvdisasm")), None)
    if program is None:
        raise MissingLibraryError(
            "printing machine code needs nvdisasm, which is not installed", "`pip install nvidia-cuda-nvdisasm`"
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(code)
        command = [str(program), "-c", *(["-g"] if with_lines else []), str(path)]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, errors="replace", timeout=DISASSEMBLY_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            raise DeviceError(f"{program} did not end within {DISASSEMBLY_SECONDS} s") from None
    if done.returncode:
        raise DeviceError(f"{program} cannot print the code: {done.stderr.strip() or f'status {done.returncode}'}")
    return done.stdout
