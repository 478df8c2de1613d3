"""Kernels that read positions along two axes and declare a number of threads, but no shape of their blocks."""

from __future__ import annotations

import pytest

from ptxkit import Severity, Verdict, lint

KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry kernel(.param .u64 in, .param .u64 out)
{bounds}
{{
.shared .align 128 .b8 tile[4096];
.reg .b32 %r<20>; .reg .b64 %rd<9>;
ld.param.u64 %rd1, [in]; cvta.to.global.u64 %rd1, %rd1; ld.param.u64 %rd2, [out]; cvta.to.global.u64 %rd2, %rd2;
mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;
mov.u32 %r5, tile; shl.b32 %r6, %r4, 4; add.u32 %r7, %r5, %r6; mul.wide.u32 %rd3, %r4, 16; add.u64 %rd1, %rd1, %rd3;
cp.async.cg.shared.global [%r7], [%rd1], 16;
cp.async.commit_group;
{wait}
bar.sync 0;
cp.async.cg.shared.global [%r7+2048], [%rd1+2048], 16;
cp.async.commit_group;
shl.b32 %r8, %r1, 4; add.u32 %r9, %r5, %r8;
ld.shared.b32 %r10, [%r9+1792];
cp.async.wait_group 0;
mul.wide.u32 %rd4, %r4, 4; add.u64 %rd2, %rd2, %rd4; st.global.b32 [%rd2], %r10;
ret;
}}
"""
"""Copies two rows of 128 elements. Each thread reads the last 16 elements of the first, if the block is 16 wide."""


def check(bounds: str, wait: str = "cp.async.wait_group 0;") -> Verdict:
    return lint(KERNEL.format(bounds=bounds, wait=wait))


def errors(verdict: Verdict) -> list[str]:
    return [item.code for item in verdict.diagnostics if item.severity is Severity.ERROR]


@pytest.mark.parametrize("bounds", ["", ".maxntid 128"])
def test_an_error_that_blocks_of_another_shape_do_not_have_is_a_question(bounds: str) -> None:
    verdict = check(bounds)
    assert verdict.diagnostics == ()
    assert "PTX302" in {item.code for item in verdict.undecided}
    assert check(".reqntid 16, 8") == Verdict(())


def test_a_declared_shape_decides_it() -> None:
    assert errors(check(".reqntid 128")) == ["PTX302"]


def test_an_error_of_blocks_of_all_shapes_is_one() -> None:
    assert errors(check(".maxntid 128", wait="")) == ["PTX302"]
