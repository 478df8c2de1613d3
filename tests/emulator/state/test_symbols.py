"""The meaning of names in the machine: which declaration counts, and whose memory and registers it names."""

from __future__ import annotations

import pytest

from tests.emulator.support import compute_line, outcome

DECLARED, DEFINED = ".extern .global .u32 v;", ".visible .global .u32 v = 7;"


@pytest.mark.parametrize("outside", [DEFINED, f"{DECLARED} {DEFINED}", f"{DEFINED} {DECLARED}"])
def test_a_variable_has_the_value_of_its_definition(outside: str) -> None:
    assert (compute_line("ld.global.u32 %r0, [v];", outside=outside) == 7).all()


def test_a_pointer_to_a_variable_that_is_declared_first_is_the_address_of_its_definition() -> None:
    outside = f"{DECLARED} .global .u64 pointer = v; {DEFINED}"
    assert (compute_line("ld.global.u64 %d0, [pointer]; ld.global.u32 %r0, [%d0];", outside=outside) == 7).all()


def test_a_declaration_in_the_middle_of_a_block_hides_an_outer_register_from_there_on() -> None:
    body = "mov.u32 %r9, 1; { mov.u32 %r0, %r9; .reg .b32 %r9; mov.u32 %r9, 2; mov.u32 %r1, %r9; } mov.u32 %r2, %r9;"
    assert compute_line(body, words=3)[0].tolist() == [1, 2, 1]


def test_leading_zeros_of_a_number_name_the_same_register() -> None:
    assert (compute_line("mov.u32 %r07, 5; add.u32 %r0, %r7, %r007;") == 10).all()
    assert not outcome("mov.u32 %r7, 5; mov.u32 %r8, %r07;").uninitialized_reads


def test_a_prefix_that_ends_in_a_digit_names_no_register() -> None:
    assert (compute_line(".reg .b32 %x<15>; mov.u32 %x12, 3; mov.u32 %r0, %x12;") == 3).all()
    assert "%x12" in outcome(".reg .b32 %x1<5>; mov.u32 %x12, 3;").unsupported_reason


def test_equal_shared_variables_of_two_functions_are_two() -> None:
    function = ".func {name} {{ .shared .b32 mine; .reg .b32 %r<2>; {body} ret; }}"
    write = "mov.u32 %r0, 7; st.shared.u32 [mine], %r0;"
    outside = function.format(name="f", body=write) + function.format(name="g", body=write.replace("7", "8"))
    read = ".func (.reg .b32 out) h(.reg .b32 in) { .shared .b32 mine; st.shared.u32 [mine], in; call f; call g;"
    outside += f"{read} ld.shared.u32 out, [mine]; ret; }}"
    assert (compute_line("mov.u32 %r1, 5; call (%r0), h, (%r1);", 1, outside=outside) == 5).all()


def test_an_alias_calls_its_function() -> None:
    function = ".func (.reg .b32 out) {} (.reg .b32 in) {}"
    outside = function.format("f", ";") + function.format("g", "{ .shared .b32 mine; add.u32 out, in, 2; ret; }")
    body = "mov.u32 %r1, 5; call (%r2), f, (%r1); mov.u64 %d1, f; p: .callprototype (.reg .b32 _) _ (.reg .b32 _);"
    body += " call (%r3), %d1, (%r1), p; add.u32 %r0, %r2, %r3;"
    assert (compute_line(body, outside=outside + ".alias f, g;") == 14).all()
    assert "no body of the function f" in outcome(body, outside=outside).unsupported_reason
