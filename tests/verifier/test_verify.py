"""Both verifiers on one text: the runs, the findings, and the open questions."""

from __future__ import annotations

import itertools
import time

import pytest

from ptxkit.emulator import InvalidLaunchError
from ptxkit.results import FileResult, Status
from ptxkit.source import SourceFile
from ptxkit.verifier import VerifyRequest, parse_argument, verify_source

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"


def kernel(body: str, parameters: str = ".param .u64 out", directives: str = ".reqntid 64") -> str:
    return f"""{HEAD}.visible .entry k({parameters}) {directives}
{{
	.reg .pred %p<4>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<8>;
	.shared .align 4 .b32 tile[64];
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 4;
	add.u64 %rd3, %rd1, %rd2;
{body}
	ret;
}}
"""


def verify_text(text: str, **request: object) -> FileResult:
    return verify_source(SourceFile("k.ptx", text), VerifyRequest(schedules=4, **request))  # type: ignore[arg-type]


STORE = "\tst.global.u32 [%rd3], %r1;"
RACE = """	shl.b32 %r2, %r1, 2;
	mov.u32 %r3, tile;
	add.u32 %r2, %r2, %r3;
	st.shared.u32 [%r2], %r1;
BARRIER
	xor.b32 %r4, %r1, 32;
	shl.b32 %r4, %r4, 2;
	add.u32 %r4, %r4, %r3;
	ld.shared.u32 %r5, [%r4];
	st.global.u32 [%rd3], %r5;"""


def test_a_correct_kernel_is_clean_and_its_report_names_the_runs() -> None:
    result = verify_text(kernel(STORE))
    assert result.status is Status.CLEAN
    (run,) = result.runs
    assert (run.kernel, run.launch, run.runs, run.whole) == ("k", "grid 2, block 64", 4, 4)
    assert "out=1 MiB iota" in run.arguments
    assert run.steps > 4 * 2 * 64


def test_no_verdict_depends_on_the_clock_of_a_busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    hours = itertools.count(0, 3600)
    for clock in ("monotonic", "perf_counter", "time"):
        monkeypatch.setattr(time, clock, lambda: next(hours))
    result = verify_text(kernel(STORE))
    assert result.status is Status.CLEAN
    assert result.runs[0].whole == 4


def test_a_race_is_an_error_with_both_accesses_and_a_command_to_reproduce_it() -> None:
    result = verify_text(kernel(RACE.replace("BARRIER", "")))
    (found,) = [each for each in result.diagnostics if "witness" in each.properties]
    assert (found.code, found.severity) == ("PTX621", "error")
    witness = found.properties["witness"]
    assert isinstance(witness, dict)
    assert {access["instruction"] for access in witness["accesses"]} == {"read: ld.shared.u32", "write: st.shared.u32"}
    assert witness["policy"] in ("late", "torn", "eager", "random")
    assert witness["block"] == [64]


def test_a_race_that_the_linter_reports_for_several_places_is_one_finding() -> None:
    """The runs find a race at each place; the finding of the linter counts these."""
    places = "".join(
        f"\tst.shared.u32 [%r3+{4 * number}], 7;\n\tld.shared.u32 %r2, [%r3+{4 * number}];\n" for number in range(5)
    )
    result = verify_text(kernel(f"\tmov.u32 %r3, tile;\n{places}"), trace=True)
    (found,) = result.diagnostics
    assert found.message.startswith("formally a race: ")
    assert len(found.copies) == 4
    assert "witness" in found.properties
    assert [each.line for each in result.traces] == [found.source.position(found.span.start)[0]]


def test_the_same_kernel_with_its_barrier_is_clean() -> None:
    assert verify_text(kernel(RACE.replace("BARRIER", "\tbar.sync 0;"))).status is Status.CLEAN


def test_a_finding_that_depends_on_an_inferred_number_is_a_warning() -> None:
    body = RACE.replace("BARRIER", "\tld.param.u32 %r6, [n];\n\tsetp.eq.u32 %p1, %r6, 64;\n\t@!%p1 bar.sync 0;")
    text = kernel(body, ".param .u64 out, .param .u32 n")
    chosen = verify_text(text)
    assert {each.severity for each in chosen.diagnostics if each.code == "PTX621"} == {"warning"}
    given = verify_text(text, arguments=dict([parse_argument("n=64")]))
    assert {each.severity for each in given.diagnostics if each.code == "PTX621"} == {"error"}
    assert verify_text(text, arguments=dict([parse_argument("n=5")])).status is not Status.FINDINGS


def test_a_kernel_that_requires_more_than_was_inferred_is_undecided() -> None:
    text = kernel("\tadd.u64 %rd4, %rd1, 16777216;\n\tst.global.u32 [%rd4], %r1;", directives=".maxntid 64")
    result = verify_text(text)
    assert result.status is Status.UNDECIDED
    assert "give --arg" in result.undecided[0].reason


MEETING = "\tbar.sync 1, 192;\n\tbar.sync 0;" + STORE


def test_a_block_has_the_declared_size() -> None:
    (run,) = verify_text(kernel(MEETING, directives=".maxntid 192")).runs
    assert run.launch == "grid 2, block 192"


def test_an_undeclared_block_has_a_size_at_which_no_thread_deadlocks() -> None:
    result = verify_text(kernel(MEETING, directives=""))
    assert result.runs[0].launch == "grid 2, block 192"
    assert result.diagnostics == ()


def test_where_a_thread_count_is_computed_a_larger_size_is_selected() -> None:
    rest = """	.shared .align 8 .b64 bar;
	mov.u32 %r2, %ntid.x;
	add.s32 %r2, %r2, -128;
	mov.u32 %r3, bar;
	setp.eq.u32 %p1, %r1, 0;
	@%p1 mbarrier.init.shared.b64 [%r3], %r2;
"""
    result = verify_text(kernel(rest + STORE, directives=""))
    assert result.runs[0].launch == "grid 2, block 160"
    assert result.diagnostics == ()


def test_counts_are_not_reported_where_no_size_is_known_to_fit() -> None:
    rest = """	.shared .align 8 .b64 bar;
	mov.u32 %r3, bar;
	mov.u32 %r2, %ntid.y;
	sub.u32 %r2, %r2, 1;
	setp.eq.u32 %p1, %r1, 0;
	@%p1 mbarrier.init.shared.b64 [%r3], %r2;
"""
    result = verify_text(kernel(rest + STORE, directives=""))
    assert result.diagnostics == ()
    assert "the number of threads in a CTA was chosen (--block)" in result.undecided[-1].reason
    assert {each.code for each in verify_text(kernel(rest + STORE)).diagnostics} == {"PTX206"}


def test_a_kernel_that_deadlocks_at_every_size_is_reported_at_the_first() -> None:
    never = "\tsetp.ne.u32 %p1, %r1, 0;\n\t@%p1 bra over;\n\tbarrier.sync 1, 64;\nover:\n" + STORE
    result = verify_text(kernel(never, directives=""))
    assert result.runs[0].launch == "grid 2, block 128"
    assert result.diagnostics


def test_a_kernel_that_traps_intentionally_is_undecided_where_its_arguments_were_inferred() -> None:
    text = kernel(f"{STORE}\n\ttrap;", ".param .u64 out, .param .u32 n")
    assert verify_text(text).status is Status.UNDECIDED
    given = verify_text(text, arguments=dict([parse_argument("n=4")]))
    assert [each.code for each in given.diagnostics] == ["PTX650"]


def test_a_module_with_assembler_errors_is_not_run() -> None:
    result = verify_text(kernel("\tadd.u31 %r1, %r1, %r1;"))
    assert result.status is Status.FINDINGS
    assert result.runs == ()


def test_an_instruction_without_semantics_is_named() -> None:
    text = kernel("\tfabric.submit;").replace(".version 8.0", ".version 9.5").replace("sm_90", "sm_107a")
    result = verify_text(text)
    assert result.status is Status.UNDECIDED
    assert any("`fabric.submit`: the table has no semantics for it" in each.reason for each in result.undecided)


def test_a_missing_kernel_is_an_error_of_the_caller() -> None:
    with pytest.raises(InvalidLaunchError, match="there is no kernel `q`; the kernels are `k`"):
        verify_text(kernel(STORE), entries=("q",))


def test_a_wrong_argument_is_an_error_of_the_caller() -> None:
    with pytest.raises(InvalidLaunchError, match="n "):
        verify_text(kernel(STORE, ".param .u64 out, .param .u32 n"), arguments=dict([parse_argument("n=0.5")]))


def test_a_block_may_be_written_in_another_base() -> None:
    result = verify_text(kernel(STORE, directives=".reqntid 0x40"))
    assert [run.launch for run in result.runs] == ["grid 2, block 64"]


TENSOR_MEMORY = """.version 8.6
.target sm_100a
.address_size 64
.visible .entry k()
.reqntid 64
{{
	.shared .align 4 .b32 base; .reg .b32 %r<4>; .reg .pred %p1;
	mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32;
	@%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], 32;
	tcgen05.fence::before_thread_sync; bar.sync 0; tcgen05.fence::after_thread_sync;
	{address}
	tcgen05.st.sync.aligned.32x32b.x1.b32 [%r2], {{%r1}};
	tcgen05.wait::st.sync.aligned;
	tcgen05.fence::before_thread_sync; bar.sync 0; tcgen05.fence::after_thread_sync;
	ld.shared.u32 %r3, [base];
	@%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 32;
	ret;
}}
"""


@pytest.mark.parametrize(
    ("address", "wanted"),
    [
        ("mov.u32 %r2, 0;", set()),  # kernels that own all of Tensor Memory omit the lane
        ("mov.u32 %r2, 0x400000;", {"PTX707"}),
        ("ld.shared.u32 %r2, [base];", {"PTX707"}),
        ("ld.shared.u32 %r2, [base]; add.u32 %r2, %r2, 0x400000;", {"PTX707"}),
    ],
)
def test_constant_addresses_of_tensor_memory_need_no_lane(address: str, wanted: set[str]) -> None:
    assert {each.code for each in verify_text(TENSOR_MEMORY.format(address=address)).diagnostics} == wanted


def test_the_code_after_an_address_of_tensor_memory_without_a_lane_is_run() -> None:
    text = TENSOR_MEMORY.format(address="ld.shared.u32 %r2, [base];").replace(
        "\tret;", "\tst.shared.u32 [base], %r1;\n\tret;"
    )
    assert {each.code for each in verify_text(text).diagnostics} == {"PTX707", "PTX621"}


UNSET = "\tld.param.u32 %r2, [n];\n\tsetp.lt.u32 %p1, %r1, %r2;\n\t@%p1 mov.u32 %r5, 3;\n\tst.global.u32 [%rd3], %r5;"
COUNTED = ".param .u64 out, .param .u32 n"


def test_a_result_of_an_unwritten_register_is_a_question_where_a_number_was_inferred() -> None:
    result = verify_text(kernel(UNSET, COUNTED))
    assert not result.diagnostics
    (question,) = [each for each in result.undecided if each.code == "PTX651"]
    assert "reads %r5, which this thread has not written, and byte" in question.reason
    assert "give --arg" in question.reason


def test_a_result_of_an_unwritten_register_is_a_warning_where_the_number_was_given() -> None:
    result = verify_text(kernel(UNSET, COUNTED), arguments=dict([parse_argument("n=7")]))
    (found,) = [each for each in result.diagnostics if each.code == "PTX651"]
    assert found.severity == "warning"
    assert "reads %r5, which this thread has not written, and byte 28 of argument out" in found.message


SENT = """	.shared .align 16 .b8 sent[256];
	shl.b32 %r2, %r1, 2;
	mov.u32 %r3, sent;
	add.u32 %r2, %r2, %r3;
	st.shared.u32 [%r2], %r1;
	fence.proxy.async.shared::cta;
	bar.sync 0;
	setp.ne.u32 %p1, %r1, 0;
	@%p1 ret;
	mov.u32 %r4, %ctaid.x;
	mul.wide.u32 %rd4, %r4, 256;
	add.u64 %rd4, %rd1, %rd4;
	mov.u32 %r5, 0;
next:
	cp.async.bulk.global.shared::cta.bulk_group [%rd4], [%r3], 256;
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group.read 1;
	add.u64 %rd4, %rd4, 4096;
	add.u32 %r5, %r5, 1;
	setp.lt.u32 %p2, %r5, 3;
	@%p2 bra next;"""


def test_a_copy_that_reads_an_exited_cta_is_reported_under_the_same_policy_as_by_lint() -> None:
    result = verify_text(kernel(SENT))
    assert (result.diagnostics, result.undecided) == ((), ())
    assert {each.code for each in verify_text(kernel(SENT), policy="strict").diagnostics} == {"PTX303"}


COUNTED_RACE = """	.shared .align 4 .b8 bins[1024];
	mov.u32 %r6, bins;
	ld.param.u32 %r2, [n];
	mul.lo.u32 %r3, %r2, %r2;
	setp.ge.u32 %p1, %r1, %r3;
	@%p1 bra end;
	shr.u32 %r4, %r1, 1;
	shl.b32 %r4, %r4, 2;
	add.u32 %r4, %r4, %r6;
	PLACE
	st.shared.u32 [%r4], %r1;
end:"""


def test_a_race_with_all_numbers_that_lead_to_it_is_a_warning() -> None:
    result = verify_text(kernel(COUNTED_RACE.replace("PLACE", ""), COUNTED))
    found = [each for each in result.diagnostics if each.code == "PTX621" and "two threads" not in each.message]
    assert {each.severity for each in found} == {"warning"}


def test_a_race_with_some_numbers_that_lead_to_it_is_a_question() -> None:
    place = "setp.ge.u32 %p1, %r2, 200; @%p1 shl.b32 %r4, %r1, 2; @%p1 add.u32 %r4, %r4, %r6;"
    result = verify_text(kernel(COUNTED_RACE.replace("PLACE", place), COUNTED))
    assert not [each for each in result.diagnostics if each.code == "PTX621"]
    assert [each for each in result.undecided if each.code == "PTX621"]


HAND_OVER = """	ld.param.u32 %r2, [n];
	ld.param.u32 %r3, [m];
	mov.u32 %r4, %ctaid.x;
	mad.lo.u32 %r5, %r4, %r3, %r3;
	setp.gt.u32 %p1, %r5, %r2;
	@%p1 bra end;
	setp.ne.u32 %p1, %r3, %r2;
	@!%p1 bra end;
	setp.ne.u32 %p1, %r4, 0;
	ld.param.u64 %rd4, [flag];
	@%p1 bra next;
	st.global.u32 [%rd3], %r1;
	bar.sync 0;
	setp.ne.u32 %p2, %r1, 0;
	@!%p2 st.ORDER.gpu.global.u32 [%rd4], 1;
	bra end;
next:
	ld.acquire.gpu.global.u32 %r6, [%rd4];
	setp.eq.u32 %p2, %r6, 0;
	@%p2 bra next;
	ld.global.u32 %r7, [%rd3];
	mul.wide.u32 %rd5, %r4, 4096;
	add.u64 %rd5, %rd5, %rd3;
	st.global.u32 [%rd5], %r7;
end:"""
HANDED = ".param .u64 out, .param .u64 flag, .param .u32 n, .param .u32 m"


def test_a_flag_that_may_not_order_is_run_with_numbers_that_lead_to_it() -> None:
    result = verify_text(kernel(HAND_OVER.replace("ORDER", "relaxed"), HANDED))
    assert {each.code for each in result.diagnostics} & {"PTX621", "PTX624"}


def test_a_flag_that_orders_is_not_reported() -> None:
    result = verify_text(kernel(HAND_OVER.replace("ORDER", "release"), HANDED))
    assert not result.diagnostics
