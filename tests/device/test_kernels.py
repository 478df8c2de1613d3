"""The project's kernels on the GPU, element by element."""

from __future__ import annotations

import numpy as np
import pytest

from ptxkit.kernels.kernel_cases import CHECKED_KERNELS, CheckedKernel
from ptxkit.kernels.kernel_check import check_kernel


@pytest.mark.device
@pytest.mark.parametrize("subject", CHECKED_KERNELS, ids=lambda subject: subject.build.__name__)
def test_every_element_is_correct_for_random_sizes_and_at_every_edge(subject: CheckedKernel) -> None:
    random = np.random.default_rng()
    wrong = [found for found in check_kernel(subject, 20, random) if not found.is_correct]
    assert not wrong
