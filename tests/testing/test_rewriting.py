"""Rewrites of kernels: their changes, the preserved meaning, and the law of the campaign on a few dozen cases."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from ptxkit.diagnostics import Verdict
from ptxkit.emulator import RunBudget, run
from ptxkit.linter import lint
from ptxkit.syntax import parse, print_module
from ptxkit.testing.oracles.ptxas import installed_ptxas
from ptxkit.testing.pipelines.campaign import PipelineJob
from ptxkit.testing.rewriting import campaign
from ptxkit.testing.rewriting.campaign import (
    EXCEPTION,
    REFUSED,
    REWRITES,
    RewriteCase,
    choose_cases,
    judge_rewrite,
    outcome_table,
    rewrite_module,
    run_cases,
)
from ptxkit.testing.rewriting.kernel_rewrite import KernelRewrite
from ptxkit.testing.rewriting.sources import SourceCorpus

FOLDER = Path(__file__).resolve().parents[2] / "corpus"
CORPUS = SourceCorpus(FOLDER)
BY_NAME = {each.name: each for each in REWRITES}

KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 64, 1, 1
{
	.shared .align 16 .b8 tile[1024];
	.reg .pred %first, %more;
	.reg .b32 %t, %a, %v, %i;
	.reg .b64 %o;
	ld.param.u64 %o, [out];
	mov.u32 %t, %tid.x;
	mov.u32 %a, tile;
	setp.eq.u32 %first, %t, 0;
	mov.u32 %i, 0;
	@!%first bra sum;
	st.shared.u32 [%a], %t;
sum:
	add.u32 %i, %i, 1;
	setp.lt.u32 %more, %i, 4;
	@%more bra sum;
	bar.sync 0;
	ld.shared.u32 %v, [%a];
	@%first st.global.u32 [%o], %v;
	ret;
}
"""


def new_lines(name: str, seed: str = "1") -> list[str]:
    """Returns the lines that a rewrite adds to the kernel, stripped, in their order."""
    module = rewrite_module(parse(KERNEL, "k.ptx"), BY_NAME[name], seed)
    assert module is not None
    old = {line.strip() for line in print_module(parse(KERNEL)).splitlines()}
    return [line.strip() for line in print_module(module).splitlines() if line.strip() not in old]


def holds(name: str, *parts: str) -> bool:
    """Returns whether each part is in a new line, for one of a few choices of places."""
    return any(
        all(any(part in line for line in lines) for part in parts)
        for lines in (new_lines(name, str(seed)) for seed in range(12))
    )


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("spill-local", ("st.local.b32 [", "ld.local.b32 ")),
        ("spill-shared", ("shl.b32 ", "st.shared.b32 [%rw", "ld.shared.b32 ")),
        ("pack-registers", ("mov.b64 %", "mov.b64 {")),
        ("identity-chain", ("prmt.b32 ",)),
        ("identity-chain", ("xor.b64 ",)),
        ("split-register", ("mov.b64 %rw",)),
        ("masked-index", ("ld.global.u32 ", "and.b32 ", "xor.b32 ", "add.u64 ")),
        ("equal-condition", ("setp.eq.u32 ", "and.pred ")),
        ("equal-arms", ("setp.gt.u32 ", "bra $rw", "other:")),
        ("equal-operation", ("mad.lo.s32 ",)),
        ("equal-operation", ("not.pred %more",)),
        ("generic-address", ("cvt.u64.u32 ", "cvta.shared.u64 ", "st.u32 [%rw")),
        ("generic-address", ("mov.u64 ", "cvta.global.u64 ", "@%first st.u32 [%rw")),
        ("address-form", ("add.s32 ", "_form+-16]")),
        ("address-form", ("cvta.to.global.u64 ", "_form]")),
        ("guard-to-branch", ("@!%first bra $rw", "st.global.u32 [%o], %v;")),
        ("branch-to-guards", ("@%first st.shared.u32 [%a], %t;",)),
        ("print-call", (".extern .func", "call.uni (rw_length), vprintf")),
        ("assert-call", ("call __assertfail",)),
        ("peel-loop", ("@!%more bra $rw",)),
        ("unroll-loop", ("@!%more bra $rw",)),
        ("outline", (".func rewriting_part", "call rewriting_part")),
        ("outline-indirect", (".calltargets rewriting_part", "call (rw")),
        ("outline-indirect", (".callprototype", "mov.u64 %rw")),
        ("outline-indirect", (".const .align 8 .u64 rewriting_part", "ld.const.u64 %rw")),
        ("split-label", ("_same:",)),
        ("nest-block", ()),
        ("shadow-register", ("mov.b32 %", "st.shared.u32 [%")),
    ],
)
def test_a_rewrite_makes_its_documented_change(name: str, parts: tuple[str, ...]) -> None:
    assert holds(name, *parts)


@pytest.mark.parametrize("rewrite", REWRITES, ids=lambda each: each.name)
def test_a_rewritten_kernel_assembles_computes_the_same_and_depends_on_the_seed_only(rewrite: KernelRewrite) -> None:
    pipelines = [PipelineJob(0, number, is_broken=False, target="sm_90").pipeline() for number in (1, 4)]
    texts: list[str] = []
    for pipeline in pipelines:
        made = rewrite_module(parse(pipeline.module(), "k.ptx"), rewrite, "a")
        assert made == rewrite_module(parse(pipeline.module(), "k.ptx"), rewrite, "a")
        if made is None:
            continue
        texts.append(print_module(made))
        assert texts[-1] != print_module(parse(pipeline.module()))
        assert installed_ptxas()[0].refusal(texts[-1], pipeline.target) is None
        outcome = pipeline.launch.emulate(texts[-1], policy="random", seed=1)
        assert not outcome.findings
        if not outcome.unsupported_reason:
            assert np.array_equal(outcome.outputs[1], pipeline.expected_output())
    assert texts


def test_an_edit_of_a_nested_block_stays_in_it() -> None:
    text = KERNEL.replace("bar.sync 0;", "{ .reg .b32 %inner; mov.u32 %inner, 5; st.shared.u32 [%a+4], %inner; }")
    for seed in range(8):
        made = rewrite_module(parse(text, "k.ptx"), BY_NAME["generic-address"], str(seed))
        assert made is not None
        printed = print_module(made)
        assert installed_ptxas()[0].refusal(printed, "sm_90") is None
        if "[%rw" in printed.partition("%inner, 5;")[2].partition("}")[0]:
            return
    pytest.fail("no seed chose the store in the block")


def test_all_addresses_whose_space_one_word_names_become_generic() -> None:
    text = (FOLDER / "rules" / "PTX614_ok_cluster_of_a_refusal.ptx").read_text()
    chosen = 0
    for seed in range(12):
        made = rewrite_module(parse(text, "k.ptx"), BY_NAME["generic-address"], str(seed))
        assert made is not None
        (line,) = (each for each in print_module(made).splitlines() if "clusterlaunchcontrol.try_cancel" in each)
        if "shared::cta" not in line:
            chosen += 1
            assert line.count("_generic") == 2, line
    assert chosen


def test_no_call_passes_a_register_of_an_asynchronous_operation() -> None:
    text = (FOLDER / "rules" / "silent_more_groups_than_there_are_wgmma.ptx").read_text()
    calls = 0
    for seed in range(12):
        made = rewrite_module(parse(text, "k.ptx"), BY_NAME["outline"], str(seed))
        assert made is not None
        printed = print_module(made)
        calls += printed.count("call ")
        assert not re.search(r"(st|ld)\.param\.b32 .*%f[1-4]\b", printed), printed
    assert calls


LOOP = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .pred %more;
	.reg .b32 %i, %sum;
	.reg .b64 %o;
	ld.param.u64 %o, [out];
	mov.u32 %i, 0;
	mov.u32 %sum, 0;
again:
	add.u32 %sum, %sum, 3;
	add.u32 %i, %i, 1;
	setp.lt.u32 %more, %i, 4;
	@%more bra again;
	st.global.u32 [%o], %sum;
	ret;
}
"""


def test_a_called_part_of_a_loop_returns_what_the_next_iteration_reads() -> None:
    calls = 0
    for seed in range(12):
        made = rewrite_module(parse(LOOP, "k.ptx"), BY_NAME["outline"], str(seed))
        assert made is not None
        calls += print_module(made).count("call ")
        outcome = run(
            parse(print_module(made)), "k", block=1, arguments=[np.zeros(1, np.uint32)], budget=RunBudget(steps=1000)
        )
        assert outcome.outputs[0].tolist() == [12], print_module(made)
    assert calls


def test_an_analysis_that_raises_is_an_exception(monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down(text: str) -> Verdict:
        if "rw" in text:
            raise RecursionError("too deep")
        return lint(text)

    monkeypatch.setattr(campaign, "lint", break_down)
    (result,) = run_cases(CORPUS, CORRECTED[-1:], None)
    assert (result.outcome, result.difference) == (EXCEPTION, "broke down: RecursionError: too deep")


def verdict(text: str) -> Verdict:
    return lint(f".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{{\n{text}\n}}\n")


def test_the_law_of_the_campaign() -> None:
    clean = verdict("ret;")
    wrong = verdict(".shared .b32 x; .reg .b32 %a, %v; mov.u32 %a, x; ld.u32 %v, [%a]; ret;")
    assert not clean.diagnostics
    assert not clean.undecided
    assert [each.code for each in wrong.diagnostics] == ["PTX202"]
    assert judge_rewrite(wrong, wrong, is_wrong=True)[0] == campaign.SAME
    assert judge_rewrite(wrong, clean, is_wrong=True) == (EXCEPTION, "lost PTX202")
    assert judge_rewrite(clean, clean, is_wrong=False)[0] == campaign.SAME
    assert judge_rewrite(clean, wrong, is_wrong=False) == (EXCEPTION, "gained PTX202")


CORRECTED = (
    RewriteCase("broken-pipeline:sm_80:1003019", "print-call", "1:37:print-call"),  # lost PTX501
    RewriteCase("broken-pipeline:sm_90:823543", "equal-arms", "1:54:equal-arms"),  # lost PTX302
    RewriteCase("broken-pipeline:sm_90a:4146", "assert-call", "3:18:assert-call"),  # lost PTX504
    RewriteCase("kernel:cluster_launch_control.sm_100a.ptx:211181", "spill-shared", "1:79:spill-shared"),  # a PTX503
    RewriteCase("fixture:PTX704_ok_other_half_of_the_lanes.ptx", "spill-shared", "3:116:spill-shared"),  # a PTX708
    RewriteCase("mutant:hand_double_buffer.sm_80.ptx:388173", "address-form", "101:2246:address-form"),  # lost PTX208
    RewriteCase("mutant:named_barriers.sm_80.ptx:990144", "identity-chain", "101:306:identity-chain"),  # lost PTX202
    RewriteCase("fixture:PTX401_bad_fence_by_the_first_warp.ptx", "identity-chain", "f3:identity-chain"),  # lost PTX401
    RewriteCase("fixture:PTX624_bad_flag_without_release.ptx", "identity-chain", "202:2206:identity-chain"),
    RewriteCase("fixture:PTX624_bad_flag_before_barrier.ptx", "outline", "808:2388:outline"),  # lost PTX624
    RewriteCase("fixture:PTX624_bad_relaxed_poll.ptx", "identity-chain", "707:659:identity-chain"),  # lost PTX624
    RewriteCase("fixture:PTX205_ok_aligned_at_run_time.ptx", "outline", "f2:outline"),  # a PTX205
    RewriteCase("fixture:PTX501_bad_no_init_in_the_other_cta.ptx", "equal-arms", "f1:equal-arms"),  # lost PTX501
    RewriteCase("fixture:PTX504_ok_a_poll_that_gives_up.ptx", "spill-shared", "f3:spill-shared"),  # a PTX504
    RewriteCase("fixture:PTX506_bad_slot_waited_for_relaxed.ptx", "unroll-loop", "f1:unroll-loop"),  # lost PTX506
    RewriteCase("fixture:PTX605_bad_released_too_late.ptx", "equal-arms", "f1:equal-arms"),  # lost PTX605
    RewriteCase("fixture:PTX622_bad_wait_for_all_ctas.ptx", "outline", "f1:outline"),  # lost PTX622
    RewriteCase("fixture:PTX623_bad_rows_after_a_barrier.ptx", "equal-arms", "f3:equal-arms"),  # lost PTX623
    RewriteCase("broken-pipeline:sm_90:960378", "identity-chain", "b3:identity-chain"),  # lost PTX607
    RewriteCase("fixture:PTX707_ok_constant_addresses.ptx", "outline-indirect", "n1:outline-indirect"),  # a PTX707
    RewriteCase("fixture:PTX804_bad_one_map_of_two_ranks.ptx", "identity-chain", "f1:identity-chain"),  # lost PTX804
    RewriteCase("fixture:PTX804_bad_one_map_of_two_ranks.ptx", "outline", "f3:outline"),  # lost PTX804
    RewriteCase("fixture:PTX205_ok_aligned_at_run_time.ptx", "spill-local", "1:6:spill-local"),  # a PTX205
)
"""Cases in which an error vanished or was false before the analysis was corrected."""


def test_corrected_cases_stay_corrected() -> None:
    outcomes = [each.outcome for each in run_cases(CORPUS, CORRECTED, None)]
    assert set(outcomes) <= {campaign.SAME, campaign.OPENED}
    assert len(outcomes) == len(CORRECTED)


def test_no_rewrite_hides_an_error_or_makes_one() -> None:
    """The short form of `scripts/evade`, on the sources that are quickly analyzed."""
    small = SourceCorpus(FOLDER, ("fixture", "broken-pipeline"))
    cases = choose_cases(small, 60, 1, per_source=6)
    results = run_cases(small, cases, None)
    wrong = {each.case: each.difference for each in results if each.outcome in (EXCEPTION, REFUSED)}
    assert not wrong
    *_, total = outcome_table(results)
    assert int(total.split()[1]) > 40


def test_the_cases_depend_on_the_seed_only() -> None:
    assert choose_cases(CORPUS, 30, 5) == choose_cases(CORPUS, 30, 5)
    assert choose_cases(CORPUS, 30, 5) != choose_cases(CORPUS, 30, 6)
    assert choose_cases(CORPUS, 12, 5) == choose_cases(CORPUS, 30, 5)[:12]
