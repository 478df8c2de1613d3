"""The seed programs on the GPU, element by element: those of the builder, and nvcc's output for their twins."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from ptxkit.device import compile as compile_kernel
from ptxkit.device.signature import make_kernel_signature
from ptxkit.kernels.kernel_check import CheckedKernel, check_kernel
from ptxkit.kernels.seeds.barrier_copy import barrier_copy
from ptxkit.kernels.seeds.seed_cases import CHECKED_SEEDS
from tests.corpus.support import CORPUS

BY_NAME = {subject.build.__name__: subject for subject in CHECKED_SEEDS}
TWINS = sorted((CORPUS / "seeds").glob("*.ptx"))


def differing(subject: CheckedKernel) -> list[object]:
    """Returns the runs in which an element is wrong."""
    return [found for found in check_kernel(subject, 10, np.random.default_rng()) if not found.is_correct]


@pytest.mark.device
@pytest.mark.parametrize("subject", CHECKED_SEEDS, ids=lambda subject: subject.build.__name__)
def test_the_builders_program_computes_the_result_of_numpy(subject: CheckedKernel) -> None:
    assert not differing(subject)


@pytest.mark.device
def test_the_copy_that_a_barrier_tracks_is_correct_by_cp_async_too() -> None:
    assert not differing(replace(BY_NAME["barrier_copy"], build=lambda: barrier_copy(target="sm_80")))


@pytest.mark.device
@pytest.mark.parametrize("path", TWINS, ids=lambda path: path.stem)
def test_the_twin_in_cuda_computes_the_same_result_of_the_same_data(path: Path) -> None:
    subject = BY_NAME[path.name.split(".")[0]]
    signature = make_kernel_signature(subject.build())

    def twin() -> Any:
        """The cubin, launched in the same way as the builder's kernel."""
        return replace(compile_kernel(path.read_text()), kernels=(signature,))

    assert not differing(CheckedKernel(cast("Any", twin), subject.cases))
