"""Synchronization faults: the changes of the operators, the rules that they break, and the number of faults found."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path

import pytest

from ptxkit.testing.mutation import detection_report, equivalent_mutants
from ptxkit.testing.mutation.campaign import (
    OPERATORS,
    CorpusKernel,
    MutantOutcome,
    evaluate_mutants,
    filter_assemblable,
    generate_mutants,
    load_kernels,
    sample_mutants,
)
from ptxkit.testing.mutation.mutant import Mutant
from ptxkit.testing.oracles.ptxas import installed_ptxas

CORPUS = Path(__file__).resolve().parents[2] / "corpus"
CLEAN = load_kernels([CORPUS / "kernels"])
EXPLAINED = CORPUS / "kernels" / "equivalent.toml"
FLOORS = tomllib.loads((Path(__file__).parent / "fault_floors.toml").read_text(encoding="utf-8"))

KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in)
.reqntid 64, 1, 1
{
	.shared .align 128 .b8 tile[1024];
	.shared .align 8 .b64 bar;
	.reg .pred %first, %done;
	.reg .b32 %t, %s, %v;
	.reg .b64 %g;
	ld.param.u64 %g, [in];
	cvta.to.global.u64 %g, %g;
	mov.u32 %t, %tid.x;
	mov.u32 %s, tile;
	setp.eq.u32 %first, %t, 0;
	@%first mbarrier.init.shared::cta.b64 [bar], 1;
	bar.sync 0;
	@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 1024;
	@%first cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%g], 1024, [bar];
wait:
	mbarrier.try_wait.parity.shared::cta.b64 %done, [bar], 0;
	@!%done bra wait;
	ld.shared.u32 %v, [%s];
	st.shared.u32 [%s+8], %v;
	fence.proxy.async.shared::cta;
	bar.sync 0;
	@%first cp.async.bulk.global.shared::cta.bulk_group [%g], [%s], 1024;
	@%first cp.async.bulk.commit_group;
	@%first cp.async.bulk.wait_group 0;
	ret;
}
"""


def make_one(family: str, text: str = KERNEL) -> list[Mutant]:
    return [each for each in generate_mutants(CorpusKernel("k.ptx", Path("k.ptx"), text)) if each.family == family]


def only(family: str, text: str = KERNEL) -> list[str]:
    """Returns the lines of the first mutant of a family that the kernel does not have, stripped."""
    lines = make_one(family, text)[0].apply(text).splitlines()
    return [line.strip() for line, old in zip(lines, text.splitlines(), strict=True) if line != old]


@pytest.mark.parametrize(
    ("family", "changed"),
    [
        ("delete-proxy-fence", [""]),
        ("fence-other-memory", ["fence.proxy.async.global;"]),
        ("fence-without-proxy", ["fence.acq_rel.cta;"]),
        ("harmless: wider fence", ["fence.proxy.async;"]),
        ("init-count-more", ["@%first mbarrier.init.shared::cta.b64 [bar], 2;"]),
        ("init-by-all", ["mbarrier.init.shared::cta.b64 [bar], 1;"]),
        ("expect-half", ["@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 512;"]),
        ("expect-nothing", ["@%first mbarrier.arrive.shared::cta.b64 _, [bar];"]),
        ("expect-without-arrival", ["@%first mbarrier.expect_tx.shared::cta.b64 [bar], 1024;"]),
        ("other-parity", ["mbarrier.try_wait.parity.shared::cta.b64 %done, [bar], 1;"]),
        ("delete-mbarrier-wait", ["setp.eq.u32 %done, 0, 0;"]),
        ("wait-without-loop", [""]),
        ("offset-as-generic", ["ld.u32 %v, [%s];"]),
        ("harmless: wait-for-reads-only", ["@%first cp.async.bulk.wait_group.read 0;"]),
        ("wait-for-the-other-kind", ["@%first cp.async.wait_group 0;"]),
        ("weaker-order", ["mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %done, [bar], 0;"]),
        (
            "harmless: larger scope",
            ["@%first mbarrier.arrive.expect_tx.release.cluster.shared::cta.b64 _, [bar], 1024;"],
        ),
        ("lower-alignment", [".shared .align 4 .b8 tile[1024];"]),
    ],
)
def test_an_operator_changes_one_thing_found_by_its_effect(family: str, changed: list[str]) -> None:
    assert only(family) == changed


def test_an_instruction_that_moves_is_removed_from_its_place() -> None:
    assert only("fence-too-late") == [
        "",
        "@%first cp.async.bulk.global.shared::cta.bulk_group [%g], [%s], 1024; fence.proxy.async.shared::cta;",
    ]


def test_lines_keep_their_numbers_and_identities_are_unique() -> None:
    found = generate_mutants(CorpusKernel("k.ptx", Path("k.ptx"), KERNEL))
    assert all(each.apply(KERNEL).count("\n") == KERNEL.count("\n") for each in found)
    assert len({each.identity for each in found}) == len(found)
    assert len({each.apply(KERNEL) for each in found}) == len(found)


def test_the_data_that_a_barrier_synchronizes_determine_the_rule() -> None:
    assert [each.rules for each in make_one("delete-barrier")] == [("MB3",), ("PX15",)]


def test_a_parity_that_a_register_only_carries_is_already_constant() -> None:
    wait = "mbarrier.try_wait.parity.shared::cta.b64 %done, [bar], {};"
    assert wait.format(0) in KERNEL
    carried = KERNEL.replace("wait:", "mov.u32 %carried, 0; wait:").replace(wait.format(0), wait.format("%carried"))
    # It has another value after the wait, as a register has that asm statements share.
    later = "ld.shared.u32 %carried, [%s]; ld.shared"
    carried = carried.replace(".reg .pred", ".reg .b32 %carried; .reg .pred", 1).replace("ld.shared", later, 1)
    assert make_one("constant-parity", carried) == []
    turned = carried.replace(wait.format("%carried"), "xor.b32 %carried, %carried, 1; " + wait.format("%carried"))
    assert len(make_one("constant-parity", turned)) == 1


def test_a_wait_after_one_that_leaves_nothing_pending_is_redundant() -> None:
    commit, wait = "@%first cp.async.bulk.commit_group;", "@%first cp.async.bulk.wait_group 0;"
    assert f"{commit}\n\t{wait}" in KERNEL

    def idle(first: str, between: str = "", before: str = "cp.async.bulk.commit_group;") -> list[str]:
        """Returns the harmless changes where a wait for the sources follows another wait."""
        last = f"{before}\n\t{first}\n\t{between} cp.async.bulk.wait_group.read 0;"
        return [
            each.change for each in make_one("harmless: delete-group-wait", KERNEL.replace(f"{commit}\n\t{wait}", last))
        ]

    whole = "cp.async.bulk.wait_group 0;"
    assert idle(whole) == ["`cp.async.bulk.wait_group.read 0;` deleted"]
    assert idle("cp.async.bulk.wait_group 1;") == []
    assert idle(wait) == []  # other threads pass the first wait
    copy, closes = "cp.async.bulk.global.shared::cta.bulk_group [%g], [%s], 1024;", "cp.async.bulk.commit_group;"
    assert idle(whole, between=f"{copy} {closes}") == []
    assert len(idle(whole, between=copy)) == 1  # neither of them waits for uncommitted copies


MAP_HANDED_OVER = """.version 8.3
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 maps, .param .u64 flag)
.reqntid 32, 1, 1
{
	.shared .align 128 .b8 map[128];
	.reg .b32 %v;
	.reg .b64 %g, %f;
	ld.param.u64 %g, [maps];
	ld.param.u64 %f, [flag];
	tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%g], [map], 128;
	bar.warp.sync -1;
	fence.proxy.tensormap::generic.acquire.gpu [%g], 128;
	ret;
}
"""


def test_a_map_that_one_cta_writes_and_uses_needs_no_larger_scope() -> None:
    assert [each.line for each in make_one("harmless: smaller-scope", MAP_HANDED_OVER)] == [12, 14]
    assert make_one("smaller-scope", MAP_HANDED_OVER) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("bar.warp.sync -1;", "ld.acquire.gpu.u32 %v, [%f];"),
        ("ret;", "red.relaxed.gpu.global.add.u32 [%f], 1; ret;"),
        ("bar.warp.sync -1;", "add.u64 %g, %g, 128;"),
        ("acquire.gpu [%g]", "acquire.gpu [%f]"),
    ],
)
def test_a_map_that_other_ctas_may_request_needs_the_larger_scope(old: str, new: str) -> None:
    assert old in MAP_HANDED_OVER
    found = make_one("smaller-scope", MAP_HANDED_OVER.replace(old, new))
    assert {each.line for each in found if each.rules == ("TM5",)} == {12, 14}


def test_bytes_of_boxes_are_halved_only_where_nothing_else_determines_them() -> None:
    box = "cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%box, {%zero}], [bar];"
    expect = "@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 1024;"
    assert expect in KERNEL
    text = KERNEL.replace(expect, f"{expect} .reg .b64 %box; .reg .b32 %zero; {box}")
    assert [each.rules for each in make_one("harmless: expect-half", text)] == [()]
    assert make_one("expect-half", text.replace(expect, f"{expect} {expect}")) == []


def test_a_barrier_next_to_another_is_not_missed() -> None:
    last = "fence.proxy.async.shared::cta;\n\tbar.sync 0;"
    assert last in KERNEL
    twice = KERNEL.replace(last, f"bar.sync 0; {last}")
    assert [each.line for each in make_one("harmless: delete-barrier", twice)] == [26, 27]
    assert [each.rules for each in make_one("delete-barrier", twice)] == [("MB3",)]
    idle = KERNEL.replace("\tret;", "\tbar.sync 0;\n\tret;")
    assert len(make_one("harmless: delete-barrier", idle)) == 1


SHARED = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in)
.reqntid 128, 1, 1
{
	.shared .align 128 .b8 tile[4096];
	.reg .pred %p;
	.reg .b32 %t, %s, %v;
	.reg .b64 %g;
	ld.param.u64 %g, [in];
	mov.u32 %t, %tid.x;
	mov.u32 %s, tile;
	mad.lo.u32 %s, %t, 16, %s;
	bar.sync 0;
	BODY
	bar.sync 0;
	st.shared.u32 [%s], %t;
	ret;
}
"""


@pytest.mark.parametrize(
    ("body", "spare"),
    [
        ("ld.shared.u32 %v, [%s]; bar.sync 0; ld.shared.u32 %v, [%s+4];", True),
        ("ld.shared.u32 %v, [%s]; bar.sync 0; st.shared.u32 [%s+4], %v;", False),
        ("st.shared.u32 [%s], %v; bar.sync 0; ld.shared.u32 %v, [%s+4];", False),
        ("cp.async.cg.shared.global [%s], [%g], 16; bar.sync 0; st.shared.u32 [%s+2048], %v;", True),
        ("cp.async.wait_all; ld.shared.u32 %v, [%s]; bar.sync 0; ld.shared.u32 %v, [%s+4];", False),
    ],
)
def test_a_barrier_that_orders_nothing_new_is_not_missed(body: str, spare: bool) -> None:
    text = SHARED.replace("BODY", body.replace("; ", ";\n\t"))
    if "wait_all" in body:
        text = text.replace(
            "\tbar.sync 0;\n\tcp.async", "\tcp.async.cg.shared.global [%s], [%g], 16;\n\tbar.sync 0;\n\tcp.async"
        )
    line = next(n for n, each in enumerate(text.splitlines(), 1) if n > 16 and each == "\tbar.sync 0;")
    family = "harmless: delete-barrier" if spare else "delete-barrier"
    assert line in [each.line for each in make_one(family, text)]


def test_a_barrier_after_a_wait_of_a_warpgroup_for_its_products_may_precede_it() -> None:
    product = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %g, %g, 1, 1, 1, 0, 0;"
    body = f"{product} wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;\n\tbar.sync 0;\n\tBEHIND"
    body = body.replace("BEHIND", "st.shared.u32 [%s+4], %v;")
    text = SHARED.replace(".target sm_90\n", ".target sm_90a\n").replace("BODY", body)
    text = text.replace(".reg .b64 %g;", ".reg .b64 %g; .reg .f32 %f<4>;")
    moved = "`bar.sync 0;` moved before `wgmma.wait_group.sync.aligned 0;`"
    assert moved in [each.change for each in make_one("harmless: barrier-too-early", text)]
    larger = text.replace("128, 1, 1", "256, 1, 1")
    assert moved in [each.change for each in make_one("barrier-too-early", larger)]


def test_a_wait_without_an_earlier_copy_is_not_missed() -> None:
    for family in ("delete-group-wait", "wait-for-less"):
        early = KERNEL.replace("wait:", "cp.async.bulk.wait_group 0; bar.sync 0; wait:", 1)
        assert len(make_one(f"harmless: {family}", early)) == 1
        assert len(make_one(family, early)) == len(make_one(family)) == 1


def test_an_acquire_is_moved_after_the_copy_by_its_own_map() -> None:
    fence = "fence.proxy.tensormap::generic.acquire.gpu [{}], 128;"
    copy = "cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes [tile], [{}, {{%t}}], [bar];"
    lines = [fence.format("%one"), fence.format("%two"), copy.format("%one"), copy.format("%same")]
    text = KERNEL.replace(
        "wait:", ".reg .b64 %one, %two, %same; mov.u64 %same, %two;" + "\n".join(lines) + "\nwait:", 1
    )
    assert [each.change.split(" moved after ")[1] for each in make_one("acquire-too-late", text)] == [
        f"`{lines[2]}`",
        f"`{lines[3]}`",
    ]


def test_the_same_seed_selects_the_same() -> None:
    found = [mutant for kernel in CLEAN[:6] for mutant in generate_mutants(kernel)]
    assert sample_mutants(found, 3, 0.5, 7) == sample_mutants(found, 3, 0.5, 7)
    assert sample_mutants(found, 3, 0.5, 7) != sample_mutants(found, 3, 0.5, 8)
    kept = Counter((each.kernel, each.family) for each in sample_mutants(found, 3, 1.0, 1))
    assert max(kept.values()) == 3


def test_ptxas_excludes_invalid_programs() -> None:
    kernel = CorpusKernel("k.ptx", Path("k.ptx"), KERNEL)
    found = make_one("odd-size")
    assert found
    assert filter_assemblable(kernel, found, installed_ptxas()[0]) == []
    assert filter_assemblable(kernel, make_one("delete-commit"), installed_ptxas()[0]) == make_one("delete-commit")


def test_an_explanation_must_have_its_mutant_and_must_not_be_reported() -> None:
    mutant = make_one("delete-init")[0]
    holds = equivalent_mutants.Explanations(
        (equivalent_mutants.EquivalentMutant(*mutant.identity, "because", "mbarrier.init"),)
    )
    lost = equivalent_mutants.Explanations(
        (equivalent_mutants.EquivalentMutant("k.ptx", "delete-init", "x", 1, "because", "mbarrier.init"),)
    )
    silent, reported = MutantOutcome(mutant, (), (), 0), MutantOutcome(mutant, ("PTX501",), (), 0)

    def wrong(entries: equivalent_mutants.Explanations, outcome: MutantOutcome, kernel: str = "k.ptx") -> list[str]:
        return equivalent_mutants.find_stale_entries(entries, [kernel], {"delete-init"}, [mutant], [outcome])

    assert wrong(holds, silent) == []
    assert [line.rpartition(": ")[2] for line in wrong(lost, silent)] == ["there is no such mutant"]
    assert [line.rpartition(": ")[2] for line in wrong(holds, reported)] == ["PTX501"]
    assert wrong(lost, silent, "other.ptx") == []


def test_code_that_never_runs_is_named_by_the_branch_around_it() -> None:
    text = KERNEL.replace(
        "\tbar.sync 0;\n\t@%first mbarrier", "\t@%first bra over;\n\tbar.sync 0;\nover:\n\t@%first mbarrier"
    )
    mutant, other = make_one("delete-barrier", text)
    assert (mutant.skipping_branches, other.skipping_branches) == (("@%first bra over;",), ())
    dead = equivalent_mutants.Explanations(
        unreachable=(equivalent_mutants.UnreachableCode("k.ptx", "@%first bra over;", "because"),)
    )
    gone = equivalent_mutants.Explanations(
        unreachable=(equivalent_mutants.UnreachableCode("k.ptx", "@%first bra gone;", "because"),)
    )
    assert [dead.is_unreachable(each) for each in (mutant, other)] == [True, False]
    assert equivalent_mutants.find_stale_entries(dead, ["k.ptx"], set(), [mutant], []) == []
    (lost,) = equivalent_mutants.find_stale_entries(gone, ["k.ptx"], set(), [mutant], [])
    assert lost.endswith("nothing is changed between this branch and its target")


def test_explained_changes_count_for_neither_side() -> None:
    first, second = make_one("init-count-more") + make_one("delete-init")
    outcomes = [MutantOutcome(first, (), (), 0), MutantOutcome(second, ("PTX501",), (), 0)]
    assert detection_report.overall(outcomes, frozenset()).rate == 0.5
    assert detection_report.overall(outcomes, frozenset([first.identity])).rate == 1.0
    assert detection_report.survivors(outcomes, frozenset([first.identity])) == []


def short() -> tuple[list[Mutant], list[MutantOutcome]]:
    """Returns a seeded part of the campaign that `scripts/mutate` runs as a whole."""
    every, outcomes = [], []
    for kernel in CLEAN:
        found = generate_mutants(kernel)
        every += found
        if kernel.name in FLOORS["without"]:
            continue
        share = FLOORS["seldom_share" if kernel.name in FLOORS["seldom"] else "share"]
        sample = sample_mutants(found, FLOORS["most"], share, FLOORS["seed"])
        outcomes += evaluate_mutants(kernel, filter_assemblable(kernel, sample, installed_ptxas()[0]))
    return every, outcomes


def test_the_short_campaign_holds() -> None:
    """Harmless changes are not reported, every family is found as often as before, and explanations hold.

    One test, since each process that got one of three would run the campaign for itself.
    """
    assert {each.name for each in CLEAN} >= {*FLOORS["without"], *FLOORS["seldom"]}
    every, outcomes = short()
    entries = equivalent_mutants.load_explanations(EXPLAINED)
    counted = [each for each in outcomes if not entries.is_unreachable(each.mutant)]
    rows = {row.name: row for row in detection_report.by_family(counted, entries.identities)}
    families = {each.family for each in OPERATORS}
    wrong = {
        "harmless changes that are reported": [
            f"{each.mutant}: {each.rule_errors + each.rule_warnings}"
            for each in detection_report.false_alarms(outcomes)
        ],
        "families found less often than their floors": [
            f"{name}: {rows[name].rate:.2f} < {floor}"
            for name, floor in FLOORS["floors"].items()
            if name in rows and rows[name].rate < floor
        ],
        "explanations that do not hold": equivalent_mutants.find_stale_entries(
            entries, [each.name for each in CLEAN], families, every, outcomes
        ),
    }
    assert {what: found for what, found in wrong.items() if found} == {}
    assert sum(each.mutant.is_harmless for each in outcomes) > 40
    assert detection_report.overall(counted, entries.identities).rate >= FLOORS["overall"]
