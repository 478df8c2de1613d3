"""The expected results of the kernels."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ptxkit.kernels.kernel_cases import fused_multiply_add


def test_a_fused_product_is_rounded_once_where_a_tiny_addend_breaks_a_tie() -> None:
    random = np.random.default_rng(3)
    a = np.float32(1 + 2**-12)
    x = (1 + (2 * random.integers(0, 1 << 11, 400) + 1) * 2.0**-12).astype(np.float32)
    y = (random.choice([-1, 1], 400) * 10.0 ** random.uniform(-37, -20, 400)).astype(np.float32)
    found = fused_multiply_add(a, x, y)
    for one, other, sum_ in zip(x, y, found, strict=True):
        exact = Fraction(float(a)) * Fraction(float(one)) + Fraction(float(other))
        near = abs(exact - Fraction(float(sum_)))
        others = [np.nextafter(sum_, np.float32(side)) for side in (-np.inf, np.inf)]
        assert all(near < abs(exact - Fraction(float(each))) for each in others)


def test_a_fused_product_overflows_to_infinity_and_keeps_the_smallest_numbers() -> None:
    x = np.array([3e38, -3e38, 1e-45, 0.0], np.float32)
    y = np.array([3e38, -3e38, 0.0, -0.0], np.float32)
    assert fused_multiply_add(np.float32(1.0), x, y).tolist() == [np.inf, -np.inf, float(np.float32(1e-45)), 0.0]
