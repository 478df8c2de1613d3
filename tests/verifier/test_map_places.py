"""Tensor maps within a structure that is passed by value, found by the addresses that copies use."""

from __future__ import annotations

import pytest

from ptxkit.emulator import InvalidLaunchError
from ptxkit.results import FileResult
from ptxkit.source import SourceFile
from ptxkit.verifier import VerifyRequest, parse_argument, verify_source

TEXT = """.version 8.3
.target sm_90a
.address_size 64
.visible .entry k(.param .align 64 .b8 params[SIZE], .param .u64 .ptr .global out)
.reqntid 32
{
	.reg .pred %p<4>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<12>;
	.shared .align 128 .b8 box[2048];
	.shared .align 8 .b64 bar;
	mov.u32 %r1, %tid.x;
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra DONE;
	mov.u32 %r2, bar;
	mbarrier.init.shared.b64 [%r2], 1;
	fence.mbarrier_init.release.cluster;
	mov.b64 %rd1, params;
	cvta.param.u64 %rd2, %rd1;
	add.s64 %rd3, %rd2, 128;
	mov.u32 %r3, box;
	mov.u32 %r4, 0;
	mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 2048;
	cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r3], [%rd2, {%r4, %r4}], [%r2];
WAIT:
	mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;
	@!%p2 bra WAIT;
	MORE
	cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd3, {%r4, %r4}], [%r3];
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group 0;
DONE:
	ret;
}
"""


def verify_text(size: int = 256, more: str = "", *arguments: str, **request: object) -> FileResult:
    text = TEXT.replace("SIZE", str(size)).replace("MORE", more)
    given = dict(parse_argument(each) for each in arguments)
    return verify_source(SourceFile("k.ptx", text), VerifyRequest(schedules=4, arguments=given, **request))  # type: ignore[arg-type]


def test_each_map_of_a_structure_gets_a_separate_tensor() -> None:
    result = verify_text()
    (run,) = result.runs
    assert run.whole == 4
    assert run.arguments[0] == (
        "params=256 bytes of 0, f16 256x64 in boxes of 64x16 at 0, f16 256x4 in boxes of 64x1 at 128"
    )
    assert result.diagnostics == ()


def test_pointers_and_numbers_may_be_next_to_the_maps() -> None:
    other_use = "ld.param.u64 %rd5, [params+256];\n\tst.global.u32 [%rd5], 1;"
    (run,) = verify_text(320, other_use).runs
    assert run.whole == 4
    assert run.arguments[0].endswith("at 128, 1 MiB iota at 256")


def test_two_maps_that_both_load_boxes_have_boxes_of_the_expected_bytes() -> None:
    second = (
        "mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 2048;\n\tcp.async.bulk.tensor.2d.shared::cluster.global.tile"
        ".mbarrier::complete_tx::bytes [%r3], [%rd3, {%r4, %r4}], [%r2];\n"
        "AGAIN:\n\tmbarrier.try_wait.parity.shared.b64 %p3, [%r2], 1;\n\t@!%p3 bra AGAIN;"
    )
    result = verify_text(256, second)
    assert result.diagnostics == ()
    (run,) = result.runs
    assert run.whole == 4
    assert run.arguments[0] == (
        "params=256 bytes of 0, f16 256x64 in boxes of 64x16 at 0, f16 256x64 in boxes of 64x16 at 128"
    )


def test_maps_may_be_given_in_sequence() -> None:
    result = verify_text(256, "", "params=2*f16[64,64]:box=64x16", grid=(1,))
    assert result.diagnostics == ()
    assert result.runs[0].whole == 4
    with pytest.raises(InvalidLaunchError, match="params has 256 bytes, and 3 tensor maps 128 each"):
        verify_text(256, "", "params=3*f16[64,64]:box=64x16")


def test_overlapping_copies_of_several_ctas_are_a_question_where_the_grid_was_inferred() -> None:
    result = verify_text(256, "", "params=2*f16[64,64]:box=64x16")
    assert result.diagnostics == ()
    assert any(each.code == "PTX303" and "(--grid)" in each.reason for each in result.undecided)
