"""The first difference of the arrays of two runs."""

from __future__ import annotations

from copy import deepcopy

import numpy as np

from ptxkit.device_runs.output_comparison import find_first_difference


def test_equal_arrays_have_no_difference() -> None:
    same = {0: np.array([np.nan, 1.0]), 1: [np.arange(3), np.arange(3)], 2: np.zeros(0)}
    assert find_first_difference(same, deepcopy(same)) is None


def test_the_first_element_and_its_bits_are_returned() -> None:
    mine, theirs = (np.zeros((2, 3), np.float32) for _ in range(2))
    theirs[1, 0], theirs[1, 2] = -0.0, 1.0
    found = find_first_difference({3: mine}, {3: theirs})
    assert found is not None
    assert (found.argument, found.entry, found.flat_index, found.count, found.size) == (3, None, 3, 2, 6)
    assert found.bits == ("0x00000000", "0x80000000")


def test_an_array_of_a_table_is_named() -> None:
    mine = [np.array([1], np.uint16), np.array([2, 3], np.uint16)]
    found = find_first_difference({0: mine}, {0: [mine[0], np.array([2, 0x1234], np.uint16)]})
    assert found is not None
    assert (found.entry, found.flat_index, found.bits) == (1, 1, ("0x0003", "0x1234"))
