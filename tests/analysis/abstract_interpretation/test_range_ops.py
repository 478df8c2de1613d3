"""Each operation on ranges contains what the operation gives for members of the ranges."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ptxkit.analysis.abstract_interpretation import range_ops
from ptxkit.analysis.abstract_interpretation.strided_ranges import (
    StridedRange,
    full_range,
    join_ranges,
    make_range,
    restrict,
    single,
    widen_range,
    without,
)
from ptxkit.semantics.value_ops import INTEGER_OPERATIONS, interpret

TYPES = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "b32")
EXAMPLES = settings(max_examples=60, deadline=None)
EXAMPLES_OF_AN_OPERATION = 50


@st.composite
def members(draw: st.DrawFn, width: int) -> tuple[StridedRange, int]:
    """A range, often small or at the end of the numbers, and one of its members."""
    mask = (1 << width) - 1
    near = st.sampled_from([0, 1, 16, 31, 255, 1 << width - 1, mask, mask - 3]).map(lambda each: each & mask)
    low = draw(st.one_of(st.integers(0, mask), near))
    stride = draw(st.one_of(st.just(1), st.sampled_from([2, 3, 4, 12, 16, 64]), st.integers(1, mask)))
    count = draw(st.one_of(st.integers(0, 3), st.integers(0, 40), st.integers(0, mask // stride)))
    held = make_range(width, low, low + count * stride, stride)
    return held, (held.low + draw(st.integers(0, held.count - 1)) * held.stride) & mask


@st.composite
def operations(draw: st.DrawFn) -> tuple[str, list[object], list[object]]:
    """An operation with ranges as operands, and with a member of each."""
    name = draw(st.sampled_from(sorted(INTEGER_OPERATIONS)))
    operation = INTEGER_OPERATIONS[name]
    width = draw(st.sampled_from([16, 32, 64]))
    fixed: list[object]
    match name:
        case "compare":
            fixed = [
                draw(st.sampled_from(["eq", "ne", "lt", "le", "gt", "ge", "lo", "hs"])),
                draw(st.sampled_from(TYPES)),
            ]
        case "convert":
            fixed = [draw(st.sampled_from(TYPES)), draw(st.sampled_from(TYPES))]
        case "combine":
            fixed = [draw(st.sampled_from(["and", "or", "xor"]))]
        case "funnel":
            fixed = [draw(st.sampled_from(["l", "r"])), draw(st.sampled_from(["clamp", "wrap"]))]
        case "lop3":
            fixed = [draw(st.integers(0, 255))]
        case "prmt":
            fixed = [draw(st.sampled_from([None, "f4e", "rc16"]))]
        case _:
            fixed = [width, draw(st.booleans())][: len(operation.static)]
    chosen = [draw(members(each)) for each in operation.operand_widths(fixed)]
    places = dict(zip(operation.static, fixed, strict=True))
    ranges, values = iter(each[0] for each in chosen), iter(each[1] for each in chosen)
    total = len(fixed) + len(chosen)
    return (
        name,
        [places[at] if at in places else next(ranges) for at in range(total)],
        [places[at] if at in places else next(values) for at in range(total)],
    )


@settings(max_examples=EXAMPLES_OF_AN_OPERATION * len(INTEGER_OPERATIONS), deadline=None)
@given(operations())
def test_a_result_contains_that_of_each_member(given_: tuple[str, list[object], list[object]]) -> None:
    name, ranges, values = given_
    operation = INTEGER_OPERATIONS[name]
    result = operation.compute(*values)
    found = range_ops.compute(name, ranges)
    assert found is not None
    assert found.width == operation.result_width([values[at] for at in operation.static])
    if result is not None:
        assert result in found, (found, result)


@EXAMPLES
@given(st.data(), st.sampled_from([8, 32, 64]))
def test_a_join_and_a_widened_range_contain_both(data: st.DataObject, width: int) -> None:
    first, value = data.draw(members(width))
    second, other = data.draw(members(width))
    thresholds = sorted(data.draw(st.lists(st.integers(-300, 1 << width), max_size=4)))
    for found in (join_ranges(first, second), widen_range(first, second, thresholds)):
        assert value in found
        assert other in found


@EXAMPLES
@given(st.data(), st.sampled_from([8, 32, 64]), st.booleans())
def test_a_restricted_range_keeps_what_is_between_the_bounds(data: st.DataObject, width: int, is_signed: bool) -> None:
    held, value = data.draw(members(width))
    bounds = st.integers(-1 << width - 1, 1 << width)
    low, high = sorted((data.draw(bounds), data.draw(bounds)))
    kept = restrict(held, low, high, is_signed=is_signed)
    if low <= interpret(value, width, is_signed) <= high:
        assert kept is not None
        assert value in kept
    removed = data.draw(st.sampled_from([held.low, held.high, value])) & (1 << width) - 1
    left = without(held, removed)
    assert removed == value or (left is not None and value in left)


@EXAMPLES
@given(st.data(), st.sampled_from([8, 16, 32]), st.sampled_from([8, 16, 32, 64]), st.booleans())
def test_a_resized_range_contains_the_resized_members(
    data: st.DataObject, width: int, wanted: int, is_signed: bool
) -> None:
    held, value = data.draw(members(width))
    assert interpret(value, width, is_signed) & (1 << wanted) - 1 in range_ops.resize(wanted, held, is_signed=is_signed)


def test_ranges_are_precise_where_addresses_need_it() -> None:
    tid = make_range(32, 0, 255, 1)
    assert range_ops.compute("mul", [32, tid, single(32, 16)]) == make_range(32, 0, 4080, 16)
    assert range_ops.compute("shl", [32, tid, single(32, 2)]) == make_range(32, 0, 1020, 4)
    assert range_ops.compute("and", [32, full_range(32), single(32, 0xF0)]) == make_range(32, 0, 0xF0, 16)
    assert range_ops.compute("and", [32, tid, single(32, 0xFFFF_FFF0)]) == make_range(32, 0, 240, 16)
    assert range_ops.compute("rem", [32, False, full_range(32), single(32, 12)]) == make_range(32, 0, 11, 1)
    assert range_ops.compute("shr", [32, False, tid, single(32, 5)]) == make_range(32, 0, 7, 1)
    assert range_ops.compute("or", [32, make_range(32, 0, 240, 16), make_range(32, 0, 15, 1)]) == tid
    assert range_ops.compute("mul_wide", [32, True, tid, single(32, 4)]) == make_range(64, 0, 1020, 4)
