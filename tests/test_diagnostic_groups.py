"""Findings that are one fault in several locations."""

from __future__ import annotations

import json
from pathlib import Path

from ptxkit import lint
from ptxkit.batch.job import JobResult
from ptxkit.batch.result_codec import decode_result, encode_result
from ptxkit.diagnostic_groups import fault_notes, fold_groups, group_names
from ptxkit.diagnostics import Place, Verdict
from ptxkit.fast_dataclasses import replace
from ptxkit.linter import lint_source
from ptxkit.report import full_report, json_report, plain
from ptxkit.report.concise import concise_report
from ptxkit.results import FileResult
from ptxkit.source import SourceFile

HEAD = """.version 8.0
.target sm_90
.address_size 64
.file 1 "k.cu"
.visible .entry k(.param .u64 p, .param .u64 q)
.reqntid 128, 1, 1
{
.reg .pred %p<4>; .reg .b32 %r<40>; .reg .b64 %rd<8>;
.shared .align 128 .b8 tile[8192];
ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd2, %rd1;
mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; mov.u32 %r2, tile; shl.b32 %r3, %r1, 4; add.u32 %r4, %r2, %r3;
"""
STORE = ".loc 1 {line} 3\nst.shared.u32 [%r4+{offset}], %r1;\n"
# A barrier for each copy: the data of one barrier are one finding already.
READ = ".loc 1 {line} 3\nbar.sync 0;\n@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2+{offset}], 2048;\n"
END = "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\nret;\n}\n"


def copy_finding(lines: tuple[int, ...]) -> str:
    """Returns a kernel that stores several tiles, and reads each without a fence before, at these lines of its
    source."""
    stores = "".join(STORE.format(line=7, offset=2048 * at) for at in range(len(lines)))
    reads = "".join(READ.format(line=line, offset=2048 * at) for at, line in enumerate(lines))
    return f"{HEAD}{stores}{reads}{END}"


def result_of(text: str) -> FileResult:
    return lint_source(SourceFile("k.ptx", text))


def test_copies_of_one_source_line_are_one_fault() -> None:
    found = result_of(copy_finding((9, 9, 9)))
    assert [item.code for item in found.diagnostics] == ["PTX401"] * 3
    [first] = fold_groups(found.diagnostics)
    lines = [found.diagnostics[at].source.position(found.diagnostics[at].span.start)[0] for at in (1, 2)]
    assert fault_notes(first) == (f"the same holds at lines {lines[0]}, {lines[1]}",)
    assert group_names(found.diagnostics) == ["PTX401-1"] * 3


def test_locations_that_a_rule_reports_together_are_entries_of_one_group_in_json() -> None:
    found = result_of(copy_finding((9, 9, 9)))
    first, second, third = found.diagnostics
    more = tuple(Place(each.span, each.origin) for each in (second, third))
    merged = replace(found, diagnostics=(replace(first, copies=more),))
    document = json.loads(json_report([merged]))
    separate = json.loads(json_report([found]))["files"][0]["diagnostics"]
    [entries] = [file["diagnostics"] for file in document["files"]]
    assert [each["line"] for each in entries] == [each["line"] for each in separate]
    assert [each["source"] for each in entries] == [each["source"] for each in separate]
    assert [each["group"] for each in entries] == ["PTX401-1"] * 3
    assert [each["notes"] for each in entries] == [list(first.notes)] * 3
    assert document["summary"]["diagnostics"]["error"] == 3
    assert [each["fix"] is None for each in entries] == [first.fix is None, True, True]


def test_two_source_lines_are_two_faults() -> None:
    found = result_of(copy_finding((9, 9, 11)))
    assert [len(item.copies) for item in fold_groups(found.diagnostics)] == [1, 0]
    assert group_names(found.diagnostics) == ["PTX401-1", "PTX401-1", None]


def test_without_source_lines_copies_are_unknown() -> None:
    text = "\n".join(line for line in copy_finding((9, 9)).splitlines() if not line.startswith((".loc", ".file")))
    found = lint(text)
    assert len(found.diagnostics) == 2
    assert fold_groups(found.diagnostics) == found.diagnostics
    assert group_names(found.diagnostics) == [None, None]


def test_one_misspelling_is_one_fault_wherever_it_occurs() -> None:
    wrong = "fence.proxy.async.shared::gpu;\n" * 20 + "fence.proxy.async.shared::sys;\n"
    found = lint(f"{HEAD}{wrong}ret;\n}}\n")
    assert [item.code for item in found.diagnostics] == ["PTX103"] * 21
    first, second = fold_groups(found.diagnostics)
    assert len(first.copies) == 19
    assert fault_notes(first)[0].endswith("and 11 more")
    assert second.copies == ()


def test_reports_for_people_show_and_count_a_fault_once_and_documents_keep_all() -> None:
    result = result_of(copy_finding((9, 9, 9)))
    for report in (full_report, concise_report):
        shown = plain(report([result]))
        assert shown.count("PTX401 error") == 1
        assert shown.endswith("checked 1 file: 1 error, 0 warnings, 0 undecided\n")
    document = json.loads(json_report([result]))
    assert [item["group"] for item in document["files"][0]["diagnostics"]] == ["PTX401-1"] * 3
    assert document["summary"]["diagnostics"]["error"] == 3


ONE_SLOT = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
.reqntid 128, 1, 1
{
.reg .pred %p<4>; .reg .b32 %r<40>; .reg .b64 %rd<8>;
.shared .align 128 .b8 tile[2048];
ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd2, %rd1;
mov.u32 %r1, %tid.x; mov.u32 %r2, tile; shl.b32 %r3, %r1, 4; add.u32 %r4, %r2, %r3;
xor.b32 %r5, %r3, 1024; add.u32 %r5, %r5, %r2; mov.u32 %r6, 0; mov.u32 %r9, 0;
L:
cp.async.cg.shared.global [%r4], [%rd2], 16;
cp.async.commit_group;
cp.async.wait_group 0;
{before}
ld.shared.u32 %r8, [%r5];
{after}
add.u32 %r9, %r9, %r8; add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 8;
@%p1 bra L;
st.global.u32 [%rd2+4096], %r9;
ret;
}
"""


def one_slot(before: str, after: str) -> FileResult:
    return result_of(ONE_SLOT.replace("{before}", before).replace("{after}", after))


def test_two_missing_barriers_are_two_faults() -> None:
    """A barrier before the read of a slot does not order the next copy into it, since that begins before the barrier of
    the next iteration."""
    found = one_slot("", "")
    assert sorted(item.code for item in found.diagnostics) == ["PTX302", "PTX621"]
    assert fold_groups(found.diagnostics) == found.diagnostics
    assert [item.code for item in one_slot("", "bar.sync 0;").diagnostics] == ["PTX302"]
    assert [item.code for item in one_slot("bar.sync 0;", "").diagnostics] == ["PTX621"]
    assert one_slot("bar.sync 0;", "bar.sync 0;").diagnostics == ()


def test_of_many_findings_with_the_same_cause_the_first_are_reported() -> None:
    [first, other] = one_slot("", "").diagnostics
    notes = fault_notes(replace(first, related=(other,) * 20))
    assert len(notes) == 9
    assert notes[0].startswith(f"{other.code} at line ")
    assert notes[-1] == "12 more with the same cause (--all lists them)"


def test_findings_of_one_cause_are_preserved_between_processes() -> None:
    path = Path(__file__).parent / "report" / "lineinfo" / "tma_ring.2.ptx"
    source = SourceFile("k.ptx", path.read_text("utf-8"))
    found = lint_source(source)
    assert any(item.lacks for item in found.diagnostics)
    received = decode_result(encode_result(JobResult(found)), source).result
    (first,), (other,) = fold_groups(found.diagnostics), fold_groups(received.diagnostics)
    assert [item.code for item in other.related] == ["PTX505"]
    assert fault_notes(other) == fault_notes(first)


def test_nothing_is_merged_without_findings() -> None:
    assert fold_groups(Verdict(()).diagnostics) == ()
    assert group_names(()) == []
