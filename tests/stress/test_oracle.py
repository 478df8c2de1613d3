"""The assertion for tests, with the reference machine in the place of the GPU."""

from __future__ import annotations

from unittest import SkipTest

import numpy
import pytest

from ptxkit.device_runs.device_launch import DeviceLaunch
from ptxkit.stress.machine_backend import MachineBackend
from ptxkit.testing import oracles
from tests.stress.test_stress_session import RACY, TEXT
from tests.testing.oracles.test_assertions import has_gpu

LAUNCH = DeviceLaunch("k", 1, None, (numpy.zeros(64, numpy.uint32),))


def test_a_correct_kernel_is_stable() -> None:
    oracles.assert_stable_under_stress(TEXT, LAUNCH, seconds=0.5, backend=MachineBackend())


def test_a_race_is_not_stable() -> None:
    with pytest.raises(AssertionError, match="stress error: the results differ"):
        oracles.assert_stable_under_stress(RACY, LAUNCH, seconds=60, backend=MachineBackend())


@pytest.mark.skipif(has_gpu(), reason="there is a GPU")
def test_without_a_gpu_the_test_is_skipped() -> None:
    with pytest.raises(SkipTest):
        oracles.assert_stable_under_stress(TEXT, LAUNCH)
