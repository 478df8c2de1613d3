"""Symbols where an instruction requires an address: state spaces, parameters, and symbols without an address."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.validate.modules import Pair, check, disagreements

HEAD = """\
.global .align 16 .b8 g[64]; .shared .align 16 .b8 s[64]; .const .align 16 .b8 c[64]; .func f(.param .b32 a);
.entry k (.param .u64 q) {
.reg .b32 %r<5>; .reg .b64 %rd<5>; .reg .f32 %f<3>; .reg .pred %p<3>; .reg .v2 .b32 %v;
.local .align 8 .b8 l[64]; .param .b32 w;
"""

LINES = [
    ("ld.shared.b32 %r1, [s+4];", "ld.shared.b32 %r1, [g];", "must be in the .shared space: `g` is a .global variable"),
    ("ld.global.b32 %r1, [g+-4];", "ld.global.b32 %r1, [s];", "must be in the .global space"),
    ("ld.b32 %r1, [l];", "ld.b32 %r1, [c];", "for a generic access: `c` is a .const variable"),
    ("ld.const.b32 %r1, [c+996];", "ld.const.b32 %r1, [g];", "must be in the .const space"),
    ("ld.param.b64 %rd1, [q];", "ld.global.b64 %rd1, [q];", "`q` is a kernel parameter"),
    ("ld.shared::cluster.b32 %r1, [s];", "ld.shared::cluster.b32 %r1, [l];", "must be in the .shared space"),
    ("st.param.b32 [w], %r1;", "st.param.b64 [q], %rd1;", "must be a parameter that can be written"),
    ("ld.local.b32 %r1, [16];", "ld.global.b32 %r1, [16];", "which only the .local space has"),
    ("ld.local.b32 %r1, [-16];", "ld.shared.b32 %r1, [-16];", "which only the .local space has"),
    ("st.local.b32 [1<<4], %r1;", "st.b32 [1<<4], %r1;", "which only the .local space has"),
    ("ld.shared.b32 %r1, [%r1+1];", "ld.shared.b32 %r1, [f];", "must be an address of data: `f` is a function"),
    ("ld.shared.b32 %r1, [%rd1];", "ld.shared.b32 %r1, [%v.x];", "is an element of a vector"),
    ("atom.global.add.u32 %r1, [g], 1;", "atom.global.add.u32 %r1, [s], 1;", "must be in the .global space"),
    ("mov.u64 %rd1, q;", "mov.u64 %rd1, w;", "not a .param variable of this body"),
    ("mov.b64 %rd1, f;", "mov.b64 %rd1, on; on:", "a label has no address"),
    ("cvta.shared.u64 %rd1, s+4;", "cvta.shared.u64 %rd1, g;", "must be in the .shared space"),
    ("cvta.param.u64 %rd1, q;", "cvta.param.u64 %rd1, w;", "not a .param variable of this body"),
    ("mapa.u64 %rd1, s, %r1;", "mapa.u64 %rd1, g, %r1;", "must be in the .shared space"),
    ("mbarrier.init.b64 [s], 1;", "mbarrier.init.b64 [g], 1;", "must be in the .shared space"),
    ("prefetchu.L1 [g];", "prefetchu.L1 [s];", "must be in the .global space"),
    ("fence.proxy.tensormap::generic.acquire.gpu [c], 128;", "prefetch.tensormap [c];", "for a generic access"),
    (
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [g], 16, [s+16];",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [g], 16, [g+16];",
        "operand 4",
    ),
]
FUNCTIONS = [
    Pair(
        ".func (.param .b32 r) h (.param .b32 a) { .reg .b32 x; ld.param.b32 x, [a]; st.param.b32 [r], x; ret; }",
        ".func (.param .b32 r) h (.param .b32 a) { .reg .b32 x; ld.param.b32 x, [r]; st.param.b32 [r], x; ret; }",
        "PTX203",
        "return parameters are written only",
        "[r]",
    ),
    Pair(
        ".func (.param .b32 r) h (.param .b32 a) { .reg .b64 x; mov.b64 x, a; ret; }",
        ".func (.param .b32 r) h (.param .b32 a) { .reg .b32 x; st.param.b32 [a], x; ret; }",
        "PTX203",
        "`a` is a parameter of the function",
        "[a]",
    ),
]
PAIRS = [
    Pair(f"{HEAD}{right}\nret;\n}}", f"{HEAD}{wrong}\nret;\n}}", "PTX203", words) for right, wrong, words in LINES
] + FUNCTIONS


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.wrong[-60:])
def test_a_misplaced_symbol_is_an_error_and_the_correct_one_is_not(pair: Pair) -> None:
    check(pair)


def test_ptxas_agrees(tmp_path: Path) -> None:
    assert disagreements(PAIRS, tmp_path) == []
