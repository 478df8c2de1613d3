"""Labels, the branches to them, and lists of targets."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.validate.modules import Pair, check, disagreements, in_body

FUNCTION = ".func f; .func g0; .func g1; .shared .b32 s; .entry k() {{ .reg .b32 %r<3>; .reg .b64 %rd<3>; {} ret; }}"

LINES = [
    ("bra done; done:", "bra don; done:", "PTX106", "did you mean `done`"),
    ("{ bra on; } on:", "{ on: } bra on;", "PTX106", "`on` is not declared"),
    ("on: { on: bra on; }", "on: on:", "PTX110", "the label `on` occurs twice"),
    (".reg .b32 on; { on: bra on; }", ".reg .b32 on; on:", "PTX110", "it is a .b32 register"),
    ("on: { .reg .b32 on; }", "on: .reg .b32 on;", "PTX110", "it is already a label"),
    ("f: bra f;", "bra f;", "PTX203", "must be a label of this function: `f` is a function"),
    ("on: bra on;", "bra s;", "PTX203", "`s` is a .shared variable"),
    ("on: bra on;", "bra %r1;", "PTX203", "must be a label of this function"),
    ("on: bra on;", "on: { .reg .b32 on; bra on; }", "PTX203", "must be a label"),
    (
        "t: .branchtargets a, b; brx.idx %r1, t; a: b:",
        "brx.idx %r1, t; t: .branchtargets a, b; a: b:",
        "PTX106",
        "`t` is not declared",
    ),
    (
        "t: .branchtargets a; brx.idx %r1, t; a:",
        "a: brx.idx %r1, a;",
        "PTX203",
        "must be the label of a `.branchtargets` list above it: `a` is a label",
    ),
    ("a: t: .branchtargets a, a;", "a: t: .branchtargets a, f;", "PTX104", "`f` is a function"),
    ("a: t: .branchtargets a;", "t: .branchtargets a; { a: }", "PTX106", "`a` is not declared"),
    ("t: .calltargets f, f;", "a: t: .calltargets f, a;", "PTX104", "must be a function: `a` is a label"),
    ("t: .calltargets f;", "t: .calltargets g;", "PTX106", "`g` is not declared"),
    ("t: .branchtargets a, b<2>; brx.idx %r1, t; a: b0: b1:", "t: .branchtargets b<3>; b0: b1:", "PTX106", "`b2`"),
    ("t: .branchtargets b<0x2>; b0: b1:", "t: .branchtargets b<2>; b: b1:", "PTX106", "`b0` is not declared"),
    ("t: .branchtargets b<0>;", "t: .branchtargets b<-1>; b:", "PTX101", "expected an integer after `<`"),
    ("b0: t: .branchtargets b<1>;", "b0: t: .branchtargets b<2>; .reg .b32 b1;", "PTX104", "`b1` is a .b32 register"),
    ("t: .calltargets g<2>;", "t: .calltargets g<3>;", "PTX106", "`g2` is not declared"),
    ("mov.u64 %rd1, f;", "a: mov.u64 %rd1, a;", "PTX203", "a label has no address"),
]
PAIRS = [
    Pair(FUNCTION.format(right), FUNCTION.format(wrong), code, words) for right, wrong, code, words in LINES
] + in_body(
    Pair("a: bra a;", "a.b: bra a;", "PTX101", "has no dot"),
    Pair("a: bra a;", "_: bra a; a:", "PTX101", "`_` is no name"),
)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.wrong[-60:])
def test_a_wrong_label_is_an_error_and_the_correct_one_is_not(pair: Pair) -> None:
    check(pair)


def test_ptxas_agrees(tmp_path: Path) -> None:
    assert disagreements(PAIRS, tmp_path) == []
