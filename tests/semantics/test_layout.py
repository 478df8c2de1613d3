"""The sizes, alignments and offsets of declared variables."""

from __future__ import annotations

import pytest

from ptxkit.semantics.layout import DeclaredVariable, lay_out_parameters, variable_of
from ptxkit.syntax import parse
from ptxkit.syntax.tree import Declaration

HEADING = ".version 8.0\n.target sm_80\n.address_size 64\n"


def declare_variable(text: str) -> DeclaredVariable:
    declaration = parse(HEADING + text).items[-1]
    assert isinstance(declaration, Declaration)
    return variable_of(declaration, declaration.declarators[0])


@pytest.mark.parametrize(
    ("text", "size", "alignment", "element"),
    [
        (".global .b32 v;", 4, 4, 4),
        (".global .align 16 .b8 v[6];", 6, 16, 1),
        (".global .b64 v[3][2];", 48, 8, 8),
        (".global .v4 .f32 v[2];", 32, 16, 4),
        (".global .b128 v;", 16, 16, 16),
        (".global .f16x2 v[2];", 8, 4, 4),
        (".global .texref v;", 8, 8, 8),
        (".global .b16 v[] = {1, 2, 3};", 6, 2, 2),
    ],
)
def test_the_size_of_a_variable_is_computed(text: str, size: int, alignment: int, element: int) -> None:
    found = declare_variable(text)
    assert (found.size, found.fixed_size, found.alignment, found.element_size) == (size, size, alignment, element)
    assert found.is_aggregate is (size > element)


def test_an_open_length_has_no_fixed_size() -> None:
    found = declare_variable(".extern .shared .align 16 .b8 v[];")
    assert (found.size, found.fixed_size, found.is_open, found.is_external) == (0, None, True, True)


def test_a_variable_that_another_module_may_define_has_no_fixed_size() -> None:
    assert (
        declare_variable(".weak .global .b32 v[4];").size,
        declare_variable(".weak .global .b32 v[4];").fixed_size,
    ) == (16, None)


def test_parameters_are_consecutive_at_their_alignment() -> None:
    kernel = parse(
        f"{HEADING}.entry k(.param .u32 a, .param .u64 b, .param .align 4 .b8 c[5], .param .u16 d) {{ ret; }}"
    )
    assert lay_out_parameters(kernel.function("k").parameters) == ([0, 8, 16, 22], 24)
