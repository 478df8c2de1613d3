"""Names that are declared again: never permitted in a block, and in a module as linkage permits."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.validate.modules import Pair, check, disagreements, in_body

PAIRS = [
    Pair(".func f; .func f { ret; }", ".func f { ret; } .func f;", "PTX110", "has a body already"),
    Pair(".func f; .func f;", ".func f { ret; } .func f { ret; }", "PTX110", "has a body already"),
    Pair(".entry f; .entry f { ret; }", ".func f; .entry f { ret; }", "PTX110", "is a .entry, not a .func"),
    Pair(
        ".func f(.param .b32 a); .func f(.param .b32 b) { ret; }",
        ".func f(.param .b32 a); .func f(.param .f32 b) { ret; }",
        "PTX110",
        "`b` has another type",
    ),
    Pair(
        ".func f(.param .b32 a); .func f(.param .b32 b) { ret; }",
        ".func f(.param .b32 a); .func f(.reg .b32 b) { ret; }",
        "PTX110",
        "`b` is in .reg, not .param",
    ),
    Pair(
        ".func f(.param .b32 a); .func f(.param .b32 b) { ret; }",
        ".func f(.param .b32 a); .func f { ret; }",
        "PTX110",
        "another number of parameters",
    ),
    Pair(
        ".func f(.param .align 4 .b8 a[4]); .func f(.param .align 4 .b8 a[4]) { ret; }",
        ".func f(.param .align 4 .b8 a[4]); .func f(.param .align 8 .b8 a[4]) { ret; }",
        "PTX110",
        "is aligned to 8 bytes, not 4",
    ),
    Pair(".visible .func f; .func f { ret; }", ".func f; .visible .func f { ret; }", "PTX110", "its linkage was none"),
    Pair(".weak .func f; .func f { ret; }", ".extern .func f; .func f { ret; }", "PTX110", "is `.extern` in its first"),
    Pair(".extern .func f;", ".extern .func f { ret; }", "PTX110", "is `.extern` but has a body"),
    Pair(
        ".func f .noreturn; .func f .noreturn { trap; }", ".func f; .func f .noreturn { trap; }", "PTX110", "noreturn"
    ),
    Pair(
        ".extern .global .b32 v; .visible .global .b32 v;",
        ".extern .global .b32 v; .global .b32 v;",
        "PTX110",
        "add `.visible`",
    ),
    Pair(
        ".extern .global .b32 v; .extern .global .b32 v;",
        ".extern .global .b32 v; .extern .global .b64 v;",
        "PTX110",
        "has the type .b64, not .b32",
    ),
    Pair(
        ".extern .global .b32 v[]; .visible .global .b32 v[4];",
        ".extern .global .b32 v[5]; .visible .global .b32 v[4];",
        "PTX110",
        "has 4 elements, not 5",
    ),
    Pair(".global .b32 v; .extern .global .b32 v;", ".global .b32 v; .global .b32 v;", "PTX110", "only `.extern`"),
    Pair(".func f; .global .b32 v;", ".func f; .global .b32 f;", "PTX110", "it is already a function"),
    Pair(".func f { .reg .b32 f; ret; }", ".func f(.reg .b32 a) { .reg .b32 a; ret; }", "PTX110", "declared twice"),
    Pair(".func f(.reg .b32 a, .reg .b32 b);", ".func f(.reg .b32 a, .reg .b32 a) { ret; }", "PTX110", "twice"),
    *in_body(
        Pair(".reg .b32 a; { .reg .b64 a; }", ".reg .b32 a; .reg .b64 a;", "PTX110", "already a .b32 register"),
        Pair(".reg .b32 a<4>; .reg .b32 a4;", ".reg .b32 a<4>; .reg .b32 a3;", "PTX110", "`a3` is declared twice"),
        Pair(".reg .b32 a4; .reg .b32 a<4>;", ".reg .b32 a3; .reg .b32 a<4>;", "PTX110", "`a<4>` is declared twice"),
        Pair(".reg .b32 a<4>, b<4>;", ".reg .b32 a<4>, a<4>;", "PTX110", "`a<4>` is declared twice"),
        Pair(".reg .b32 a<65536>;", ".reg .b32 a<4294967296>;", "PTX101", "at most 32 bits"),
        Pair(".reg .b32 a1<4>, a<12>;", ".reg .b32 a<12>, a<4>;", "PTX110", "`a<4>` is declared twice"),
        Pair("{ .shared .b32 s; } { .shared .b32 s; }", ".shared .b32 s; .shared .b32 s;", "PTX110", "declared twice"),
    ),
]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.wrong[-60:])
def test_a_wrong_redeclaration_is_an_error_and_the_correct_one_is_not(pair: Pair) -> None:
    check(pair)


def test_ptxas_agrees(tmp_path: Path) -> None:
    assert disagreements(PAIRS, tmp_path) == []
