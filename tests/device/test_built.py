"""Kernels with the builder's helpers on a GPU: functions, fragments, swizzles, stores into other CTAs."""

from __future__ import annotations

import numpy as np
import pytest

from ptxkit.build import External, Generic, f16, f32, s16, u8
from ptxkit.device import link, to_device
from tests.build.programs import PROGRAMS, Program, all_widths, calling, narrow


def check(program: Program, kernel: object) -> None:
    """Launches and compares all expected results. kernel: a kernel that can be launched."""
    arrays = [to_device(each) for each in program.arguments]
    kernel.launch(grid=program.grid, cluster=program.cluster)(*arrays)  # type: ignore[attr-defined]
    for number, expected in program.expected.items():
        assert np.array_equal(arrays[number].to_host().ravel(), expected.ravel())


@pytest.mark.device
@pytest.mark.parametrize("name", PROGRAMS)
def test_built_kernels_compute_the_results_of_numpy(name: str) -> None:
    program = PROGRAMS[name]()
    check(program, program.kernel)


@pytest.mark.device
def test_functions_of_another_module_are_linked() -> None:
    outside = External("narrow", params=(s16, u8, f16, Generic[f32]), results=(s16, u8, Generic[f32]))
    check(all_widths(), link([calling(outside), narrow().module()])["calling"])
