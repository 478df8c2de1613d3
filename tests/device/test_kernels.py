"""The project's kernels on the GPU, byte by byte."""

from __future__ import annotations

import numpy as np
import pytest

from ptxkit.kernels.check import EDGES, SUBJECTS, Subject, check, random_sizes


@pytest.mark.device
@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.build.__name__)
def test_every_byte_is_right_for_random_sizes_and_at_every_edge(subject: Subject) -> None:
    random = np.random.default_rng()
    wrong = [found for found in check(subject, [*random_sizes(20, random), *EDGES], random) if not found.right]
    assert not wrong
