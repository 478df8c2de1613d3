"""Kernels that do not declare their cluster size: faults at each size, and the sizes that are wrong or correct."""

from __future__ import annotations

import pytest

from ptxkit import Severity, Verdict, lint
from ptxkit.analysis.ir import budget
from ptxkit.model.launch_contract import ClusterLimits
from ptxkit.results import FileResult, Status

COPY = """.version 8.6
.target sm_90a
.address_size 64

.visible .entry kernel(.param .u64 source)
.reqntid 128
{
  .shared .align 128 .b8 tile[4096];
  .shared .align 8 .b64 full;
  .reg .pred %p<3>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [source];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, full;
  mov.u32 %r3, tile;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra READY;
  mbarrier.init.shared::cta.b64 [%r2], 1;
  fence.mbarrier_init.release.cluster;
READY:
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  @%p1 bra WAITING;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 4096;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 4096, [%r2];
WAITING:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;
  @!%p2 bra WAITING;
  shl.b32 %r4, %r1, 2;
  add.u32 %r4, %r3, %r4;
  ld.shared.u32 %r5, [%r4];
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  ret;
}
"""
EXPECT = "  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 4096;\n"
FROM_BOTH = """  mapa.shared::cluster.u32 %r4, %r2, 0;
  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4];
"""


def replace_once(*changes: tuple[str, str]) -> str:
    text = COPY
    for old, new in changes:
        assert text.count(old) == 1
        text = text.replace(old, new)
    return text


def reasons(verdict: Verdict) -> set[str]:
    return {item.reason for item in verdict.undecided if item.code == "PTX503"}


@pytest.mark.parametrize(
    "text",
    [replace_once((EXPECT, "")), replace_once((", 4096;\n  cp.async", ", 2048;\n  cp.async"))],
    ids=["without the arrival", "with half of the bytes"],
)
def test_a_fault_at_every_size_is_a_warning_that_names_the_sizes(text: str) -> None:
    [found] = lint(text).diagnostics
    assert (found.code, found.severity) == ("PTX503", Severity.WARNING)
    assert found.notes[-1].endswith("this holds if the size is 1, 2 or 4")


@pytest.mark.parametrize("block", ["", ".reqntid 128\n", ".reqntid 512\n"])
def test_a_fault_remains_a_question_if_threads_of_a_larger_block_may_arrive(block: str) -> None:
    """Thread 300 issues the copy."""
    issuer = ("  @%p1 bra WAITING;\n", "  setp.ne.u32 %p1, %r1, 300;\n  @%p1 bra WAITING;\n")
    verdict = lint(replace_once((".reqntid 128\n", block), issuer, ("tile[4096]", "tile[65536]")))
    assert [each.severity for each in verdict.diagnostics] == ([Severity.WARNING] if "128" in block else [])
    assert ("cluster size unknown; wrong if it is 1, 2 or 4" in reasons(verdict)) is not bool(block)


def test_a_kernel_that_is_correct_with_the_tried_sizes_remains_a_question_that_states_it() -> None:
    verdict = lint(COPY)
    assert verdict.diagnostics == ()
    assert reasons(verdict) == {"cluster size unknown; correct if it is 1 or 2"}
    assert {item.missing for item in verdict.undecided} == {"cluster=2"}
    assert {item.conditions for item in verdict.undecided} == {(ClusterLimits(possible=(1, 2)),)}
    assert FileResult.of("k.ptx", verdict).status is Status.CONDITIONAL
    assert lint(replace_once((".reqntid 128\n", ".reqntid 128\n.reqnctapercluster 1\n"))) == Verdict(())


def test_a_kernel_for_two_ctas_remains_a_question_that_states_which_sizes_are_wrong() -> None:
    """The second CTA arrives at the mbarrier of the first one, which counts two arrivals."""
    verdict = lint(
        replace_once(
            ("[%r2], 1;", "[%r2], 2;"),
            (
                "  @%p1 bra WAITING;\n",
                f"  @%p1 bra WAITING;\n{FROM_BOTH}  mov.u32 %r4, %cluster_ctarank;\n"
                "  setp.ne.u32 %p2, %r4, 0;\n  @%p2 bra DONE;\n"
                "  mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r2], 4096;\n",
            ),
            (EXPECT, ""),
            (
                "WAITING:\n  mbarrier",
                "WAITING:\n  mov.u32 %r4, %cluster_ctarank;\n  setp.ne.u32 %p2, %r4, 0;\n"
                "  @%p2 bra DONE;\nAGAIN:\n  mbarrier",
            ),
            ("@!%p2 bra WAITING", "@!%p2 bra AGAIN"),
            (
                "  barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;\n  ret;",
                "DONE:\n  barrier.cluster.arrive;\n  barrier.cluster.wait;\n  ret;",
            ),
        )
    )
    assert not [item for item in verdict.diagnostics if item.code == "PTX503"]
    assert any("wrong if it is 1" in item.reason for item in verdict.undecided)
    assert not any("wrong if it is 1 or 2" in item.reason for item in verdict.undecided)


def test_a_signal_to_a_cta_that_a_cluster_of_one_does_not_have_is_decided_with_two() -> None:
    """Each CTA arrives at the mbarrier of the other one, and expects the bytes at its own."""
    verdict = lint(
        replace_once(
            (EXPECT, EXPECT.replace("arrive.expect_tx", "expect_tx.relaxed.cta").replace(" _,", "")),
            (
                "  barrier.cluster.wait.aligned;\n  @%p1 bra WAITING;\n",
                "  barrier.cluster.wait.aligned;\n  @%p1 bra WAITING;\n  mov.u32 %r4, %cluster_ctarank;\n"
                "  xor.b32 %r4, %r4, 1;\n" + FROM_BOTH.replace("%r2, 0;", "%r2, %r4;"),
            ),
        )
    )
    assert verdict.diagnostics == ()
    found = [item for item in verdict.undecided if item.code == "PTX504"]
    assert [item.conditions for item in found] == [(ClusterLimits(possible=(2,), failing=(1,), code="PTX206"),)]


def test_a_declared_size_is_not_tried() -> None:
    verdict = lint(
        replace_once((".reqntid 128\n", ".reqntid 128\n.explicitcluster\n.reqnctapercluster 2\n"), (EXPECT, ""))
    )
    assert [(item.code, item.severity) for item in verdict.diagnostics] == [("PTX503", Severity.ERROR)]


NEIGHBOR = """.version 8.0
.target sm_90
.address_size 64

.visible .entry kernel(.param .u64 out)
.reqntid 32
{
  .shared .align 128 .b8 tile[128];
  .reg .pred %p<2>;
  .reg .b32 %r<9>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %cluster_ctarank;
  mov.u32 %r3, %cluster_nctarank;
  mov.u32 %r4, tile;
  mad.lo.u32 %r5, %r1, 4, %r4;
  st.shared.u32 [%r5], %r2;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  add.u32 %r6, %r2, 1;
  rem.u32 %r6, %r6, %r3;
  mapa.shared::cluster.u32 %r7, %r5, %r6;
  ld.shared::cluster.u32 %r8, [%r7];
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd2, %rd1, %rd2;
  red.global.add.u32 [%rd2], %r8;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  ret;
}
"""
BARRIER = "  barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;\n"


def test_a_kernel_without_questions_that_is_correct_with_two_ctas_remains_clean() -> None:
    assert lint(NEIGHBOR) == Verdict(())


def test_a_violation_in_clusters_of_several_ctas_is_a_question() -> None:
    """The neighbor may not have started when a barrier of the CTA replaces the first one."""
    verdict = lint(NEIGHBOR.replace(BARRIER, "  bar.sync 0;\n", 1))
    assert verdict.diagnostics == ()
    assert {item.code for item in verdict.undecided} >= {"PTX611"}
    limits = {each for item in verdict.undecided for each in item.conditions}
    assert limits == {ClusterLimits(possible=(1,), failing=(2, 4), code="PTX611")}
    assert FileResult.of("k.ptx", verdict).status is Status.CONDITIONAL


def test_a_kernel_that_ends_before_the_access_of_its_neighbor_is_a_question() -> None:
    first = NEIGHBOR.rindex(BARRIER)
    verdict = lint(NEIGHBOR[:first] + NEIGHBOR[first + len(BARRIER) :])
    assert {item.code for item in verdict.undecided} == {"PTX612"}


@pytest.mark.parametrize("steps", [10_000, 200])
def test_a_size_is_decided_by_the_executions_that_the_budget_permits(
    monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    monkeypatch.setattr(budget, "MAX_TOTAL_STEPS", steps)
    sized = replace_once(
        (".param .u64 source", ".param .u64 source, .param .u32 n"), ("  mov.u32 %r1, %tid.x;\n", LOOP)
    )
    asked = [each for each in lint(sized).undecided if each.code == "PTX503"]
    assert asked
    assert all(each.conditions for each in asked)


LOOP = """  ld.param.u32 %r5, [n];
NEXT:
  sub.u32 %r5, %r5, 1;
  setp.gt.s32 %p1, %r5, 0;
  @%p1 bra NEXT;
  mov.u32 %r1, %tid.x;
"""


def test_a_size_without_a_named_cta_does_not_count() -> None:
    """Each CTA reads the shared memory of the second one, which may have exited."""
    remote = "  mapa.shared::cluster.u32 %r4, %r3, 1;\n  ld.shared::cluster.u32 %r5, [%r4];\n"
    leave = "  barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;\n  ret;"
    correct = lint(replace_once((leave, remote + leave)))
    assert correct.diagnostics == ()
    assert {item.conditions for item in correct.undecided if item.code == "PTX206"} == {
        (ClusterLimits(possible=(2,), failing=(1,), code="PTX206"),)
    }
    [found] = lint(replace_once((leave, remote + "  ret;"))).diagnostics
    assert (found.code, found.severity) == ("PTX612", Severity.WARNING)
    assert found.notes[-1].endswith("this holds if the size is 2 or 4")
    other = ("  mov.u32 %r1, %tid.x;\n", "  mov.u32 %r1, %tid.x;\n  mov.u32 %r4, %cluster_ctaid.y;\n")
    assert lint(replace_once(other, (leave, remote + "  ret;"))).diagnostics == ()


def test_a_cta_that_no_tried_size_has_leaves_a_question() -> None:
    """Each CTA reads the shared memory of the eighth one, which clusters of eight CTAs have."""
    remote = "  mapa.shared::cluster.u32 %r4, %r3, 7;\n  ld.shared::cluster.u32 %r5, [%r4];\n"
    verdict = lint(
        replace_once(("  barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;\n  ret;", remote + "  ret;"))
    )
    assert verdict.diagnostics == ()
    assert "PTX206" in {item.code for item in verdict.undecided}
