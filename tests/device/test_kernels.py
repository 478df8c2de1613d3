"""The project's kernels on the GPU, element by element."""

from __future__ import annotations

import numpy as np
import pytest

from ptxkit.kernels.cases import SUBJECTS, Subject
from ptxkit.kernels.check import check


@pytest.mark.device
@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.build.__name__)
def test_every_element_is_right_for_random_sizes_and_at_every_edge(subject: Subject) -> None:
    random = np.random.default_rng()
    wrong = [found for found in check(subject, 20, random) if not found.right]
    assert not wrong
