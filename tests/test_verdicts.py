"""`scripts/verdicts` in its short form: two records of one revision are equal, and a changed verdict is named."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "corpus" / "rules"
TEXTS = ("PTX401_bad_bulk_reduction.ptx", "PTX401_ok_cp_async_then_fence.ptx")


def verdicts(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts" / "verdicts"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("verdicts") / "old"
    corpus = [word for name in TEXTS for word in ("--corpus", FIXTURES / name)]
    ran = verdicts("record", out, "--mutants", "1", "--jobs", "1", *corpus)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return out


def test_a_record_equals_another_of_the_same_texts(record: Path, tmp_path: Path) -> None:
    again = verdicts("record", tmp_path / "new", "--jobs", "1", "--like", record)
    assert again.returncode == 0, again.stdout + again.stderr
    compared = verdicts("compare", record, tmp_path / "new", "--wording")
    assert compared.stdout == "\n0 differences in 10 answers\n"
    assert compared.returncode == 0


@pytest.mark.parametrize(
    ("key", "value", "options", "count"),
    [("severity", "warning", (), 1), ("message", "otherwise", (), 0), ("message", "otherwise", ("--wording",), 1)],
)
def test_a_changed_verdict_is_named_and_its_wording_only_on_request(
    record: Path, tmp_path: Path, key: str, value: str, options: tuple[str, ...], count: int
) -> None:
    changed = tmp_path / "changed"
    changed.mkdir()
    for each in record.iterdir():
        if each.is_file():
            (changed / each.name).write_text(each.read_text(encoding="utf-8"), encoding="utf-8")
    answers = [json.loads(line) for line in (record / "lint-isa.jsonl").read_text(encoding="utf-8").splitlines()]
    found = [diagnostic for each in answers for diagnostic in each["diagnostics"] if diagnostic["code"] == "PTX401"]
    assert found
    found[0][key] = value
    (changed / "lint-isa.jsonl").write_text("\n".join(map(json.dumps, answers)) + "\n", encoding="utf-8")
    compared = verdicts("compare", record, changed, *options)
    assert compared.returncode == (1 if count else 0), compared.stdout
    assert ("PTX401" in compared.stdout) == bool(count)


def test_a_folder_with_something_in_it_is_not_written_to(record: Path) -> None:
    ran = verdicts("record", record)
    assert ran.returncode == 1
    assert "is not empty" in ran.stderr
