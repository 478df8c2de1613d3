"""Findings at the lines of the program from which a PTX was compiled."""

# ruff: noqa: E501 (lines of other formats)

from __future__ import annotations

import json
import os
import re
from functools import cache
from pathlib import Path

import pytest
from docs_lib.cuda_examples import examples
from docs_lib.json_page import keys_without_meaning
from inline_snapshot import snapshot

from ptxkit.diagnostic_groups import fold_groups
from ptxkit.diagnostics import Undecided, Verdict
from ptxkit.linter import lint_source
from ptxkit.report import plain
from ptxkit.report.formats import styled_report, text_report
from ptxkit.report.options import ReportOptions
from ptxkit.report.program_source import ProgramSources, locate_in_program
from ptxkit.results import FileResult
from ptxkit.source import SourceFile, Span

FOLDER = Path(__file__).parent / "lineinfo"
KERNELS = ("bulk_scale", "cp_async_ring", "last_block", "tma_ring", "wgmma_product")
FAULTS = (1, 2, 3, 4)


@cache
def lint_text(name: str, fault: int) -> FileResult:
    path = FOLDER / f"{name}.{fault}.ptx"
    return lint_source(SourceFile(str(path), path.read_text("utf-8")))


def expected_lines(name: str, fault: int) -> set[int]:
    """Returns the lines of a program that are marked for a fault."""
    lines = (FOLDER / f"{name}.cu").read_text("utf-8").splitlines()
    marks = ((number, re.search(r"// expect ([ \d]+)", line)) for number, line in enumerate(lines, 1))
    return {number for number, mark in marks if mark is not None and str(fault) in mark[1].split()}


@pytest.mark.parametrize("name", KERNELS)
def test_a_fault_is_reported_at_a_line_of_the_program(name: str) -> None:
    assert lint_text(name, 0).diagnostics == ()
    for fault in FAULTS:
        expected = expected_lines(name, fault)
        assert expected, fault
        found = fold_groups(lint_text(name, fault).diagnostics)
        assert len(found) == 1 + ((name, fault) == ("last_block", 4)), "the function is called twice"
        for each in found:
            shown = locate_in_program(each, ProgramSources())
            assert shown is not None
            assert shown.at.source.path.endswith(f"{name}.cu")
            assert shown.at.source.text
            assert shown.at.place.line in expected, fault


def test_the_examples_in_cuda_have_the_faults_of_the_pages_that_show_them() -> None:
    assert len(examples()) >= 12
    results = {code: lint_text(name, fault) for code, (name, fault) in examples().items()}
    assert [code for code, result in results.items() if code not in {each.code for each in result.diagnostics}] == []
    document = json.loads(
        "".join(text_report("json", [lint_text(name, fault) for name in KERNELS for fault in FAULTS]))
    )
    assert list(keys_without_meaning(document)) == []


def test_a_producers_wrong_first_parity_is_not_attributed_to_the_consumer() -> None:
    """The simulation of one scenario is stopped before the ring wraps around: the location from another one counts for
    it."""
    (found,) = lint_text("tma_ring", 1).diagnostics
    assert found.message.startswith("waits for parity 0 of a fresh mbarrier")
    shown = locate_in_program(found, ProgramSources())
    assert shown is not None
    assert [each.place.line for each in shown.callers] == [34]


def report(result: FileResult, **options: object) -> str:
    return plain(styled_report("full", [result], ReportOptions(**options)))  # type: ignore[arg-type]


@pytest.fixture
def in_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)


@pytest.mark.usefixtures("in_folder")
def test_the_program_is_shown_first_and_the_ptx_below_it() -> None:
    path = "bulk_scale.3.ptx"
    result = lint_source(SourceFile(path, Path(path).read_text("utf-8")))
    assert report(result) == snapshot("""\
bulk_scale.cu:39:5: PTX401 error: reads `tile` through the async proxy, but the write at line 33 went through the generic proxy
  33 |   for (int i = 0; i < kFloats / 256; ++i) tile[i * 256 + t] *= fac...    generic write
  37 |   __syncthreads();                                                       orders the threads, not the proxies
  39 |     ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + blockIdx.x * kFloats, tile, sizeof(ti...
  = ptx: bulk_scale.3.ptx:137:2
  118 |   st.shared.f32  [%r16+3072], %f9;
  120 |   bar.sync  0;
  137 |   cp.async.bulk.global.shared::cta.bulk_group [%rd7], [%r15], %r18;
  = help: add `cuda::ptx::fence_proxy_async(cuda::ptx::space_shared)` (`fence.proxy.async.shared::cta;`) after the write, in every thread that writes, before the barrier at line 37
  = isa: Async Proxy; membar / fence

checked 1 file: 1 error, 0 warnings, 0 undecided
""")
    assert report(result, show="source") == snapshot("""\
bulk_scale.cu:39:5: PTX401 error: reads `tile` through the async proxy, but the write at line 33 went through the generic proxy
  33 |   for (int i = 0; i < kFloats / 256; ++i) tile[i * 256 + t] *= fac...    generic write
  37 |   __syncthreads();                                                       orders the threads, not the proxies
  39 |     ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + blockIdx.x * kFloats, tile, sizeof(ti...
  = help: add `cuda::ptx::fence_proxy_async(cuda::ptx::space_shared)` (`fence.proxy.async.shared::cta;`) after the write, in every thread that writes, before the barrier at line 37
  = isa: Async Proxy; membar / fence

checked 1 file: 1 error, 0 warnings, 0 undecided
""")
    assert report(result, show="ptx", verbose=True) == snapshot("""\
bulk_scale.3.ptx:137:2: PTX401 error: reads `_ZZ10scale_rowsPKfPffE4tile` through the async proxy, but the write at line 118 went through the generic proxy
  118 |   st.shared.f32  [%r16+3072], %f9;    generic write (bulk_scale.cu:33)
  120 |   bar.sync  0;                        orders the threads, not the proxies (bulk_scale.cu:37)
  137 |   cp.async.bulk.global.shared::cta.bulk_group [%rd7], [%r15], %r18;
  = source: /usr/local/cuda/include/cccl/cuda/__ptx/instructions/generated/cp_async_bulk.h:170, inlined at bulk_scale.cu:39
  = help: add `fence.proxy.async.shared::cta;` after the write, in every thread that writes, before the barrier at line 120
  = isa: Async Proxy; membar / fence

checked 1 file: 1 error, 0 warnings, 0 undecided
""")


@pytest.mark.usefixtures("in_folder")
def test_tools_annotate_the_program_if_it_is_in_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI_PROJECT_DIR", raising=False)
    path = "bulk_scale.3.ptx"
    result = lint_source(SourceFile(path, Path(path).read_text("utf-8")))
    assert "".join(text_report("github", [result])) == snapshot(
        "::error title=ptxkit PTX401,file=bulk_scale.cu,line=39,endLine=39,col=5,endColumn=23::bulk_scale.cu:39:5: PTX401 reads `tile` through the async proxy, but the write at line 33 went through the generic proxy%0Aadd `cuda::ptx::fence_proxy_async(cuda::ptx::space_shared)` (`fence.proxy.async.shared::cta;`) after the write, in every thread that writes, before the barrier at line 37%0Ain the PTX: bulk_scale.3.ptx:137:2\n"
    )
    (issue,) = json.loads("".join(text_report("gitlab", [result])))
    assert issue["location"] == snapshot(
        {"path": "bulk_scale.cu", "positions": {"begin": {"line": 39, "column": 5}, "end": {"line": 39, "column": 23}}}
    )
    (found,) = json.loads("".join(text_report("sarif", [result])))["runs"][0]["results"]
    assert found["locations"][0]["physicalLocation"] == snapshot(
        {
            "artifactLocation": {"uri": "bulk_scale.cu"},
            "region": {
                "startLine": 39,
                "startColumn": 5,
                "endLine": 39,
                "endColumn": 23,
                "snippet": {
                    "text": "    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + blockIdx.x * kFloats, tile, sizeof(tile));  // expect 3 4"
                },
            },
        }
    )
    assert found["relatedLocations"][0]["message"]["text"] == "in the PTX"
    (found,) = json.loads("".join(text_report("json", [result])))["files"][0]["diagnostics"]
    assert (found["line"], found["program"]) == snapshot((137, {"file": "bulk_scale.cu", "line": 39, "column": 5}))
    monkeypatch.chdir("..")
    assert "file=lineinfo/bulk_scale.cu" in "".join(
        text_report("github", [lint_source(SourceFile(f"lineinfo/{path}", result.diagnostics[0].source.text))])
    )
    monkeypatch.chdir("/")
    assert "bulk_scale.3.ptx" in "".join(text_report("github", [result])).partition("::")[2].partition("::")[0]


@pytest.mark.parametrize("form", ["full", "concise"])
def test_open_questions_have_the_names_of_the_program_in_each_format(form: str) -> None:
    source = SourceFile("k.ptx", "")
    question = Undecided("PTX501", "whether `_ZZ10scale_rowsPKfPffE4tile` is set is unknown", source, Span(0, 0))
    results = [FileResult.of("k.ptx", Verdict((), (question,)))]
    shown = plain(styled_report(form, results, ReportOptions(show_undecided=True)))
    assert "whether `tile` is set is unknown" in shown
    mangled = plain(styled_report(form, results, ReportOptions(show_undecided=True, verbose=True)))
    assert "_ZZ10scale_rowsPKfPffE4tile" in mangled


def test_copies_of_a_line_are_one_finding_that_counts_them() -> None:
    result = lint_text("cp_async_ring", 1)
    assert len(result.diagnostics) == 4
    shown = report(result)
    assert shown.count("PTX302 error") == 1
    assert "(10 places in the PTX)" in shown
    assert report(result, all_places=True).count("PTX302 error") == 10


@pytest.mark.parametrize(
    ("name", "fault", "codes", "note"),
    [
        ("cp_async_ring", 3, {"PTX302", "PTX621"}, "PTX621 at line 11 has the same cause: copies into `ring`, which"),
        ("tma_ring", 2, {"PTX302", "PTX505"}, "PTX505 at line 53 has the same cause: arrives in phase 2 before any"),
        ("tma_ring", 3, {"PTX503", "PTX621"}, "PTX621 at line 40 has the same cause: copies into `ring`, which"),
        ("wgmma_product", 2, {"PTX311", "PTX314"}, "PTX311 at line 56 has the same cause: accesses an accumulator"),
        (
            "wgmma_product",
            3,
            {"PTX302", "PTX304", "PTX505"},
            "PTX505 at line 33 has the same cause: arrives in phase 1, which",
        ),
    ],
)
def test_findings_of_two_rules_with_one_cause_are_one_finding(
    name: str, fault: int, codes: set[str], note: str
) -> None:
    result = lint_text(name, fault)
    shown = report(result)
    assert shown.count(" error: ") == 1
    assert f"  = note: {note}" in shown
    first, other = shown.partition(" error:")[0].rpartition(" ")[2], note.partition(" ")[0]
    assert first != other
    assert {first, other} <= codes
    others = ", ".join(sorted(codes - {first}))
    assert f" (also {others}) [" in plain(styled_report("concise", [result], ReportOptions()))
    each = report(result, all_places=True)
    assert {code for code in codes if f" {code} error: " in each} == codes
    document = json.loads("".join(text_report("json", [result])))["files"][0]["diagnostics"]
    assert {item["code"] for item in document} == codes
    assert len({item["group"] for item in document} - {None}) == len({item["group"] for item in document}) == 1


PTX = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k()
{
	.loc 1 1 1
	add.s32 %missing, 1, 2;
	ret;
}
.file 1 "%s"
"""


@pytest.mark.parametrize(
    "name", ["secret.txt", ".env", "id_rsa", "link.cu", "folder.cu", "pipe.cu", "none.cu", "//host/share/k.cu"]
)
def test_only_source_code_of_the_named_files_is_shown(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder.cu").mkdir()
    os.mkfifo(tmp_path / "pipe.cu")
    (tmp_path / "link.cu").symlink_to("id_rsa")
    for each in ("secret.txt", ".env", "id_rsa"):
        (tmp_path / each).write_text("PASSWORD\n")
    path = name if name.startswith("//") else str(tmp_path / name)
    result = lint_source(SourceFile(str(tmp_path / "k.ptx"), PTX.replace("%s", path)))
    (found,) = result.diagnostics
    assert found.origin[0].file == path
    shown = report(result)
    assert "PASSWORD" not in shown
    assert f"{path}:1:1: PTX106 error" in shown
    assert "add.s32 %missing" in shown


def test_a_relative_name_is_resolved_next_to_the_ptx(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text("first line\n")
    result = lint_source(SourceFile(str(tmp_path / "k.ptx"), PTX.replace("%s", "k.cu")))
    assert "1 | first line" in re.sub(" +", " ", report(result))


def find_finding_with_copies() -> FileResult:
    results = (lint_text(name, fault) for name in KERNELS for fault in FAULTS)
    return next(result for result in results if any(item.copies for item in result.diagnostics))


@pytest.mark.usefixtures("in_folder")
def test_each_place_of_a_finding_is_listed_on_request() -> None:
    result = find_finding_with_copies()
    count = sum(1 + len(item.copies) for item in result.diagnostics)
    assert report(result, all_places=True).count("  = ptx: ") == count > 1
    assert " places in the PTX)" not in report(result, all_places=True)


@pytest.mark.usefixtures("in_folder")
def test_a_description_at_a_line_of_the_program_names_no_lines_of_the_ptx() -> None:
    result = find_finding_with_copies()
    copied = next(item for item in result.diagnostics if item.copies)
    lines = {copied.source.position(each.span.start)[0] for each in copied.copies}
    for form in ("gitlab", "sarif"):
        text = "".join(text_report(form, [result], tuple))
        assert not [line for line in lines if re.search(rf"same holds at lines? .*\b{line}\b", text)]
