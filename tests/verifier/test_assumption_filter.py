"""Findings of a run with inferred arguments: those that only other numbers, or other contents of memory, would show are
excluded."""

from __future__ import annotations

from ptxkit.diagnostics.catalogue import ptx2xx, ptx3xx, ptx5xx, ptx6xx
from ptxkit.emulator import Violation, Witness
from ptxkit.fast_dataclasses import replace
from ptxkit.results import FileResult
from ptxkit.source import SourceFile
from ptxkit.verifier import VerifyRequest, parse_argument, verify_source
from ptxkit.verifier.assumption_filter import LaunchAssumptions

HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
.reqntid 64
{
	.reg .b32 %r<8>;
	.reg .b64 %rd<8>;
	.shared .align 4 .b32 bins[256];
	ld.param.u64 %rd1, [in];
	ld.param.u64 %rd2, [out];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd3, %r1, 4;
	add.u64 %rd4, %rd1, %rd3;
	ld.global.u32 %r2, [%rd4];
"""
SCATTER = """	mul.wide.u32 %rd5, %r2, 4;
	add.u64 %rd6, %rd2, %rd5;
	st.global.u32 [%rd6], %r1;
	ret;
}
"""
HISTOGRAM = """	shl.b32 %r3, %r2, 2;
	mov.u32 %r4, bins;
	add.u32 %r3, %r3, %r4;
	red.shared.add.u32 [%r3], 1;
	ret;
}
"""


def verify_text(body: str, head: str = HEAD, **request: object) -> FileResult:
    asked = VerifyRequest(schedules=12, **{"grid": (1,), **request})  # type: ignore[arg-type]
    return verify_source(SourceFile("k.ptx", head + body), asked)


def given_values(*texts: str) -> dict[str, object]:
    return {"arguments": dict(parse_argument(each) for each in texts)}


def test_threads_that_scatter_by_a_list_are_not_assumed_to_have_duplicates_in_it() -> None:
    assert verify_text(SCATTER).diagnostics == ()
    reported = verify_text(SCATTER, **given_values("in=u32[64]:zeros", "out=u32[64]"))
    assert {each.code for each in reported.diagnostics} == {"PTX621"}


def test_a_table_that_is_indexed_by_data_is_not_assumed_to_have_data_out_of_range() -> None:
    assert verify_text(HISTOGRAM).diagnostics == ()
    reported = verify_text(HISTOGRAM, **given_values("in=u32[64]:random", "out=u32[64]"))
    assert {each.code for each in reported.diagnostics} == {"PTX207"}
    assert verify_text(HISTOGRAM, **given_values("in=u32[64]:iota", "out=u32[64]")).diagnostics == ()


def test_findings_of_the_rules_count_for_any_arguments() -> None:
    outside = "\tst.shared.u32 [bins+2000], %r2;\n\tret;\n}\n"
    (found,) = verify_text(outside).diagnostics
    assert found.code == "PTX207"
    assert "witness" in found.properties


def test_a_race_in_shared_memory_counts_with_any_data() -> None:
    race = "\tst.shared.u32 [bins], %r1;\n\tret;\n}\n"
    assert "PTX621" in {each.code for each in verify_text(race).diagnostics}


def test_a_kernel_may_be_meant_for_one_cta_or_one_thread() -> None:
    each = "\tst.global.u32 [%rd6], %r1;\n\tret;\n}\n"
    by_cta = "\tmov.u32 %r1, %clock;\n\tadd.u64 %rd6, %rd2, %rd3;\n" + each
    by_thread = "\tmov.u64 %rd6, %rd2;\n" + each
    open_ = HEAD.replace(".reqntid 64", "")
    for text, head, option in ((by_cta, HEAD, "--grid"), (by_thread, open_, "--block")):
        asked = verify_text(text, head, grid=None)
        assert asked.diagnostics == ()
        assert {question.code for question in asked.undecided} == {"PTX621"}
        assert all(f"({option})" in question.reason for question in asked.undecided)
    assert {found.code for found in verify_text(by_cta, grid=(2,)).diagnostics} == {"PTX621"}
    assert {found.code for found in verify_text(by_thread).diagnostics} == {"PTX621"}


def test_a_kernel_may_be_meant_for_an_undeclared_cluster() -> None:
    alone = Violation(ptx2xx.NO_CTA_PAIR(), 1, 0)
    assert LaunchAssumptions(cluster=True).shows_wrong_arguments(alone)
    assert not LaunchAssumptions(values=True).shows_wrong_arguments(alone)


def test_copies_that_overlap_in_global_memory_are_uncertain_where_numbers_were_inferred() -> None:
    there = Witness("write", 7, (0, 0, 0), (0, 0, 0), "global", 0, 4)
    finding = Violation(ptx3xx.COPY_READS_EXITED_CTA(operation="cp"), 7, 70, (there,))
    assert LaunchAssumptions(values=True, contents=True).undecided_reason(finding, "iota")
    assert not LaunchAssumptions(contents=True).undecided_reason(finding, "iota")
    assert not LaunchAssumptions(values=True, proven_violations=frozenset({("PTX303", 70)})).undecided_reason(
        finding, "iota"
    )
    near = replace(finding, witnesses=(replace(there, space="shared"),))
    assert not LaunchAssumptions(values=True, contents=True).undecided_reason(near, "iota")


ROWS = """	.reg .b32 %r<9>;
	.reg .b64 %rd<9>;
	ld.param.u64 %rd2, [out];
	mov.u32 %r1, %tid.x;
	PITCH
	mul.lo.u32 %r3, %r1, %r2;
	mul.wide.u32 %rd5, %r3, 4;
	add.u64 %rd6, %rd2, %rd5;
	st.global.u32 [%rd6], %r1;
	ret;
}
"""
ROWS_HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, PARAMETER)
.reqntid 64
{
"""


def test_rows_that_overlap_by_an_inferred_number_are_not_a_race() -> None:
    number = ROWS.replace("PITCH", "ld.param.u32 %r2, [pitch];")
    head = ROWS_HEAD.replace("PARAMETER", ".param .u32 pitch")
    assert verify_text(number, head).diagnostics == ()
    reported = verify_text(number, head, **given_values("out=u32[64]", "pitch=0"))
    assert {each.code for each in reported.diagnostics} == {"PTX621"}
    whole = ROWS.replace("PITCH", "ld.param.u32 %r2, [strides+4];")
    assert verify_text(whole, ROWS_HEAD.replace("PARAMETER", ".param .align 4 .b8 strides[8]")).diagnostics == ()


def test_copies_that_overlap_in_shared_memory_have_another_box_than_the_host() -> None:
    there = Witness("write", 7, (0, 0, 0), (0, 0, 0), "shared", 0, 4)
    finding = Violation(ptx3xx.COPIES_OVERLAP(action="cp", operation="cp", line=3), 7, 70, (there,))
    assert LaunchAssumptions(boxes=True).shows_wrong_arguments(finding)
    assert LaunchAssumptions(boxes=True).shows_wrong_launch(finding)
    assert not LaunchAssumptions(values=True).shows_wrong_arguments(finding)
    assert not LaunchAssumptions(boxes=True, proven_violations=frozenset({("PTX304", 70)})).shows_wrong_arguments(
        finding
    )


def test_a_box_decides_when_a_phase_is_complete_and_not_who_comes_to_a_barrier() -> None:
    def deadlock(code: str) -> Violation:
        text = ptx6xx.DEADLOCK(threads="thread 0", cta=(0, 0, 0), awaited="something").under(code)
        return Violation(text, 7, 70, (Witness("wait", 7, (0, 0, 0), (0, 0, 0)),))

    chosen = LaunchAssumptions(boxes=True)
    assert chosen.shows_wrong_arguments(deadlock(ptx5xx.MBARRIER_MISSING_ARRIVALS))
    assert not chosen.shows_wrong_arguments(deadlock(ptx6xx.BARRIER_DEADLOCK))
