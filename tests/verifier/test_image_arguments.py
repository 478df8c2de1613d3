"""Textures, surfaces and samplers that are inferred for the parameters that a kernel uses as such."""

from __future__ import annotations

import pytest

from ptxkit.results import FileResult
from ptxkit.source import SourceFile
from ptxkit.verifier import VerifyRequest, verify_source

KERNEL = """.version 8.0
.target sm_90{mode}
.address_size 64
.visible .entry k(.param .u64 t, .param .u64 s, .param .u64 o)
.reqntid 32
{{
 .reg .u64 %d<8>; .reg .f32 %f<8>; .reg .u32 %r<8>; .reg .b16 %h<4>;
 ld.param.u64 %d1, [t]; ld.param.u64 %d0, [s]; mov.u64 %d2, %d0; ld.param.u64 %d3, [o]; cvta.to.global.u64 %d3, %d3;
 mov.u32 %r1, %tid.x; cvt.rn.f32.u32 %f5, %r1; mov.f32 %f6, 0f3F800000; mov.u32 %r0, 1; shl.b32 %r2, %r1, 4;
 {what}
 mul.wide.u32 %d4, %r1, 4; add.u64 %d4, %d4, %d3; st.global.f32 [%d4], %f5;
 ret;
}}
"""


def verify_text(what: str, mode: str = "", **request: object) -> FileResult:
    text = KERNEL.format(what=what, mode=mode)
    return verify_source(SourceFile("k.ptx", text), VerifyRequest(schedules=2, **request))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("what", "first", "second"),
    [
        (
            "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5, %f6}];"
            " sust.b.2d.v4.b32.trap [%d2, {%r2, %r0}], {%r1, %r1, %r1, %r1};",
            "texture f32 128x128 of 4 channels",
            "surface u32 64x2048 of 4 channels",
        ),
        (
            "tex.a1d.v4.u32.s32 {%r3, %r4, %r5, %r6}, [%d1, {%r0, %r1}]; suld.b.1d.b8.zero %h1, [%d2, {%r1}];",
            "texture u32 8x1024 of 4 channels",
            "surface u8 4096",
        ),
        (
            "tex.cube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5, %f5, %f6, %f6}];"
            " sured.b.add.2d.u32.trap [%d2, {%r2, %r0}], %r1;",
            "texture f32 6x64x64 of 4 channels",
            "surface u32 64x2048",
        ),
        (
            "tex.3d.v4.s32.f32 {%r3, %r4, %r5, %r6}, [%d1, {%f5, %f5, %f5, %f5}];",
            "texture s32 32x32x32 of 4 channels",
            "",
        ),
    ],
)
def test_an_object_matches_its_use(what: str, first: str, second: str) -> None:
    result = verify_text(what)
    assert not result.diagnostics
    (run,) = result.runs
    assert run.whole == 2
    assert run.arguments[0] == f"t={first}"
    assert not second or run.arguments[1] == f"s={second}"


def test_a_separate_sampler_is_inferred() -> None:
    what = "tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, %d2, {%f5}];"
    (run,) = verify_text(what, ", texmode_independent").runs
    assert run.whole == 2
    assert run.arguments[:2] == ("t=texture f32 1024 of 4 channels", "s=sampler")


def test_nothing_is_reported_for_an_object_with_contradictory_uses() -> None:
    read = "tex.{}.v4.f32.f32 {{%f1, %f2, %f3, %f4}}, [%d1, {}];"
    result = verify_text(read.format("2d", "{%f5, %f6}") + read.format("1d", "{%f5}"))
    assert not result.diagnostics
    assert "no run completed" in result.undecided[0].reason
