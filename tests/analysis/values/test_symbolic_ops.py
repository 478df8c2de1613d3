"""Value operations compared with a direct model of the manual's semantics, and their results for unknowns."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st

from ptxkit.analysis.values.symbolic_values import SymbolicValue, SymbolicValueTable
from ptxkit.semantics.value_ops import bit_mask
from tests.analysis.support import compute_line, operations

quickly = settings(max_examples=60, deadline=None)
widths = st.sampled_from([16, 32, 64])
numbers = st.one_of(
    st.integers(0, bit_mask(64)), st.sampled_from([0, 1, 2, 0x7FFF, 0x8000, 1 << 31, bit_mask(32), 1 << 63])
)


@pytest.mark.parametrize("name", ["div", "rem"])
def test_a_division_by_zero_gives_an_unknown_and_by_one_a_number(name: str) -> None:
    ops = operations()
    assert isinstance(ops.compute(name, 32, False, 7, 0), SymbolicValue)
    assert isinstance(ops.compute(name, 32, False, 7, 1), int)


# ------------------------------------------------------------------------------------- prmt, shf, clz


#: The manual's table of modes: by control value 0 to 3, the source bytes of the result from the highest down.
PERMUTED = {
    "f4e": ("3210", "4321", "5432", "6543"),
    "b4e": ("5670", "6701", "7012", "0123"),
    "rc8": ("0000", "1111", "2222", "3333"),
    "ecl": ("3210", "3211", "3222", "3333"),
    "ecr": ("0000", "1110", "2210", "3210"),
    "rc16": ("1010", "3232", "1010", "3232"),
}


@pytest.mark.parametrize("mode", PERMUTED)
def test_prmt_has_the_modes_of_the_manual(mode: str) -> None:
    a, b = 0x33221100, 0x77665544
    for control, digits in enumerate(PERMUTED[mode]):
        expected = int("".join(digit * 2 for digit in digits), 16)
        assert compute_line(f"prmt.b32.{mode} %r9, %r1, %r2, %r3;", r1=a, r2=b, r3=control) == expected
        assert operations().compute("prmt", a, b, control | 0xFFF0, mode) == expected


def test_prmt_of_an_unknown_is_the_same_unknown_for_the_same_mode_only() -> None:
    terms = SymbolicValueTable()
    ops, x = operations(terms), terms.intern("x")
    assert ops.compute("prmt", x, 0, 0x3210, None) == ops.compute("prmt", x, 0, 0x3210, None)
    assert ops.compute("prmt", x, 0, 0x3210, None) != ops.compute("prmt", x, 0, 0x3210, "f4e")


def test_shf_rotates_a_register_given_twice() -> None:
    assert compute_line("shf.l.wrap.b32 %r9, %r1, %r1, 8;", r1=0x12345678) == 0x34567812
    assert compute_line("shf.r.wrap.b32 %r9, %r1, %r1, 8;", r1=0x12345678) == 0x78123456
    assert compute_line("shf.l.clamp.b32 %r9, %r1, %r2, 40;", r1=0x12345678, r2=1) == 0x12345678


@pytest.mark.parametrize(
    ("width", "value", "zeros"), [(32, 0, 32), (32, 1, 31), (32, bit_mask(32), 0), (64, 1 << 40, 23)]
)
def test_clz_counts_the_zeros_above_the_first_one(width: int, value: int, zeros: int) -> None:
    register = "%r1" if width == 32 else "%rd1"
    assert compute_line(f"clz.b{width} %r9, {register};", **{register[1:]: value}) == zeros


def test_the_operations_on_unknowns_are_terms() -> None:
    terms = SymbolicValueTable()
    ops, x = operations(terms), terms.intern("x")
    assert ops.compute("clz", 32, x) == ops.compute("clz", 32, x) != ops.compute("clz", 64, x)
    assert isinstance(ops.compute("funnel", "l", "wrap", x, 0, 3), SymbolicValue)


# ------------------------------------------------------------------------------ comparison, conversion


@pytest.mark.parametrize("line", ["setp.lt.f32 %p9, %f1, %f2;", "cvt.rzi.u32.f32 %r9, %f1;"])
def test_results_from_floating_point_numbers_are_unknown(line: str) -> None:
    assert isinstance(compute_line(line, f1=1, f2=2), SymbolicValue)


def test_a_predicate_is_combined_with_another() -> None:
    assert compute_line("setp.lt.and.u32 %p9, %r1, %r2, %p1;", r1=1, r2=2, p1=1) == 1
    assert compute_line("setp.lt.and.u32 %p9, %r1, %r2, %p1;", r1=1, r2=2, p1=0) == 0
    assert compute_line("setp.lt.or.u32 %p9, %r1, %r2, !%p1;", r1=3, r2=2, p1=0) == 1
    assert compute_line("selp.b32 %r9, %r1, %r2, %p1;", r1=5, r2=6, p1=0) == 6


def test_a_constant_is_selected_at_the_width_of_the_type() -> None:
    assert compute_line("selp.b32 %r9, -1, 0, %p1;", p1=1) == bit_mask(32)


@pytest.mark.parametrize(
    ("line", "source", "expected"),
    [
        ("cvt.s16.s32 %r9, %r1;", 0x18000, 0xFFFF8000),
        ("cvt.s8.s32 %r9, %r1;", 0x180, 0xFFFFFF80),
        ("cvt.s32.s64 %rd9, %rd1;", 1 << 31, 0xFFFFFFFF80000000),
        ("cvt.s32.s64 %r9, %rd1;", 1 << 31, 1 << 31),
        ("cvt.u16.u32 %r9, %r1;", 0x18000, 0x8000),
    ],
)
def test_a_signed_result_is_extended_to_the_register(line: str, source: int, expected: int) -> None:
    """The manual's "Operand Size Exceeding Instruction-Type Size"."""
    assert compute_line(line, r1=source, rd1=source) == expected


def test_elements_have_their_part_of_the_width() -> None:
    assert compute_line("mov.b32 %r9, {%h1, %h2};", h1=0x1234, h2=0xABCD) == 0xABCD1234
    assert compute_line("mov.b64 %rd9, {%r1, %r2};", r1=1, r2=2) == 0x200000001
    assert compute_line("mov.b64 %rd9, {%h1, %h2, %h3, %h4};", h1=1, h2=2, h3=3, h4=4) == 0x4000300020001
    assert compute_line("mov.b32 {%h1, %h9}, %r1;", r1=0xABCD1234) == 0xABCD
    assert compute_line("mov.b64 {%r1, %r9}, %rd1;", rd1=0x200000001) == 2


# ------------------------------------------------------------------------------------------- unknowns


def test_constants_added_to_an_unknown_are_collected_in_its_offset() -> None:
    terms = SymbolicValueTable()
    ops, x = operations(terms), terms.intern("x")
    moved = ops.compute("add", 64, ops.compute("add", 64, x, 16), 8)
    assert moved == SymbolicValue(x.identity, 24)
    assert ops.compute("sub", 64, moved, 24) == x
    assert ops.compute("add", 64, x, bit_mask(64)) == x.plus(-1)


def test_an_unknown_plus_a_multiple_of_its_modulus_is_the_same_unknown() -> None:
    terms = SymbolicValueTable()
    ops, x = operations(terms), terms.intern("x")
    half = ops.compute("add", 32, x, 1 << 31)
    assert half != x
    assert ops.compute("add", 32, half, 1 << 31) == x
    assert ops.compute("compare", "ne", "u32", ops.compute("sub", 32, half, 1 << 31), x) == 0


def test_equal_unknowns_cancel_and_different_ones_do_not() -> None:
    terms = SymbolicValueTable()
    ops, x, y = operations(terms), terms.intern("x"), terms.intern("y")
    assert ops.compute("sub", 64, x.plus(20), x.plus(4)) == 16
    assert ops.compute("xor", 64, x, x) == 0
    assert isinstance(ops.compute("sub", 64, x, y), SymbolicValue)
    assert isinstance(ops.compute("xor", 64, x, y), SymbolicValue)


def test_sums_of_two_unknowns_are_one_term_in_either_order() -> None:
    terms = SymbolicValueTable()
    ops, x, y = operations(terms), terms.intern("x"), terms.intern("y")
    assert ops.compute("add", 64, x.plus(4), y) == ops.compute("add", 64, y.plus(1), x.plus(3))
    assert ops.compute("add", 64, x, y) != ops.compute("add", 64, x, x)


def test_one_condition_computed_twice_is_one_term() -> None:
    terms = SymbolicValueTable()
    ops, x = operations(terms), terms.intern("x")
    assert ops.compute("compare", "lt", "u32", x, 5) == ops.compute("compare", "lt", "u32", x, 5)
    assert ops.compute("compare", "lt", "u32", x, 5) != ops.compute("compare", "lt", "u32", x, 6)
    assert ops.compute("compare", "lt", "u32", x, x.plus(1)) == 1
    assert ops.compute("compare", "eq", "u32", x, x) == 1


def test_neutral_and_absorbing_operands_need_no_other_number() -> None:
    terms = SymbolicValueTable()
    ops, x = operations(terms), terms.intern("x")
    assert ops.compute("and", 32, x, 0) == ops.compute("mul", 32, 0, x) == ops.compute("mul_wide", 32, True, x, 0) == 0
    assert ops.compute("mul", 32, x, 1) == ops.compute("or", 32, 0, x) == x
    assert ops.compute("xor", 32, x, 0) == ops.compute("and", 32, x, x) == x
    assert ops.compute("shl", 32, x, 0) == ops.compute("shr", 32, False, x, 0) == x
    assert ops.compute("or", 1, x, 1) == 1
    assert ops.compute("or", 32, x, 1) != 1


def test_a_pointer_is_not_null_and_an_unknown_number_may_be() -> None:
    terms = SymbolicValueTable()
    ops, pointer, number = operations(terms), terms.intern("p", pointer=True), terms.intern("n")
    assert ops.compute("compare", "ne", "u64", pointer, 0) == 1
    assert ops.compute("compare", "eq", "u64", 0, pointer.plus(64)) == 0
    assert isinstance(ops.compute("compare", "ne", "u64", number, 0), SymbolicValue)


def test_a_selection_by_an_unknown_is_known_where_both_sides_are_equal() -> None:
    terms = SymbolicValueTable()
    ops, p = operations(terms), terms.intern("p")
    assert ops.compute("select", 32, 7, 7, p) == 7
    assert isinstance(ops.compute("select", 32, 7, 8, p), SymbolicValue)


def test_an_unsupported_operation_is_a_term_of_its_operands() -> None:
    ops = operations()
    assert ops.compute("no such operation", 1, 2) == ops.compute("no such operation", 1, 2)
    assert ops.compute("no such operation", 1, 2) != ops.compute("no such operation", 2, 1)
