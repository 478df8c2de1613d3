"""The two formats over the same results."""

from __future__ import annotations

import io
import json
import re

import pytest
from inline_snapshot import snapshot

from ptxkit.diagnostics import Diagnostic, Label, Severity, Undecided, Verdict
from ptxkit.exit_status import ExitStatus
from ptxkit.fast_dataclasses import replace
from ptxkit.linter import unchecked_result
from ptxkit.model.launch_contract import BoxBytes, ClusterLimits, ParameterPlace
from ptxkit.report import full_report, json_report, plain, to_terminal
from ptxkit.report.concise import concise_report
from ptxkit.report.options import ReportOptions
from ptxkit.results import FileResult, Status, Summary
from ptxkit.source import SourceFile, Span

STORE, BARRIER, COPY = "st.shared.f32 [%r35], %f1;", "bar.sync 0;", "cp.async.bulk [%rd1], [%r35], 16;"
SOURCE = SourceFile("k.ptx", f"\t{STORE}\n\t{BARRIER}\n\t{COPY}\n")


def at(text: str) -> Span:
    start = SOURCE.text.index(text)
    return Span(start, start + len(text))


FOUND = Diagnostic(
    code="PTX401",
    severity=Severity.ERROR,
    message="bulk copy reads `tile` through the async proxy",
    source=SOURCE,
    span=at(COPY),
    labels=(Label(at(STORE), "generic write of tile, every thread"), Label(at(BARRIER), "orders the threads only")),
    notes=("a proxy is a path to memory",),
    help="add `fence.proxy.async.shared::cta;` before `bar.sync` at line 2",
    isa=("Async Proxy", "fence"),
    properties={"bytes": 16, "threads": ("all", None), "level": float("inf")},
)
NOTED = Diagnostic("PTX102", Severity.NOTE, "`foo` is not in the table", SOURCE, at("bar.sync"))
ASKED = Undecided("PTX501", "the address comes from a call", SOURCE, at(COPY))
RESULTS = [
    FileResult.of("k.ptx", Verdict((FOUND, NOTED), (ASKED,))),
    FileResult.of("n.ptx", Verdict((NOTED,))),
    FileResult.of("u.ptx", Verdict((), (ASKED,))),
    unchecked_result("no\x1b.ptx", "cannot be read: no such file or directory", remedy="check the spelling"),
]


def test_the_full_format_is_stable() -> None:
    assert plain(full_report(RESULTS)) == snapshot("""\
k.ptx:3:2: PTX401 error: bulk copy reads `tile` through the async proxy
  1 |   st.shared.f32 [%r35], %f1;    generic write of tile, every thread
  2 |   bar.sync 0;                   orders the threads only
  3 |   cp.async.bulk [%rd1], [%r35], 16;
  = note: a proxy is a path to memory
  = help: add `fence.proxy.async.shared::cta;` before `bar.sync` at line 2
  = isa: Async Proxy; fence

k.ptx:2:2: PTX102 note: `foo` is not in the table
  2 |   bar.sync 0;
    |   ^^^^^^^^

k.ptx:2:2: PTX102 note: `foo` is not in the table
  2 |   bar.sync 0;
    |   ^^^^^^^^

no\\x1b.ptx: PTX100 error: cannot be read: no such file or directory
  = help: check the spelling

2 undecided: the address comes from a call
checked 3 files: 1 error, 0 warnings, 2 notes, 2 undecided, 1 not checked
""")


def test_the_full_format_shows_open_questions_on_request() -> None:
    shown = plain(full_report(RESULTS[2:3], ReportOptions(show_undecided=True)))
    assert shown == snapshot("""\
k.ptx:3:2: PTX501 undecided: the address comes from a call
  3 |   cp.async.bulk [%rd1], [%r35], 16;
    |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

1 undecided: the address comes from a call
checked 1 file: 0 errors, 0 warnings, 1 undecided
""")
    assert "PTX501" not in plain(full_report(RESULTS[2:3]))


def test_the_json_format_is_stable() -> None:
    assert json.loads(json_report(RESULTS)) == snapshot(
        {
            "version": 1,
            "files": [
                {
                    "path": "k.ptx",
                    "status": "findings",
                    "diagnostics": [
                        {
                            "code": "PTX401",
                            "severity": "error",
                            "message": "bulk copy reads `tile` through the async proxy",
                            "path": "k.ptx",
                            "line": 3,
                            "column": 2,
                            "end_line": 3,
                            "end_column": 35,
                            "labels": [
                                {
                                    "line": 1,
                                    "column": 2,
                                    "message": "generic write of tile, every thread",
                                    "source": [],
                                },
                                {"line": 2, "column": 2, "message": "orders the threads only", "source": []},
                            ],
                            "notes": ["a proxy is a path to memory"],
                            "help": "add `fence.proxy.async.shared::cta;` before `bar.sync` at line 2",
                            "isa": ["Async Proxy", "fence"],
                            "source": [],
                            "program": None,
                            "fix": None,
                            "properties": {"bytes": 16, "threads": ["all", None], "level": "inf"},
                            "group": None,
                        },
                        {
                            "code": "PTX102",
                            "severity": "note",
                            "message": "`foo` is not in the table",
                            "path": "k.ptx",
                            "line": 2,
                            "column": 2,
                            "end_line": 2,
                            "end_column": 10,
                            "labels": [],
                            "notes": [],
                            "help": None,
                            "isa": [],
                            "source": [],
                            "program": None,
                            "fix": None,
                            "properties": {},
                            "group": None,
                        },
                    ],
                    "undecided": [
                        {
                            "code": "PTX501",
                            "message": "the address comes from a call",
                            "path": "k.ptx",
                            "line": 3,
                            "column": 2,
                            "end_line": 3,
                            "end_column": 35,
                            "source": [],
                            "conditional": False,
                            "runs": "",
                        }
                    ],
                    "conditions": [],
                },
                {
                    "path": "n.ptx",
                    "status": "clean",
                    "diagnostics": [
                        {
                            "code": "PTX102",
                            "severity": "note",
                            "message": "`foo` is not in the table",
                            "path": "k.ptx",
                            "line": 2,
                            "column": 2,
                            "end_line": 2,
                            "end_column": 10,
                            "labels": [],
                            "notes": [],
                            "help": None,
                            "isa": [],
                            "source": [],
                            "program": None,
                            "fix": None,
                            "properties": {},
                            "group": None,
                        }
                    ],
                    "undecided": [],
                    "conditions": [],
                },
                {
                    "path": "u.ptx",
                    "status": "undecided",
                    "diagnostics": [],
                    "undecided": [
                        {
                            "code": "PTX501",
                            "message": "the address comes from a call",
                            "path": "k.ptx",
                            "line": 3,
                            "column": 2,
                            "end_line": 3,
                            "end_column": 35,
                            "source": [],
                            "conditional": False,
                            "runs": "",
                        }
                    ],
                    "conditions": [],
                },
                {
                    "path": "no\x1b.ptx",
                    "status": "failed",
                    "diagnostics": [
                        {
                            "code": "PTX100",
                            "severity": "error",
                            "message": "cannot be read: no such file or directory",
                            "path": "no\x1b.ptx",
                            "line": 1,
                            "column": 1,
                            "end_line": 1,
                            "end_column": 1,
                            "labels": [],
                            "notes": [],
                            "help": "check the spelling",
                            "isa": [],
                            "source": [],
                            "program": None,
                            "fix": None,
                            "properties": {},
                            "group": None,
                        }
                    ],
                    "undecided": [],
                    "conditions": [],
                },
            ],
            "summary": {
                "files": 4,
                "clean": 1,
                "findings": 1,
                "undecided": 1,
                "conditional": 0,
                "failed": 1,
                "diagnostics": {"error": 1, "warning": 0, "note": 2},
                "undecided_questions": 2,
                "conditional_questions": 0,
                "suppressed": 0,
                "known": 0,
                "fixed": 0,
            },
        }
    )


def conditional_result(*more: Undecided, path: str = "c.ptx") -> FileResult:
    asked = replace(ASKED, kernel="gemm", conditions=(ClusterLimits(possible=(1, 2)),))
    boxes = BoxBytes(((ParameterPlace("a", "a", 0), 2), (ParameterPlace("b", "b", 1), 1)), 64)
    return FileResult.of(path, Verdict((), (asked, replace(asked, span=at(STORE), conditions=(boxes,)), *more)))


def test_a_file_whose_questions_all_have_conditions_is_clean_under_them() -> None:
    result = conditional_result()
    assert result.status is Status.CONDITIONAL
    assert plain(full_report([result], ReportOptions(show_undecided=True))).splitlines()[4:] == [
        "k.ptx:1:2: PTX501 conditional: holds if the total size of 2 boxes of parameter 0, `a`, and a box of "
        "parameter 1, `b`, is 64 bytes",
        "  1 |   st.shared.f32 [%r35], %f1;",
        "    |   ^^^^^^^^^^^^^^^^^^^^^^^^^^",
        "",
        "c.ptx: kernel gemm: clean if the cluster has 1 or 2 CTAs and the total size of 2 boxes of parameter 0, `a`, "
        "and a box of parameter 1, `b`, is 64 bytes",
        "checked 1 file: 0 errors, 0 warnings, 0 undecided, 2 conditional",
    ]


def test_kernels_with_one_short_name_have_their_mangled_names() -> None:
    asked = [replace(ASKED, kernel=f"_Z1kILb{flag}EEvv", conditions=(ClusterLimits(possible=(1,)),)) for flag in (0, 1)]
    lines = plain(full_report([FileResult.of("c.ptx", Verdict((), tuple(asked)))])).splitlines()
    assert [line.split(":")[1] for line in lines if "clean if" in line] == [
        " kernel _Z1kILb0EEvv",
        " kernel _Z1kILb1EEvv",
    ]
    alone = plain(full_report([FileResult.of("c.ptx", Verdict((), (asked[0],)))])).splitlines()
    assert [line.split(":")[1] for line in alone if "clean if" in line] == [" kernel k"]


def test_a_file_with_another_question_is_not_clean_under_the_conditions() -> None:
    result = conditional_result(replace(ASKED, span=at(BARRIER)))
    assert result.status is Status.UNDECIDED
    *_, kernel, reason, counts = plain(concise_report([result])).splitlines()
    assert kernel.startswith(
        "c.ptx: kernel gemm: apart from the findings and undecided questions, clean if the cluster"
    )
    assert reason == "1 undecided: the address comes from a call"
    assert counts == "checked 1 file: 0 errors, 0 warnings, 1 undecided, 2 conditional"


def test_json_lists_the_conditions_of_each_kernel_with_their_questions() -> None:
    document = json.loads(json_report([conditional_result()]))
    [file] = document["files"]
    assert file["status"] == "conditional"
    assert [each["conditional"] for each in file["undecided"]] == [True, True]
    [kernel] = file["conditions"]
    assert kernel["kernel"] == "gemm"
    assert kernel["questions"] == file["undecided"]
    assert [(each["kind"], each["requires"]) for each in kernel["requirements"]] == [
        ("cluster", {"tried": [1, 2]}),
        (
            "boxes",
            {
                "boxes": [
                    {"parameter": "a", "index": 0, "offset": 0, "count": 2},
                    {"parameter": "b", "index": 1, "offset": 0, "count": 1},
                ],
                "bytes": 64,
            },
        ),
    ]
    assert document["summary"]["conditional_questions"] == document["summary"]["undecided_questions"] == 2


def test_json_is_plain_ascii_for_any_input() -> None:
    odd = SourceFile("caf\udce9.ptx", "\udcff\x00\u202e")
    result = FileResult.of(odd.path, Verdict((Diagnostic("PTX101", Severity.ERROR, "odd \udcff", odd, Span(0, 1)),)))
    document = json_report([result])
    assert document.isascii()
    json.loads(document)["files"][0]["path"].encode()


def test_color_changes_nothing_but_color() -> None:
    stream = io.StringIO()
    to_terminal(full_report(RESULTS), stream)
    colored = stream.getvalue()
    assert "\x1b[" in colored
    bare = re.sub(r"\x1b\[[0-9;]*m", "", colored)
    assert [line.rstrip() for line in bare.splitlines()] == plain(full_report(RESULTS)).splitlines()


def test_markup_in_the_source_has_no_effect() -> None:
    source = SourceFile("[bold]k.ptx", "[red]:smile:")
    found = Diagnostic("PTX101", Severity.ERROR, "[link=x]message[/link]", source, Span(0, 5))
    stream = io.StringIO()
    to_terminal(full_report([FileResult.of(source.path, Verdict((found,)))]), stream)
    for text in ("[bold]k.ptx", "[red]:smile:", "[link=x]message[/link]"):
        assert text in stream.getvalue()


@pytest.mark.parametrize(
    ("chosen", "status", "code"),
    [
        ([0], Status.FINDINGS, ExitStatus.FINDINGS),
        ([1], Status.CLEAN, ExitStatus.CLEAN),
        ([2], Status.UNDECIDED, ExitStatus.CLEAN),
        ([3], Status.FAILED, ExitStatus.COULD_NOT_RUN),
    ],
)
def test_a_status_follows_from_the_verdict_and_the_exit_status_from_it(
    chosen: list[int], status: Status, code: ExitStatus
) -> None:
    results = [RESULTS[index] for index in chosen]
    assert [result.status for result in results] == [status]
    assert Summary.of(results).exit_status is code


def test_a_failure_takes_precedence_over_findings_in_the_exit_status() -> None:
    assert Summary.of(RESULTS).exit_status is ExitStatus.COULD_NOT_RUN
    assert Summary.of(RESULTS[:3]).exit_status is ExitStatus.FINDINGS
