"""Known findings: they remain known when lines move, and an additional one is new."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from ptxkit.baseline import (
    BaselineError,
    KnownFindings,
    baseline_text,
    earlier_findings,
    read_baseline,
    remove_known,
    without_findings,
)
from ptxkit.linter import lint_source
from ptxkit.results import FileResult
from ptxkit.source import SourceFile

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
BODY = ".entry k()\n{\n.reg .f32 %f<99>;\nadd.f32 \t%f1, %f2, %missing; // why\nret;\n}\n"


def lint_text(text: str, path: Path) -> FileResult:
    return lint_source(SourceFile(str(path), text))


def known_findings(tmp_path: Path, *texts: str) -> list[int]:
    """Returns how many findings of each text are known, where those of the first were stored."""
    baseline, path = tmp_path / "known.json", tmp_path / "sub" / "k.ptx"
    baseline.write_text(baseline_text(str(baseline), [lint_text(texts[0], path)]))
    found = read_baseline(str(baseline))
    return [remove_known(lint_text(text, path), found, str(baseline)).known for text in texts]


def test_stored_findings_are_known_and_the_file_is_clean(tmp_path: Path) -> None:
    baseline, path = tmp_path / "known.json", tmp_path / "k.ptx"
    result = lint_text(HEAD + BODY, path)
    baseline.write_text(baseline_text(str(baseline), [result]))
    assert json.loads(baseline.read_text()) == {
        "version": 1,
        "files": {"k.ptx": [{"code": "PTX106", "function": "k", "statement": "add.f32 %f, %f, %missing;", "count": 1}]},
    }
    left = remove_known(result, read_baseline(str(baseline)), str(baseline))
    assert (left.status, left.known, left.diagnostics) == ("clean", 1, ())


def test_moved_lines_and_other_numbers_of_registers_are_still_known(tmp_path: Path) -> None:
    moved = HEAD + "// one\n// two\n.global .b32 other;\n" + BODY
    numbered = HEAD + BODY.replace("%f1, %f2", "%f31,   %f7")
    commented = HEAD + BODY.replace(" // why", "")
    assert known_findings(tmp_path, HEAD + BODY, moved, numbered, commented) == [1, 1, 1, 1]


def test_other_statements_functions_and_files_are_new(tmp_path: Path) -> None:
    others = [BODY.replace("%missing", "%other"), BODY.replace("k()", "j()"), BODY.replace("add", "mul")]
    assert known_findings(tmp_path, HEAD + BODY, *(HEAD + other for other in others)) == [1, 0, 0, 0]
    baseline = tmp_path / "known.json"
    result = lint_text(HEAD + BODY, tmp_path / "elsewhere.ptx")
    assert remove_known(result, read_baseline(str(baseline)), str(baseline)) == result


def test_earlier_findings_of_renamed_functions_are_known_once(tmp_path: Path) -> None:
    earlier = lint_text(HEAD + BODY, tmp_path / "k.ptx")
    renamed, other = (BODY.replace("k()", f"{name}()") for name in ("j", "i"))
    known = []
    for text in (HEAD + BODY, HEAD + renamed, HEAD + renamed + other, HEAD + BODY + renamed):
        result = lint_text(text, tmp_path / "k.ptx")
        found = earlier_findings(earlier, SourceFile("k.ptx", text))
        known.append((without_findings(result, found).known, len(result.diagnostics)))
    assert known == [(1, 1), (1, 1), (1, 2), (1, 2)]


def test_a_finding_that_two_sources_know_is_known_once() -> None:
    entry, other = ("PTX401", "k", "a;"), ("PTX401", "k", "b;")
    first = KnownFindings(Counter({entry: 1}), Counter(), frozenset("k"))
    both = first | KnownFindings(Counter({entry: 1, other: 2}))
    assert both == KnownFindings(Counter({entry: 1, other: 2}), Counter(), frozenset("k"))


def test_one_more_of_a_kind_is_new(tmp_path: Path) -> None:
    line = "add.f32 \t%f1, %f2, %missing; // why\n"
    twice = HEAD + BODY.replace(line, line + line)
    assert len(lint_text(twice, tmp_path / "k.ptx").diagnostics) == 2
    assert known_findings(tmp_path, HEAD + BODY, twice) == [1, 1]
    assert known_findings(tmp_path, twice, HEAD + BODY) == [2, 1]


def entry_with(count: str) -> str:
    """Returns a baseline with one finding, and its count."""
    return f'{{"version": 1, "files": {{"a": [{{"code": "c", "function": "f", "statement": "s", "count": {count}}}]}}}}'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not a baseline of ptxkit"),
        ("[]", "is not a baseline of ptxkit"),
        ('{"version": 1, "files": {"a": [{"code": 1}]}}', "is not a baseline of ptxkit"),
        ('{"version": 2, "files": {}}', "is of version 2, and this ptxkit reads 1"),
        ("[" * 100_000, "is not a baseline of ptxkit"),
        ('{"version": 1, "files": {"a": ' + "[" * 50_000, "is not a baseline of ptxkit"),
        (entry_with("1e999"), "is not a baseline of ptxkit"),
        (entry_with("9" * 5000), "is not a baseline of ptxkit"),
        (entry_with("9" * 4000), "is not a baseline of ptxkit"),
        (entry_with("-1"), "is not a baseline of ptxkit"),
        (entry_with('"1"'), "is not a baseline of ptxkit"),
        ('{"version": ' + "9" * 4000 + "}", "is of version 99999999999999999999, and"),
        ('{"version": 1, "files": {}, "x": "' + "y" * (1 << 20) + '"}', "is longer than 1,048,576 bytes"),
    ],
)
def test_a_file_that_is_not_a_baseline_is_reported(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "known.json"
    path.write_text(text)
    with pytest.raises(BaselineError, match=message):
        read_baseline(str(path))


def test_a_missing_baseline_states_how_to_write_one(tmp_path: Path) -> None:
    with pytest.raises(BaselineError, match=r"cannot be read: No such file or directory; write one with"):
        read_baseline(str(tmp_path / "nowhere.json"))
