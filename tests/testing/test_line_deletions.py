"""Deleted synchronization lines: which lines are deleted, how they are classified, and the tables."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ptxkit.linter import lint
from ptxkit.testing.mutation import deletion_report
from ptxkit.testing.mutation.campaign import CorpusKernel
from ptxkit.testing.mutation.line_deletions import (
    DeletionOutcome,
    LineDeletion,
    check_deletions,
    classify_deletion,
    find_line_deletions,
    sample_deletions,
)

ROOT = Path(__file__).resolve().parents[2]

KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in)
.reqntid 64, 1, 1
{
	.shared .align 128 .b8 tile[1024];
	.shared .align 8 .b64 bar;
	.reg .pred %first, %done;
	.reg .b32 %t, %s, %v, %sum;
	.reg .b64 %g;
	ld.param.u64 %g, [in];
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
	redux.sync.add.u32 %sum, %v, -1;
	fence.proxy.async.shared::cta;
	griddepcontrol.launch_dependents;
	fence.acq_rel.gpu;
	ret;
}
"""
PLAIN_LINES = {
    16: "mbarrier.init.b64",
    17: "bar.sync",
    18: "mbarrier.arrive.expect_tx.b64",
    21: "mbarrier.try_wait.parity.b64",
    25: "fence.proxy.async.shared::cta",
    27: "fence.gpu",
}
"""The synchronization lines of the kernel, with their families. Neither the copy, `redux.sync` nor
`griddepcontrol.launch_dependents` is one.
"""


def kernel(text: str = KERNEL) -> CorpusKernel:
    return CorpusKernel("k.ptx", Path("k.ptx"), text)


def deletion_at(line: int, text: str = KERNEL) -> LineDeletion:
    return next(each for each in find_line_deletions(kernel(text)) if each.mutant.line == line)


def test_each_synchronization_line_is_deleted_once_with_its_form_as_family() -> None:
    found = find_line_deletions(kernel())
    assert {each.mutant.line: each.mutant.family for each in found} == PLAIN_LINES
    assert len(found) == len(PLAIN_LINES)


def test_deleting_keeps_all_other_lines_and_their_numbers() -> None:
    before = KERNEL.splitlines()
    for each in find_line_deletions(kernel()):
        after = each.mutant.apply(KERNEL).splitlines()
        assert [number for number, pair in enumerate(zip(before, after, strict=True), 1) if pair[0] != pair[1]] == [
            each.mutant.line
        ]


def test_a_deleted_wait_succeeds_at_once() -> None:
    text = deletion_at(21).mutant.apply(KERNEL)
    assert "setp.eq.u32 %done, 0, 0;" in text
    assert "try_wait" not in text


def test_deletions_are_reported_or_redundant_and_others_are_silent() -> None:
    result = check_deletions(kernel(), len(PLAIN_LINES), find_line_deletions(kernel()))
    kinds = {each.mutant.line: each.kind for each in result.outcomes}
    assert kinds == {16: "reported", 17: "reported", 18: "reported", 21: "reported", 25: "redundant", 27: "silent"}
    assert (result.errors, result.skipped) == ((), 0)
    assert all(each.codes for each in result.outcomes if each.kind != "silent")
    assert not any(each.is_contradiction for each in result.outcomes)


def test_a_finding_that_the_original_has_at_the_same_line_is_not_new() -> None:
    broken = KERNEL.replace("\tbar.sync 0;\n", "\n")
    assert any(each.severity.name == "ERROR" for each in lint(broken).diagnostics)
    later = deletion_at(25, broken)
    assert classify_deletion(lint(broken), lint(later.mutant.apply(broken)), later)[0] == "silent"


def test_a_note_about_another_line_makes_no_deletion_redundant() -> None:
    base, fence = lint(KERNEL, notes=True), deletion_at(27)
    assert any(each.code == "PTX901" for each in base.diagnostics)
    assert classify_deletion(base, lint(fence.mutant.apply(KERNEL)), fence) == ("silent", ())


def test_a_reported_deletion_of_a_redundant_line_is_a_contradiction() -> None:
    base, fence = lint(KERNEL, notes=True), deletion_at(25)
    kind, codes = classify_deletion(base, lint(deletion_at(17).mutant.apply(KERNEL)), fence)
    assert kind == "reported"
    assert "PTX901" in codes
    assert DeletionOutcome(fence.mutant, kind, codes).is_contradiction


REDUNDANT_LINES = sorted((ROOT / "corpus" / "rules").glob("PTX907_*.ptx"))


@pytest.mark.parametrize("path", REDUNDANT_LINES, ids=lambda path: path.stem)
def test_no_deletion_of_a_redundant_wait_commit_or_barrier_is_reported(path: Path) -> None:
    fixture = CorpusKernel(path.name, path, path.read_text("utf-8"))
    found = find_line_deletions(fixture)
    outcomes = check_deletions(fixture, len(found), found).outcomes
    assert not any(each.is_contradiction for each in outcomes)
    expected = [number for number, line in enumerate(fixture.text.splitlines(), 1) if "expect(notes): PTX907" in line]
    assert {each.mutant.line for each in outcomes if "PTX907" in each.codes} == set(expected)


UNWAITED = """.version 8.6
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 32, 1, 1
{
	.reg .b32 %t, %v;
	.reg .b64 %g;
	.shared .align 4 .b32 slot;
	ld.param.u64 %g, [out];
	cvta.to.global.u64 %g, %g;
	tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
	bar.sync 0;
	ld.shared.b32 %t, [slot];
	tcgen05.st.sync.aligned.32x32b.x1.b32 [%t], {%t};
	tcgen05.wait::st.sync.aligned;
	tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v}, [%t];
	tcgen05.wait::ld.sync.aligned;
	st.global.b32 [%g], %v;
	tcgen05.dealloc.cta_group::1.sync.aligned.b32 %t, 32;
	ret;
}
"""


def test_findings_of_only_the_strict_policy_are_counted_separately() -> None:
    found = find_line_deletions(kernel(UNWAITED))
    result = check_deletions(kernel(UNWAITED), len(found), found)
    kinds = {each.mutant.family: (each.kind, each.codes) for each in result.outcomes}
    assert kinds["tcgen05.wait::ld.sync.aligned"] == ("strict", ("PTX316",))
    (row,) = deletion_report.count_deletions(
        [each for each in result.outcomes if each.kind == "strict"], frozenset(), lambda each: each.mutant.kernel
    )[-1:]
    assert (row.strict, row.silent, row.share("reported"), row.share("silent")) == (1, 0, 0.0, 0.0)


OPEN = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u32 n)
.reqntid 64, 1, 1
{
	.shared .align 128 .b8 tile[1024];
	.reg .pred %p;
	.reg .b32 %n;
	.reg .b64 %g;
	ld.param.u64 %g, [in];
	ld.param.u32 %n, [n];
	cp.async.ca.shared.global [tile], [%g], 16;
	cp.async.commit_group;
	cp.async.wait_group 0;
	bar.sync 0;
	bar.sync 0;
	ret;
}
"""


def test_only_questions_at_the_sites_of_a_line_make_its_deletion_open() -> None:
    from ptxkit.diagnostics import Undecided, Verdict
    from ptxkit.fast_dataclasses import replace
    from ptxkit.model.launch_contract import BlockLimits
    from ptxkit.source import SourceFile, Span

    source = SourceFile("k.ptx", OPEN)

    def verdict(code: str, text: str) -> Verdict:
        start = OPEN.index(text)
        return Verdict((), (Undecided(code, "not known", source, Span(start, start + 1)),))

    commit, wait, first, second = find_line_deletions(kernel(OPEN))
    about_copy = verdict("PTX302", "cp.async.ca")
    assert classify_deletion(about_copy, about_copy, commit) == ("open", ("PTX302",))
    assert classify_deletion(about_copy, about_copy, wait) == ("open", ("PTX302",))
    assert classify_deletion(about_copy, about_copy, first) == ("open", ("PTX302",))
    assert classify_deletion(about_copy, about_copy, second) == ("silent", ())
    under_conditions = Verdict((), (replace(about_copy.undecided[0], conditions=(BlockLimits(possible=(32,)),)),))
    assert classify_deletion(under_conditions, about_copy, second) == ("open", ("PTX302",))
    assert classify_deletion(under_conditions, under_conditions, second) == ("silent", ())
    assert classify_deletion(Verdict(()), about_copy, second) == ("open", ("PTX302",))
    about_bytes = verdict("PTX503", "cp.async.ca")
    assert classify_deletion(about_bytes, about_bytes, first) == ("silent", ())
    about_address = verdict("PTX205", "cp.async.ca")
    assert classify_deletion(about_address, about_address, commit) == ("silent", ())


def test_operations_on_one_mbarrier_concern_each_other() -> None:
    assert deletion_at(18).sites >= {16, 18, 19, 21}
    assert 24 not in deletion_at(18).sites


def test_a_sample_has_each_family_before_it_has_one_twice_and_does_not_vary() -> None:
    text = KERNEL.replace("\tbar.sync 0;\n", "\tbar.sync 0; bar.sync 0; bar.sync 0; bar.sync 0;\n")
    found = find_line_deletions(kernel(text))
    chosen = sample_deletions(found, len(PLAIN_LINES), 1, "k.ptx")
    assert sorted(each.mutant.family for each in chosen) == sorted(PLAIN_LINES.values())
    assert chosen == sample_deletions(found, len(PLAIN_LINES), 1, "k.ptx")
    assert sample_deletions(found, 0, 1, "k.ptx") == found
    assert len({tuple(map(id, sample_deletions(found, 5, seed, "k.ptx"))) for seed in range(20)}) > 1


def test_the_budget_stops_before_the_first_deletion() -> None:
    result = check_deletions(kernel(), 5, find_line_deletions(kernel()), seconds=-1.0)
    assert (result.outcomes, result.skipped) == ((), len(PLAIN_LINES))


def test_explained_deletions_do_not_count_in_the_shares() -> None:
    result = check_deletions(kernel(), 5, find_line_deletions(kernel()))
    silent = next(each for each in result.outcomes if each.kind == "silent")
    rows = deletion_report.count_deletions(result.outcomes, frozenset(), lambda each: each.mutant.family)
    assert (rows[-1].reported, rows[-1].silent, rows[-1].equivalent, rows[-1].share("silent")) == (4, 1, 1, 0.2)
    assert (rows[-1].share("reported", of_all=True), rows[-1].share("silent", of_all=True)) == (4 / 6, 2 / 6)
    rows = deletion_report.count_deletions(
        result.outcomes, frozenset({silent.mutant.identity}), lambda each: each.mutant.family
    )
    assert (rows[-1].reported, rows[-1].silent, rows[-1].equivalent, rows[-1].share("reported")) == (4, 0, 2, 1.0)


@pytest.mark.parametrize("explained", [False, True])
def test_the_script_prints_tables_and_writes_json(tmp_path: Path, explained: bool) -> None:
    (tmp_path / "k.ptx").write_text(KERNEL, encoding="utf-8")
    if explained:
        (tmp_path / "equivalent.toml").write_text(
            '[[equivalent]]\nkernel = "k.ptx"\nfamily = "fence.gpu"\n'
            'change = "`fence.acq_rel.gpu;` deleted"\nwhy = "no access follows"\nisa = "membar, fence"\n',
            encoding="utf-8",
        )
    command = [sys.executable, str(ROOT / "scripts" / "mutate"), "--deletions", str(tmp_path), "--jobs", "1"]
    command += ["--json", str(tmp_path / "out.json"), "--list-survivors"]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    (document,) = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert document["lines"] == len(PLAIN_LINES)
    assert [each["outcome"] for each in document["deletions"]].count("silent") == 1
    assert [each["equivalent"] for each in document["deletions"]].count(True) == 1 + explained
    assert ("silent: fence.gpu: k.ptx:27:" in run.stdout) is not explained
    assert "PTX901" not in run.stdout
