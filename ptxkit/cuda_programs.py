"""The programs of the CUDA toolkit: those of installed packages, of the toolkit that the environment names, and in
`PATH`.

Most modules are imported inside functions, because `ptxkit-ptxas` searches for ptxas in each call.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

TYPE_CHECKING = False  # `typing` takes too long to import for a program that does little

if TYPE_CHECKING:
    from pathlib import Path

_FOLDERS = (("nvidia", "cu*/bin"), ("nvidia", "cuda_*/bin"), ("triton", "backends/nvidia/bin"))
"""Packages of Python, and the folders of programs in them."""
_VARIABLES = ("CUDA_HOME", "CUDA_PATH")


def find_programs(name: str) -> tuple[Path, ...]:
    """Returns all programs of a name, such as `ptxas`, those of installed packages first."""
    import shutil
    from pathlib import Path

    found = [*packaged_programs(name), *toolkit_programs(name, os.environ)]
    known = shutil.which(name)
    return tuple(dict.fromkeys(map(Path, found if known is None else [*found, known])))


def packaged_programs(name: str) -> Iterator[str]:
    """Yields each program of a name in an installed Python package."""
    import importlib.util
    from pathlib import Path

    for package, pattern in _FOLDERS:
        spec = importlib.util.find_spec(package)
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            yield from map(str, sorted(Path(folder).glob(f"{pattern}/{name}"), reverse=True))


def toolkit_programs(name: str, environment: Mapping[str, str]) -> Iterator[str]:
    """Yields each program of a name in a toolkit that an environment variable names."""
    for variable in _VARIABLES:
        found = os.path.join(environment.get(variable, ""), "bin", name)
        if environment.get(variable) and os.path.isfile(found):
            yield found


def path_programs(name: str, environment: Mapping[str, str]) -> Iterator[str]:
    """Yields each program of a name in `PATH`, in its order."""
    for folder in environment.get("PATH", "").split(os.pathsep):
        found = os.path.join(folder, name)
        if folder and os.path.isfile(found) and os.access(found, os.X_OK):
            yield found
