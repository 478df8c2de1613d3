"""`ptxkit.analysis.mbarrier.argument_sizes`: the differences of bytes that an argument of the kernel can make zero."""

from __future__ import annotations

from typing import cast

import pytest

from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.mbarrier.argument_sizes import steps_with_invalid_size, steps_with_matching_argument

STEP = cast(Step, "a step")


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([(512, 1024 - 512), (19, 1024 - 19)], True),  # the argument 1024 matches
        ([(512, 2048), (19, 2048)], False),  # the difference depends on no argument
        ([(512, -2 * 512), (19, -2 * 19)], False),  # only 0 matches
        ([(512, 512 + 100), (19, 19 + 100)], False),  # only a negative number matches
        ([(512, 1000)], False),  # one sample determines nothing about the others
    ],
)
def test_a_positive_argument_makes_the_bytes_match(points: list[tuple[int, int]], expected: bool) -> None:
    found = steps_with_matching_argument((STEP, sample, difference) for sample, difference in points)
    assert (STEP in found) is expected


def test_a_size_is_invalid_for_one_sample_only_where_it_depends_on_the_argument() -> None:
    other = cast(Step, "a store of 4 bytes")
    sizes = [(STEP, 512, 512), (STEP, 19, 19), (other, 512, 4), (other, 19, 4)]
    assert steps_with_invalid_size(sizes) == {(STEP, 19)}
