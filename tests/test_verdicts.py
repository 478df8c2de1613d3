"""`scripts/verdicts` in its short form: two records of one revision are equal, and a changed verdict is named."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "corpus" / "rules"
TEXTS = ("PTX401_bad_bulk_reduction.ptx", "PTX401_ok_cp_async_then_fence.ptx")


def verdicts(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts" / "verdicts"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def record(folder: Path) -> Path:
    corpus = [word for name in TEXTS for word in ("--corpus", FIXTURES / name)]
    mutants = ("--mutants", "1", "--mutants-of", FIXTURES / TEXTS[1])
    ran = verdicts("record", folder, *mutants, "--jobs", "1", *corpus)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return folder


def change_value(old: Path, new: Path, key: str, value: str) -> Path:
    """Returns a copy of a record in which one finding has another severity or message."""
    new.mkdir()
    for each in old.iterdir():
        if each.is_file():
            (new / each.name).write_text(each.read_text(encoding="utf-8"), encoding="utf-8")
    answers = [json.loads(line) for line in (old / "lint-isa.jsonl").read_text(encoding="utf-8").splitlines()]
    found = [diagnostic for each in answers for diagnostic in each["diagnostics"] if diagnostic["code"] == "PTX401"]
    assert found
    found[0][key] = value
    (new / "lint-isa.jsonl").write_text("\n".join(map(json.dumps, answers)) + "\n", encoding="utf-8")
    return new


def test_records_of_the_same_texts_are_equal_and_a_changed_verdict_is_named(tmp_path: Path) -> None:
    """One test, since a record takes seconds: each process of a parallel run would make one for itself.

    A changed message is reported only on request.
    """
    old = record(tmp_path / "old")
    again = verdicts("record", tmp_path / "new", "--jobs", "1", "--like", old)
    assert again.returncode == 0, again.stdout + again.stderr
    compared = verdicts("compare", old, tmp_path / "new", "--wording")
    assert compared.stdout == "\n0 differences in 10 answers\n"
    assert compared.returncode == 0
    severe = change_value(old, tmp_path / "severity", "severity", "warning")
    worded = change_value(old, tmp_path / "message", "message", "otherwise")
    for new, options, count in ((severe, (), 1), (worded, (), 0), (worded, ("--wording",), 1)):
        compared = verdicts("compare", old, new, *options)
        assert compared.returncode == (1 if count else 0), compared.stdout
        assert ("PTX401" in compared.stdout) == bool(count), (new.name, options)


def test_a_folder_with_files_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "something").write_text("mine")
    ran = verdicts("record", tmp_path)
    assert ran.returncode == 1
    assert "is not empty" in ran.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["something"]
