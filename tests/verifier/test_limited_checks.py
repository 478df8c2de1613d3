"""A check that a limit or a budget leaves out is an open question, and never silently clean."""

from __future__ import annotations

import pytest

from ptxkit.emulator.engine.cta import PERTURBED_PATTERN
from ptxkit.emulator.limits import MAX_ENGINES
from ptxkit.results import FileResult, Status
from ptxkit.source import SourceFile
from ptxkit.verifier import VerifyRequest, parse_argument, verify_source

HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 data, .param .u32 n) DIRECTIVES
{
	.reg .pred %p<4>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<4>;
	.shared .align 16 .b8 tile[1024];
	.shared .align 8 .b8 bars[512];
	ld.param.u64 %rd1, [data];
	mov.u32 %r1, %tid.x;
"""
OTHER_WORD = PERTURBED_PATTERN << 16 | PERTURBED_PATTERN
OTHER_REGISTER = int.from_bytes(bytes([PERTURBED_PATTERN & 0xFF] * 4), "little")


def verify_text(body: str, directives: str = ".reqntid 64", schedules: int = 2) -> FileResult:
    text = HEAD.replace("DIRECTIVES", directives) + body + "\n\tst.global.u32 [%rd1], 1;\n\tret;\n}\n"
    given = dict([parse_argument("n=9"), parse_argument("data=u32[1024]")]) if directives else {}
    return verify_source(SourceFile("k.ptx", text), VerifyRequest(schedules=schedules, grid=(1,), arguments=given))


def reasons(result: FileResult) -> str:
    return " ".join(each.reason for each in result.undecided)


@pytest.mark.parametrize(
    ("uninitialized", "endless", "what"),
    [
        ("ld.shared.u32 %r2, [tile];", OTHER_WORD, "memory"),
        ("add.u32 %r2, %r3, 0;", OTHER_REGISTER, "registers"),
    ],
)
def test_an_unfinished_comparison_is_a_question(uninitialized: str, endless: int, what: str) -> None:
    body = f"""	setp.ne.u32 %p2, %r1, 0;
	@%p2 ret;
	{uninitialized}
LOOP:
	setp.eq.u32 %p1, %r2, {endless};
	@%p1 bra LOOP;"""
    result = verify_text(body)
    assert f"whether results depend on uninitialized {what} is unknown: livelock" in reasons(result)
    assert result.status is Status.UNDECIDED
    assert verify_text(body.replace(uninitialized, "mov.u32 %r2, 1;")).status is Status.CLEAN


def copies(count: int) -> str:
    """One thread copies 16 bytes for each of several mbarriers, and waits for all."""
    return f"""	setp.ne.u32 %p1, %r1, 0;
	@%p1 ret;
	mov.u32 %r2, bars;
	mov.u32 %r3, tile;
	mov.u32 %r4, 0;
NEXT:
	mbarrier.init.shared.b64 [%r2], 1;
	fence.proxy.async;
	mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 16;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1+1024], 16, [%r2];
WAIT:
	mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;
	@!%p2 bra WAIT;
	add.u32 %r2, %r2, 8;
	add.u32 %r3, %r3, 16;
	add.u32 %r4, %r4, 1;
	setp.lt.u32 %p3, %r4, {count};
	@%p3 bra NEXT;"""


def test_mbarriers_that_share_a_clock_are_a_question() -> None:
    assert "races" not in reasons(verify_text(copies(MAX_ENGINES)))
    result = verify_text(copies(MAX_ENGINES + 1))
    assert f"more than {MAX_ENGINES} mbarriers" in reasons(result)
    assert result.status is Status.UNDECIDED


UNANSWERED = """	ld.param.u32 %r6, [n];
	mov.u32 %r2, bars;
	setp.eq.u32 %p1, %r1, 0;
	@%p1 mbarrier.init.shared.b64 [%r2], 1;
	bar.sync 0;
	setp.gt.u32 %p3, %r6, 5;
	@%p3 bra WAIT;
	@%p1 mbarrier.arrive.shared.b64 _, [%r2];
WAIT:
	mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;
	@!%p2 bra WAIT;"""


def test_a_deadlock_counts_where_all_block_sizes_were_tried_and_not_where_time_ran_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert {each.code for each in verify_text(UNANSWERED, "").diagnostics} == {"PTX503", "PTX504"}
    monkeypatch.setattr("ptxkit.verifier.suitable_launch.PROBE_SHARE", 0.0)
    untried = verify_text(UNANSWERED, "")
    assert {each.code for each in untried.diagnostics} == {"PTX503"}  # shown without an execution
    assert any(each.code == "PTX504" and "(--block)" in each.reason for each in untried.undecided)
