"""Shared by the tests of the builder: ptxas from the package index, and the search for a marked line of a test."""

from __future__ import annotations

import importlib.util
import inspect
import subprocess
from functools import cache
from pathlib import Path

import pytest

from ptxkit.build import Location
from ptxkit.syntax.tree import Body, Instruction, Module


@cache
def ptxas() -> Path:
    """Returns the ptxas of the development dependencies; never one that is installed on the machine."""
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for found in Path(folder).glob("cu*/bin/ptxas"):
            return found
    pytest.fail("nvidia-cuda-nvcc is not installed: the tests need its ptxas")


def assert_ptxas_accepts(text: str, folder: Path, target: str = "sm_90a") -> None:
    """Asserts that ptxas makes a cubin of the text without diagnostics."""
    path = folder / "kernel.ptx"
    path.write_text(text)
    command = [str(ptxas()), f"-arch={target}", str(path), "-o", str(folder / "kernel.cubin")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stderr}\n{text}"


def body(module: Module) -> Body:
    """Returns the body of the module's only function."""
    (function,) = module.functions()
    assert function.body is not None
    return function.body


def instructions(module: Module) -> list[Instruction]:
    return [each for each in body(module).statements if isinstance(each, Instruction)]


def opcodes(module: Module) -> list[str]:
    return [each.opcode for each in instructions(module)]


def marked_line(word: str) -> Location:
    """Returns the line of the calling test file that ends with `# <word>`."""
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    file = frame.f_back.f_code.co_filename
    lines = Path(file).read_text().splitlines()
    (number,) = [number for number, line in enumerate(lines, 1) if line.endswith(f"# {word}")]
    return Location(file, number)
