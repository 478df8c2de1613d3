"""Typed registers and Python's operators on them."""

from __future__ import annotations

import operator
from collections.abc import Callable

import pytest

from ptxkit.build import (
    BuildError,
    BuildTypeError,
    BuildValueError,
    Kernel,
    Register,
    b32,
    f32,
    pred,
    s32,
    u16,
    u32,
    u64,
)
from tests.build.support import marked_line, opcodes


@pytest.fixture
def k() -> Kernel:
    return Kernel("k")


@pytest.mark.parametrize(
    ("operation", "opcode"),
    [
        (lambda a, b: a + b, "add.s32"),
        (lambda a, b: a - b, "sub.s32"),
        (lambda a, b: a * b, "mul.lo.s32"),
        (lambda a, b: a // b, "div.s32"),
        (lambda a, b: a % b, "rem.s32"),
        (lambda a, b: a & b, "and.b32"),
        (lambda a, b: a | b, "or.b32"),
        (lambda a, b: a ^ b, "xor.b32"),
        (lambda a, _: ~a, "not.b32"),
        (lambda a, _: -a, "neg.s32"),
        (lambda a, _: a << 2, "shl.b32"),
        (lambda a, _: a >> 2, "shr.s32"),
        (lambda a, b: a == b, "setp.eq.s32"),
        (lambda a, b: a != b, "setp.ne.s32"),
        (lambda a, b: a < b, "setp.lt.s32"),
        (lambda a, b: a <= b, "setp.le.s32"),
        (lambda a, b: a > b, "setp.gt.s32"),
        (lambda a, b: a >= b, "setp.ge.s32"),
        (lambda a, _: 5 - a, "sub.s32"),
        (lambda a, _: 5 * a, "mul.lo.s32"),
    ],
)
def test_an_operator_emits_the_instruction_of_its_type(
    k: Kernel, operation: Callable[[Register[s32], Register[s32]], Register[s32]], opcode: str
) -> None:
    a, b = k.register(s32), k.register(s32)
    result = operation(a, b)
    assert opcodes(k.module()) == [opcode, "ret"]
    assert result.type is (pred if opcode.startswith("setp") else s32)


@pytest.mark.parametrize(
    ("operation", "instruction"),
    [
        (lambda a: a // 64, "shr.u32 %r1, %r0, 6;"),
        (lambda a: a // 1, "shr.u32 %r1, %r0, 0;"),
        (lambda a: a % 64, "and.b32 %r1, %r0, 63;"),
        (lambda a: a % (1 << 31), "and.b32 %r1, %r0, 2147483647;"),
        (lambda a: a // 6, "div.u32 %r1, %r0, 6;"),
        (lambda a: a % 6, "rem.u32 %r1, %r0, 6;"),
    ],
)
def test_powers_of_two_divide_unsigned_values_by_shifts_and_masks(
    k: Kernel, operation: Callable[[Register[u32]], Register[u32]], instruction: str
) -> None:
    assert operation(k.register(u32)).type is u32
    assert str(k).splitlines()[-3].strip() == instruction


def test_signed_values_round_toward_zero_so_they_are_divided_by_an_instruction(k: Kernel) -> None:
    a = k.register(s32)
    assert (a // 64).type is (a % 64).type is s32
    assert opcodes(k.module()) == ["div.s32", "rem.s32", "ret"]


def test_floats_divide_with_a_slash_and_integers_do_not(k: Kernel) -> None:
    k.register(f32) / 2.0
    assert opcodes(k.module())[0] == "div.rn.f32"
    with pytest.raises(BuildTypeError, match="use `//`"):
        k.register(u32) / 2
    with pytest.raises(BuildTypeError, match="`//` divides integers"):
        k.register(f32) // 2.0


def test_a_division_by_the_constant_0_fails_and_one_by_0_0_is_infinite(k: Kernel) -> None:
    for scalar in (u32, s32):
        for divide in (operator.floordiv, operator.mod):
            with pytest.raises(BuildValueError, match="is divided by 0, and the result is undefined"):
                divide(k.register(scalar), 0)
    k.register(f32) / 0.0
    assert opcodes(k.module())[0] == "div.rn.f32"


def test_predicates_combine_with_the_logical_operators(k: Kernel) -> None:
    p, q = k.register(u32) < 3, k.register(u32) < 4
    assert (p & q).type is pred
    assert (~p).type is pred
    assert opcodes(k.module()) == ["setp.lt.u32", "setp.lt.u32", "and.pred", "not.pred", "ret"]


def test_adding_zero_costs_nothing(k: Kernel) -> None:
    a = k.register(u32)
    assert (a + 0).name == a.name
    assert opcodes(k.module()) == ["ret"]
    assert (k.register(f32) + 0).name == "%f1"  # -0.0 + 0.0 is not -0.0
    variable = k.variable(u32, 0)
    assert (variable + 0).name != variable.name  # which may be written before the sum is used


def test_mixing_types_fails_at_the_callers_line(k: Kernel) -> None:
    a, b = k.register(u32), k.register(s32)
    with pytest.raises(BuildTypeError) as caught:
        a + b  # type: ignore[operator]  # mixed types in an operator
    assert caught.value.location == marked_line("mixed types in an operator")
    assert "%r0: .u32 and %r1: .s32 have different types" in str(caught.value)
    assert "mixed types in an operator" in str(caught.value)


def test_the_failing_line_is_that_of_a_users_helper(k: Kernel) -> None:
    def helper(value: object) -> object:
        return k.register(u32) + value  # type: ignore[operator]  # inside a helper

    with pytest.raises(TypeError) as caught:
        helper("five")
    assert isinstance(caught.value, BuildTypeError)
    assert caught.value.location == marked_line("inside a helper")


def test_reinterpreting_costs_nothing_and_converting_costs_a_cvt(k: Kernel) -> None:
    a = k.register(u32)
    assert a.reinterpret(s32).name == a.name
    assert a.reinterpret(b32).type is b32
    assert opcodes(k.module()) == ["ret"]
    assert a.convert(u64).type is u64
    assert a.convert(f32, "rn").type is f32
    assert opcodes(k.module()) == ["cvt.u64.u32", "cvt.rn.f32.u32", "ret"]


def test_bits_in_other_registers_cannot_be_reinterpreted(k: Kernel) -> None:
    with pytest.raises(BuildTypeError, match=r"in other registers .* k\.mov_b32\(value, into=k\.register\(f32\)\)"):
        k.register(u32).reinterpret(f32)
    assert k.mov_b32(k.register(u32), into=k.register(f32)).type is f32
    with pytest.raises(BuildTypeError, match=r"are in other registers .* use \.convert\(u16\) for the value"):
        k.register(u32).reinterpret(u16)


def test_a_register_has_no_truth_value(k: Kernel) -> None:
    p = k.register(u32) < 3
    with pytest.raises(BuildError, match=r"branch with `k.if_"):
        bool(p)


def test_the_divisor_of_a_value_is_known_from_constants(k: Kernel) -> None:
    a = k.register(u32)
    assert (a * 12).multiple == 4
    assert (a * 12 + 8).multiple == 4
    assert (a * 12 + 6).multiple == 2
    assert (a << 5).multiple == 32
    assert (a & -16).multiple == 16
    assert (a * 16 ^ 64).multiple == 16
    assert (a * 16 + a).multiple == 1
    assert ((a * 16) // 4).multiple == (a * 16 >> 2).multiple == 4
    assert ((a * 4) // 16).multiple == 1
    assert (a * 16 % 64).multiple == 16
    assert (a * 16 % 40).multiple == 8


def test_a_variable_keeps_the_multiple_that_it_declares(k: Kernel) -> None:
    a = k.register(u32)
    index = k.variable(u32, a * 4, multiple=4)
    index.set(index + 8)
    with pytest.raises(BuildTypeError, match="keeps multiples of 4"):
        index.set(index + 2)
    index *= 3
    index += 8
    index &= 12
    with pytest.raises(BuildTypeError, match="keeps multiples of 4, and 2 is not known to be one"):
        index += 2
    with pytest.raises(BuildTypeError, match="keeps multiples of 4, and 1 is not known to be one"):
        index |= 1


@pytest.mark.parametrize(
    ("operation", "instruction"),
    [
        (operator.iadd, "add.u32 %r0, %r0, %r1;"),
        (operator.isub, "sub.u32 %r0, %r0, %r1;"),
        (operator.imul, "mul.lo.u32 %r0, %r0, %r1;"),
        (operator.iand, "and.b32 %r0, %r0, %r1;"),
        (operator.ior, "or.b32 %r0, %r0, %r1;"),
        (operator.ixor, "xor.b32 %r0, %r0, %r1;"),
    ],
)
def test_a_variable_is_changed_by_one_instruction(
    k: Kernel, operation: Callable[[object, object], object], instruction: str
) -> None:
    total = k.variable(u32, 0)
    assert operation(total, k.register(u32)) is total
    assert str(k).splitlines()[-3].strip() == instruction


def test_other_registers_are_not_changed(k: Kernel) -> None:
    a = before = k.register(u32)
    a += 1
    assert a.name != before.name
    total, other = k.variable(u32, 0), k.register(f32)
    with pytest.raises(BuildTypeError, match="have different types"):
        total += other
