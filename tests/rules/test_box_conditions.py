"""Copies whose bytes tensor maps determine: what the boxes must have so that the expected bytes arrive."""

from __future__ import annotations

import pytest

from ptxkit import lint
from ptxkit.model.launch_contract import BoxBytes, ClusterLimits, ParameterPlace
from ptxkit.results import FileResult, Status

ONE_MAP = """.version 8.6
.target sm_90
.address_size 64

.visible .entry kernel(.param .align 64 .b8 a[128], .param .align 64 .b8 b[128], .param .u64 maps)
.reqntid 32
{
\t.shared .align 128 .b8 tile[8192];
\t.shared .align 8 .b64 full[2];
\t.reg .pred %p<3>;
\t.reg .b32 %r<4>;
\t.reg .b64 %rd<4>;
\tmov.b64 %rd1, a;
\tcvta.param.u64 %rd1, %rd1;
\tmov.b64 %rd2, b;
\tcvta.param.u64 %rd2, %rd2;
\tld.param.u64 %rd3, [maps];
\tmov.u32 %r1, %tid.x;
\tsetp.eq.u32 %p1, %r1, 0;
\t@%p1 mbarrier.init.shared.b64 [full], 1;
\t@%p1 mbarrier.init.shared.b64 [full+8], 1;
\tbar.sync 0;
\t@!%p1 bra $wait;
\tmov.u32 %r2, 0;
\tmbarrier.arrive.expect_tx.shared.b64 _, [full], 4096;
\tcp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1, {%r2, %r2}], [full];
$wait:
\tmbarrier.try_wait.parity.shared.b64 %p2, [full], 0;
\t@!%p2 bra $wait;
\tret;
}
"""
COPY = next(line for line in ONE_MAP.splitlines(keepends=True) if "cp.async" in line)
FROM_B = COPY.replace("%rd1", "%rd2").replace("[tile]", "[tile+4096]")
SECOND = "\tmbarrier.arrive.expect_tx.shared.b64 _, [full+8], {};\n"
A, B = ParameterPlace("a", "a", 0), ParameterPlace("b", "b", 1)


def with_copies(text: str) -> str:
    assert ONE_MAP.count(COPY) == 1
    return ONE_MAP.replace(COPY, text)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (ONE_MAP, BoxBytes(((A, 1),), 4096)),
        (with_copies(COPY + COPY.replace("[tile]", "[tile+4096]")), BoxBytes(((A, 1),), 2048)),
        (with_copies(COPY + FROM_B), BoxBytes(((A, 1), (B, 1)), 4096)),
    ],
    ids=["one copy", "two copies by one map", "two maps"],
)
def test_the_expected_bytes_are_a_condition_on_the_boxes(text: str, wanted: BoxBytes) -> None:
    verdict = lint(text)
    assert verdict.diagnostics == ()
    assert [(item.code, item.kernel, item.conditions) for item in verdict.undecided] == [
        ("PTX503", "kernel", (wanted,))
    ]
    assert FileResult.of("k.ptx", verdict).status is Status.CONDITIONAL


@pytest.mark.parametrize("is_copied_first", [True, False], ids=["copy, arrival", "arrival, copy"])
def test_the_bytes_of_one_phase_are_the_condition_in_a_loop(is_copied_first: bool) -> None:
    """The loop is too long to be explored completely, so that an execution ends in the middle of a round."""
    arrival = next(line for line in ONE_MAP.splitlines(keepends=True) if "expect_tx" in line)
    first, second = (COPY, arrival) if is_copied_first else (arrival, COPY)
    wait = ONE_MAP[ONE_MAP.index("$wait:") : ONE_MAP.index("\tret;")].replace("[full], 0", "[full], %r4")
    body = f"$next:\n{first}{second}{wait}\txor.b32 %r4, %r4, 1;\n\tadd.u32 %r2, %r2, 32;\n"
    loop = f"{body}\tsetp.lt.u32 %p2, %r2, %r5;\n\t@%p2 bra $next;\n$done:\n\tret;"
    head = ONE_MAP[: ONE_MAP.index(arrival)].replace("%r<4>", "%r<8>").replace("bra $wait", "bra $done")
    text = f"{head}\tmov.u32 %r4, 0;\n\tmov.u32 %r5, 0x7fffffff;\n{loop}\n}}\n"
    questions = [item for item in lint(text).undecided if item.code == "PTX503"]
    assert questions
    assert {item.conditions for item in questions} == {(BoxBytes(((A, 1),), 4096),)}


def test_no_box_has_half_a_byte() -> None:
    text = with_copies(COPY + COPY.replace("[tile]", "[tile+4096]")).replace("[full], 4096;", "[full], 4097;")
    assert [item.conditions for item in lint(text).undecided if item.code == "PTX503"] == [()]


def test_a_map_that_is_not_in_a_parameter_leaves_the_question_undecided() -> None:
    verdict = lint(
        ONE_MAP.replace("[%rd1, {%r2", "[%rd0, {%r2").replace("setp.eq", "ld.global.u64 %rd0, [%rd3];\n\tsetp.eq")
    )
    assert [item.conditions for item in verdict.undecided if item.code == "PTX503"] == [()]


@pytest.mark.parametrize("other", [COPY, COPY + FROM_B], ids=["another size", "a sum of the first size"])
def test_mbarriers_whose_bytes_no_boxes_satisfy_have_no_conditions(other: str) -> None:
    """The box of the first map has 4096 bytes, but another mbarrier expects 2048 bytes of it, or 4096 of two boxes."""
    expect = SECOND.format(2048 if other == COPY else 4096)
    text = with_copies(COPY + expect + other.replace("[full]", "[full+8]"))
    questions = [item for item in lint(text).undecided if item.code == "PTX503"]
    assert questions
    assert {item.conditions for item in questions} == {()}


def test_a_condition_on_boxes_is_joined_with_that_on_the_cluster() -> None:
    """The barrier of the cluster makes its size a question; the boxes must have the expected bytes."""
    text = ONE_MAP.replace("bar.sync 0;", "barrier.cluster.arrive;\n\tbarrier.cluster.wait;")
    found = {item.conditions for item in lint(text).undecided}
    assert found == {
        (ClusterLimits(possible=(1, 2)),),
        (ClusterLimits(possible=(1, 2)), BoxBytes(((A, 1),), 4096)),
    }


OWN_PART = """\tmov.u32 %r2, %cluster_ctarank;
\tshl.b32 %r2, %r2, 11;
\tmov.u32 %r3, tile;
\tadd.u32 %r3, %r3, %r2;"""
#: Both CTAs of a cluster copy a part to each of the two, and each expects the parts of both.
MULTICAST = (
    ONE_MAP.replace(".reqntid 32", ".reqntid 32\n.reqnctapercluster 2")
    .replace("bar.sync 0;", "fence.mbarrier_init.release.cluster;\n\tbarrier.cluster.arrive;\n\tbarrier.cluster.wait;")
    .replace("\tret;", "\tbarrier.cluster.arrive;\n\tbarrier.cluster.wait;\n\tret;")
    .replace("::bytes [", "::bytes.multicast::cluster [")
    .replace("%r2}], [full];", "%r2}], [full], 3;")
    .replace("[tile]", "[%r3]")
    .replace("\tmov.u32 %r2, 0;", OWN_PART)
)


@pytest.mark.parametrize(("size", "conditions"), [(4096, (BoxBytes(((A, 1),), 2048),)), (4097, ())])
def test_the_copies_of_all_ctas_have_the_bytes_of_a_phase(size: int, conditions: tuple[BoxBytes, ...]) -> None:
    verdict = lint(MULTICAST.replace("4096;", f"{size};"))
    assert verdict.diagnostics == ()
    assert [(item.code, item.conditions) for item in verdict.undecided] == [("PTX503", conditions)]


STAGED = """.version 8.6
.target sm_90
.address_size 64

.extern .shared .align 128 .b8 dynamic[];
.visible .entry kernel(.param .align 64 .b8 a[128])
.reqntid 64
{
\t.reg .pred %p<2>;
\t.reg .b32 %r<5>;
\t.reg .b64 %rd<2>;
\tmov.b64 %rd1, a;
\tcvta.param.u64 %rd1, %rd1;
\tmov.u32 %r1, %tid.x;
\tsetp.eq.u32 %p1, %r1, 0;
\tmov.u32 %r2, dynamic;
\tshl.b32 %r3, %r1, 2;
\tadd.u32 %r3, %r2, %r3;
\tmov.u32 %r4, 0;
\t@%p1 mbarrier.init.shared.b64 [%r2+256], 1;
\tst.shared.b32 [%r3], %r1;
\tfence.proxy.async.shared::cta;
\tbar.sync 0;
\t@%p1 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {%r4, %r4}], [%r2];
\tcp.async.bulk.commit_group;
\tcp.async.bulk.wait_group.read 0;
\tbar.sync 0;
\tst.shared.b32 [%r3], %r4;
\tret;
}
"""


def test_an_mbarrier_bounds_the_box_of_a_copy_from_dynamic_shared_memory() -> None:
    unordered = STAGED.replace("\tbar.sync 0;\n\tst.shared.b32 [%r3], %r4;", "\tst.shared.b32 [%r3], %r4;")
    assert lint(STAGED).undecided == ()
    assert [item.code for item in lint(unordered).undecided] == ["PTX621"]


def test_executions_that_a_limit_ends_add_no_condition_on_boxes() -> None:
    """With 512 iterations, the execution of the second warp ends before it arrives and the phase is complete."""
    work = "\tadd.u32 %r4, %r4, %r1;\n" * 30
    text = (
        MULTICAST.replace(".reqntid 32", ".reqntid 64")
        .replace(".param .u64 maps)", ".param .u64 maps, .param .u32 n)")
        .replace(".reg .b32 %r<4>;", ".reg .b32 %r<6>;")
        .replace("[full], 1;", "[full], 2;")
        .replace(
            "$wait:\n",
            "\tbra $wait;\n$second:\n\tsetp.ne.u32 %p2, %r1, 32;\n\t@%p2 bra $wait;\n\tld.param.u32 %r5, [n];\n"
            f"$work:\n{work}\tsub.u32 %r5, %r5, 1;\n\tsetp.ne.u32 %p2, %r5, 0;\n\t@%p2 bra $work;\n"
            "\tmbarrier.arrive.shared.b64 _, [full];\n$wait:\n",
        )
        .replace("@!%p1 bra $wait", "@!%p1 bra $second")
    )
    found = {item.conditions for item in lint(text).undecided if item.code == "PTX503"}
    assert found == {(BoxBytes(((A, 1),), 2048),)}
