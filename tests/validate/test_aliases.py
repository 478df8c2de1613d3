"""`.alias`: what can have a second name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.validate.modules import Pair, check, disagreements

PAIRS = [
    Pair(
        ".func g(); .func f() { ret; } .alias g, f;",
        ".func f() { ret; } .alias g, f;",
        "PTX107",
        "`g` is not declared above this line",
        "g",
    ),
    Pair(
        ".func g(); .func f() { ret; } .alias g, f;",
        ".func g() { ret; } .func f() { ret; } .alias g, f;",
        "PTX107",
        "`g` has a body",
    ),
    Pair(
        ".func g(); .func f(); .alias g, f;",
        ".func g(); .func f(); .alias g, f; .alias g, f;",
        "PTX107",
        "an alias already, of `f`",
    ),
    Pair(
        ".weak .func g(); .func f(); .alias g, f;",
        ".func g(); .weak .func f(); .alias g, f;",
        "PTX107",
        "`f` is `.weak`",
    ),
    Pair(
        ".func g(.param .b32 a); .func f(.param .b32 b); .alias g, f;",
        ".func g(.param .b32 a); .func f(.param .b64 b); .alias g, f;",
        "PTX107",
        "differs from its alias `g`",
    ),
    Pair(".func g(); .func f(); .alias g, f;", ".func g(); .alias g, g;", "PTX107", "an alias of itself"),
    Pair(".func g(); .func f(); .alias g, f;", ".func g(); .entry f(); .alias g, f;", "PTX107", "`f` is a kernel"),
    Pair(".func g(); .func f(); .alias g, f;", ".func g(); .global .b32 f; .alias g, f;", "PTX107", "is no function"),
]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.wrong)
def test_a_wrong_alias_is_an_error_and_the_right_one_is_not(pair: Pair) -> None:
    check(pair)


def test_ptxas_draws_the_same_line(tmp_path: Path) -> None:
    assert disagreements(PAIRS, tmp_path) == []
