"""The builder's kernels on the machine: right under every policy, and nothing is found."""

from __future__ import annotations

from itertools import islice

import pytest

from ptxkit.emulate import POLICIES
from ptxkit.kernels.cases import SUBJECTS
from ptxkit.kernels.check import Subject
from ptxkit.kernels.seeds.check import SEEDS
from tests.emulate.builders import agrees, launched, small

_SIZED = {"cluster_histogram", "launch_sized"}
"""Those that say themselves how much dynamic shared memory they want."""
CHOSEN = [each for each in (*SEEDS, *SUBJECTS) if each.build.__name__ not in _SIZED]


@pytest.mark.parametrize("subject", CHOSEN, ids=[each.build.__name__ for each in CHOSEN])
def test_a_kernel_is_right_and_clean_under_every_policy(subject: Subject) -> None:
    kernel = subject.build()
    module = kernel.assembled().module
    for case in islice(small(subject), 2):
        for policy in POLICIES:
            found = launched(kernel, module, case, policy)
            assert not found.failed
            assert not found.undecided
            assert [(each.code, each.message) for each in found.findings] == [], policy
            assert agrees(case, found), policy
