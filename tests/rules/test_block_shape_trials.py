"""Kernels that read positions along two axes and declare a number of threads, but no shape of their blocks."""

from __future__ import annotations

import pytest

from ptxkit import Severity, Verdict, lint
from ptxkit.diagnostics.catalogue.contract_words import STATED
from ptxkit.model.launch_contract import BlockLimits
from ptxkit.results import FileResult, Status

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
shl.b32 %r8, %r2, 6; add.u32 %r9, %r5, %r8;
ld.shared.b32 %r10, [%r9+1792];
cp.async.wait_group 0;
mul.wide.u32 %rd4, %r4, 4; add.u64 %rd2, %rd2, %rd4; st.global.b32 [%rd2], %r10;
ret;
}}
"""
"""Copies two rows of 128 elements. Each thread reads an element that is copied first, in blocks of four rows."""


def check(bounds: str, wait: str = "cp.async.wait_group 0;") -> Verdict:
    return lint(KERNEL.format(bounds=bounds, wait=wait))


def errors(verdict: Verdict) -> list[str]:
    return [item.code for item in verdict.diagnostics if item.severity is Severity.ERROR]


@pytest.mark.parametrize("bounds", ["", ".maxntid 128"])
def test_an_error_that_blocks_of_another_shape_do_not_have_is_a_question(bounds: str) -> None:
    verdict = check(bounds)
    assert verdict.diagnostics == ()
    assert "PTX302" in {item.code for item in verdict.undecided}
    assert check(".reqntid 32, 4") == Verdict(())


def test_a_declared_shape_decides_it() -> None:
    assert errors(check(".reqntid 16, 8")) == ["PTX302"]


def test_an_error_of_blocks_of_all_shapes_is_one() -> None:
    assert errors(check(".maxntid 128", wait="")) == ["PTX302"]


TRANSPOSE = """.version 8.0
.target sm_80
.address_size 64
.visible .entry kernel(.param .u64 in, .param .u64 out)
{bounds}
{{
.shared .align 4 .b8 tile[{bytes}];
.reg .b32 %r<20>; .reg .b64 %rd<9>;
ld.param.u64 %rd1, [in]; cvta.to.global.u64 %rd1, %rd1; ld.param.u64 %rd2, [out]; cvta.to.global.u64 %rd2, %rd2;
mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, tile;
mad.lo.u32 %r4, %r2, 132, %r3; mad.lo.u32 %r4, %r1, 4, %r4; mad.lo.u32 %r5, %r1, 132, %r3; mad.lo.u32 %r5, %r2, 4, %r5;
mad.lo.u32 %r6, %r2, 32, %r1; mul.wide.u32 %rd3, %r6, 4; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;
ld.global.u32 %r7, [%rd1]; ld.global.u32 %r8, [%rd1+1024]; ld.global.u32 %r9, [%rd1+2048];
ld.global.u32 %r10, [%rd1+3072];
st.shared.u32 [%r4], %r7; st.shared.u32 [%r4+1056], %r8; st.shared.u32 [%r4+2112], %r9; st.shared.u32 [%r4+3168], %r10;
{barrier}
ld.shared.u32 %r7, [%r5]; ld.shared.u32 %r8, [%r5+32]; ld.shared.u32 %r9, [%r5+64]; ld.shared.u32 %r10, [%r5+96];
st.global.u32 [%rd2], %r7; st.global.u32 [%rd2+1024], %r8; st.global.u32 [%rd2+2048], %r9;
st.global.u32 [%rd2+3072], %r10;
ret;
}}
"""
"""Transposes a tile of 32 by 32 words with blocks of 32 by 8 threads. Each row of the tile has an unused word."""


def transpose(bounds: str = "", size: int = 4224, barrier: str = "bar.sync 0;") -> Verdict:
    return lint(TRANSPOSE.format(bounds=bounds, bytes=size, barrier=barrier))


def test_a_kernel_that_is_correct_with_blocks_of_some_shape_is_correct_on_that_condition() -> None:
    verdict = transpose()
    assert verdict.diagnostics == ()
    limits = {each for item in verdict.undecided for each in item.conditions}
    assert {each.shapes for each in limits if isinstance(each, BlockLimits)} == {((32, 8, 1),)}
    assert FileResult.of("k.ptx", verdict).status is Status.CONDITIONAL
    assert [each.clause(STATED) for each in limits] == [
        "the block has 32x8 threads (not 16x16, with which PTX207 occurs)"
    ]
    assert transpose(".reqntid 32, 8") == Verdict(())


def test_a_kernel_whose_tile_is_too_small_for_the_usual_shapes_has_no_such_condition() -> None:
    """Only blocks with fewer rows, or shorter ones, stay within a tile of 31 rows."""
    limits = {each for item in transpose(size=4092).undecided for each in item.conditions}
    assert all((32, 8, 1) not in each.shapes for each in limits if isinstance(each, BlockLimits))
    assert {item.code for item in transpose(".reqntid 32, 8", size=4092).diagnostics} == {"PTX207"}


def test_an_order_that_is_missing_with_several_rows_is_not_silent() -> None:
    verdict = transpose(barrier="")
    assert "PTX621" in {item.code for item in (*verdict.diagnostics, *verdict.undecided)}


SOLID = """.version 8.0
.target sm_80
.address_size 64
.visible .entry kernel(.param .u64 out)
{bounds}
{{
.shared .align 16 .b8 tile[4096];
.reg .b32 %r<20>;
mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z; mov.u32 %r4, %ntid.x; mov.u32 %r5, %ntid.y;
mad.lo.u32 %r6, %r3, %r5, %r2; mad.lo.u32 %r7, %r6, %r4, %r1; mov.u32 %r8, tile; mad.lo.u32 %r9, %r7, 4, %r8;
st.shared.u32 [%r9], %r7;
{wait}
mov.u32 %r10, %ntid.z; add.u32 %r11, %r3, 1; rem.u32 %r11, %r11, %r10;
mad.lo.u32 %r6, %r11, %r5, %r2; mad.lo.u32 %r7, %r6, %r4, %r1; mad.lo.u32 %r9, %r7, 4, %r8;
ld.shared.u32 %r12, [%r9];
ret;
}}
"""
"""Each thread reads what its neighbor along z has stored."""


@pytest.mark.parametrize("bounds", ["", ".maxntid 1024", ".maxntid 128"])
def test_faults_in_blocks_with_three_axes_only_are_questions(bounds: str) -> None:
    verdict = lint(SOLID.format(bounds=bounds, wait=""))
    assert not verdict.diagnostics
    assert [item.code for item in verdict.undecided] == ["PTX621"]
    right = lint(SOLID.format(bounds=bounds, wait="bar.sync 0;"))
    assert right.diagnostics == ()
    assert len(right.undecided) == (2 if bounds == "" else 0)
    assert {item.conditions for item in right.undecided} <= {(BlockLimits(shapes=((8, 8, 4),)),)}
    assert errors(lint(SOLID.format(bounds=".reqntid 4, 4, 4", wait=""))) == ["PTX621"]
