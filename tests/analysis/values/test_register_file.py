"""The registers of subgroups of a group."""

from __future__ import annotations

from ptxkit.analysis.limits import MAX_REGISTER_LAYERS
from ptxkit.analysis.values.register_file import RegisterFile
from ptxkit.analysis.values.symbolic_values import GroupValue, LaneValues, lanes_by_index


def of_whole(count: int = 16) -> tuple[RegisterFile, list[int]]:
    """Returns the registers of a group with its thread's index in `%r1`, and the threads whose values were
    requested."""
    asked: list[int] = []
    registers = RegisterFile()
    registers.set("%r1", lanes_by_index(count, lambda index: asked.append(index) or index))
    registers.set("%r2", 7)
    return registers, asked


def values(held: GroupValue | None) -> list[object]:
    return list(held.values) if isinstance(held, LaneValues) else [held]


def test_a_subgroup_has_the_values_of_its_threads() -> None:
    part = of_whole()[0].subset([1, 3, 5])
    assert values(part.get("%r1")) == [1, 3, 5]
    assert part.get("%r2") == 7
    assert part.get("%r3") is None


def test_where_all_threads_of_a_subgroup_have_one_value_it_has_that_value() -> None:
    assert of_whole()[0].subset([4]).get("%r1") == 4


def test_a_subgroup_copies_nothing_before_it_is_requested() -> None:
    registers, asked = of_whole()
    part = registers.subset([1, 3, 5]).subset([0, 2])
    assert asked == []
    assert values(part.get("%r1")) == [1, 5]
    assert asked != []


def test_writes_of_one_subgroup_are_invisible_to_the_others() -> None:
    whole = of_whole()[0]
    one, other = whole.subset([0, 1]), whole.subset([2, 3])
    one.set("%r1", 9)
    one.set("%r3", 1)
    assert (one.get("%r1"), one.get("%r3"), other.get("%r3")) == (9, 1, None)
    assert values(other.get("%r1")) == [2, 3]


def test_a_copy_is_written_separately() -> None:
    part = of_whole()[0].subset([0, 1])
    copy = part.copy()
    copy.set("%r2", 1)
    assert (part.get("%r2"), copy.get("%r2")) == (7, 1)
    assert values(copy.get("%r1")) == [0, 1]


def test_threads_that_leave_one_by_one_change_nothing_for_the_others() -> None:
    part = of_whole(4 * MAX_REGISTER_LAYERS)[0]
    for left in range(4 * MAX_REGISTER_LAYERS - 1, 2, -1):
        part.set(f"%r{10 + left}", left)
        part = part.subset(range(1, left + 1))
        assert values(part.get("%r1"))[0] == 4 * MAX_REGISTER_LAYERS - left
    assert values(part.get("%r1")) == [
        4 * MAX_REGISTER_LAYERS - 3,
        4 * MAX_REGISTER_LAYERS - 2,
        4 * MAX_REGISTER_LAYERS - 1,
    ]
    assert [part.get(f"%r{10 + left}") for left in (3, 20, 31)] == [3, 20, 31]
    assert part.get("%r2") == 7
