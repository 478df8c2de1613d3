"""Kernels that do not declare their block size: faults at each size, and the option that decides the others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ptxkit import Severity, Verdict, lint
from ptxkit.model.launch_contract import BlockLimits
from ptxkit.report import full_report
from ptxkit.results import FileResult, Status
from tests.rules.support import Case

RULES = Path(__file__).resolve().parent.parent.parent / "corpus" / "rules"


def without_size(name: str, instead: str = "") -> str:
    """A fixture of the rules that does not declare its block size."""
    text, count = re.subn(r"\.reqntid[^\n{]*", instead, (RULES / f"{name}.ptx").read_text())
    assert count == 1
    return text


def print_report(verdict: Verdict) -> list[str]:
    lines = full_report([FileResult.of("k.ptx", verdict)])
    return ["".join(text for text, _ in line) for line in lines]


def test_a_fault_at_every_size_is_a_warning_that_names_the_sizes() -> None:
    verdict = lint(without_size("PTX621_bad_next_lane_without_warp_barrier"))
    [found] = verdict.diagnostics
    assert (found.code, found.severity, verdict.undecided) == ("PTX621", Severity.WARNING, ())
    assert found.notes[-1].endswith("at each size that was tried: 32, 64, 128, 256, 512, 1024")


REDUCTION = """.version 8.0
.target sm_90
.address_size 64

.visible .entry kernel()
{
  .reg .pred %p<3>; .reg .b32 %r<8>;
  .shared .align 4 .b8 tile[4096];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, tile;
  mad.lo.u32 %r4, %r1, 4, %r3; st.shared.u32 [%r4], %r1;
  shr.u32 %r2, %r2, 1; setp.ge.u32 %p1, %r1, %r2; @%p1 bra end;
  mad.lo.u32 %r5, %r2, 4, %r4; ld.shared.u32 %r6, [%r5];
end: ret;
}
"""


def test_the_help_is_that_of_the_largest_size() -> None:
    """A barrier of a warp would do for 32 threads only."""
    [found] = lint(REDUCTION).diagnostics
    assert (found.code, found.severity) == ("PTX621", Severity.WARNING)
    assert [label.message for label in found.labels] == ["write by another warp"]
    assert found.help is not None
    assert "`bar.sync 0;`" in found.help


def test_the_suggested_option_is_a_size_that_the_kernel_allows() -> None:
    verdict = lint(without_size("PTX504_bad_two_warps_where_one_should", ".maxntid 64"))
    remedies = [item.remedy for item in verdict.undecided]
    assert len(remedies) > 0
    assert set(remedies) == {"block size unknown: try --launch kernel:block=64"}


@pytest.mark.parametrize(
    ("name", "code"),
    [("PTX621_bad_read_without_barrier", "PTX621"), ("PTX601_bad_two_barriers_of_all_threads", "PTX601")],
)
def test_a_kernel_that_is_correct_at_some_size_is_clean_if_the_block_has_that_size(name: str, code: str) -> None:
    text = without_size(name)
    verdict = lint(text)
    assert verdict.diagnostics == ()
    assert len(verdict.undecided) > 0
    assert print_report(verdict)[0] == (
        "k.ptx: kernel kernel: clean if the block has 32 threads "
        f"(not 64, 128, 256, 512 or 1024, with which {code} occurs)"
    )
    assert FileResult.of("k.ptx", verdict).status is Status.CONDITIONAL
    assert lint(without_size(name, ".reqntid 32")) == Verdict(())
    assert {item.code for item in lint(without_size(name, ".reqntid 64")).diagnostics} == {code}


COUNTED = """.version 8.0
.target sm_90
.address_size 64

.visible .entry kernel()
{
  .shared .align 8 .b64 full;
  .shared .align 4 .b8 tile[8192];
  .reg .pred %p<3>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<2>;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, full;
  mov.u32 %r3, tile;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra READY;
  mbarrier.init.shared::cta.b64 [%r2], 64;
READY:
  bar.sync 0;
  shl.b32 %r4, %r1, 2;
  add.u32 %r5, %r3, %r4;
  xor.b32 %r6, %r4, 128;
  add.u32 %r6, %r3, %r6;
  st.shared.u32 [%r5], %r1;
  mbarrier.arrive.shared::cta.b64 %rd1, [%r2];
WAIT:
  mbarrier.test_wait.shared::cta.b64 %p2, [%r2], %rd1;
  @!%p2 bra WAIT;
  ld.shared.u32 %r7, [%r6];
  st.shared.u32 [%r5+4096], %r7;
  ret;
}
"""


def test_a_fault_at_the_only_size_that_the_barriers_count_is_a_warning() -> None:
    """Fewer threads wait without end, more arrive too often, and 64 read before they wait for the other warp."""
    read = "  ld.shared.u32 %r7, [%r6];\n"
    [found] = lint(COUNTED.replace(read, "").replace("WAIT:\n", f"{read}WAIT:\n")).diagnostics
    assert (found.code, found.severity) == ("PTX621", Severity.WARNING)
    assert "this holds with 64 threads, as many as its barriers count" in found.notes[-1]
    verdict = lint(COUNTED)
    assert verdict.diagnostics == ()
    assert FileResult.of("k.ptx", verdict).status is Status.CONDITIONAL


def test_code_that_no_thread_of_a_size_reaches_is_not_missed() -> None:
    """Only threads from 64 on read what the others have stored."""
    name = "PTX621_bad_relaxed_arrival"
    assert lint(without_size(name, ".reqntid 64")) == Verdict(())
    [found] = lint(without_size(name)).diagnostics
    assert (found.code, found.severity) == ("PTX621", Severity.WARNING)


def branching_kernel(condition: str, size: str = "") -> str:
    """A kernel in which all threads store, and the threads without a condition read what others have stored."""
    return f""".version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{size}
{{
	.shared .align 4 .b32 tile[4096];
	.reg .pred %p<3>;
	.reg .b32 %r<9>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [out];
	cvta.to.global.u64 %rd1, %rd1;
	mov.u32 %r1, %tid.x;
	mov.u32 %r8, %tid.y;
	mov.u32 %r2, %ntid.x;
	mad.lo.u32 %r1, %r8, %r2, %r1;
	shl.b32 %r3, %r1, 2;
	mov.u32 %r4, tile;
	add.u32 %r5, %r4, %r3;
	st.shared.u32 [%r5], %r1;
	bar.warp.sync -1;
	{condition}
	@%p1 bra done;
	ld.shared.u32 %r6, [%r5+128];
	mul.wide.u32 %rd2, %r1, 4;
	add.u64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r6;
done:
	ret;
}}
"""


@pytest.mark.parametrize("axes", [1, 2])
def test_a_fault_in_each_block_for_which_a_kernel_has_branches_is_a_warning(axes: int) -> None:
    text = branching_kernel("setp.gt.u32 %p1, %r1, 31;")
    if axes == 1:
        text = text.replace("mov.u32 %r8, %tid.y", "mov.u32 %r8, 0")
    [found] = lint(text).diagnostics
    sizes = "64, 128, 256, 512, 1024" if axes == 1 else "8x16, 16x8, 32x4, 16x16, 32x8, 256, 32x32"
    assert (found.code, found.severity) == ("PTX621", Severity.WARNING)
    assert f"each size of more than 32 threads that was tried: {sizes};" in found.notes[-1]


@pytest.mark.parametrize(("stride", "warnings"), [(32, 0), (256, 1)])
def test_a_loop_over_elements_with_the_stride_of_a_small_block_is_not_for_larger_blocks(
    stride: int, warnings: int
) -> None:
    """Its first test, which the threads of larger blocks fail, is whether a thread has an element at all."""
    text = branching_kernel("setp.gt.u32 %p1, %r1, 31;").replace("mov.u32 %r8, %tid.y", "mov.u32 %r8, 0")
    text = text.replace("\tld.shared", "next:\n\tld.shared")
    text = text.replace("done:", f"\tadd.u32 %r1, %r1, {stride};\n\tsetp.lt.u32 %p2, %r1, 32;\n\t@%p2 bra next;\ndone:")
    assert len(lint(text).diagnostics) == warnings


@pytest.mark.parametrize("bound", ["16", "%r2", "64"])
def test_a_branch_that_divides_one_warp_or_no_block_of_two_is_not_for_larger_blocks(bound: str) -> None:
    text = branching_kernel(f"setp.ge.u32 %p1, %r1, {bound};").replace("mov.u32 %r8, %tid.y", "mov.u32 %r8, 0")
    assert lint(text).diagnostics == ()


def test_usual_shapes_are_tried_for_a_kernel_that_counts_its_threads_along_two_axes() -> None:
    text = without_size("PTX621_bad_next_lane_without_warp_barrier")
    [found] = lint(text.replace("ret;", "mov.u32 %r1, %tid.y;\n ret;")).diagnostics
    assert (found.code, found.severity) == ("PTX621", Severity.WARNING)
    assert found.notes[-1].endswith("at each size that was tried: 16x2, 8x16, 16x8, 32x4, 16x16, 32x8, 256, 32x32")


def test_tensor_memory_of_one_warp_is_not_an_error_where_the_block_may_be_one_warp() -> None:
    verdict = lint(without_size("PTX704_bad_barrier_only"))
    assert "PTX707" not in {item.code for item in verdict.diagnostics}


def test_the_summary_names_the_most_frequent_reasons() -> None:
    verdict = lint(without_size("PTX621_bad_read_without_barrier"))
    questions = [(f"reason {number}", number) for number in range(1, 8)]
    one, *_ = verdict.undecided
    results = [
        FileResult.of(
            "k.ptx", Verdict((), tuple(type(one)("PTX300", reason, one.source, one.span) for _ in range(count)))
        )
        for reason, count in questions
    ]
    lines = ["".join(text for text, _ in line) for line in full_report(results)]
    assert lines == [
        *(f"{number} undecided: reason {number}" for number in (7, 6, 5, 4, 3)),
        "3 undecided for other reasons (--show-undecided prints them)",
        "checked 7 files: 0 errors, 0 warnings, 28 undecided",
    ]


@pytest.mark.parametrize("name", ["PTX607_bad_half_a_mask", "PTX607_bad_one_lane_too_many"])
def test_a_lane_outside_its_mask_in_blocks_of_every_size_is_a_warning(name: str) -> None:
    verdict = lint(without_size(name))
    assert [(item.code, item.severity) for item in verdict.diagnostics] == [("PTX607", Severity.WARNING)]
    assert verdict.undecided == ()


def test_a_lane_outside_its_mask_in_large_blocks_only_is_a_question() -> None:
    """Blocks of one warp skip the exchange."""
    text = without_size("PTX607_bad_half_a_mask", ".maxntid 64")
    skip = "mov.u32 %r9, %ntid.x;\n setp.le.u32 %p1, %r9, 32;\n @%p1 bra done;\n"
    guarded = text.replace("shfl.sync", f"{skip} shfl.sync", 1)
    verdict = lint(guarded.replace("ret;", "done:\n ret;"))
    assert verdict.diagnostics == ()
    assert [(item.code, item.missing) for item in verdict.undecided] == [("PTX607", "block=64")]


def test_an_incomplete_warpgroup_in_blocks_of_every_size_is_a_warning() -> None:
    verdict = lint(without_size("PTX315_bad_three_warps", ".maxntid 96"))
    assert [(item.code, item.severity) for item in verdict.diagnostics] == [("PTX315", Severity.WARNING)]
    assert verdict.undecided == ()


def test_an_incomplete_warpgroup_in_the_largest_block_only_is_a_question() -> None:
    verdict = lint(without_size("PTX315_bad_three_warps", ".maxntid 160"))
    assert verdict.diagnostics == ()
    assert [(item.code, item.missing) for item in verdict.undecided] == [("PTX315", "block=160")]


def test_half_a_block_that_multiplies_is_not_an_error_where_the_block_may_be_two_warpgroups() -> None:
    """In blocks of 256 threads, the lower half is a warpgroup."""
    text = without_size("PTX315_bad_first_warp_only")
    compared = "setp.gt.u32 %p4, %r1, 31;"
    assert compared in text
    halved = text.replace(compared, "mov.u32 %r9, %ntid.x;\n shr.u32 %r9, %r9, 1;\n setp.ge.u32 %p4, %r1, %r9;")
    verdict = lint(halved)
    assert verdict.diagnostics == ()
    assert "PTX315" in {item.code for item in verdict.undecided}


STAGES_OF_64_THREADS = """and.b32 %r10, %r1, 63; shl.b32 %r10, %r10, 4; shr.u32 %r11, %r1, 6; shl.b32 %r11, %r11, 12;
add.u32 %r12, %r2, %r10; add.u32 %r13, %r12, %r11; setp.ge.u32 %p3, %r1, 64;
@!%p3 cp.async.ca.shared.global [%r12], [%rd1], 16; cp.async.commit_group;
@!%p3 cp.async.ca.shared.global [%r12+4096], [%rd1], 16; cp.async.commit_group;
cp.async.wait_group 1; bar.sync 0; ld.shared.u32 %r14, [%r13]; st.global.u32 [%rd2], %r14; cp.async.wait_group 0;"""


def test_a_read_in_threads_that_only_larger_blocks_have_is_no_error() -> None:
    """Threads from number 64 on read the next stage: a kernel for two warps is correct."""
    verdict = lint(Case("stages", STAGES_OF_64_THREADS, bounds="").text)
    assert verdict.diagnostics == ()
    (question,) = verdict.undecided
    (limits,) = question.conditions
    assert question.code == "PTX302"
    assert limits == BlockLimits(possible=(64,), failing=(128, 256, 512, 1024), code="PTX302")
    assert {found.code for found in lint(Case("stages", STAGES_OF_64_THREADS).text).diagnostics} == {"PTX302"}


def test_code_that_only_a_larger_block_reaches_is_decided_by_a_trial_of_its_size() -> None:
    """The kernel is executed with 128 and 256 threads, of which none copies; thread 300 does."""
    verdict = lint(ROLES.format(threads=300, count=384))
    assert verdict.diagnostics == ()
    assert [each.code for each in verdict.undecided].count("PTX300") == 2
    assert {each.conditions for each in verdict.undecided} == {
        (BlockLimits(possible=(512,), failing=(128, 256), code="PTX503"),)
    }


def test_a_size_decides_a_question_that_another_size_left_open() -> None:
    """The kernel is executed with 128 threads, of which none copies, and with 256."""
    [asked] = lint(ROLES.format(threads=160, count=128)).undecided
    assert asked.conditions == (BlockLimits(possible=(256,)),)


@pytest.mark.parametrize(("initializer", "conditions"), [(200, (BlockLimits(possible=(256,)),)), (300, ())])
def test_a_size_decides_whether_a_thread_initializes_an_mbarrier(
    initializer: int, conditions: tuple[BlockLimits, ...]
) -> None:
    text = ROLES.format(threads=0, count=128).replace(
        "setp.eq.u32 %p1, %r1, 0;", f"setp.eq.u32 %p1, %r1, {initializer};"
    )
    text = text.replace("setp.ge.u32 %p2, %r1, 128;", "setp.ge.u32 %p2, %r1, 0;").replace(
        "\n{\n", "\n.maxntid 256\n{\n"
    )
    asked = [each for each in lint(text).undecided if each.code == "PTX501"]
    assert asked
    assert {each.conditions for each in asked} == {conditions}


ROLES = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in)
{{
	.shared .align 128 .b8 tile[256];
	.shared .align 8 .b64 full;
	.shared .align 8 .b64 done;
	.reg .pred %p<5>;
	.reg .b32 %r<4>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [in];
	cvta.to.global.u64 %rd1, %rd1;
	mov.u32 %r1, %tid.x;
	setp.eq.u32 %p1, %r1, 0;
	@%p1 mbarrier.init.shared.b64 [full], 1;
	@%p1 mbarrier.init.shared.b64 [done], {count};
	bar.sync 0;
	setp.ge.u32 %p2, %r1, 128;
	@%p2 bra COPIES;
LOOP:
	mbarrier.try_wait.parity.shared.b64 %p3, [done], 0;
	@!%p3 bra LOOP;
	ret;
COPIES:
	setp.ne.u32 %p4, %r1, {threads};
	@%p4 bra WAIT;
	mbarrier.arrive.expect_tx.shared.b64 _, [full], 256;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], 256, [full];
WAIT:
	mbarrier.try_wait.parity.shared.b64 %p3, [full], 0;
	@!%p3 bra WAIT;
	mbarrier.arrive.shared.b64 _, [done];
	ret;
}}
"""


@pytest.mark.parametrize(("waiter", "conditions"), [(40, ()), (200, (BlockLimits(possible=(256,)),))])
def test_a_smaller_block_than_the_declared_one_proves_nothing_by_itself(
    waiter: int, conditions: tuple[BlockLimits, ...]
) -> None:
    """One thread waits for the multiplication before the barrier; a block of 128 threads does not have thread 200."""
    text = without_size("PTX708_ok_barrier_before", ".maxntid 256")
    start, end = (
        text.index("wait:\n"),
        text.index("\ttcgen05.fence::before_thread_sync;\n\tbar.sync 0;\n\t@!%p2 bra end;"),
    )
    loop = "".join(text[start:end].splitlines(keepends=True)[:3])
    text = f"{text[:start]}\tsetp.ne.u32 %p5, %r1, {waiter};\n\t@%p5 bra waited;\n{loop}waited:\n{text[end:]}"
    verdict = lint(text)
    assert verdict.diagnostics == ()
    asked = [each.conditions for each in verdict.undecided if each.code == "PTX708"]
    assert asked == [conditions] * bool(conditions)


def reduction_by_512_threads(first: str = "bar.sync 0;", second: str = "bar.sync 0;") -> str:
    """Two steps of a reduction. first, second: what is before each."""
    body = f"""shl.b32 %r10, %r1, 2; add.u32 %r11, %r2, %r10; st.shared.u32 [%r11], %r1; {first}
setp.gt.u32 %p3, %r1, 255; @%p3 bra first;
ld.shared.u32 %r12, [%r11]; ld.shared.u32 %r13, [%r11+1024]; add.u32 %r12, %r12, %r13; st.shared.u32 [%r11], %r12;
first: {second}
setp.gt.u32 %p4, %r1, 127; @%p4 bra second;
ld.shared.u32 %r12, [%r11]; ld.shared.u32 %r13, [%r11+512]; add.u32 %r12, %r12, %r13; st.shared.u32 [%r11], %r12;
second: bar.sync 0;"""
    return Case("reduction", body, bounds="").text


def test_a_race_of_threads_that_only_larger_blocks_have_is_a_warning() -> None:
    [found] = lint(reduction_by_512_threads(second="")).diagnostics
    assert (found.code, found.severity) == ("PTX621", Severity.WARNING)
    assert lint(reduction_by_512_threads()) == Verdict(())


def test_a_race_that_only_the_size_of_all_branches_has_is_a_question() -> None:
    verdict = lint(reduction_by_512_threads(first=""))
    assert verdict.diagnostics == ()
    assert {item.code for item in verdict.undecided} == {"PTX621"}


def test_all_questions_that_one_size_decides_are_one_condition_of_the_kernel() -> None:
    body = """and.b32 %r10, %r1, 31; shl.b32 %r10, %r10, 2; add.u32 %r11, %r2, %r10; st.shared.u32 [%r11], %r1;
st.shared.u32 [%r11], %r6; bar.warp.sync -1; xor.b32 %r11, %r11, 4; ld.shared.u32 %r12, [%r11];"""
    verdict = lint(Case("stores by lanes", body, bounds="").text)
    assert {item.kernel for item in verdict.undecided} == {"kernel"}
    assert [line for line in print_report(verdict) if "clean if" in line] == [
        "k.ptx: kernel kernel: clean if the block has 32 threads "
        "(not 64, 128, 256, 512 or 1024, with which PTX621 occurs)"
    ]


def test_a_size_that_leaves_one_of_two_questions_at_an_instruction_decides_none_of_them() -> None:
    body = """and.b32 %r10, %r1, 127; shl.b32 %r10, %r10, 4; add.u32 %r11, %r2, %r10; @%p1 bra copy;
st.shared.b32 [%r11], %r1; bra end;
copy: cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd2, {%r6}], [%r2]; cp.async.bulk.commit_group;
cp.async.bulk.wait_group.read 0;
end: st.shared.b32 [%r11+4], %r6;"""
    verdict = lint(Case("a copy beside stores", body, bounds="").text)
    places = {item.span for item in verdict.undecided if "box" in item.reason}
    assert places
    assert not any(item.conditions for item in verdict.undecided if item.span in places and item.code == "PTX621")


def numbered_kernel(barrier: str, block: str = "") -> str:
    """A kernel whose warps each store a word, of which the first warp reads those of warps; any shape of the block."""
    return f""".version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{block}
{{
  .shared .align 4 .b32 sums[32];
  .reg .pred %p<4>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %ntid.y;
  mov.u32 %r2, %tid.z;
  mov.u32 %r3, %tid.y;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  mov.u32 %r5, %ntid.x;
  mov.u32 %r6, %tid.x;
  mad.lo.s32 %r7, %r4, %r5, %r6;
  and.b32 %r8, %r7, 31;
  setp.ne.u32 %p1, %r8, 0;
  shr.u32 %r9, %r7, 3;
  and.b32 %r9, %r9, 124;
  mov.u32 %r10, sums;
  add.u32 %r9, %r10, %r9;
  @%p1 bra STORED;
  st.shared.u32 [%r9], %r7;
STORED:
  {barrier}
  setp.ne.u32 %p2, %r6, 0;
  shr.u32 %r11, %r5, 5;
  mov.u32 %r12, 1;
  setp.ge.u32 %p3, %r12, %r11;
  or.pred %p2, %p2, %p3;
  @%p2 bra DONE;
NEXT:
  shl.b32 %r13, %r12, 2;
  add.u32 %r13, %r10, %r13;
  ld.shared.u32 %r14, [%r13];
  st.global.u32 [%rd1], %r14;
  add.u32 %r12, %r12, 1;
  setp.lt.u32 %p1, %r12, %r11;
  @%p1 bra NEXT;
DONE:
  ret;
}}
"""


def test_code_that_a_block_of_one_warp_does_not_reach_is_wrong_in_all_larger_blocks() -> None:
    """One warp reads no word of another one, which shows nothing about the read."""
    [found] = lint(numbered_kernel("")).diagnostics
    assert (found.code, found.severity) == ("PTX621", Severity.WARNING)
    assert found.notes[-1].endswith(
        "at each size of more than one warp that was tried: 64, 128, 256, 512, 1024; "
        "a block of one warp does not execute the instruction"
    )
    assert lint(numbered_kernel("bar.sync 0;")).diagnostics == ()
    assert lint(numbered_kernel("", ".reqntid 32")).diagnostics == ()
