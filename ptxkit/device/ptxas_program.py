"""ptxas, for modules that must be compiled as a whole.

nvJitLink compiles PTX to relocatable objects, in which `setmaxnreg` is ignored, because the number of registers of code
that may be linked with other code is not known. A kernel that relies on it would be correct and slow, with spilled
registers. So a module with this instruction is compiled by the program `ptxas`, or by the driver if there is no ptxas.
The first ptxas that supports the module's `.version` and the target is used; each program is queried for both.

Source: CUDA Compiler Driver NVCC, "Using Separate Compilation"; PTX ISA, "Miscellaneous Instructions: setmaxnreg".
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from ptxkit.cuda_programs import find_programs
from ptxkit.device.errors import MissingLibraryError
from ptxkit.device.limits import PTXAS_QUERY_SECONDS
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa import table
from ptxkit.isa.effects import RegisterCount
from ptxkit.isa.forms import Match
from ptxkit.syntax import tree
from ptxkit.syntax.nested_instructions import iterate_instructions

_INSTALL_COMMAND = "`pip install nvidia-cuda-nvcc`"


def has_setmaxnreg(module: tree.Module) -> bool:
    """Returns whether an instruction of the module changes the number of registers of its threads."""
    bodies = (function.body for function in module.functions() if function.body is not None)
    matches = (table().match(each) for body in bodies for each in iterate_instructions(body.statements))
    return any(
        isinstance(effect, RegisterCount) for match in matches if isinstance(match, Match) for effect in match.effects
    )


@dataclass(frozen=True, slots=True)
class PtxasProgram:
    """A ptxas program of a release such as `13.5`, with the newest `.version` that it supports, and its targets."""

    path: Path
    release: str
    newest: tuple[int, int]
    targets: frozenset[str]

    def __str__(self) -> str:
        return f"ptxas {self.release} ({self.path})"

    def supports(self, version: tuple[int, int], target: str) -> bool:
        """Returns whether it compiles modules of this `.version` for this target."""
        return version <= self.newest and target in self.targets

    @property
    def fingerprint(self) -> tuple[int, ...]:
        """Properties that distinguish one ptxas file from another."""
        status = self.path.stat()
        return (status.st_size, status.st_mtime_ns)


@cache
def query_ptxas(path: Path) -> PtxasProgram:
    """Queries a ptxas for its version and targets. Raises `RuntimeError` if the file is not ptxas, and `OSError`."""
    release = re.search(r"release (\d+\.\d+)", _run_ptxas(path, "--version"))
    targets = re.findall(r"'compute_(\w+)'", _run_ptxas(path, "--help"))
    with tempfile.TemporaryDirectory() as folder:
        probe = Path(folder, "probe.ptx")
        probe.write_text(".version 99.0 .target sm_90 .address_size 64")
        newest = re.search(r"current version is '(\d+)\.(\d+)'", _run_ptxas(path, str(probe), "-o", os.devnull))
    if release is None or newest is None:
        raise RuntimeError(f"{path} is not a ptxas that reports its targets")
    return PtxasProgram(path, release[1], (int(newest[1]), int(newest[2])), frozenset(f"sm_{each}" for each in targets))


def _run_ptxas(path: Path, *arguments: str) -> str:
    run = subprocess.run(
        [str(path), *arguments], capture_output=True, text=True, timeout=PTXAS_QUERY_SECONDS, check=False
    )
    return run.stdout + run.stderr


def find_ptxas() -> Path | None:
    """Returns the first ptxas: of an installed package, of the toolkit that the environment names, or in `PATH`."""
    return next(iter(find_all_ptxas()), None)


@cache
def find_all_ptxas() -> tuple[Path, ...]:
    """Returns all ptxas programs: of installed packages, of the toolkit that the environment names, and in `PATH`."""
    return find_programs("ptxas")


def version_of(module: tree.Module) -> tuple[int, int]:
    """Returns the `.version` of a module, or (0, 0) if it has none."""
    directives = (each for each in module.items if isinstance(each, tree.Directive) and each.name == "version")
    found = next(directives, None)
    major, _, minor = (found.words[0] if found is not None else "0.0").partition(".")
    return int(major), int(minor)


def newest_ptxas_version(target: str) -> tuple[int, int] | None:
    """Returns the newest `.version` that a ptxas here supports for a target, or None if none supports the target."""
    return max((each.newest for each in _iterate_queried() if target in each.targets), default=None)


def select_ptxas(module: tree.Module, target: str) -> PtxasProgram | None:
    """Returns the first ptxas that compiles a module for a target, or None."""
    return next((each for each in _iterate_queried() if each.supports(version_of(module), target)), None)


def _iterate_queried() -> Iterator[PtxasProgram]:
    for path in find_all_ptxas():
        with suppress(OSError, RuntimeError, subprocess.TimeoutExpired):
            yield query_ptxas(path)


def missing_ptxas_error(message: str) -> MissingLibraryError:
    """Returns the error of a step that only ptxas can do if there is no ptxas."""
    return MissingLibraryError(message, _INSTALL_COMMAND)


def explain_too_old(module: tree.Module, target: str) -> str:
    """Explains why no installed ptxas compiles a module for a target, with what each supports."""
    major, minor = version_of(module)
    known = "; ".join(f"{each} knows PTX up to {each.newest[0]}.{each.newest[1]}" for each in _iterate_queried())
    return f"no ptxas here compiles PTX {major}.{minor} for {target}" + (f": {known}" if known else "")


def assemble_cubin(text: str, target: str, options: Sequence[str], program: PtxasProgram) -> tuple[bytes | None, str]:
    """Returns the cubin of a whole program, or None if ptxas rejects it, and the output of ptxas.

    `options` are those of nvJitLink or of ptxas. If ptxas fails without a message, or is ended by a signal, the output
    states so.
    """
    with tempfile.TemporaryDirectory() as folder:
        source, result = Path(folder) / "kernel.ptx", Path(folder) / "kernel.cubin"
        source.write_text(text)
        command = [str(program.path), f"-arch={target}", *map(_ptxas_option, options), str(source), "-o", str(result)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        log = (done.stdout + done.stderr).strip()
        if done.returncode == 0:
            return result.read_bytes(), log
        if done.returncode < 0:
            log = f"{program} was ended by the signal {_name_signal(-done.returncode)}\n{log}".strip()
        return None, log or f"{program} ended with status {done.returncode} and without a message"


def _ptxas_option(option: str) -> str:
    """Returns an option of nvJitLink as ptxas spells it."""
    return "-v" if option == "-verbose" else option.removeprefix("-Xptxas=")


def _name_signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
