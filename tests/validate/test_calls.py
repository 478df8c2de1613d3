"""Calls compared with the functions, prototypes and lists that they name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.validate.modules import Pair, check, diagnostics, disagreements, whole

HEAD = """\
.func none;
.func (.reg .b32 r) plus (.reg .b32 a, .reg .f32 b);
.func takes (.param .b32 a);
.func (.param .b64 r) block (.param .align 8 .b8 b[16]);
.func rest (.param .b32 a, .param .b8 more[]);
.func guarded (.reg .pred p);
.func single (.reg .f32 x);
.entry other (.param .u64 p);
.global .b32 word;
.entry k (.param .u64 q) {
.reg .b16 %h<3>; .reg .b32 %r<5>; .reg .b64 %rd<5>; .reg .f32 %f<3>; .reg .f64 %fd<3>; .reg .pred %p<3>;
.reg .v2 .b32 %v;
.param .b32 w; .param .f32 fl; .param .b64 d; .param .align 8 .b8 big[16]; .param .align 4 .b8 flat[16];
.param .b32 two[2]; .param .b8 tail[4]; .param .align 8 .b32 far;
proto: .callprototype _ (.param .b32 _);
"""

LINES = [
    ("call none;", "call none, (1);", "has no argument, but the call has 1"),
    ("call (%r1), plus, (%r2, %f1);", "call plus, (%r2, %f1);", "it takes `call (.reg .b32 r), plus"),
    ("call (%r1), plus, (%r2, %f1);", "call (%r1), plus, (%r2);", "has 2 arguments, but the call has 1"),
    ("call (%r1), plus, (%r2, %f1);", "call (%r1, %r2), plus, (%r2, %f1);", "has 1 result, but the call has 2"),
    ("call (%r1), plus, (%r2, %r3);", "call (%r1), plus, (%rd2, %r3);", "must be a .b32, and is a .b64"),
    ("call (%f1), plus, (%r2, %r3);", "call (%h1), plus, (%r2, %r3);", "must be a .b32, and is a .b16"),
    ("call (_), plus, (7, 1.0);", "call (_), plus, (7, 1);", "must be a .f32, and is an integer constant"),
    ("call (_), plus, (7, 1.0);", "call (_), plus, (_, 1.0);", "cannot be left out"),
    ("call takes, (w);", "call takes, (%v.x);", "must be a whole register"),
    ("call takes, (w);", "call takes, (d);", "must be a .b32, and is a .b64"),
    ("call takes, (fl);", "call takes, (two);", "must be a .b32, and is a .b32[2]"),
    ("call takes, (%r1);", "call takes, (word);", "and is a .global variable"),
    ("call takes, (5/2);", "call takes, (5/0);", "is an expression that no assembler computes"),
    ("call takes, (w);", "call takes, (w/0);", "must be a name or a constant"),
    ("call takes, (5);", "call takes, (q);", "is a kernel parameter; copy it"),
    ("call takes, (w);", "call takes, (far);", "must be aligned to 4 bytes, and is aligned to 8"),
    ("call (d), block, (big);", "call (d), block, (flat);", "must be aligned to 8 bytes, and is aligned to 4"),
    ("call (d), block, (big);", "call (d), block, (1);", "must be a .b8[16], and is a constant"),
    ("call rest, (w);", "call rest, ();", "has 2 arguments"),
    ("call rest, (w, tail);", "call rest, (w, tail, tail);", "has 2 arguments, but the call has 3"),
    ("call rest, (w, tail);", "call rest, (w, 1);", "is a constant"),
    ("call rest, (w, tail);", "call rest, (w, w);", "must be an array of .b8"),
    ("call guarded, (%p1);", "call guarded, (%r1);", "must be a .pred, and is a .b32"),
    ("call guarded, (%p1);", "call guarded, (1);", "must be a .pred"),
    ("call single, (%r1);", "call single, (%fd1);", "must be a .f32, and is a .f64"),
    ("call none;", "call other, (d);", "`other` is a kernel, which cannot be called"),
    ("call none;", "call word;", "`word` is a .global variable, which cannot be called"),
    ("call none;", "call %rd1;", "which cannot be called"),
    ("call none;", "call later; later:", "`later` is a label, which cannot be called"),
    ("call %rd1, (w), proto;", "call %rd1, (d), proto;", "must be a .b32"),
    ("call %r1, (w), proto;", "call %h1, (w), proto;", "goes through a register"),
    ("call %rd1, (w), proto;", "call takes, (w), proto;", "goes through a register"),
    ("call %rd1, (w), proto;", "call %rd1, (w), takes;", "it must be a prototype or a list of call targets"),
    ("call %rd1, (w), proto;", "call (d), %rd1, (w), proto;", "has no result, but the call has 1"),
    ("t: .calltargets takes; call %rd1, (w), t;", "t: .calltargets takes, none; call %rd1, (w), t;", "has no argument"),
    ("t: .calltargets other; call %rd1, (d), t;", "t: .calltargets other; call %rd1, (w), t;", "must be a .u64"),
]
PAIRS = [Pair(f"{HEAD}{right}\nret;\n}}", f"{HEAD}{wrong}\nret;\n}}", "PTX111", words) for right, wrong, words in LINES]


@pytest.mark.parametrize("pair", PAIRS, ids=[wrong for _, wrong, _ in LINES])
def test_a_wrong_call_is_an_error_and_the_correct_one_is_not(pair: Pair) -> None:
    check(pair)


def test_ptxas_agrees(tmp_path: Path) -> None:
    assert disagreements(PAIRS, tmp_path) == []


def test_a_function_may_call_itself_and_one_that_is_defined_later() -> None:
    text = ".func f; .func g { call f; call g; ret; } .func f { call g; ret; }"
    assert diagnostics(whole(text)) == ()


def test_a_wrong_call_has_a_label_at_the_declaration() -> None:
    (found,) = diagnostics(whole(".func f(.param .b32 a);\n.func g { call f; ret; }"))
    (label,) = found.labels
    assert found.source.position(label.span.start)[0] == 4
    assert label.message == "declared here"
