"""Under an inferred launch, a finding is a warning only where the kernel's own code requires such a launch."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.results import FileResult
from ptxkit.source import SourceFile
from ptxkit.verifier import VerifyRequest, parse_argument, verify_source

ROOT = Path(__file__).resolve().parents[2]

HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 data, .param .u32 n, .param .u32 m, .param .align 8 .b8 sizes[16]) DIRECTIVES
{
	.reg .pred %p<6>;
	.reg .b32 %r<12>;
	.reg .b64 %rd<8>;
	.shared .align 4 .b32 tile[256];
	.shared .align 8 .b64 bar;
	ld.param.u64 %rd1, [data];
	ld.param.u32 %r7, [n];
	ld.param.u32 %r8, [m];
	ld.param.u32 %r9, [sizes+4];
	mov.u32 %r1, %tid.x;
	shl.b32 %r2, %r1, 2;
	mov.u32 %r3, tile;
	add.u32 %r4, %r3, %r2;
	mov.u32 %r10, bar;
	setp.eq.u32 %p1, %r1, 0;
"""
BLOCK = ".reqntid 64"


def verify_text(body: str, directives: str = BLOCK, **request: object) -> FileResult:
    text = HEAD.replace("DIRECTIVES", directives) + body + "\n\tret;\n}\n"
    return verify_source(SourceFile("k.ptx", text), VerifyRequest(schedules=3, **request))  # type: ignore[arg-type]


def neighbors(comparison: str) -> str:
    """Each thread reads the value that another one stored, and a predicate decides whether a barrier is between."""
    return f"""{comparison}
	st.shared.u32 [%r4], %r1;
	@%p2 bar.sync 0;
	xor.b32 %r5, %r2, 128;
	add.u32 %r5, %r3, %r5;
	ld.shared.u32 %r6, [%r5];
	st.global.u32 [%rd1], 1;
	st.shared.u32 [%r4+256], %r6;"""


def collect_warnings(result: FileResult) -> set[str]:
    return {each.code for each in result.diagnostics if "witness" in each.properties}


def reasons_of(result: FileResult, code: str) -> str:
    return " ".join(each.reason for each in result.undecided if each.code == code)


ONE = "\tsetp.eq.u32 %p2, %r7, 4096;"
PLACE = "\tsetp.lt.u32 %p2, %r7, 5;"


@pytest.mark.parametrize("comparison", [ONE, PLACE, "\tsetp.ne.u32 %p2, %r1, %r1;"])
def test_a_kernel_that_compares_a_number_permits_either_outcome(comparison: str) -> None:
    assert collect_warnings(verify_text(neighbors(comparison))) == {"PTX621"}


@pytest.mark.parametrize(
    ("comparison", "reason"),
    [
        ("\tadd.u32 %r5, %r7, 7;\n\tshr.u32 %r5, %r5, 12;\n\tsetp.ne.u32 %p2, %r5, 0;", "`n`"),  # a count of tiles
        (
            "\tadd.u32 %r5, %r7, %r8;\n\tadd.u32 %r5, %r5, 7;\n\tshr.u32 %r5, %r5, 12;\n\tsetp.ne.u32 %p2, %r5, 0;",
            "`m` and `n`",
        ),
        ("\tsetp.ne.u32 %p2, %r9, 9;", "`sizes`"),  # a number in a structure
        ("\tld.global.u32 %r5, [%rd1];\n\tsetp.eq.u32 %p2, %r5, 77;", "the contents of memory"),
    ],
)
def test_a_fault_that_depends_on_computed_numbers_is_a_question(comparison: str, reason: str) -> None:
    result = verify_text(neighbors(comparison))
    assert collect_warnings(result) == set()
    assert reason in reasons_of(result, "PTX621")
    assert "(--arg)" in reasons_of(result, "PTX621")


def test_the_same_fault_with_given_numbers_is_an_error() -> None:
    arguments = dict(parse_argument(each) for each in ("data=u32[64]", "n=9", "m=3"))
    text = HEAD.replace(", .param .align 8 .b8 sizes[16]", "").replace("\tld.param.u32 %r9, [sizes+4];\n", "")
    body = neighbors("\tadd.u32 %r5, %r7, 7;\n\tshr.u32 %r5, %r5, 12;\n\tsetp.ne.u32 %p2, %r5, 0;")
    source = SourceFile("k.ptx", text.replace("DIRECTIVES", BLOCK) + body + "\n\tret;\n}\n")
    result = verify_source(source, VerifyRequest(schedules=3, arguments=arguments))
    assert {(each.code, each.severity) for each in result.diagnostics} == {("PTX621", "error")}


NINE = "\tsetp.eq.u32 %p2, %r9, 9;\n"
COUNTS = [
    ("PTX601", NINE + "\tsetp.lt.and.u32 %p3, %r1, 32, %p2;\n\tselp.u32 %r6, 32, 64, %p3;\n\tbar.sync 1, %r6;"),
    (
        "PTX504",
        NINE + "\tselp.u32 %r6, 65, 64, %p2;\n\t@%p1 mbarrier.init.shared.b64 [%r10], %r6;\n\tbar.sync 0;\n"
        "\tmbarrier.arrive.shared.b64 %rd3, [%r10];\n"
        "W:\n\tmbarrier.try_wait.shared.b64 %p4, [%r10], %rd3;\n\t@!%p4 bra W;",
    ),
    (
        "PTX501",
        NINE + "\t@!%p1 bra O;\n\t@!%p2 mbarrier.init.shared.b64 [%r10], 1;\n"
        "\tmbarrier.arrive.shared.b64 %rd3, [%r10];\nO:",
    ),
]


@pytest.mark.parametrize(("code", "body"), COUNTS)
def test_counts_and_mbarriers_that_depend_on_inferred_values_are_a_question(code: str, body: str) -> None:
    result = verify_text(body)
    assert collect_warnings(result) == set()
    assert "`sizes`, chosen here" in reasons_of(result, code)


def test_undeclared_block_sizes_decide_races_of_warps_only_without_a_barrier() -> None:
    race = "\tst.shared.u32 [%r3], %r1;"
    pointers = HEAD.replace(", .param .u32 n, .param .u32 m, .param .align 8 .b8 sizes[16]", "")
    for name in ("n", "m", "sizes+4"):
        pointers = "\n".join(line for line in pointers.split("\n") if f"[{name}]" not in line)
    for body, wanted in ((race, set()), (race + "\n\tbar.sync 0;", {"PTX621"})):
        text = pointers.replace("DIRECTIVES", "") + body + "\n\tst.global.u32 [%rd1], 1;\n\tret;\n}\n"
        result = verify_source(SourceFile("k.ptx", text), VerifyRequest(schedules=2))
        assert collect_warnings(result) == wanted
        assert bool(reasons_of(result, "PTX621")) is not bool(wanted)


def test_inferred_bytes_of_a_copy_are_a_question() -> None:
    text = (ROOT / "corpus" / "rules" / "PTX503_ok_argument_of_the_expected_size.ptx").read_text("utf-8")
    result = verify_source(SourceFile("k.ptx", text), VerifyRequest(schedules=3))
    assert collect_warnings(result) == set()
    assert "`bytes`, chosen here" in reasons_of(result, "PTX503")
