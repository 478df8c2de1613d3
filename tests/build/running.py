"""Builds a kernel of one warp from a function, checks it, and runs it on the reference machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptxkit.build import Global, Kernel, Register, Scalar, bf16
from tests.build.support import assert_ptxas_accepts

WARP = 32


def host_type(scalar: type[Scalar]) -> np.dtype[Any]:
    """Returns NumPy's type of an array of the elements; bits and bf16 are unsigned integers."""
    letter = {"f": "f", "s": "i"}.get(scalar.family, "u")
    return np.dtype(
        "u2" if scalar is bf16 else f"u{scalar.size()}" if "x2" in scalar.word else f"{letter}{scalar.size()}"
    )


def run_lanes(
    source: type[Scalar],
    values: NDArray[Any],
    result: type[Scalar],
    compute: Callable[[Kernel, Register[Any]], Register[Any]],
    folder: Path | None = None,
    *,
    target: str = "sm_90a",
) -> NDArray[Any]:
    """Returns the results that the lanes of a warp compute from their values.

    The kernel has no finding and no open question, and ptxas accepts it if a folder for its files is given.
    """
    k = Kernel("lanes", threads=WARP)
    given, out = k.param(Global[source], "given"), k.param(Global[result], "out")  # type: ignore[valid-type]
    out[k.laneid].store(compute(k, given[k.laneid].load()))
    return run_kernel(k, np.zeros(WARP, host_type(result)), values.view(host_type(source)), folder, target=target)


def run_kernel(
    k: Kernel, out: NDArray[Any], given: NDArray[Any], folder: Path | None = None, *, target: str = "sm_90a"
) -> NDArray[Any]:
    """Returns `out`, the second argument of a kernel, after a run with one CTA."""
    verdict = k.verify()
    assert (verdict.diagnostics, verdict.undecided) == ((), ())
    if folder is not None:
        assert_ptxas_accepts(str(k), folder, target)
    k.emulate(1)(given, out)
    return out
