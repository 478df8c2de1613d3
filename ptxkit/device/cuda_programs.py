"""The programs of the CUDA toolkit: those of installed packages, of the toolkit that the environment names, and in
`PATH`.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

_FOLDERS = (("nvidia", "cu*/bin"), ("nvidia", "cuda_*/bin"), ("triton", "backends/nvidia/bin"))
"""Packages of Python, and the folders of programs in them."""
_VARIABLES = ("CUDA_HOME", "CUDA_PATH")


def find_programs(name: str) -> tuple[Path, ...]:
    """Returns all programs of a name, such as `ptxas`, those of installed packages first."""
    return tuple(dict.fromkeys(_iterate_programs(name)))


def _iterate_programs(name: str) -> Iterator[Path]:
    for package, pattern in _FOLDERS:
        spec = importlib.util.find_spec(package)
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            yield from sorted(Path(folder).glob(f"{pattern}/{name}"), reverse=True)
    for variable in _VARIABLES:
        found = Path(os.environ.get(variable, "")) / "bin" / name
        if os.environ.get(variable) and found.is_file():
            yield found
    known = shutil.which(name)
    if known is not None:
        yield Path(known)
