"""The real ptxas: that of the environment, or the first one that is not this program.

A ptxas may be another wrapper that calls the `ptxas` in `PATH`, which is this program again. So the environment of each
ptxas that is run lists all that were run before, and none is run twice.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from ptxkit.cuda_programs import packaged_programs, path_programs, toolkit_programs

VARIABLE = "PTXKIT_REAL_PTXAS"
GUARD = "PTXKIT_PTXAS_CALLS"
"""The environment variable with the real paths of the ptxas programs that were run, up to this process."""

_NAME = "ptxas"


class NoPtxasError(Exception):
    """There is no ptxas to run. The text states why, and what to do."""


def find_real_ptxas(program: str, environment: Mapping[str, str]) -> str:
    """Returns the path of the real ptxas. program: the path of this program. Raises NoPtxasError."""
    excluded = {os.path.realpath(program), *earlier_calls(environment)}
    given = environment.get(VARIABLE)
    if given:
        if os.path.realpath(given) in excluded:
            raise NoPtxasError(f"`{VARIABLE}={given}` is a program that calls this one; name the real ptxas")
        return given
    for path in _candidates(environment):
        if os.path.realpath(path) not in excluded:
            return path
    raise NoPtxasError(f"there is no other ptxas; name one by `{VARIABLE}`, or `pip install nvidia-cuda-nvcc`")


def earlier_calls(environment: Mapping[str, str]) -> list[str]:
    """Returns the real paths of the ptxas programs by which this process was started."""
    return [each for each in environment.get(GUARD, "").split(os.pathsep) if each]


def environment_of_call(path: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Returns the environment for a ptxas that is run."""
    return {**environment, GUARD: os.pathsep.join((*earlier_calls(environment), os.path.realpath(path)))}


def _candidates(environment: Mapping[str, str]) -> Iterator[str]:
    yield from path_programs(_NAME, environment)
    yield from toolkit_programs(_NAME, environment)
    yield from packaged_programs(_NAME)
