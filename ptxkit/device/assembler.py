"""ptxas, for modules that must be compiled as a whole.

nvJitLink compiles PTX to relocatable objects, in which `setmaxnreg` is ignored: code that may be linked with other code
cannot know how many registers that wants. A kernel written for it would be right and slow, its values spilled. So a
module with such an instruction is compiled by the program `ptxas`, or, where there is none, by the driver.

Source: CUDA Compiler Driver NVCC, "Using Separate Compilation"; PTX ISA, "Miscellaneous Instructions: setmaxnreg".
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from ptxkit.device.errors import MissingLibraryError
from ptxkit.isa import table
from ptxkit.isa.effects import RegisterCount
from ptxkit.isa.forms import Match
from ptxkit.syntax import tree

_PACKAGES = (("nvidia", "cu*/bin/ptxas"), ("nvidia", "cuda_nvcc/bin/ptxas"), ("triton", "backends/nvidia/bin/ptxas"))
_VARIABLES = ("CUDA_HOME", "CUDA_PATH")


def sets_registers(module: tree.Module) -> bool:
    """Whether some instruction of the module changes how many registers its threads have."""
    matches = (table().match(each) for item in module.functions() for each in _instructions(item.body))
    return any(
        isinstance(effect, RegisterCount) for match in matches if isinstance(match, Match) for effect in match.effects
    )


def _instructions(body: tree.Body | None) -> Iterator[tree.Instruction]:
    for statement in () if body is None else body.statements:
        if isinstance(statement, tree.Instruction):
            yield statement
        elif isinstance(statement, tree.Block):
            yield from _instructions(statement.body)


@cache
def ptxas() -> Path | None:
    """The program: of an installed package, of the toolkit that the environment names, or on the path."""
    for package, pattern in _PACKAGES:
        spec = importlib.util.find_spec(package)
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            for found in sorted(Path(folder).glob(pattern), reverse=True):
                return found
    for name in _VARIABLES:
        found = Path(os.environ.get(name, "")) / "bin" / "ptxas"
        if os.environ.get(name) and found.is_file():
            return found
    known = shutil.which("ptxas")
    return None if known is None else Path(known)


@cache
def version() -> tuple[int, ...]:
    """What tells one ptxas from another: nothing where there is none."""
    found = ptxas()
    if found is None:
        return ()
    status = found.stat()
    return (status.st_size, status.st_mtime_ns)


def assembled(text: str, target: str, options: Sequence[str]) -> tuple[bytes | None, str]:
    """The cubin of a whole program, None where ptxas refuses it, and what it says. `MissingLibraryError` without it."""
    program = ptxas()
    if program is None:
        raise MissingLibraryError(
            "a kernel with setmaxnreg is compiled by ptxas, which is not installed: `pip install nvidia-cuda-nvcc`"
        )
    with tempfile.TemporaryDirectory() as folder:
        source, result = Path(folder) / "kernel.ptx", Path(folder) / "kernel.cubin"
        source.write_text(text)
        command = [str(program), f"-arch={target}", *options, str(source), "-o", str(result)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        log = (done.stdout + done.stderr).strip()
        return (result.read_bytes() if done.returncode == 0 else None), log
