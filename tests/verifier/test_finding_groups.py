"""Findings of the reference machine that are one fault, and their lines in the program."""

from __future__ import annotations

from ptxkit.diagnostic_groups import fold_groups
from ptxkit.diagnostics import Diagnostic, Severity
from ptxkit.report import plain
from ptxkit.report.formats import styled_report
from ptxkit.report.options import ReportOptions
from ptxkit.report.program_source import ProgramSources, locate_in_program
from ptxkit.results import FileResult
from ptxkit.source import SourceFile
from ptxkit.verifier import VerifyRequest, parse_argument, verify_source

NAME = "_Z3sumPfi"
HEAD = f""".version 8.0
.target sm_90
.address_size 64
.file 1 "k.cu"
.visible .entry {NAME}(.param .u64 {NAME}_param_0, .param .u32 {NAME}_param_1) DIRECTIVES
{{
	.reg .pred %p<4>;
	.reg .b32 %r<16>;
	.reg .b64 %rd<8>;
	.shared .align 16 .b8 _ZZ3sumPfiE4rows[4096];
	.loc 1 3 5
	ld.param.u64 %rd1, [{NAME}_param_0];
	ld.param.u32 %r9, [{NAME}_param_1];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, _ZZ3sumPfiE4rows;
	shl.b32 %r3, %r1, 2;
	xor.b32 %r4, %r3, 128;
	add.u32 %r3, %r3, %r2;
	add.u32 %r4, %r4, %r2;
"""
UNROLLED = """	.loc 1 7 9
	st.shared.u32 [%r3], %r1;
	st.shared.u32 [%r3+256], %r1;
	st.shared.u32 [%r3+512], %r1;
	.loc 1 9 9
	ld.shared.u32 %r5, [%r4];
	ld.shared.u32 %r6, [%r4+256];
	ld.shared.u32 %r7, [%r4+512];
	ret;
}
"""
COPY = """	.loc 1 7 9
	cp.async.ca.shared.global [%r3], [%rd1], 4;
	cp.async.commit_group;
	.loc 1 9 9
	ld.shared.u32 %r5, [%r3];
	ret;
}
"""


def verify_text(body: str, directives: str = ".reqntid 64", **request: object) -> FileResult:
    text = HEAD.replace("DIRECTIVES", directives) + body
    return verify_source(SourceFile("k.ptx", text), VerifyRequest(schedules=8, **request))  # type: ignore[arg-type]


def from_runs(result: FileResult) -> list[Diagnostic]:
    """Returns the findings of runs that no static rule has."""
    return [each for each in result.diagnostics if any(note.startswith("seen in a run") for note in each.notes)]


def test_unrolled_copies_of_a_race_are_one_fault() -> None:
    """The addresses depend on a parameter, so that no static rule decides whether the accesses conflict."""
    given = dict([parse_argument("#1=0")])
    result = verify_text("\tadd.u32 %r4, %r4, %r9;\n" + UNROLLED, arguments=given)
    found = from_runs(result)
    assert len(found) > 1
    assert {each.code for each in found} == {"PTX621"}
    [fault] = fold_groups(found)
    lines = {each.source.position(each.span.start)[0] for each in found if each.origin[0].line == 9}
    assert len(lines) > 1
    assert len(fold_groups(result.diagnostics)) == 1
    assert fault.subject == "`_ZZ3sumPfiE4rows`"


def test_a_fault_that_lint_proves_and_a_run_shows_is_one_with_the_help_of_lint() -> None:
    result = verify_text(UNROLLED)
    [fault] = fold_groups(result.diagnostics)
    assert fault.severity is Severity.ERROR
    assert fault.help is not None


def test_a_finding_of_a_run_names_the_line_of_the_program_for_the_other_access() -> None:
    found = verify_text(COPY)
    [machine] = [each for each in verify_text(COPY, arguments=dict([parse_argument("#1=0")])).diagnostics if each.texts]
    assert found.diagnostics
    shown = locate_in_program(machine, ProgramSources())
    assert shown is not None
    assert (shown.at.place.line, [each.place.line for each in shown.labels][:1]) == (9, [7])
    assert " at line 7 " in shown.message


def test_a_question_of_a_run_names_lines_of_the_program_and_is_counted_by_its_reason() -> None:
    result = verify_text(
        "\tsetp.ne.u32 %p1, %r9, 77777;\n\t@%p1 bra end;\n" + UNROLLED.replace("\tret", "end:\n\tret"), ""
    )
    questions = [each for each in result.undecided if each.text is not None]
    assert questions
    shown = plain(styled_report("full", [result], ReportOptions(show_undecided=True)))
    assert "k.cu:9:9: PTX621 undecided: reads 4 bytes of `rows` that thread" in shown
    assert "writes at line 7: nothing orders the two; but" in shown
    counted = [line for line in shown.splitlines() if " undecided: sum: " in line]
    assert counted
    assert all(" reads " not in line and "_Z" not in line for line in counted)


def test_a_fault_has_one_trace_in_terms_of_the_program() -> None:
    given = dict([parse_argument("#1=0")])
    result = verify_text("\tadd.u32 %r4, %r4, %r9;\n" + UNROLLED, arguments=given, trace=True)
    assert len(from_runs(result)) > 1
    [trace] = result.traces
    assert trace.kernel == "sum"
    assert trace.origin is not None
    assert trace.origin.line in (7, 9)
    assert " of `rows` that thread " in trace.message
    assert f" at line {16 - trace.origin.line}: nothing orders the two" in trace.message
    assert not any("_Z" in each for each in (trace.message, *trace.launch))


def test_the_rules_assume_the_block_of_the_runs() -> None:
    asked = [each.missing for each in verify_text(UNROLLED, "").undecided if each.missing]
    assert asked
    given = verify_text(UNROLLED, "", block=(64,))
    assert not [each for each in given.undecided if each.missing]
    [fault] = fold_groups(given.diagnostics)
    assert (fault.severity, len(fault.copies)) == (Severity.ERROR, 2)
