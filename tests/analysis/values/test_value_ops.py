"""Value operations against a plain model of the manual's semantics, and what they do with unknowns."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxkit.analysis.values.symbolic_values import SymbolicValue, SymbolicValueTable, bit_mask, to_signed
from tests.analysis.support import computed, operations

quickly = settings(max_examples=60, deadline=None)
widths = st.sampled_from([16, 32, 64])
numbers = st.one_of(
    st.integers(0, bit_mask(64)), st.sampled_from([0, 1, 2, 0x7FFF, 0x8000, 1 << 31, bit_mask(32), 1 << 63])
)


def read(value: int, width: int, is_signed: bool) -> int:
    """The number that a register of `width` bits stands for."""
    value %= 1 << width
    return value - (1 << width) if is_signed and value >= 1 << (width - 1) else value


def toward_zero(a: int, b: int) -> int:
    return a // b if (a < 0) == (b < 0) else -(-a // b)


@quickly
@given(widths, numbers, numbers)
def test_sums_differences_and_products_wrap_at_the_width(width: int, a: int, b: int) -> None:
    ops = operations()
    for name, exact in (("add", a + b), ("sub", a - b), ("mul", a * b)):
        assert ops.find(name)(ops, width, a & bit_mask(width), b & bit_mask(width)) == exact % (1 << width), name
    assert ops.op_neg(width, a & bit_mask(width)) == -a % (1 << width)


@quickly
@given(widths, st.booleans(), numbers, numbers)
def test_wide_and_high_products_are_exact(width: int, is_signed: bool, a: int, b: int) -> None:
    ops = operations()
    exact = read(a, width, is_signed) * read(b, width, is_signed)
    low, high = a & bit_mask(width), b & bit_mask(width)
    assert ops.op_mul_wide(width, is_signed, low, high) == exact % (1 << 2 * width)
    assert ops.op_mul_hi(width, is_signed, low, high) == (exact >> width) % (1 << width)


@quickly
@given(widths, st.booleans(), numbers, numbers.filter(lambda b: b & 0xFFFF))
def test_quotients_are_cut_toward_zero_and_remainders_fit_them(width: int, is_signed: bool, a: int, b: int) -> None:
    ops = operations()
    a, b = a & bit_mask(width), b & bit_mask(width)
    quotient, remainder = ops.op_div(width, is_signed, a, b), ops.op_rem(width, is_signed, a, b)
    assert quotient == toward_zero(read(a, width, is_signed), read(b, width, is_signed)) % (1 << width)
    assert isinstance(quotient, int)
    assert isinstance(remainder, int)
    assert (quotient * b + remainder) % (1 << width) == a


@pytest.mark.parametrize("name", ["div", "rem"])
def test_a_division_by_zero_gives_an_unknown_and_by_one_a_number(name: str) -> None:
    ops = operations()
    assert isinstance(ops.find(name)(ops, 32, False, 7, 0), SymbolicValue)
    assert isinstance(ops.find(name)(ops, 32, False, 7, 1), int)


@quickly
@given(widths, st.booleans(), numbers, numbers)
def test_extremes_follow_the_sign(width: int, is_signed: bool, a: int, b: int) -> None:
    ops = operations()
    a, b = a & bit_mask(width), b & bit_mask(width)
    ordered = sorted((a, b), key=lambda value: read(value, width, is_signed))
    assert [ops.op_min(width, is_signed, a, b), ops.op_max(width, is_signed, a, b)] == ordered


@quickly
@given(widths, numbers, numbers)
def test_logic_works_bit_by_bit(width: int, a: int, b: int) -> None:
    ops = operations()
    a, b = a & bit_mask(width), b & bit_mask(width)
    assert ops.op_and(width, a, b) == a & b
    assert ops.op_or(width, a, b) == a | b
    assert ops.op_xor(width, a, b) == a ^ b
    assert ops.op_not(width, a) == bit_mask(width) - a
    assert ops.op_popc(64, a) == f"{a:b}".count("1")
    assert ops.op_popc(32, a) == f"{a & 0xFFFFFFFF:b}".count("1")


@quickly
@given(widths, st.booleans(), numbers, st.one_of(st.integers(0, 80), st.just(bit_mask(32))))
def test_shifts_by_more_than_the_width_leave_zeros_or_signs(width: int, is_signed: bool, a: int, count: int) -> None:
    ops = operations()
    a &= bit_mask(width)
    assert ops.op_shl(width, a, count) == (0 if count >= width else a * 2**count % (1 << width))
    moved = read(a, width, is_signed) // 2 ** min(count, width)
    assert ops.op_shr(width, is_signed, a, count) == moved % (1 << width)


@quickly
@given(numbers, numbers, numbers, st.integers(0, 255))
def test_lop3_looks_each_bit_up_in_its_table(a: int, b: int, c: int, table: int) -> None:
    a, b, c = (value & bit_mask(32) for value in (a, b, c))
    expected = 0
    for bit in range(32):
        row = (a >> bit & 1) * 4 + (b >> bit & 1) * 2 + (c >> bit & 1)
        expected |= (table >> row & 1) << bit
    assert operations().op_lop3(a, b, c, table) == expected


@pytest.mark.parametrize(
    ("function", "table"),
    [(lambda a, b, c: a & b & c, 0x80), (lambda a, b, c: a | b | c, 0xFE), (lambda a, b, c: a ^ b ^ c, 0x96)],
)
def test_lop3_takes_the_tables_that_the_manual_computes(function: Callable[[int, int, int], int], table: int) -> None:
    assert function(0xF0, 0xCC, 0xAA) == table
    a, b, c = 0x12345678, 0x0F0F1234, 0xFFFF0001
    assert operations().op_lop3(a, b, c, table) == function(a, b, c)


@quickly
@given(st.sampled_from([32, 64]), st.booleans(), numbers, st.integers(0, 300), st.integers(0, 300))
def test_bfe_extracts_a_field_and_its_sign(width: int, is_signed: bool, a: int, position: int, length: int) -> None:
    """The loop of the manual's definition: beyond the last bit the sign bit of the field fills."""
    a &= bit_mask(width)
    start, count, last = position & 0xFF, length & 0xFF, width - 1
    fill = a >> min(start + count - 1, last) & 1 if is_signed and count else 0
    expected = 0
    for bit in range(width):
        inside = bit < count and start + bit <= last
        expected |= (a >> (start + bit) & 1 if inside else fill) << bit
    assert operations().op_bfe(width, is_signed, a, position, length) == expected


@quickly
@given(st.sampled_from([32, 64]), numbers, numbers, st.integers(0, 300), st.integers(0, 300))
def test_bfi_inserts_a_field_up_to_the_last_bit(width: int, a: int, b: int, position: int, length: int) -> None:
    a, b = a & bit_mask(width), b & bit_mask(width)
    start, expected = position & 0xFF, b
    for bit in range(length & 0xFF):
        if start + bit < width:
            expected = expected & ~(1 << (start + bit)) | (a >> bit & 1) << (start + bit)
    assert operations().op_bfi(width, a, b, position, length) == expected


# ------------------------------------------------------------------------------------- prmt, shf, clz


@quickly
@given(numbers, numbers, st.integers(0, 0xFFFF))
def test_prmt_picks_a_byte_or_its_sign_by_each_selector(a: int, b: int, control: int) -> None:
    a, b = a & bit_mask(32), b & bit_mask(32)
    pool = a.to_bytes(4, "little") + b.to_bytes(4, "little")
    expected = []
    for place in range(4):
        selector = control >> 4 * place & 15
        byte = pool[selector & 7]
        expected.append((0xFF if byte > 127 else 0) if selector & 8 else byte)
    assert operations().op_prmt(a, b, control, None) == int.from_bytes(bytes(expected), "little")


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
        assert computed(f"prmt.b32.{mode} %r9, %r1, %r2, %r3;", r1=a, r2=b, r3=control) == expected
        assert operations().op_prmt(a, b, control | 0xFFF0, mode) == expected


def test_prmt_of_an_unknown_is_the_same_unknown_for_the_same_mode_only() -> None:
    terms = SymbolicValueTable()
    ops, x = operations(terms), terms.intern("x")
    assert ops.op_prmt(x, 0, 0x3210, None) == ops.op_prmt(x, 0, 0x3210, None)
    assert ops.op_prmt(x, 0, 0x3210, None) != ops.op_prmt(x, 0, 0x3210, "f4e")


@quickly
@given(numbers, numbers, numbers)
def test_shf_shifts_two_registers_as_one(a: int, b: int, count: int) -> None:
    """The manual: left gives (b << n) | (a >> 32-n), right gives (b << 32-n) | (a >> n)."""
    ops = operations()
    a, b, count = a & bit_mask(32), b & bit_mask(32), count & bit_mask(32)
    for mode, n in (("wrap", count & 31), ("clamp", min(count, 32))):
        assert ops.op_funnel("l", mode, a, b, count) == (b << n | a >> (32 - n)) & bit_mask(32)
        assert ops.op_funnel("r", mode, a, b, count) == (b << (32 - n) | a >> n) & bit_mask(32)


def test_shf_rotates_a_register_given_twice() -> None:
    assert computed("shf.l.wrap.b32 %r9, %r1, %r1, 8;", r1=0x12345678) == 0x34567812
    assert computed("shf.r.wrap.b32 %r9, %r1, %r1, 8;", r1=0x12345678) == 0x78123456
    assert computed("shf.l.clamp.b32 %r9, %r1, %r2, 40;", r1=0x12345678, r2=1) == 0x12345678


@pytest.mark.parametrize(
    ("width", "value", "zeros"), [(32, 0, 32), (32, 1, 31), (32, bit_mask(32), 0), (64, 1 << 40, 23)]
)
def test_clz_counts_the_zeros_above_the_first_one(width: int, value: int, zeros: int) -> None:
    register = "%r1" if width == 32 else "%rd1"
    assert computed(f"clz.b{width} %r9, {register};", **{register[1:]: value}) == zeros


def test_the_operations_on_unknowns_are_terms() -> None:
    terms = SymbolicValueTable()
    ops, x = operations(terms), terms.intern("x")
    assert ops.op_clz(32, x) == ops.op_clz(32, x) != ops.op_clz(64, x)
    assert isinstance(ops.op_funnel("l", "wrap", x, 0, 3), SymbolicValue)


# ------------------------------------------------------------------------------ comparison, conversion


@quickly
@given(widths, numbers, numbers)
def test_comparisons_read_signed_and_unsigned_numbers(width: int, a: int, b: int) -> None:
    ops = operations()
    for kind in ("u", "s"):
        first, second = read(a, width, kind == "s"), read(b, width, kind == "s")
        told = {"eq": first == second, "ne": first != second, "lt": first < second, "ge": first >= second}
        for operator, expected in told.items():
            assert ops.op_compare(operator, f"{kind}{width}", a & bit_mask(width), b & bit_mask(width)) == expected
    unsigned = {"lo": a % 2**width < b % 2**width, "ls": a % 2**width <= b % 2**width}
    for operator, expected in unsigned.items():
        assert ops.op_compare(operator, f"u{width}", a & bit_mask(width), b & bit_mask(width)) == expected
    assert ops.op_compare("hi", "u32", 2, 1) == ops.op_compare("hs", "u32", 1, 1) == 1


@quickly
@given(st.sampled_from([8, 16, 32, 64]), st.booleans(), widths, numbers)
def test_conversions_extend_by_the_source_type_and_cut_to_the_result(
    source: int, is_signed: bool, result: int, a: int
) -> None:
    kind = f"{'s' if is_signed else 'u'}{source}"
    expected = read(a, source, is_signed) % (1 << result)
    assert operations().op_convert(kind, f"u{result}", a & bit_mask(source)) == expected


@pytest.mark.parametrize("line", ["setp.lt.f32 %p9, %f1, %f2;", "cvt.rzi.u32.f32 %r9, %f1;"])
def test_what_comes_from_floating_point_numbers_is_unknown(line: str) -> None:
    assert isinstance(computed(line, f1=1, f2=2), SymbolicValue)


def test_a_predicate_is_combined_with_another() -> None:
    assert computed("setp.lt.and.u32 %p9, %r1, %r2, %p1;", r1=1, r2=2, p1=1) == 1
    assert computed("setp.lt.and.u32 %p9, %r1, %r2, %p1;", r1=1, r2=2, p1=0) == 0
    assert computed("setp.lt.or.u32 %p9, %r1, %r2, !%p1;", r1=3, r2=2, p1=0) == 1
    assert computed("selp.b32 %r9, %r1, %r2, %p1;", r1=5, r2=6, p1=0) == 6


# ------------------------------------------------------------------------------------------- unknowns


def test_constants_added_to_an_unknown_gather_in_its_offset() -> None:
    terms = SymbolicValueTable()
    ops, x = operations(terms), terms.intern("x")
    moved = ops.op_add(64, ops.op_add(64, x, 16), 8)
    assert moved == SymbolicValue(x.identity, 24)
    assert ops.op_sub(64, moved, 24) == x
    assert ops.op_add(64, x, bit_mask(64)) == x.plus(-1)


def test_an_unknown_moved_by_a_whole_turn_is_the_same_unknown() -> None:
    terms = SymbolicValueTable()
    ops, x = operations(terms), terms.intern("x")
    half = ops.op_add(32, x, 1 << 31)
    assert half != x
    assert ops.op_add(32, half, 1 << 31) == x
    assert ops.op_compare("ne", "u32", ops.op_sub(32, half, 1 << 31), x) == 0


def test_equal_unknowns_cancel_and_different_ones_do_not() -> None:
    terms = SymbolicValueTable()
    ops, x, y = operations(terms), terms.intern("x"), terms.intern("y")
    assert ops.op_sub(64, x.plus(20), x.plus(4)) == 16
    assert ops.op_xor(64, x, x) == 0
    assert isinstance(ops.op_sub(64, x, y), SymbolicValue)
    assert isinstance(ops.op_xor(64, x, y), SymbolicValue)


def test_sums_of_two_unknowns_are_one_term_in_either_order() -> None:
    terms = SymbolicValueTable()
    ops, x, y = operations(terms), terms.intern("x"), terms.intern("y")
    assert ops.op_add(64, x.plus(4), y) == ops.op_add(64, y.plus(1), x.plus(3))
    assert ops.op_add(64, x, y) != ops.op_add(64, x, x)


def test_one_condition_computed_twice_is_one_term() -> None:
    terms = SymbolicValueTable()
    ops, x = operations(terms), terms.intern("x")
    assert ops.op_compare("lt", "u32", x, 5) == ops.op_compare("lt", "u32", x, 5)
    assert ops.op_compare("lt", "u32", x, 5) != ops.op_compare("lt", "u32", x, 6)
    assert ops.op_compare("lt", "u32", x, x.plus(1)) == 1
    assert ops.op_compare("eq", "u32", x, x) == 1


def test_neutral_and_absorbing_operands_need_no_number_beside_them() -> None:
    terms = SymbolicValueTable()
    ops, x = operations(terms), terms.intern("x")
    assert ops.op_and(32, x, 0) == ops.op_mul(32, 0, x) == ops.op_mul_wide(32, True, x, 0) == 0
    assert ops.op_mul(32, x, 1) == ops.op_or(32, 0, x) == ops.op_xor(32, x, 0) == ops.op_and(32, x, x) == x
    assert ops.op_shl(32, x, 0) == ops.op_shr(32, False, x, 0) == x
    assert ops.op_or(1, x, 1) == 1
    assert ops.op_or(32, x, 1) != 1


def test_a_pointer_is_not_null_and_an_unknown_number_may_be() -> None:
    terms = SymbolicValueTable()
    ops, pointer, number = operations(terms), terms.intern("p", pointer=True), terms.intern("n")
    assert ops.op_compare("ne", "u64", pointer, 0) == 1
    assert ops.op_compare("eq", "u64", 0, pointer.plus(64)) == 0
    assert isinstance(ops.op_compare("ne", "u64", number, 0), SymbolicValue)


def test_a_selection_by_an_unknown_is_known_where_both_sides_are_equal() -> None:
    terms = SymbolicValueTable()
    ops, p = operations(terms), terms.intern("p")
    assert ops.op_select(32, 7, 7, p) == 7
    assert isinstance(ops.op_select(32, 7, 8, p), SymbolicValue)


def test_an_operation_that_the_store_does_not_know_is_a_term_of_its_operands() -> None:
    ops = operations()
    assert ops.find("no such operation")(ops, 1, 2) == ops.find("no such operation")(ops, 1, 2)
    assert ops.find("no such operation")(ops, 1, 2) != ops.find("no such operation")(ops, 2, 1)


@quickly
@given(widths, numbers)
def test_the_signed_reading_keeps_the_bits(width: int, a: int) -> None:
    assert to_signed(a, width) % (1 << width) == a & bit_mask(width)
    assert -(1 << (width - 1)) <= to_signed(a, width) < 1 << (width - 1)
