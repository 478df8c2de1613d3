"""Elements of arrays, names with constants after them, and sinks: the instructions that accept them, and others."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.diagnostics import Severity
from tests.validate.modules import Pair, check, diagnostics, disagreements, errors, whole

HEAD = """\
.global .b32 a[4]; .global .b32 square[4][4]; .global .b32 single; .shared .b64 s[8]; .global .v2 .b32 pairs[4];
.extern .shared .b32 open[];
.func none;
.entry k (.param .b32 q[4]) {
.reg .b16 %h<3>; .reg .b32 %r<5>; .reg .b64 %rd<5>; .reg .f32 %f<3>; .reg .pred %p<3>; .reg .v2 .b32 %v;
.local .b32 l[4];
"""

ELEMENTS = [
    (
        "ld.global.b32 %r1, a[1];",
        "ld.global.b32 %r1, single[1];",
        "PTX104",
        "an element of an operand that is not an array",
    ),
    (
        "ld.global.b32 %r1, a[-1];",
        "ld.global.b32 %r1, %rd1[1];",
        "PTX104",
        "an element of an operand that is not an array",
    ),
    ("ld.global.b32 %r1, a[%r1];", "ld.global.b32 %r1, a[%f1];", "PTX104", "neither an integer register nor"),
    ("ld.global.b32 %r1, a[%rd1+2];", "ld.global.b32 %r1, a[%p1];", "PTX104", "neither an integer register nor"),
    ("ld.global.b32 %r1, a[%h1+1+2];", "ld.global.b32 %r1, a[none];", "PTX104", "neither an integer register nor"),
    ("ld.global.b32 %r1, a[%laneid];", "ld.global.b32 %r1, a[%zz];", "PTX106", "`%zz` is not declared"),
    ("ld.global.b32 %r1, a[single];", "ld.global.b32 %r1, zz[1];", "PTX106", "`zz` is not declared"),
    ("ld.global.b32 %r1, a[(2+1)*3];", "ld.global.b32 %r1, a[1+%r1];", "PTX101", "a constant, or a name with"),
    ("ld.global.b32 %r1, a[WARP_SZ];", "ld.global.b32 %r1, a[1.5];", "PTX101", "a constant, or a name with"),
    ("ld.global.b32 %r1, square[1];", "ld.global.b32 %r1, square[1][1];", "PTX101", "found `[`"),
    ("ld.global.b32 %r1, a[1];", "ld.global.b32 %r1, [a[1]];", "PTX101", "an address is a name"),
    ("ld.global.v2.b32 {%r1, %r2}, pairs[2];", "ld.shared.b32 %r1, a[1];", "PTX203", "must be in the .shared space"),
    ("ld.shared.b32 %r1, open[1];", "ld.shared.b32 %r1, l[1];", "PTX203", "must be in the .shared space"),
    ("ld.param.b32 %r1, q[1];", "ld.global.b32 %r1, q[1];", "PTX203", "must be in the .global space"),
    ("ld.b32 %r1, l[1];", "ld.b32 %r1, q[1];", "PTX203", "must be in the .global, .shared or .local space"),
    ("st.volatile.shared.b64 s[1], %rd1;", "st.volatile.shared.b64 [s[1]], %rd1;", "PTX101", "an address is a name"),
    ("ldu.global.b32 %r1, a[1];", "prefetch.global.L1 a[1];", "PTX104", "address in brackets"),
    ("st.global.b32 a[%r1], 3;", "red.global.add.u32 a[%r1], 3;", "PTX104", "address in brackets"),
    ("mov.u64 %rd1, a[1];", "add.u64 %rd1, %rd2, a[1];", "PTX104", "must be a .u64 register or a constant"),
    ("mov.u32 %r1, s[%r1];", "mov.u64 %rd1, single[1];", "PTX104", "an element of an operand that is not an array"),
    ("mov.b32 %f1, a[1];", "mov.f32 %f1, a[1];", "PTX104", "names an address"),
    ("cvta.global.u64 %rd1, a[1];", "cvta.global.u64 %rd1, s[1];", "PTX203", "must be in the .global space"),
]

SUMS = [
    ("add.s32 %r1, %r2, %r3+1;", "add.s32 %r1, %r2, %f1+1;", "PTX104", "is a sum with a name"),
    ("add.s32 %r1, %r2, %laneid+1+2;", "add.s32 %r1, %r2, %tid.x+1;", "PTX104", "must be a .s32 register"),
    ("shl.b32 %r1, %r2, %r3+1;", "shl.b32 %r1, %r2, %rd1+1;", "PTX104", "is a sum with a name"),
    ("mov.u64 %rd1, a+4;", "mov.u64 %rd1, (a)+4;", "PTX101", "must not be in parentheses"),
    ("mov.u64 %rd1, a+(4);", "mov.u64 %rd1, (a+4)+4;", "PTX101", "must not be in parentheses"),
    ("mov.u64 %rd1, a+-4;", "mov.u64 %rd1, a-4;", "PTX104", ""),
    ("add.s64 %rd1, %rd2, a+8;", "add.s64 %rd1, %rd2, a;", "PTX104", "names an address"),
    ("mov.b32 %r1, %r2+1;", "mov.b32 %r2+1, %r1;", "PTX104", "is a sum with a name"),
    ("mov.b32 %r1, %r2+WARP_SZ;", "mov.b32 %r1, %r2+1.5;", "PTX104", "no assembler computes"),
]

SINKS = [
    ("shfl.sync.up.b32 %r1|_, %r2, 1, 0, -1;", "shfl.sync.up.b32 _|%p1, %r2, 1, 0, -1;", "PTX104", "must be a .b32"),
    ("mov.pred %p1, !%p2;", "mov.pred %p1, !_;", "PTX104", "is the sink, which has no value"),
    ("setp.eq.b32 %p1|_, %r1, %r2;", "lop3.or.b32 %r1|_, %r1, %r2, %r3, 1, %p1;", "PTX104", "a .pred register"),
    ("@%p1 ret;", "@%p1.b0 ret;", "PTX101", "a guard is a whole register"),
]

PAIRS = [
    Pair(f"{HEAD}{right}\nret;\n}}", f"{HEAD}{wrong}\nret;\n}}", code, words)
    for right, wrong, code, words in ELEMENTS + SUMS + SINKS
]

TOLERATED = [
    "add.s32 %r1, %r2, %rd1+1;",
    "add.f32 %f1, %f1, %f2+1;",
    "mov.pred %p1, %p2+1;",
    "and.b32 %r1, %r2, %h1+1;",
]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.wrong.split("\n")[-3])
def test_a_wrong_element_or_sum_is_an_error_and_the_correct_one_is_not(pair: Pair) -> None:
    check(pair)


@pytest.mark.parametrize("line", TOLERATED)
def test_sums_that_only_assemblers_accept_are_warnings(line: str) -> None:
    (found,) = diagnostics(whole(f"{HEAD}{line}\nret;\n}}"))
    assert found.severity is Severity.WARNING
    assert "for a register plus a constant, assemblers check the kind" in found.message


def test_a_kernel_parameter_is_not_written_and_its_elements_are_written_with_a_warning() -> None:
    (found,) = errors(whole(f"{HEAD}st.param.b32 [q+4], 0;\nret;\n}}"))
    assert found.code == "PTX203"
    tolerated = diagnostics(whole(f"{HEAD}st.param.b32 q[1], 0;\nret;\n}}"))
    assert [each.code for each in tolerated if "tolerated" in each.message] == ["PTX203"]
    assert errors(whole(f"{HEAD}st.param.b32 q[1], 0;\nret;\n}}")) == []
    assert errors(whole(f"{HEAD}ld.param.b32 %r1, q[1];\nret;\n}}")) == []


def test_ptxas_agrees(tmp_path: Path) -> None:
    kept = [Pair(f"{HEAD}{line}\nret;\n}}", pair.wrong, "", "") for line, pair in zip(TOLERATED, PAIRS, strict=False)]
    assert disagreements([*PAIRS, *kept], tmp_path) == []
