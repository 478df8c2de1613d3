"""The values of threads with the same operands are computed once."""

from __future__ import annotations

from ptxkit.analysis.values.symbolic_values import LaneValues, SymbolicValue, Value, lanes_by_index

THREADS = 128


def test_threads_with_the_same_operand_share_the_result() -> None:
    loaded = [SymbolicValue(warp) for warp in range(THREADS // 32)]
    asked: list[Value] = []

    def next_of(value: SymbolicValue, amount: int) -> Value:
        asked.append(value)
        return value.plus(amount)

    operands = lanes_by_index(THREADS, lambda index: loaded[index // 32])
    found = LaneValues(THREADS, next_of, (operands, 4)).values
    assert found == [loaded[index // 32].plus(4) for index in range(THREADS)]
    assert asked == loaded


def test_equal_operands_in_different_state_spaces_have_their_own_results() -> None:
    value = SymbolicValue(0)
    views = [value, value.with_space("shared")]
    operands = lanes_by_index(THREADS, lambda index: views[index % 2])
    found = LaneValues(THREADS, lambda each, amount: each.plus(amount), (operands, 4)).values
    assert [each.space for each in found if isinstance(each, SymbolicValue)] == [None, "shared"] * (THREADS // 2)
