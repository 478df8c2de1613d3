"""Modules with addresses of 32 bits: an assembler checks them in the same way as others, register by register."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.diagnostics import Severity
from tests.validate.modules import Pair, diagnostics, disagreements, errors

MODULE = """\
.version {}
.target {}
.address_size 32
.global .align 16 .b32 g; .global .b32 a[4]; .const .b32 c; .global .texref t;
.global .u32 where = g; .global .u32 both[2] = {{g, generic(a)+4}}; .const .u64 wide = g;
.func (.param .b32 r) f(.param .b32 x) {{ .reg .b32 %r; ld.param.b32 %r, [x]; st.param.b32 [r], %r; ret; }}
.func none;
.entry k(.param .b32 p, .param .u32 .ptr .global .align 4 q, .param .u64 .ptr .global far) {{
.reg .b16 %h<3>; .reg .b32 %r<9>; .reg .b64 %rd<5>; .reg .f32 %f<5>; .reg .pred %p<3>;
.shared .align 16 .b64 s[4]; .local .b32 l;
{}
}}
"""

RIGHT = [
    "ld.param.b32 %r1, [p]; ld.global.b32 %r2, [%r1]; st.global.b32 [%r1+4], %r2; ld.local.b32 %r3, [l];",
    "mov.u32 %r1, g; mov.b32 %r2, s+4; ld.global.b32 %r4, [%r1]; ld.shared.b32 %r4, [%r2]; ld.const.b32 %r3, [c];",
    "mov.u64 %rd1, g; ld.global.b32 %r1, [%rd1]; ld.param.u64 %rd2, [far]; ld.global.b32 %r1, [%rd2];",
    "cvta.global.u32 %r1, g; cvta.shared.u32 %r2, s; cvta.to.global.u32 %r3, %r1; cvta.global.u64 %rd1, g;",
    "ld.b32 %r1, [%r2]; st.b32 [%r1], %r2; ld.b32 %r1, [g]; isspacep.global %p1, %r1; prefetch.L1 [%r1];",
    ".param .b32 x; .param .b32 y; st.param.b32 [x], 1; call (y), f, (x); ld.param.b32 %r1, [y];",
    "mov.u32 %r1, none; proto: .callprototype _ (); call %r1, (), proto;",
    "mov.u64 %rd1, none; proto: .callprototype _ (); call %rd1, (), proto;",
    "atom.global.add.u32 %r1, [%r2], 1; red.shared.add.u32 [s], 1; atom.global.cas.b64 %rd1, [%r2], %rd2, %rd3;",
    "ld.global.b32 %r1, a[%r2]; mov.u32 %r1, a[1]; ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%r5];",
    "tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [t, {%r1}]; mov.u64 %rd1, t;",
    "ts: .branchtargets on; brx.idx %r1, ts; on: ret;",
]
NEWER = [
    "cp.async.ca.shared.global [%r1], [%r2], 16; cp.async.ca.shared.global [%r1], [%rd2], 16;",
    "mbarrier.init.shared.b64 [s], 1; mbarrier.arrive.shared.b64 %rd1, [s]; mbarrier.init.b64 [%r1], 1;",
    "mapa.u32 %r1, s, %r2; mapa.u64 %rd1, s, %r2; getctarank.u32 %r1, %r2;",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%r2], 16, [s];",
    "fence.proxy.tensormap::generic.acquire.gpu [%r1], 128; prefetch.tensormap [%r1];",
]
WRONG = [
    ("mov.u32 %rd1, g;", "must be a .u32 register"),
    ("mov.u16 %r1, g;", "must be a .u16 register"),
    ("ld.global.b32 %r1, [%f1];", "a .f32 register cannot hold one"),
    ("cvta.global.u32 %rd1, g;", "must be a .u32 register"),
    ("isspacep.global %p1, %h1;", "must be a .b64 register, and is .b16"),
    ("tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%r1, {%r1}];", "a .u64 register with the handle of one"),
    ("mov.u32 %r1, t;", "is a .u64"),
    ("mov.u16 %h1, none; proto: .callprototype _ (); call %h1, (), proto;", "goes through a register"),
]


def module(body: str, version: str = "9.0", target: str = "sm_90a") -> str:
    return MODULE.format(version, target, body)


@pytest.mark.parametrize("body", RIGHT + NEWER)
def test_addresses_of_either_size_are_accepted(body: str) -> None:
    (found,) = diagnostics(module(body))
    assert found.severity is Severity.NOTE
    assert found.message == "ptxas 13 checks modules with addresses of 32 bits, and generates no code for them"


@pytest.mark.parametrize(("body", "words"), WRONG)
def test_a_register_without_an_address_is_rejected_as_in_other_modules(body: str, words: str) -> None:
    assert words in errors(module(body))[0].message


@pytest.mark.parametrize(("version", "target"), [("9.4", "sm_100a"), ("8.0", "sm_80"), ("7.0", "sm_75")])
def test_ptxas_agrees(tmp_path: Path, version: str, target: str) -> None:
    right = RIGHT + NEWER if version == "9.4" else RIGHT
    pairs = [
        Pair(module(body, version, target), module(wrong, version, target), "", "")
        for body, (wrong, _) in zip(right, WRONG * 3, strict=False)
    ]
    assert [errors(pair.right) for pair in pairs] == [[]] * len(pairs)
    assert disagreements(pairs, tmp_path) == []
