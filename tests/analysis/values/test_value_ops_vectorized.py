"""Operations on all threads of a group: the same results as thread by thread."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ptxkit.analysis.values.symbolic_values import LaneValues, group_value_of, lanes_by_index
from ptxkit.analysis.values.value_ops_vectorized import VECTORIZED_OPS, vectorized_op
from ptxkit.semantics.value_ops import bit_mask
from tests.analysis.support import operations

quickly = settings(max_examples=60, deadline=None)
numbers = st.one_of(
    st.integers(0, bit_mask(64)),
    st.integers(0, 40),
    st.sampled_from([0, 1, 31, 0x7FFF, 1 << 31, bit_mask(32), bit_mask(64), 0xFEFFFFFF, 0x7F0080000400, 1024]),
)
columns = st.one_of(numbers, st.lists(numbers, min_size=3, max_size=3))
types = st.sampled_from(["u16", "s16", "u32", "s32", "b32", "u64", "s64", "f32"])
comparisons = st.sampled_from(["eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "ltu"])

#: By operation: the operands that the table fixes before the others, and how many operands there are.
_WIDTH = (st.sampled_from([1, 16, 32, 64]),)
_SIGNED = (st.sampled_from([16, 32]), st.booleans())
_SHAPES: dict[str, tuple[tuple[st.SearchStrategy[object], ...], int]] = {
    "copy": (_WIDTH, 1),
    "not": (_WIDTH, 1),
    "mul_wide": (_SIGNED, 2),
    "shr": (_SIGNED, 2),
    "select": (_WIDTH, 3),
    "convert": ((types, types), 1),
    "compare": ((comparisons, types), 2),
    "in_shared": ((st.sampled_from(["shared", "shared::cta", "generic"]),), 1),
}


@quickly
@given(st.data(), st.sampled_from(VECTORIZED_OPS))
def test_vectorized_results_equal_the_results_of_each_thread(data: st.DataObject, name: str) -> None:
    fixed, count = _SHAPES.get(name, (_WIDTH, 2))
    chosen = [data.draw(each) for each in fixed]
    operands = [data.draw(columns) for _ in range(count)]
    if not any(isinstance(each, list) for each in operands):
        operands[0] = [data.draw(numbers)] * 3  # an operation without lanes does not request them
    found = vectorized_op(name)(*chosen, *operands)
    ops = operations()
    rows = [[each[index] if isinstance(each, list) else each for each in operands] for index in range(3)]
    if found is not None:
        assert found == [ops.find(name)(ops, *chosen, *row) for row in rows]


@quickly
@given(st.lists(numbers, min_size=3, max_size=3, unique=True), numbers)
def test_both_implementations_produce_the_same_lanes(values: list[int], amount: int) -> None:
    ops = operations()
    first, second = (
        ops.apply(ops.find("add"), 32, lanes_by_index(3, values.__getitem__), amount),
        group_value_of(values),
    )
    assert isinstance(first, LaneValues)
    assert isinstance(second, LaneValues)
    assert first.values == [value + amount & bit_mask(32) for value in values]
    assert first.are_numbers
    assert second.are_numbers


def test_values_with_unknowns_are_computed_thread_by_thread() -> None:
    ops = operations()
    unknown = ops.find("nothing")(ops, 1)
    mixed = lanes_by_index(2, [4, unknown].__getitem__)
    found = ops.apply(ops.find("add"), 32, mixed, 4)
    assert isinstance(found, LaneValues)
    assert not mixed.are_numbers
    assert found.values[0] == 8
    assert found.values[1] == ops.find("add")(ops, 32, unknown, 4)
