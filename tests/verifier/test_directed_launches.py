"""Launches that are chosen so that runs reach what they are about: alignment, structures, tables, buffers, paths."""

from __future__ import annotations

import pytest

from ptxkit.analysis.dataflow.pointer_params import pointer_parameters
from ptxkit.analysis.ir.program import flatten
from ptxkit.results import FileResult
from ptxkit.source import SourceFile
from ptxkit.syntax import parse
from ptxkit.verifier import VerifyRequest, directed_runs, verify_source
from ptxkit.verifier.fault_dependence import FaultDependence

KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k({parameters}) .reqntid 64
{{
 .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %d<8>;
 .shared .align 4 .b8 tile[256]; .shared .align 4 .b8 rows[1024];
 mov.u32 %r1, %tid.x;
{body}
END:
 ret;
}}
"""
RACE = " st.shared.u32 [tile], %r1;"
"""All threads write different values to the same bytes."""
ROW = """ shl.b32 %r2, %r1, 4; mov.u32 %r3, rows; add.u32 %r3, %r3, %r2;
 ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r3];
"""
"""Needs more than the alignment of its variable."""


def verify_text(parameters: str, body: str, schedules: int = 4) -> FileResult:
    text = KERNEL.format(parameters=parameters, body=body)
    return verify_source(SourceFile("k.ptx", text), VerifyRequest(schedules=schedules))


def codes_of(result: FileResult) -> set[str]:
    return {each.code for each in result.diagnostics if "witness" in each.properties}


def test_the_code_after_an_access_that_needs_more_alignment_is_run() -> None:
    result = verify_text("", ROW + RACE)
    assert codes_of(result) == {"PTX205", "PTX621"}
    assert result.runs[0].reached == result.runs[0].instructions


def test_the_alignment_of_the_other_runs_is_named() -> None:
    result = verify_text(".param .u32 n", ROW + " ld.param.u32 %r8, [n];\n" + RACE)
    assert "variables in shared memory at multiples of 128 bytes" in result.runs[0].arguments


def test_numbers_in_a_structure_are_chosen_as_those_in_parameters() -> None:
    body = " ld.param.v2.u32 {%r2, %r3}, [s+8]; setp.eq.u32 %p0, %r3, 0;\n @%p0 bra END;\n" + RACE
    result = verify_text(".param .align 8 .b8 s[16]", body, schedules=8)
    assert "s=16 bytes of 0, 9 at 8, 12" in result.runs[0].arguments
    assert "s=16 bytes of 0, 0 at 8, 12" in result.runs[0].arguments
    assert result.runs[0].reached == result.runs[0].instructions


def test_a_number_of_floating_point_in_a_structure_is_one() -> None:
    text = " .reg .f32 %f<2>; ld.param.f32 %f0, [s+4]; ld.param.u64 %d0, [out]; st.global.f32 [%d0], %f0;"
    result = verify_text(
        ".param .align 8 .b8 s[8], .param .u64 out", text.replace(" st.", " setp.eq.u32 %p0, %r1, 0; @%p0 st.")
    )
    assert result.runs[0].arguments[0] == "s=8 bytes of 0, 1.0 at 4"
    assert result.status == "clean"


def test_addresses_that_a_kernel_loads_are_those_of_buffers() -> None:
    body = """ ld.param.u64 %d0, [table]; mul.wide.u32 %d1, %r1, 8; add.u64 %d0, %d0, %d1;
 ld.global.u64 %d2, [%d0]; mul.wide.u32 %d3, %r1, 4; add.u64 %d2, %d2, %d3;
 st.global.u32 [%d2], %r1;"""
    result = verify_text(".param .u64 table", body)
    assert result.runs[0].whole == 4
    assert result.runs[0].arguments[0] == "table=512 addresses of 2 arrays of 1 MiB iota"
    assert result.diagnostics == ()


def test_numbers_that_a_kernel_loads_are_no_addresses() -> None:
    body = """ ld.param.u64 %d0, [index]; ld.param.u64 %d4, [out]; mul.wide.u32 %d1, %r1, 8; add.u64 %d0, %d0, %d1;
 ld.global.u64 %d2, [%d0]; and.b64 %d3, %d2, 255; shl.b64 %d5, %d3, 2; add.u64 %d6, %d4, %d5;
 ld.global.u32 %r2, [%d6];"""
    result = verify_text(".param .u64 index, .param .u64 out", body)
    assert result.runs[0].arguments[:2] == ("index=1 MiB iota", "out=1 MiB iota")
    assert result.status == "clean"


def test_a_buffer_that_a_run_leaves_is_made_larger() -> None:
    body = " ld.param.u64 %d0, [a]; ld.param.u32 %r2, [n]; mul.wide.u32 %d1, %r1, 4; add.u64 %d0, %d0, %d1;\n"
    result = verify_text(".param .u64 a, .param .u32 n", body + " ld.global.u32 %r3, [%d0+2097152];\n" + RACE)
    assert "a=16 MiB iota" in result.runs[0].arguments
    assert result.runs[0].whole == 4
    assert codes_of(result) == {"PTX621"}


def test_a_path_that_lint_has_followed_is_run() -> None:
    body = """ ld.param.u32 %r2, [n]; setp.ne.u32 %p0, %r2, 77; @%p0 bra END;
 ld.param.u64 %d0, [a]; ld.global.u32 %r5, [%d0]; and.b32 %r5, %r5, 252; mov.u32 %r6, tile; add.u32 %r6, %r6, %r5;
 st.shared.u32 [%r6], %r1;"""
    result = verify_text(".param .u64 a, .param .u32 n", body)
    assert "n=77" in result.runs[0].arguments
    assert result.runs[0].reached == result.runs[0].instructions


def test_the_runs_of_a_path_have_the_larger_buffers_that_other_runs_need() -> None:
    body = """ ld.param.u64 %d0, [a]; ld.global.u32 %r5, [%d0+2097152];
 ld.param.u32 %r2, [n]; setp.ne.u32 %p0, %r2, 77; @%p0 bra END;
 and.b32 %r5, %r5, 252; mov.u32 %r6, tile; add.u32 %r6, %r6, %r5; st.shared.u32 [%r6], %r1;"""
    (run,) = verify_text(".param .u64 a, .param .u32 n", body).runs
    assert {"a=16 MiB iota", "n=77"} <= set(run.arguments)
    assert run.reached == run.instructions


def test_an_address_of_a_parameter_in_32_bits_is_completed() -> None:
    body = """ mov.b32 %r2, s; cvt.u64.u32 %d0, %r2; cvta.param.u64 %d0, %d0; ld.u32 %r3, [%d0+4];
 setp.eq.u32 %p0, %r3, 0; @%p0 bra END;"""
    result = verify_text(".param .align 8 .b8 s[8]", body)
    assert result.runs[0].whole == 4
    assert result.diagnostics == ()


AWAITED = """ ld.param.u64 %d0, [out]; ld.param.u64 %d1, [flag]; ld.param.u32 %r2, [rounds]; mov.u32 %r3, %ctaid.x;
 setp.ne.u32 %p0, %r1, 0; @%p0 bra END;
 setp.ne.u32 %p0, %r3, 0; @%p0 bra NEXT;
 st.global.u32 [%d0], %r1;
 fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%d1], 5;
 bra END;
NEXT:
 ld.relaxed.gpu.global.u32 %r4, [%d1];
 add.u32 %r5, %r4, 1; setp.lt.u32 %p1, %r5, EXPECTED; @%p1 bra NEXT;
 fence.acq_rel.gpu;
 ld.global.u32 %r6, [%d0]; add.u64 %d2, %d0, 4096; st.global.u32 [%d2], %r6;"""
"""One CTA waits until another one has counted up."""


@pytest.mark.parametrize(("expected", "wanted"), [("%r2", ["rounds"]), ("6", [])])
def test_a_chosen_number_may_be_the_value_for_which_a_flag_is_polled(expected: str, wanted: list[str]) -> None:
    names = ["out", "flag", "rounds"]
    parameters = ".param .u64 out, .param .u64 flag, .param .u32 rounds"
    module = parse(KERNEL.format(parameters=parameters, body=AWAITED.replace("EXPECTED", expected)))
    program = flatten(module, module.function("k"))
    pointers = pointer_parameters(program)
    influence = FaultDependence(program, has_block=True, has_cluster=True, chosen=names, pointers=pointers)
    assert influence.assumed_numbers(influence.awaited_sources) == wanted


@pytest.mark.parametrize(("parameters", "differ"), [(".param .u32 n, .param .u32 m", True), (".param .u32 n", False)])
def test_several_numbers_are_also_different_ones(parameters: str, differ: bool) -> None:
    """A fault may show only where one number is a size, and another one a count of rounds."""
    other = "ld.param.u32 %r3, [m];" if differ else ""
    result = verify_text(parameters, f" ld.param.u32 %r2, [n]; {other}")
    assert {"n=9", "n=64"} < set(result.runs[0].arguments)
    assert ({"n=4", "m=16", "n=16", "m=4"} <= set(result.runs[0].arguments)) is differ
    assert result.runs[0].runs == (8 if differ else 4)


def test_counters_in_a_structure_by_which_ctas_wait_are_zero() -> None:
    body = """ ld.param.u64 %d0, [s+8]; ld.param.u64 %d1, [s]; mov.u32 %r2, %ctaid.x; setp.ne.u32 %p0, %r1, 0;
 @%p0 bra END;
 mul.wide.u32 %d2, %r2, 4; add.u64 %d2, %d1, %d2; st.global.u32 [%d2], %r2;
 red.release.gpu.global.add.u32 [%d0], 1; mov.u32 %r3, %nctaid.x;
WAIT:
 ld.acquire.gpu.global.u32 %r4, [%d0]; setp.lt.u32 %p1, %r4, %r3;
 @%p1 bra WAIT;
 xor.b32 %r2, %r2, 1; mul.wide.u32 %d3, %r2, 4; add.u64 %d3, %d1, %d3; ld.global.u32 %r5, [%d3];
 st.global.u32 [%d3+512], %r5;"""
    result = verify_text(".param .align 8 .b8 s[16]", body)
    assert any("zeros at 8" in each for each in result.runs[0].arguments)
    assert codes_of(result) == set()
    assert result.runs[0].whole == 4


def test_memory_may_contain_usual_sizes() -> None:
    """Rows of a pitch that the kernel loads are aligned only if it is a multiple of 4 numbers."""
    body = (
        """ ld.param.u64 %d0, [pitch]; ld.global.u32 %r2, [%d0]; ld.param.u64 %d1, [lines]; setp.lt.u32 %p0, %r2, 32;
 @%p0 bra END;
 mul.lo.u32 %r3, %r1, %r2; mul.wide.u32 %d2, %r3, 4; add.u64 %d1, %d1, %d2;
 ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%d1];
"""
        + RACE
    )
    result = verify_text(".param .u64 pitch, .param .u64 lines", body, schedules=16)
    assert "pitch=1 MiB of 64" in result.runs[0].arguments
    assert "PTX621" in {each.code for each in (*result.diagnostics, *result.undecided)}
    assert result.runs[0].reached == result.runs[0].instructions


COUNTED = """ ld.param.u32 %r2, [count]; ld.param.u32 %r8, [n]; ld.param.u64 %d0, [out];
 add.u32 %r3, %r2, 3; setp.ge.u32 %p0, %r3, 9; @%p0 bra END;
 st.global.u32 [%d0], %r8;
"""
"""Only a few counts lead to what follows."""


def test_counts_that_lead_to_a_fault_are_varied_with_whole_tiles_for_the_other_numbers() -> None:
    result = verify_text(".param .u64 out, .param .u32 count, .param .u32 n", COUNTED + RACE, schedules=9)
    assert codes_of(result) == {"PTX621"}
    assert {"n=64", "n=128", "count=4"} <= set(result.runs[0].arguments)


def test_a_fault_that_needs_two_numbers_to_fit_each_other_is_a_question() -> None:
    guarded = " setp.eq.u32 %p1, %r2, %r8; @%p1" + RACE
    result = verify_text(".param .u64 out, .param .u32 count, .param .u32 n", COUNTED + guarded, schedules=9)
    assert not codes_of(result)
    assert "PTX621" in {each.code for each in result.undecided}


INDEXED = """ mov.b64 %d0, s; and.b32 %r2, %r1, 1; mul.wide.u32 %d1, %r2, 8; add.u64 %d2, %d0, %d1;
 ld.param.u64 %d3, [%d2+8]; mul.wide.u32 %d4, %r1, 4; add.u64 %d3, %d3, %d4; st.global.u32 [%d3], %r1;
 ld.param.u32 %r3, [s+24]; setp.eq.u32 %p0, %r3, 0; @%p0 bra END;
"""
"""Half of the threads store where each of two pointers in a structure leads. A number follows these."""


def test_an_index_selects_pointers_of_a_structure() -> None:
    result = verify_text(".param .align 8 .b8 s[32]", INDEXED + RACE)
    assert "s=32 bytes of 0, 1 MiB iota at 8, 1 MiB iota at 16, 9 at 24" in result.runs[0].arguments
    assert result.runs[0].whole == result.runs[0].runs
    assert codes_of(result) == {"PTX621"}


def test_a_pointer_that_is_loaded_without_an_index_is_no_array() -> None:
    body = INDEXED.replace("add.u64 %d2, %d0, %d1", "mov.u64 %d2, %d0")
    result = verify_text(".param .align 8 .b8 s[32]", body + RACE)
    assert "s=32 bytes of 0, 1 MiB iota at 8, 9 at 24" in result.runs[0].arguments


def test_several_numbers_that_lead_to_a_question_are_solved_for() -> None:
    body = """ ld.param.u32 %r2, [n]; ld.param.u32 %r3, [m]; setp.ne.u32 %p0, %r2, 77; @%p0 bra END;
 add.u32 %r4, %r2, %r3; setp.ne.u32 %p1, %r4, 82; @%p1 bra END;
 ld.param.u64 %d0, [a]; ld.global.u32 %r5, [%d0]; and.b32 %r5, %r5, 252; mov.u32 %r6, tile; add.u32 %r6, %r6, %r5;
 st.shared.u32 [%r6], %r1;"""
    result = verify_text(".param .u64 a, .param .u32 n, .param .u32 m", body)
    assert {"n=77", "m=5"} <= {*result.runs[0].arguments}
    assert result.runs[0].reached == result.runs[0].instructions
    assert result.runs[0].asked == result.runs[0].questions > 0


def test_floating_point_arguments_differ_in_some_runs() -> None:
    body = """ .reg .f32 %f<3>; ld.param.f32 %f0, [low]; ld.param.f32 %f1, [high];
 setp.ge.f32 %p0, %f0, %f1; @%p0 bra END;
 ld.param.u32 %r2, [n]; ld.param.u32 %r3, [m]; setp.eq.u32 %p1, %r2, %r3; @%p1 bra END;
 ld.param.u64 %d0, [a]; ld.global.u32 %r5, [%d0]; and.b32 %r5, %r5, 252; mov.u32 %r6, tile; add.u32 %r6, %r6, %r5;
 st.shared.u32 [%r6], %r1;"""
    parameters = ".param .u64 a, .param .f32 low, .param .f32 high, .param .u32 n, .param .u32 m"
    result = verify_text(parameters, body)
    assert {"low=1.0", "high=4.0"} <= {*result.runs[0].arguments}
    assert result.runs[0].reached == result.runs[0].instructions


def test_inputs_that_were_not_tried_are_a_question(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(directed_runs, "MAX_COVERAGE_STEPS", 1)
    body = """ ld.param.u32 %r2, [n]; ld.param.u32 %r3, [m]; setp.eq.u32 %p0, %r2, %r3; @%p0 bra END;
 ld.param.u64 %d0, [a]; ld.global.u32 %r5, [%d0]; and.b32 %r5, %r5, 252; mov.u32 %r6, tile; add.u32 %r6, %r6, %r5;
 st.shared.u32 [%r6], %r1;"""
    result = verify_text(".param .u64 a, .param .u32 n, .param .u32 m", body)
    (reason,) = [each.reason for each in result.undecided if "inputs that may lead" in each.reason]
    assert "only 1 of" in reason
    assert "--effort" in reason
