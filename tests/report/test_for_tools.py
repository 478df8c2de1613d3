"""The formats for other tools, each for the same results."""

# ruff: noqa: E501 (lines of other formats)

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from inline_snapshot import snapshot

from ptxkit.diagnostics import Diagnostic, Edit, Fix, Label, Severity, Undecided, Verdict
from ptxkit.linter import unchecked_result
from ptxkit.report import plain
from ptxkit.report.formats import FORMATS, STYLED, styled_report, text_report
from ptxkit.report.options import ReportOptions
from ptxkit.report.paths import from_root
from ptxkit.report.statistics import statistics_json, statistics_report
from ptxkit.results import CodePage, FileResult
from ptxkit.source import SourceFile, SourceLine, Span

STORE, BARRIER, COPY = "st.shared.f32 [%r35], %f1;", "bar.sync 0;", "cp.async.bulk [%rd1], [%r35], 16;"
SOURCE = SourceFile("dir/k 1.ptx", f"\t{STORE}\n\t{BARRIER}\n\t{COPY}\n")


def at(text: str) -> Span:
    start = SOURCE.text.index(text)
    return Span(start, start + len(text))


INLINED = (SourceLine("lib.h", 50), SourceLine("k.cu", 7))
FOUND = Diagnostic(
    code="PTX401",
    severity=Severity.ERROR,
    message="reads `tile`, 100%: <late>",
    source=SOURCE,
    span=at(COPY),
    labels=(Label(at(STORE), "generic write", INLINED), Label(at(BARRIER), "orders the threads only")),
    notes=("a proxy is a path to memory",),
    help="add `fence.proxy.async.shared::cta;` before line 2",
    isa=("Async Proxy",),
    fix=Fix("add a fence", (Edit(Span(at(BARRIER).start, at(BARRIER).start), "fence.proxy.async.shared::cta;\n"),)),
    properties={"bytes": 16},
    origin=INLINED,
)
WARNED = Diagnostic("PTX706", Severity.WARNING, "twice,\nin two lines", SOURCE, Span(at(STORE).start, at(BARRIER).end))
NOTED = Diagnostic("PTX903", Severity.NOTE, "again", SOURCE, at(BARRIER))
ASKED = Undecided("PTX501", "the address comes from a call", SOURCE, at(COPY))
RESULTS = [
    FileResult.of(SOURCE.path, Verdict((FOUND, WARNED, NOTED), (ASKED,))),
    FileResult.of("clean.ptx", Verdict(())),
    unchecked_result("no\x1b\udcff.ptx", "cannot be read: no such file", remedy="check the spelling"),
]
PAGES = (
    CodePage("PTX401", "missing-proxy-fence", "a fence is missing.", (("What it does", "Finds."), ("Example", "x;"))),
    CodePage("PTX501", "other", "not found here."),
)


def text(form: str) -> str:
    return "".join(text_report(form, RESULTS, lambda: PAGES))


def test_the_concise_format_is_stable() -> None:
    assert plain(styled_report("concise", RESULTS, ReportOptions(show_undecided=True))) == snapshot("""\
lib.h:50: PTX401 error: reads `tile`, 100%: <late> [dir/k 1.ptx:3:2]
dir/k 1.ptx:1:2: PTX706 warning: twice,\\x0ain two lines
dir/k 1.ptx:2:2: PTX903 note: again
dir/k 1.ptx:3:2: PTX501 undecided: the address comes from a call
no\\x1b\\xff.ptx: PTX100 error: cannot be read: no such file
1 undecided: the address comes from a call
checked 2 files: 1 error, 1 warning, 1 note, 1 undecided, 1 not checked
""")
    assert "PTX501 undecided: " not in plain(styled_report("concise", RESULTS))


def test_full_shows_the_lines_of_the_source_program() -> None:
    assert plain(styled_report("full", RESULTS[:1])).split("\n\n")[0] == snapshot("""\
lib.h:50: PTX401 error: reads `tile`, 100%: <late>
  = ptx: dir/k 1.ptx:3:2
  1 |   st.shared.f32 [%r35], %f1;    generic write (k.cu:7)
  2 |   bar.sync 0;                   orders the threads only
  3 |   cp.async.bulk [%rd1], [%r35], 16;
  = source: lib.h:50, inlined at k.cu:7
  = note: a proxy is a path to memory
  = help: add `cuda::ptx::fence_proxy_async(cuda::ptx::space_shared)` (`fence.proxy.async.shared::cta;`) before line 2
  = fix: add a fence (`ptxkit lint --fix --unsafe-fixes` does)
  = isa: Async Proxy\
""")


def test_the_json_lines_format_is_stable() -> None:
    lines = [json.loads(line) for line in text("json-lines").splitlines()]
    assert [(each["code"], each["path"], each["line"]) for each in lines] == snapshot(
        [
            ("PTX401", "dir/k 1.ptx", 3),
            ("PTX706", "dir/k 1.ptx", 1),
            ("PTX903", "dir/k 1.ptx", 2),
            ("PTX100", "no\x1b\\udcff.ptx", 1),
        ]
    )
    assert lines[0]["source"] == [
        {"file": "lib.h", "line": 50, "column": 0},
        {"file": "k.cu", "line": 7, "column": 0},
    ]
    assert lines[0]["program"] == lines[0]["source"][0]
    assert lines[0]["labels"][1]["source"] == []
    assert lines[0] == json.loads(text("json"))["files"][0]["diagnostics"][0]


def test_the_github_format_is_stable() -> None:
    assert text("github") == snapshot("""\
::error title=ptxkit PTX401,file=dir/k 1.ptx,line=3,endLine=3,col=2,endColumn=35::dir/k 1.ptx:3:2: PTX401 reads `tile`, 100%25: <late>%0Aadd `fence.proxy.async.shared::cta;` before line 2
::warning title=ptxkit PTX706,file=dir/k 1.ptx,line=1,endLine=2::dir/k 1.ptx:1:2: PTX706 twice,%0Ain two lines
::notice title=ptxkit PTX903,file=dir/k 1.ptx,line=2,endLine=2,col=2,endColumn=13::dir/k 1.ptx:2:2: PTX903 again
::error title=ptxkit PTX100,file=no\\x1b\\xff.ptx::no\\x1b\\xff.ptx: PTX100 cannot be read: no such file%0Acheck the spelling
""")


def test_the_gitlab_format_is_stable() -> None:
    assert json.loads(text("gitlab")) == snapshot(
        [
            {
                "description": "PTX401: reads `tile`, 100%: <late>",
                "check_name": "PTX401",
                "fingerprint": "a292ad8cd55c513b5f0712997b5e7465",
                "severity": "major",
                "location": {
                    "path": "dir/k 1.ptx",
                    "positions": {"begin": {"line": 3, "column": 2}, "end": {"line": 3, "column": 35}},
                },
            },
            {
                "description": """\
PTX706: twice,
in two lines\
""",
                "check_name": "PTX706",
                "fingerprint": "e8c904e853fd8f482e1cc2b9ac1df386",
                "severity": "minor",
                "location": {
                    "path": "dir/k 1.ptx",
                    "positions": {"begin": {"line": 1, "column": 2}, "end": {"line": 2, "column": 13}},
                },
            },
            {
                "description": "PTX903: again",
                "check_name": "PTX903",
                "fingerprint": "bd20260d7e819b99a66313904fa852c9",
                "severity": "info",
                "location": {
                    "path": "dir/k 1.ptx",
                    "positions": {"begin": {"line": 2, "column": 2}, "end": {"line": 2, "column": 13}},
                },
            },
            {
                "description": "PTX100: cannot be read: no such file",
                "check_name": "PTX100",
                "fingerprint": "b92a833b512f62270090400a41915419",
                "severity": "critical",
                "location": {
                    "path": "no\\x1b\\xff.ptx",
                    "positions": {"begin": {"line": 1, "column": 1}, "end": {"line": 1, "column": 1}},
                },
            },
        ]
    )


def test_gitlab_fingerprints_distinguish_findings_and_are_stable_when_lines_move() -> None:
    moved = SourceFile(SOURCE.path, "// one more\n" + SOURCE.text)
    start = moved.text.index(COPY)
    same = Diagnostic("PTX401", Severity.ERROR, "elsewhere", moved, Span(start, start + len(COPY)))

    def marks(*found: Diagnostic) -> list[str]:
        issues = json.loads("".join(text_report("gitlab", [FileResult.of(SOURCE.path, Verdict(found))])))
        return [issue["fingerprint"] for issue in issues]

    assert marks(same) == marks(FOUND)
    assert len(set(marks(FOUND, FOUND, WARNED, NOTED))) == 4


def test_gitlab_paths_are_relative_to_the_project(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    source = SourceFile(str(tmp_path / "a" / "k.ptx"), SOURCE.text)
    found = [FileResult.of(source.path, Verdict((Diagnostic("PTX401", Severity.ERROR, "x", source, Span(0, 1)),)))]
    monkeypatch.setenv("CI_PROJECT_DIR", str(tmp_path))
    assert json.loads("".join(text_report("gitlab", found)))[0]["location"]["path"] == "a/k.ptx"
    monkeypatch.setenv("CI_PROJECT_DIR", str(tmp_path / "other"))
    assert json.loads("".join(text_report("gitlab", found)))[0]["location"]["path"].startswith("/")


def test_the_junit_format_is_stable() -> None:
    assert text("junit") == snapshot("""\
<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="ptxkit" tests="5" failures="2" errors="1">
  <testsuite name="dir/k 1.ptx" tests="3" failures="2" errors="0">
    <testcase name="PTX401 3:2" classname="dir/k 1.ptx" file="dir/k 1.ptx" line="3">
      <failure message="reads `tile`, 100%: &lt;late&gt;" type="PTX401 error">dir/k 1.ptx:3:2: PTX401 error: reads `tile`, 100%: &lt;late&gt;
  1 |   st.shared.f32 [%r35], %f1;    generic write
  2 |   bar.sync 0;                   orders the threads only
  3 |   cp.async.bulk [%rd1], [%r35], 16;
note: a proxy is a path to memory
help: add `fence.proxy.async.shared::cta;` before line 2
</failure>
    </testcase>
    <testcase name="PTX706 1:2" classname="dir/k 1.ptx" file="dir/k 1.ptx" line="1">
      <failure message="twice,&#10;in two lines" type="PTX706 warning">dir/k 1.ptx:1:2: PTX706 warning: twice,
in two lines
  1 |   st.shared.f32 [%r35], %f1;
    |   ^^^^^^^^^^^^^^^^^^^^^^^^^^
</failure>
    </testcase>
    <testcase name="PTX903 2:2" classname="dir/k 1.ptx" file="dir/k 1.ptx" line="2">
      <system-out>dir/k 1.ptx:2:2: PTX903 note: again
  2 |   bar.sync 0;
    |   ^^^^^^^^^^^
</system-out>
    </testcase>
  </testsuite>
  <testsuite name="clean.ptx" tests="1" failures="0" errors="0">
    <testcase name="ptxkit" classname="clean.ptx" />
  </testsuite>
  <testsuite name="no\\x1b\\xff.ptx" tests="1" failures="0" errors="1">
    <testcase name="PTX100 1:1" classname="no\\x1b\\xff.ptx" file="no\\x1b\\xff.ptx" line="1">
      <error message="cannot be read: no such file" type="PTX100 error">no\\x1b\\xff.ptx:1:1: PTX100 error: cannot be read: no such file
help: check the spelling
</error>
    </testcase>
  </testsuite>
</testsuites>
""")


def test_junit_is_xml_for_any_input() -> None:
    odd = SourceFile("caf\udce9 & <b>.ptx", "\udcff\x00\u202e\x0b]]>")
    found = [
        FileResult.of(odd.path, Verdict((Diagnostic("PTX101", Severity.ERROR, 'odd \udcff"\x01', odd, Span(0, 1)),)))
    ]
    root = ElementTree.fromstring("".join(text_report("junit", found)))
    assert (root.get("failures"), root.get("errors")) == ("1", "0")
    assert ElementTree.fromstring(text("junit")).get("errors") == "1"


def test_the_sarif_format_is_stable() -> None:
    document = json.loads(text("sarif"))
    document["runs"][0]["tool"]["driver"].pop("version")
    assert document == snapshot(
        {
            "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
            "version": "2.1.0",
            "runs": [
                {
                    "tool": {
                        "driver": {
                            "name": "ptxkit",
                            "rules": [
                                {
                                    "id": "PTX401",
                                    "name": "MissingProxyFence",
                                    "shortDescription": {"text": "a fence is missing."},
                                    "fullDescription": {"text": "Finds."},
                                    "help": {
                                        "text": """\
What it does
Finds.

Example
x;\
""",
                                        "markdown": """\
### What it does

Finds.

### Example

```
x;
```\
""",
                                    },
                                },
                                {"id": "PTX706"},
                                {"id": "PTX903"},
                            ],
                        }
                    },
                    "columnKind": "unicodeCodePoints",
                    "invocations": [
                        {
                            "executionSuccessful": False,
                            "toolExecutionNotifications": [
                                {
                                    "level": "error",
                                    "message": {"text": "cannot be read: no such file. check the spelling"},
                                    "locations": [{"physicalLocation": {"artifactLocation": {"uri": "no%1B%FF.ptx"}}}],
                                }
                            ],
                        }
                    ],
                    "artifacts": [
                        {"location": {"uri": "dir/k%201.ptx"}},
                        {"location": {"uri": "clean.ptx"}},
                        {"location": {"uri": "no%1B%FF.ptx"}},
                    ],
                    "results": [
                        {
                            "ruleId": "PTX401",
                            "ruleIndex": 0,
                            "level": "error",
                            "message": {
                                "text": """\
reads `tile`, 100%: <late>
a proxy is a path to memory
help: add `fence.proxy.async.shared::cta;` before line 2\
"""
                            },
                            "locations": [
                                {
                                    "physicalLocation": {
                                        "artifactLocation": {"uri": "dir/k%201.ptx"},
                                        "region": {
                                            "startLine": 3,
                                            "startColumn": 2,
                                            "endLine": 3,
                                            "endColumn": 35,
                                            "snippet": {"text": "\tcp.async.bulk [%rd1], [%r35], 16;"},
                                        },
                                    }
                                }
                            ],
                            "partialFingerprints": {"ptxkitStatement/v1": "a292ad8cd55c513b5f0712997b5e7465"},
                            "relatedLocations": [
                                {
                                    "id": 0,
                                    "physicalLocation": {
                                        "artifactLocation": {"uri": "dir/k%201.ptx"},
                                        "region": {
                                            "startLine": 1,
                                            "startColumn": 2,
                                            "endLine": 1,
                                            "endColumn": 28,
                                            "snippet": {"text": "\tst.shared.f32 [%r35], %f1;"},
                                        },
                                    },
                                    "message": {"text": "generic write"},
                                },
                                {
                                    "id": 1,
                                    "physicalLocation": {
                                        "artifactLocation": {"uri": "dir/k%201.ptx"},
                                        "region": {
                                            "startLine": 2,
                                            "startColumn": 2,
                                            "endLine": 2,
                                            "endColumn": 13,
                                            "snippet": {"text": "\tbar.sync 0;"},
                                        },
                                    },
                                    "message": {"text": "orders the threads only"},
                                },
                                {
                                    "id": 2,
                                    "physicalLocation": {
                                        "artifactLocation": {"uri": "lib.h"},
                                        "region": {"startLine": 50},
                                    },
                                    "message": {"text": "compiled from"},
                                },
                                {
                                    "id": 3,
                                    "physicalLocation": {
                                        "artifactLocation": {"uri": "k.cu"},
                                        "region": {"startLine": 7},
                                    },
                                    "message": {"text": "inlined at"},
                                },
                            ],
                            "fixes": [
                                {
                                    "description": {"text": "add a fence"},
                                    "artifactChanges": [
                                        {
                                            "artifactLocation": {"uri": "dir/k%201.ptx"},
                                            "replacements": [
                                                {
                                                    "deletedRegion": {
                                                        "startLine": 2,
                                                        "startColumn": 2,
                                                        "endLine": 2,
                                                        "endColumn": 2,
                                                    },
                                                    "insertedContent": {"text": "fence.proxy.async.shared::cta;\n"},
                                                }
                                            ],
                                        }
                                    ],
                                }
                            ],
                            "properties": {"isa": ["Async Proxy"], "bytes": 16},
                        },
                        {
                            "ruleId": "PTX706",
                            "ruleIndex": 1,
                            "level": "warning",
                            "message": {
                                "text": """\
twice,
in two lines\
"""
                            },
                            "locations": [
                                {
                                    "physicalLocation": {
                                        "artifactLocation": {"uri": "dir/k%201.ptx"},
                                        "region": {
                                            "startLine": 1,
                                            "startColumn": 2,
                                            "endLine": 2,
                                            "endColumn": 13,
                                            "snippet": {"text": "\tst.shared.f32 [%r35], %f1;"},
                                        },
                                    }
                                }
                            ],
                            "partialFingerprints": {"ptxkitStatement/v1": "e8c904e853fd8f482e1cc2b9ac1df386"},
                            "properties": {"isa": []},
                        },
                        {
                            "ruleId": "PTX903",
                            "ruleIndex": 2,
                            "level": "note",
                            "message": {"text": "again"},
                            "locations": [
                                {
                                    "physicalLocation": {
                                        "artifactLocation": {"uri": "dir/k%201.ptx"},
                                        "region": {
                                            "startLine": 2,
                                            "startColumn": 2,
                                            "endLine": 2,
                                            "endColumn": 13,
                                            "snippet": {"text": "\tbar.sync 0;"},
                                        },
                                    }
                                }
                            ],
                            "partialFingerprints": {"ptxkitStatement/v1": "bd20260d7e819b99a66313904fa852c9"},
                            "properties": {"isa": []},
                        },
                    ],
                }
            ],
        }
    )


def test_sarif_satisfies_the_rules_of_its_schema() -> None:
    """The requirements of schema 2.1.0 on the written objects: mandatory properties, and their values."""
    document = json.loads(text("sarif"))
    assert set(document) == {"$schema", "version", "runs"}
    assert document["version"] == "2.1.0"
    [run] = document["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    assert run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("none", "note", "warning", "error")
        assert result["message"]["text"]
        assert all(isinstance(mark, str) for mark in result["partialFingerprints"].values())
        for fix in result.get("fixes", []):
            for change in fix["artifactChanges"]:
                assert change["artifactLocation"]["uri"]
                assert all("deletedRegion" in each for each in change["replacements"])
    for region in every(document, "region"):
        assert region["startLine"] >= 1
        assert min(region.get(key, 1) for key in ("startColumn", "endLine", "endColumn")) >= 1
        assert region.get("endLine", region["startLine"]) >= region["startLine"]
    for uri in every(document, "uri"):
        assert re.fullmatch(r"(file://)?[A-Za-z0-9/!$&'()*+,;=@~._%-]+", str(uri)), uri
    assert [each["level"] for each in run["invocations"][0]["toolExecutionNotifications"]] == ["error"]


def every(document: object, key: str) -> Iterator[dict[str, int]]:
    """Yields the values of a key, wherever it occurs."""
    if isinstance(document, dict):
        for name, value in document.items():
            if name == key:
                yield value
            yield from every(value, key)
    elif isinstance(document, list):
        for value in document:
            yield from every(value, key)


def test_sarif_without_results_is_a_completed_run() -> None:
    [run] = json.loads("".join(text_report("sarif", [])))["runs"]
    assert (run["results"], run["invocations"]) == ([], [{"executionSuccessful": True}])


def test_statistics_list_the_most_frequent_first() -> None:
    twice = [*RESULTS, FileResult.of("k.ptx", Verdict((WARNED,)))]
    assert plain(statistics_report(twice, {"PTX401": "missing-proxy-fence"})) == snapshot("""\
2  PTX706 warning
1  PTX100 error
1  PTX401 error    missing-proxy-fence
1  PTX903 note

checked 3 files: 1 error, 2 warnings, 1 note, 1 undecided, 1 not checked
""")
    assert json.loads(statistics_json(twice, {"PTX401": "x"}))["statistics"][0] == snapshot(
        {"code": "PTX706", "severity": "warning", "name": None, "count": 2}
    )
    assert plain(statistics_report([], {})) == "checked 0 files: 0 errors, 0 warnings, 0 undecided\n"


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_prints_empty_and_unusual_results(form: str) -> None:
    for results in ([], RESULTS):
        if form in STYLED:
            assert plain(styled_report(form, results)).endswith("\n")
        else:
            printed = "".join(text_report(form, results))
            assert printed == "" or printed.endswith("\n")
            printed.encode()


def test_an_unknown_format_is_rejected() -> None:
    with pytest.raises(ValueError, match="no text format 'yaml'"):
        list(text_report("yaml", []))


def test_paths_below_the_root_are_relative_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert from_root(str(tmp_path / "a" / "k.ptx")) == "a/k.ptx"
    assert from_root("a/../k.ptx") == "k.ptx"
    assert from_root("../k.ptx") == "../k.ptx"
    assert from_root("/elsewhere/k.ptx") == "/elsewhere/k.ptx"
