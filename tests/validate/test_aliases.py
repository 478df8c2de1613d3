"""`.alias`: the declarations that can have a second name."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.diagnostics import Severity
from tests.validate.modules import Pair, accepted_by_ptxas, check, diagnostics, disagreements, errors, whole

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
        "already an alias of `f`",
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
    Pair(
        ".func g(); .func f(); .alias g, f;", ".func g(); .global .b32 f; .alias g, f;", "PTX107", "is not a function"
    ),
]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.wrong)
def test_a_wrong_alias_is_an_error_and_the_correct_one_is_not(pair: Pair) -> None:
    check(pair)


def test_ptxas_agrees(tmp_path: Path) -> None:
    assert disagreements(PAIRS, tmp_path) == []


def test_an_alias_in_a_body_is_a_warning(tmp_path: Path) -> None:
    module = whole(".func g(); .func f() { ret; } .entry k() { .alias g, f; call g; ret; }")
    (found,) = diagnostics(module)
    assert (found.code, found.severity) == ("PTX107", Severity.WARNING)
    assert found.help == "move it outside of functions"
    assert errors(module.replace("g, f;", "g, k;"))[0].message.startswith("`k` is a kernel")
    assert diagnostics(whole(".func g(); .func f() { ret; } .alias g, f; .entry k() { call g; ret; }")) == ()
    assert accepted_by_ptxas(module, tmp_path, 0)
