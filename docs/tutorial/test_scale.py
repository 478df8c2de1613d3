from pathlib import Path

import numpy
from hypothesis import given, settings
from hypothesis import strategies as st
from scale_kernel import TILE, make_scale

from ptxkit.testing import oracles, strategies

CUDA = Path("scale.ptx").read_text()
BUILT = str(make_scale())
inputs = strategies.arrays("f32", 32).map(lambda part: numpy.tile(part, 2 * TILE // 32))
factors = st.floats(-8.0, 8.0, width=32)


@settings(deadline=None, max_examples=10)
@given(inputs, factors)
def test_the_kernel_multiplies_each_element(data, factor):
    launch = oracles.DeviceLaunch("scale", grid=2, block=256, arguments=(data, numpy.zeros_like(data), factor))
    left = oracles.on_machine(BUILT, launch)
    numpy.testing.assert_array_equal(left[1], data * numpy.float32(factor))


@settings(deadline=None, max_examples=10)
@given(inputs, factors)
def test_both_kernels_leave_the_same_bytes(data, factor):
    launch = oracles.DeviceLaunch("scale", grid=2, block=256, arguments=(data, numpy.zeros_like(data), factor))
    oracles.assert_same_kernel(CUDA, BUILT, launch)
