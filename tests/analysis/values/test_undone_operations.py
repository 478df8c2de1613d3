"""Operations that undo earlier ones give the unknown itself, so that what is known of it is not lost."""

from __future__ import annotations

import pytest

from ptxkit.analysis.values.symbolic_values import SymbolicValue, SymbolicValueTable
from ptxkit.linter import lint
from tests.analysis.support import compute_line, operations
from tests.rules.support import Case


@pytest.mark.parametrize(
    "line",
    [
        "add.u32 %r8, %r1, %r2; sub.u32 %r9, %r8, %r2;",
        "xor.b32 %r8, %r1, %r2; xor.b32 %r9, %r2, %r8;",
        "prmt.b32 %r9, %r1, %r2, 0x3210;",
        "prmt.b32 %r9, %r2, %r1, 0x7654;",
        "shf.l.wrap.b32 %r9, %r2, %r1, 0;",
        "shf.r.clamp.b32 %r9, %r1, %r2, 0;",
        "mov.b64 %rd8, {%r1, %r2}; mov.b64 {%r9, %r3}, %rd8;",
        "mov.b64 %rd8, {%r2, %r1}; mov.b64 {%r3, %r9}, %rd8;",
        "and.b32 %r8, %r2, 0xffff; and.b32 %r3, %r2, -65536; or.b32 %r8, %r3, %r8;"
        "sub.u32 %r9, %r8, %r2; add.u32 %r9, %r9, %r1;",
        "and.b32 %r8, %r2, 255; and.b32 %r3, %r2, -256; add.u32 %r3, %r3, 256; or.b32 %r8, %r8, %r3;"
        "sub.u32 %r9, %r8, %r2; sub.u32 %r9, %r9, 256; add.u32 %r9, %r9, %r1;",
    ],
)
def test_a_number_combined_with_an_unknown_is_known_again(line: str) -> None:
    unknown = "mov.u32 %r2, %clock;"
    assert compute_line(f"{unknown} {line}", r1=1234) == 1234


@pytest.mark.parametrize(
    "line",
    [
        "add.u32 %r8, %r1, %r2; sub.u32 %r9, %r8, %r3;",
        "xor.b32 %r8, %r1, %r2; xor.b32 %r9, %r3, %r8;",
        "prmt.b32 %r9, %r1, %r2, 0x3214;",
        "shf.l.wrap.b32 %r9, %r2, %r1, 1;",
        "mov.b64 %rd8, {%r1, %r2}; mov.b64 {%r3, %r9}, %rd8;",
        "mov.b64 %rd8, {%r1, %r2}; mov.b64 {%h1, %h2, %h3, %h4}, %rd8; cvt.u32.u16 %r9, %h2;",
        "and.b32 %r8, %r2, 255; and.b32 %r3, %r2, -256; add.u32 %r3, %r3, 64; or.b32 %r8, %r8, %r3;"
        "sub.u32 %r9, %r8, %r2;",
        "and.b32 %r8, %r2, 255; and.b32 %r3, %r2, -512; or.b32 %r8, %r8, %r3; sub.u32 %r9, %r8, %r2;",
    ],
)
def test_other_operations_on_it_are_not_undone(line: str) -> None:
    unknown = "mov.u32 %r2, %clock; mov.u32 %r3, %clock;"
    assert isinstance(compute_line(f"{unknown} {line}", r1=1234), SymbolicValue)


def test_the_state_space_of_an_address_is_that_before_the_operation() -> None:
    terms = SymbolicValueTable()
    ops, clock = operations(terms), terms.intern("clock")
    address = terms.intern("p", pointer=True).plus(16).with_space("global")
    there = ops.compute("add", 64, address, clock)
    back = ops.compute("sub", 64, there, clock)
    assert isinstance(back, SymbolicValue)
    assert (back, back.space) == (address, "global")
    for name in ("xor", "not"):
        operands = (clock,) if name == "xor" else ()
        back = ops.compute(name, 64, ops.compute(name, 64, address, *operands), *operands)
        assert isinstance(back, SymbolicValue)
        assert (back, back.space) == (address, "global")
        plain = ops.compute(name, 64, ops.compute(name, 64, address.with_space(None), *operands), *operands)
        assert isinstance(plain, SymbolicValue)
        assert plain.space is None


def test_a_pointer_is_itself_when_its_halves_are_packed_in_their_order() -> None:
    split = "mov.u64 %rd1, %clock64; mov.b64 {%r1, %r2}, %rd1;"
    same = compute_line(f"{split} mov.b64 %rd8, {{%r1, %r2}}; sub.u64 %rd9, %rd8, %rd1;")
    swapped = compute_line(f"{split} mov.b64 %rd8, {{%r2, %r1}}; sub.u64 %rd9, %rd8, %rd1;")
    assert same == 0
    assert isinstance(swapped, SymbolicValue)


def test_a_part_of_the_elements_is_not_the_register() -> None:
    line = "mov.u64 %rd1, %clock64; mov.b64 {%h1, %h2, %h3, %h4}, %rd1; mov.b32 %r8, {%h1, %h2};"
    assert isinstance(compute_line(f"{line} cvt.u32.u64 %r7, %rd1; sub.u32 %r9, %r8, %r7;"), SymbolicValue)


def test_a_predicate_in_a_register_is_the_same_condition() -> None:
    terms = SymbolicValueTable()
    ops, p = operations(terms), terms.intern("p")
    stored = ops.compute("select", 32, 1, 0, p)
    assert ops.compute("compare", "ne", "b32", stored, 0) == p
    assert ops.compute("compare", "ne", "b32", ops.compute("select", 32, 0, 1, p), 0) != p


@pytest.mark.parametrize(
    "undone",
    [
        "add.u64 %rd8, %rd3, %rd7; sub.u64 %rd4, %rd8, %rd7;",
        "xor.b64 %rd8, %rd3, %rd7; xor.b64 %rd4, %rd8, %rd7;",
        "not.b64 %rd8, %rd3; not.b64 %rd4, %rd8;",
        "mov.b64 {%r10, %r11}, %rd3; mov.b64 %rd4, {%r10, %r11};",
    ],
)
@pytest.mark.parametrize(
    ("source", "access"),
    [("mov.u64 %rd3, tile;", "ld.global.b32 %r12, [%rd4]"), ("mov.u64 %rd3, %rd1;", "ld.shared.b32 %r12, [%rd4]")],
)
def test_an_address_in_another_space_is_an_error_after_operations_that_undo_each_other(
    source: str, undone: str, access: str
) -> None:
    case = Case("an address", f"{source} mov.u64 %rd7, %clock64;\n{undone}\n{access};")
    assert [each.code for each in lint(case.text).diagnostics] == ["PTX208"]
