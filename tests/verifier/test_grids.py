"""Findings between CTAs of an unspecified number: the kernel's code decides the possible grids."""

from __future__ import annotations

import pytest

from ptxkit.results import FileResult, Status
from ptxkit.source import SourceFile
from ptxkit.verifier import VerifyRequest, parse_argument, verify_source

HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 data, .param .u64 flag, .param .u32 n) DIRECTIVES
{
	.reg .pred %p<4>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<8>;
	ld.param.u64 %rd1, [data];
	ld.param.u64 %rd2, [flag];
	ld.param.u32 %r7, [n];
	mov.u32 %r1, %tid.x;
	setp.ne.u32 %p1, %r1, 0;
"""
BLOCK = ".reqntid 32"


def verify_text(body: str, directives: str = BLOCK, **request: object) -> FileResult:
    text = HEAD.replace("DIRECTIVES", directives) + body + "\n\tret;\n}\n"
    return verify_source(SourceFile("k.ptx", text), VerifyRequest(schedules=8, **request))  # type: ignore[arg-type]


def at(place: str) -> str:
    return f"\tmul.wide.u32 %rd3, {place}, 4;\n\tadd.u64 %rd4, %rd1, %rd3;\n"


OVERLAP = "\tmov.u32 %r2, %ctaid.AXIS;\n" + at("%r1") + "\tst.global.u32 [%rd4], %r2;"
STENCIL = (
    "\tmov.u32 %r2, %ctaid.x;\n\tmad.lo.u32 %r3, %r2, 32, %r1;\n"
    + at("%r3")
    + "\tst.global.u32 [%rd4], %r1;\n\tld.global.u32 %r4, [%rd4+128];\n\tst.global.u32 [%rd4+4096], %r4;"
)
TICKET = (
    "\t@%p1 ret;\n\tatom.global.add.u32 %r2, [%rd2], 1;\n\tmov.u32 %r3, %clock;\n"
    "\tst.global.u32 [%rd1], %r3;\n\tand.b32 %r2, %r2, 1;\n" + at("%r2") + "\tst.global.u32 [%rd4+64], %r2;"
)
POLL = """	@%p1 ret;
	mov.u32 %r2, %ctaid.x;
	setp.ne.u32 %p2, %r2, 0;
	@%p2 bra WAIT;
	st.global.u32 [%rd1], 7;
	st.release.gpu.global.u32 [%rd2], 12345;
	ret;
WAIT:
	LOAD %r3, [%rd2];
	setp.ne.u32 %p3, %r3, 12345;
	@%p3 bra WAIT;
	ld.global.u32 %r4, [%rd1];
	st.global.u32 [%rd1+64], %r4;"""


@pytest.mark.parametrize(
    ("body", "grid"),
    [
        (OVERLAP.replace("AXIS", "x"), "2"),
        (OVERLAP.replace("AXIS", "y"), "1x2"),
        (OVERLAP.replace("AXIS", "z"), "1x1x2"),
        (STENCIL, "2"),
        (TICKET, "4"),
        (TICKET.replace("%clock", "%ctaid.y").replace("@%p1 ret;", "@%p1 ret;\n\tmov.u32 %r3, %ctaid.x;"), "2x2"),
        (POLL.replace("LOAD", "ld.relaxed.gpu.global.u32"), "4"),
        (POLL.replace("LOAD", "ld.global.u32"), "4"),
    ],
)
def test_a_race_between_ctas_is_reported_where_the_kernel_implies_several(body: str, grid: str) -> None:
    result = verify_text(body)
    assert result.runs[0].launch == f"grid {grid}, block 32"
    found = [each for each in result.diagnostics if each.code == "PTX621"]
    assert found
    assert {each.severity for each in found} == {"warning"}
    assert all("give --grid 1" in each.notes[-1] or "give --arg" in each.notes[-1] for each in found)


def test_the_same_kernels_are_clean_where_they_are_correct() -> None:
    right = STENCIL.replace("%rd4+128]", "%rd4]"), POLL.replace("LOAD", "ld.acquire.gpu.global.u32")
    for body in right:
        assert verify_text(body).status is Status.CLEAN


def test_a_second_cluster_runs_where_the_kernel_reads_its_position() -> None:
    body = OVERLAP.replace("%ctaid.AXIS", "%clusterid.x")
    result = verify_text(body, ".reqntid 32 .reqnctapercluster 2")
    assert result.runs[0].launch == "grid 4, block 32, cluster 2"
    assert {each.code for each in result.diagnostics} == {"PTX621"}
    alone = verify_text("\tst.global.u32 [%rd1], 1;", ".reqntid 32 .reqnctapercluster 2")
    assert alone.runs[0].launch == "grid 2, block 32, cluster 2"


def test_a_fault_that_nothing_in_the_kernel_implies_is_a_question() -> None:
    body = "\tmov.u32 %r2, %clock;\n" + at("%r1") + "\tst.global.u32 [%rd4], %r2;"
    result = verify_text(body)
    assert result.diagnostics == ()
    (question,) = result.undecided
    assert question.code == "PTX621"
    assert "(--grid)" in question.reason
    assert {each.code for each in verify_text(body, grid=(2,)).diagnostics} == {"PTX621"}


ROWS = "\tmov.u32 %r2, %ctaid.x;\n\tmad.lo.u32 %r3, %r2, PITCH, %r1;\n" + at("%r3") + "\tst.global.u32 [%rd4], %r2;"


@pytest.mark.parametrize(
    ("body", "directives", "option"),
    [
        (ROWS.replace("PITCH", "%r7"), BLOCK, "(--arg)"),  # a pitch that the host makes wide enough
        (ROWS.replace("PITCH", "64"), "", "(--block)"),  # rows of an undeclared block
    ],
)
def test_rows_that_overlap_by_inference_are_a_question(body: str, directives: str, option: str) -> None:
    result = verify_text(body, directives)
    assert result.diagnostics == ()
    assert any(each.code == "PTX621" and option in each.reason for each in result.undecided)


def test_a_race_that_a_given_number_causes_is_reported() -> None:
    arguments = dict(parse_argument(each) for each in ("n=5", "data=u32[64]", "flag=u32[1]"))
    result = verify_text(ROWS.replace("PITCH", "%r7"), arguments=arguments, grid=(2,))
    assert {(each.code, each.severity) for each in result.diagnostics} == {("PTX621", "error")}


def test_a_warning_states_that_only_the_grid_was_inferred() -> None:
    head = HEAD.replace(", .param .u32 n", "").replace("\tld.param.u32 %r7, [n];\n", "").replace("DIRECTIVES", BLOCK)
    text = head + OVERLAP.replace("AXIS", "x") + "\n\tst.global.u32 [%rd2], 1;\n\tret;\n}\n"
    (found,) = verify_source(SourceFile("k.ptx", text), VerifyRequest(schedules=2)).diagnostics
    assert (found.code, found.severity) == ("PTX621", "warning")
    assert found.notes[-1].startswith("the grid was chosen")
    (found,) = verify_source(SourceFile("k.ptx", text), VerifyRequest(schedules=2, grid=(2,))).diagnostics
    assert found.severity == "error"


def test_the_block_has_the_axes_along_which_the_kernel_reads_positions() -> None:
    store = "\tmul.wide.u32 %rd3, %r1, 4;\n\tadd.u64 %rd4, %rd1, %rd3;\n\tst.global.u32 [%rd4], %r1;"
    two_axes = "\tmov.u32 %r6, %tid.y;\n\tmad.lo.u32 %r1, %r6, 16, %r1;\n"
    launches = [verify_text(body, "").runs[0].launch for body in (two_axes + store, store)]
    assert [launch.partition(", ")[2] for launch in launches] == ["block 16x16", "block 128"]


LOCK = """	@%p1 ret;
LOCK:
	atom.acquire.gpu.global.cas.b32 %r2, [%rd2], 0, 1;
	setp.ne.u32 %p2, %r2, 0;
	@%p2 bra LOCK;
	ld.global.u32 %r3, [%rd1];
	st.global.u32 [%rd1], %r3;
	st.release.gpu.global.u32 [%rd2], 0;"""


def test_words_by_which_ctas_synchronize_are_zero_at_first() -> None:
    result = verify_text(LOCK)
    assert (result.status, result.undecided) == (Status.CLEAN, ())
    assert {each.code for each in verify_text(LOCK.replace("st.release", "st.relaxed")).diagnostics} >= {"PTX621"}
