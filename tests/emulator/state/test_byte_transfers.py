"""Rows that combine with the contents of memory: at once where their addresses differ, in sequence otherwise."""

import numpy
import pytest

from ptxkit.emulator.state.byte_transfers import NO_OFFSET, ByteTransfer, Combine
from ptxkit.emulator.state.memory import ByteBuffer


@pytest.mark.parametrize(
    ("targets", "expected", "calls"),
    [
        ([[0, 1], [2, 3]], [1, 2, 3, 4], 1),
        ([[0, NO_OFFSET], [NO_OFFSET, 3]], [1, 0, 0, 4], 1),
        ([[0, 1], [0, 3]], [1 + 3, 2, 0, 4], 2),
    ],
)
def test_each_row_combines_with_the_result_of_earlier_ones(
    targets: list[list[int]], expected: list[int], calls: int
) -> None:
    pool = ByteBuffer(16, "global")
    counted = []

    def add(old: object, new: object) -> object:
        counted.append(1)
        return old + new  # type: ignore[operator]

    combine: Combine = add
    data = numpy.array([[1, 2], [3, 4]], numpy.uint32)
    transfer = ByteTransfer(4, None, None, pool, numpy.array(targets), data, combine)
    transfer.write(numpy.ones(2, bool))
    assert pool.view(4)[:4].tolist() == expected
    assert len(counted) == calls
