"""Integer constant expressions have the values that the manual's rules give them."""

from __future__ import annotations

import pytest

from ptxkit.syntax.constants import evaluate
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


@pytest.mark.parametrize("text", ["1/0", "1 % 0", "1.5", "x", "-x", "1+x", "x?1:2", "[x]", "generic(x)"])
def test_what_is_no_integer_constant_has_none(text: str) -> None:
    assert evaluate(operand(text)) is None
