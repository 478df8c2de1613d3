"""Conditions on final states: notations, values, and what cannot be read."""

from __future__ import annotations

import pytest

from ptxkit.memory_model.conditions import condition_text, holds, names_in, parse_condition
from ptxkit.memory_model.errors import LitmusError

STATE = {"P0:r0": 1, "P1:r2": 0, "x": 3}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (r"P0:r0 == 1 /\ 1:r2 = 0", True),
        ("P0:r0 == 1 && x != 3", False),
        (r"(x == 4 \/ x == 3) /\ ~(P1:r2 == 1)", True),
        ("x > 2 and not P0: r0 == 0", True),
        ("x == P0:r0 || y == 0", True),
        ("0==0", True),
        ("x <= -1", False),
    ],
)
def test_a_condition_is_evaluated_in_any_notation(text: str, wanted: bool) -> None:
    assert holds(parse_condition(text), STATE) == wanted


def test_and_binds_more_than_or_and_the_text_keeps_the_parentheses() -> None:
    found = parse_condition(r"x == 1 \/ x == 2 /\ y == 3")
    assert condition_text(found) == "x == 1 or (x == 2 and y == 3)"
    assert list(names_in(found)) == ["x", "x", "y"]


@pytest.mark.parametrize("text", ["", "x ==", "x", "(x == 1", "x == 1)", "x $ 1", "x == 1 y", "and x == 1"])
def test_an_unreadable_condition_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(LitmusError) as caught:
        parse_condition(text)
    assert "condition" in caught.value.message
    assert caught.value.remedy.startswith("write ")
