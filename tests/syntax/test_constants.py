"""Integer constant expressions have the values of the manual's rules."""

from __future__ import annotations

import pytest

from ptxkit.syntax import parse
from ptxkit.syntax.constants import directive_constants, evaluate
from ptxkit.syntax.tree import Directive
from tests.syntax.support import operand


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("42", 42),
        ("0x1fU", 31),
        ("-1", -1),
        ("-1U", (1 << 64) - 1),
        ("0xffffffffffffffff", (1 << 64) - 1),
        ("~0", (1 << 64) - 1),
        ("!0", 1),
        ("!7", 0),
        ("1+2*3", 7),
        ("(1+2)*3", 9),
        ("-7/2", -3),
        ("7/-2", -3),
        ("7 % 3", 1),
        ("-1 % 10", ((1 << 64) - 1) % 10),
        ("1<<4", 16),
        ("1<<64", 0),
        ("-8>>1", -4),
        ("0x8000000000000000>>63", 1),
        ("-1>>70", -1),
        ("6&3", 2),
        ("6^3", 5),
        ("6|3", 7),
        ("2>1", 1),
        ("-1<1", 1),
        ("-1<1U", 0),
        ("2>=2", 1),
        ("1<=0", 0),
        ("1==1", 1),
        ("1!=1", 0),
        ("2&&0", 0),
        ("2||0", 1),
        ("1?5:6", 5),
        ("1.5==1.5", 1),
        ("-1.5+.5>=2.0*1.0-1e0/4.0", 0),
        ("0?5:6", 6),
        ("1?-1:1U", (1 << 64) - 1),
        ("(.u64)-1", (1 << 64) - 1),
        ("(.s64)0xffffffffffffffff", -1),
        ("9223372036854775807+1", -(1 << 63)),
        ("WARP_SZ*2", 64),
    ],
)
def test_a_constant_expression_has_a_value(text: str, value: int) -> None:
    assert evaluate(operand(text)) == value


@pytest.mark.parametrize(
    "text",
    ["1/0", "1 % 0", "1.5", "1.0<1.0/0.0", "0f3F800000==0f3F800000", "x", "-x", "1+x", "x?1:2", "[x]", "generic(x)"],
)
def test_other_expressions_have_no_value(text: str) -> None:
    assert evaluate(operand(text)) is None


@pytest.mark.parametrize(
    ("written", "values"),
    [
        ("32, 4", (32, 4)),
        ("0x20, 4", (32, 4)),
        ("040, 0b10, 1U", (32, 2, 1)),
        ("WARP_SZ", (32,)),
    ],
)
def test_the_constants_after_a_directive_may_be_written_in_any_base(written: str, values: tuple[int, ...]) -> None:
    (function,) = parse(f".version 8.0\n.target sm_80\n.entry k() .reqntid {written} {{ ret; }}").functions()
    assert directive_constants(function.directive("reqntid")) == values
    assert directive_constants(function.directive("maxntid")) == ()


def test_the_words_of_a_directive_that_are_not_constants_are_omitted() -> None:
    assert directive_constants(Directive("branchtargets", ("A", "7"))) == (7,)
