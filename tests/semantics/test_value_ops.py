"""The integer operations compared with a direct model of the manual's semantics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxkit.semantics.value_ops import INTEGER_OPERATIONS, bit_mask, to_signed

quickly = settings(max_examples=60, deadline=None)
widths = st.sampled_from([16, 32, 64])
numbers = st.one_of(
    st.integers(0, bit_mask(64)), st.sampled_from([0, 1, 2, 0x7FFF, 0x8000, 1 << 31, bit_mask(32), 1 << 63])
)


def field_operand(width: int, value: int) -> int:
    """The manual restricts positions and lengths to 0..255; ptxas truncates those of 32 bits, and not those of 64
    bits."""
    return value & 0xFF if width == 32 else value


def compute(name: str, *arguments: Any) -> int | None:
    return INTEGER_OPERATIONS[name].compute(*arguments)


def read(value: int, width: int, is_signed: bool) -> int:
    """Returns the number in a register of `width` bits."""
    value %= 1 << width
    return value - (1 << width) if is_signed and value >= 1 << (width - 1) else value


def toward_zero(a: int, b: int) -> int:
    return a // b if (a < 0) == (b < 0) else -(-a // b)


@quickly
@given(widths, numbers, numbers)
def test_sums_differences_and_products_wrap_at_the_width(width: int, a: int, b: int) -> None:
    for name, exact in (("add", a + b), ("sub", a - b), ("mul", a * b)):
        assert compute(name, width, a & bit_mask(width), b & bit_mask(width)) == exact % (1 << width), name
    assert compute("neg", width, a & bit_mask(width)) == -a % (1 << width)


@quickly
@given(widths, st.booleans(), numbers, numbers)
def test_wide_and_high_products_are_exact(width: int, is_signed: bool, a: int, b: int) -> None:
    exact = read(a, width, is_signed) * read(b, width, is_signed)
    low, high = a & bit_mask(width), b & bit_mask(width)
    assert compute("mul_wide", width, is_signed, low, high) == exact % (1 << 2 * width)
    assert compute("mul_hi", width, is_signed, low, high) == (exact >> width) % (1 << width)


@quickly
@given(widths, st.booleans(), numbers, numbers.filter(lambda b: b & 0xFFFF))
def test_quotients_are_truncated_and_remainders_match_them(width: int, is_signed: bool, a: int, b: int) -> None:
    a, b = a & bit_mask(width), b & bit_mask(width)
    quotient, remainder = compute("div", width, is_signed, a, b), compute("rem", width, is_signed, a, b)
    assert quotient == toward_zero(read(a, width, is_signed), read(b, width, is_signed)) % (1 << width)
    assert isinstance(quotient, int)
    assert isinstance(remainder, int)
    assert (quotient * b + remainder) % (1 << width) == a


@quickly
@given(widths, st.booleans(), numbers, numbers)
def test_extremes_follow_the_sign(width: int, is_signed: bool, a: int, b: int) -> None:
    a, b = a & bit_mask(width), b & bit_mask(width)
    ordered = sorted((a, b), key=lambda value: read(value, width, is_signed))
    assert [compute("min", width, is_signed, a, b), compute("max", width, is_signed, a, b)] == ordered


@quickly
@given(widths, numbers, numbers)
def test_logic_works_bit_by_bit(width: int, a: int, b: int) -> None:
    a, b = a & bit_mask(width), b & bit_mask(width)
    assert compute("and", width, a, b) == a & b
    assert compute("or", width, a, b) == a | b
    assert compute("xor", width, a, b) == a ^ b
    assert compute("not", width, a) == bit_mask(width) - a
    assert compute("popc", 64, a) == f"{a:b}".count("1")
    assert compute("popc", 32, a) == f"{a & 0xFFFFFFFF:b}".count("1")


@quickly
@given(widths, st.booleans(), numbers, st.one_of(st.integers(0, 80), st.just(bit_mask(32))))
def test_shifts_by_more_than_the_width_leave_zeros_or_signs(width: int, is_signed: bool, a: int, count: int) -> None:
    a &= bit_mask(width)
    assert compute("shl", width, a, count) == (0 if count >= width else a * 2**count % (1 << width))
    moved = read(a, width, is_signed) // 2 ** min(count, width)
    assert compute("shr", width, is_signed, a, count) == moved % (1 << width)


@quickly
@given(numbers, numbers, numbers, st.integers(0, 255))
def test_lop3_finds_each_bit_in_its_table(a: int, b: int, c: int, table: int) -> None:
    a, b, c = (value & bit_mask(32) for value in (a, b, c))
    expected = 0
    for bit in range(32):
        row = (a >> bit & 1) * 4 + (b >> bit & 1) * 2 + (c >> bit & 1)
        expected |= (table >> row & 1) << bit
    assert compute("lop3", a, b, c, table) == expected


@pytest.mark.parametrize(
    ("function", "table"),
    [(lambda a, b, c: a & b & c, 0x80), (lambda a, b, c: a | b | c, 0xFE), (lambda a, b, c: a ^ b ^ c, 0x96)],
)
def test_lop3_accepts_the_tables_that_the_manual_computes(function: Callable[[int, int, int], int], table: int) -> None:
    assert function(0xF0, 0xCC, 0xAA) == table
    a, b, c = 0x12345678, 0x0F0F1234, 0xFFFF0001
    assert compute("lop3", a, b, c, table) == function(a, b, c)


@quickly
@given(st.sampled_from([32, 64]), st.booleans(), numbers, st.integers(0, 300), st.integers(0, 300))
def test_bfe_extracts_a_field_and_its_sign(width: int, is_signed: bool, a: int, position: int, length: int) -> None:
    """The loop of the manual's definition: beyond the last bit the sign bit of the field fills."""
    a &= bit_mask(width)
    start, count, last = field_operand(width, position), field_operand(width, length), width - 1
    fill = a >> min(start + count - 1, last) & 1 if is_signed and count else 0
    expected = 0
    for bit in range(width):
        inside = bit < count and start + bit <= last
        expected |= (a >> (start + bit) & 1 if inside else fill) << bit
    assert compute("bfe", width, is_signed, a, position, length) == expected


@quickly
@given(st.sampled_from([32, 64]), numbers, numbers, st.integers(0, 300), st.integers(0, 300))
def test_bfi_inserts_a_field_up_to_the_last_bit(width: int, a: int, b: int, position: int, length: int) -> None:
    a, b = a & bit_mask(width), b & bit_mask(width)
    start, expected = field_operand(width, position), b
    for bit in range(field_operand(width, length)):
        if start + bit < width:
            expected = expected & ~(1 << (start + bit)) | (a >> bit & 1) << (start + bit)
    assert compute("bfi", width, a, b, position, length) == expected


@quickly
@given(numbers, numbers, st.integers(0, 0xFFFF))
def test_prmt_selects_a_byte_or_its_sign_by_each_selector(a: int, b: int, control: int) -> None:
    a, b = a & bit_mask(32), b & bit_mask(32)
    pool = a.to_bytes(4, "little") + b.to_bytes(4, "little")
    expected = []
    for place in range(4):
        selector = control >> 4 * place & 15
        byte = pool[selector & 7]
        expected.append((0xFF if byte > 127 else 0) if selector & 8 else byte)
    assert compute("prmt", a, b, control, None) == int.from_bytes(bytes(expected), "little")


@quickly
@given(numbers, numbers, numbers)
def test_shf_shifts_two_registers_as_one(a: int, b: int, count: int) -> None:
    """The manual: left gives (b << n) | (a >> 32-n), right gives (b << 32-n) | (a >> n)."""
    a, b, count = a & bit_mask(32), b & bit_mask(32), count & bit_mask(32)
    for mode, n in (("wrap", count & 31), ("clamp", min(count, 32))):
        assert compute("funnel", "l", mode, a, b, count) == (b << n | a >> (32 - n)) & bit_mask(32)
        assert compute("funnel", "r", mode, a, b, count) == (b << (32 - n) | a >> n) & bit_mask(32)


@quickly
@given(widths, numbers, numbers)
def test_comparisons_read_signed_and_unsigned_numbers(width: int, a: int, b: int) -> None:
    for kind in ("u", "s"):
        first, second = read(a, width, kind == "s"), read(b, width, kind == "s")
        reported = {"eq": first == second, "ne": first != second, "lt": first < second, "ge": first >= second}
        for operator, expected in reported.items():
            assert compute("compare", operator, f"{kind}{width}", a & bit_mask(width), b & bit_mask(width)) == expected
    unsigned = {"lo": a % 2**width < b % 2**width, "ls": a % 2**width <= b % 2**width}
    for operator, expected in unsigned.items():
        assert compute("compare", operator, f"u{width}", a & bit_mask(width), b & bit_mask(width)) == expected
    assert compute("compare", "hi", "u32", 2, 1) == compute("compare", "hs", "u32", 1, 1) == 1


@quickly
@given(st.sampled_from([8, 16, 32, 64]), st.booleans(), widths, numbers)
def test_conversions_extend_by_the_source_type_and_truncate_to_the_result(
    source: int, is_signed: bool, result: int, a: int
) -> None:
    kind = f"{'s' if is_signed else 'u'}{source}"
    expected = read(a, source, is_signed) % (1 << result)
    assert compute("convert", kind, f"u{result}", a & bit_mask(source)) == expected


@quickly
@given(widths, numbers)
def test_the_signed_interpretation_keeps_the_bits(width: int, a: int) -> None:
    assert to_signed(a, width) % (1 << width) == a & bit_mask(width)
    assert -(1 << (width - 1)) <= to_signed(a, width) < 1 << (width - 1)
