"""The builder's kernels on the machine, with their smallest cases: correct under every policy, without findings."""

from __future__ import annotations

from itertools import cycle

import pytest

from ptxkit.emulator import POLICIES
from ptxkit.kernels.kernel_cases import CHECKED_KERNELS
from ptxkit.kernels.kernel_check import CheckedKernel
from ptxkit.kernels.seeds.seed_cases import CHECKED_SEEDS
from tests.emulator.builders import agrees, launch_kernel, smallest

CHOSEN = [*CHECKED_SEEDS, *CHECKED_KERNELS]


@pytest.mark.parametrize("subject", CHOSEN, ids=[each.build.__name__ for each in CHOSEN])
def test_a_kernel_is_correct_and_clean_under_every_policy(subject: CheckedKernel) -> None:
    kernel = subject.build()
    for policy, case in zip(POLICIES, cycle(smallest(subject, 2)), strict=False):
        assert agrees(case, launch_kernel(kernel, case, policy)), policy
